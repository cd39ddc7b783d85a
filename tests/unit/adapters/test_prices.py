"""Prices: from a list that comes with the program, of the day of the call; unknown is not nothing."""

from decimal import Decimal

import pytest

from lumina.adapters.prices import price_of
from lumina.memory.store import ModelUse


def use(model, day="2026-11-30", **tokens):
    tokens = {"input": 10_000, "output": 500, **tokens}
    return ModelUse(seq=1, attempt=1, purpose="answer", model=model, day=day, **tokens)


def test_a_known_model_costs_what_its_vendor_says_and_less_from_the_cache():
    whole, cached = price_of(use("openai:gpt-5")), price_of(use("openai:gpt-5", cached=8_000))
    assert whole == Decimal("0.0175")  # 10,000 at $1.25 and 500 at $10 a million
    assert cached == Decimal("0.0085")  # 8,000 of them at $0.125
    assert price_of(use("anthropic:claude-sonnet-4-5", cache_written=4_000)) > price_of(
        use("anthropic:claude-sonnet-4-5")
    )


@pytest.mark.parametrize("model", ["lumina:extractive", "ollama:llama3.2", "local:any/name:q4"])
def test_a_model_on_ones_own_machine_costs_nothing(model):
    assert price_of(use(model)) == 0


@pytest.mark.parametrize(
    "model", ["openai:nothing-9", "nobody:x", "compatible:gpt-5", "gpt-5", "", "ollama:gpt-oss:120b-cloud"]
)
def test_a_model_that_is_not_on_the_list_has_no_price(model):
    assert price_of(use(model)) is None


def test_counts_that_cannot_be_have_no_price():
    assert price_of(use("openai:gpt-5", cached=20_000)) is None
    assert price_of(use("openai:gpt-5", day="never")) is None
