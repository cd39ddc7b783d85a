"""A model of a vendor, made on an HTTP client that was handed in.

pydantic-ai speaks the vendors' formats. What it would add of its own is switched off here: retries of the SDKs (a turn
has its own, which it shows), a stream without an ending that would pass as complete, its banner. Every vendor's package
is imported when its model is made.
"""

from typing import TYPE_CHECKING, Any, assert_never

from lumina.adapters.models.names import Named

if TYPE_CHECKING:
    from pydantic_ai.models import Model

NO_KEY = "none"  # what a client sends where no key is needed; the SDKs refuse an empty one


def vendor_model(named: Named, client: Any) -> "Model":
    """The model. `client` is an `httpx2.AsyncClient`; whoever made it closes it."""
    import pydantic_ai

    pydantic_ai.BANNER_ENABLED = False
    match named.vendor:
        case "openai":
            return _openai(named, client)
        case "ollama":
            return _ollama(named, client)
        case "anthropic":
            return _anthropic(named, client)
        case "google":
            return _google(named, client)
        case _:
            assert_never(named.vendor)


def _sdk(named: Named, url: str, client: Any) -> Any:
    from lumina.adapters.models.openai_chat import ChatClient

    return ChatClient(api_key=named.key or NO_KEY, base_url=url, http_client=client, max_retries=0)


def _openai(named: Named, client: Any) -> "Model":
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from lumina.adapters.models.openai_chat import ChatModel

    sdk = _sdk(named, named.url, client)
    provider = (
        OpenAICompatibleProvider("openai-compatible", openai_client=sdk)
        if named.own_url
        else OpenAIProvider(openai_client=sdk)
    )
    return ChatModel(named.model, provider=provider)


def _ollama(named: Named, client: Any) -> "Model":
    from pydantic_ai.providers.ollama import OllamaProvider

    from lumina.adapters.models.openai_chat import OllamaChat

    provider = OllamaProvider(openai_client=_sdk(named, f"{named.url}/v1", client))
    return OllamaChat(named.model, provider=provider)


def _anthropic(named: Named, client: Any) -> "Model":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=named.key, base_url=named.url, http_client=client, max_retries=0)
    return AnthropicModel(named.model, provider=AnthropicProvider(anthropic_client=sdk))


def _google(named: Named, client: Any) -> "Model":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(named.model, provider=GoogleProvider(api_key=named.key, http_client=client, base_url=named.url))
