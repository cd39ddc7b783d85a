"""What a model call cost, from the price list that genai-prices carries: offline, never asked of anybody.

Prices are those of the day of the call, in US dollars, as the vendor publishes them for everybody: without discounts,
taxes or free tiers. A model that runs on one's own machine costs nothing here; one that is not on the list has no
price, which is not the same.
"""

from datetime import UTC, datetime
from decimal import Decimal

from lumina.memory.store import ModelUse

# Providers whose models run where Lumina runs: `lumina` is its own extractive one.
FREE = frozenset(("lumina", "lumina.testing", "local", "ollama", "llama.cpp", "function", "test"))
UNKNOWN = "compatible"  # somebody's server that speaks OpenAI's format
CLOUD = "cloud"  # how the names of Ollama's hosted models end
NOTHING = Decimal(0)


def price_of(use: ModelUse) -> Decimal | None:
    """US dollars; None when the price is not known."""
    provider, _, name = use.model.partition(":")
    if provider in FREE:
        return None if provider == "ollama" and name.endswith(CLOUD) else NOTHING
    if not name or provider == UNKNOWN:
        return None
    from genai_prices import Usage, calc_price

    tokens = Usage(
        input_tokens=use.input, output_tokens=use.output, cache_read_tokens=use.cached,
        cache_write_tokens=use.cache_written,
    )  # fmt: skip
    try:
        noon = datetime.fromisoformat(f"{use.day}T12:00:00").replace(tzinfo=UTC)
        return calc_price(tokens, name, provider_id=provider, genai_request_timestamp=noon).total_price
    except (LookupError, ValueError):  # not on the list; counts that cannot be
        return None
