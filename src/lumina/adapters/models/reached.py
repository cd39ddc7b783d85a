"""A vendor's model as Lumina asks it: by its full name, on one client, its refusals said to a person.

What the vendor says may hold a key or a part of the prompt, so none of it is repeated: an error says what kind it is,
at which address, and which setting mends it. Whether another try may help is left to `lumina.agent.retrying`.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelTimeoutError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from lumina.adapters.models.names import KEY, URL, VENDORS, Named
from lumina.memory.errors import ProviderError

# What a call has opened. google-genai leaves an answer open when its reader stops before the end.
OPENED: ContextVar[list[Any] | None] = ContextVar("opened", default=None)
NO_ANSWERS = ("text/html", "application/xhtml", "image/", "application/pdf")  # what no model's answer comes in


class ReachedModel(WrapperModel):
    """`model_name` is the full name, `openai:gpt-5`. `aclose` closes the client."""

    def __init__(self, wrapped: Model, *, named: Named, client: Any) -> None:
        super().__init__(wrapped)
        self.named = named
        self._client = client

    @property
    def model_name(self) -> str:
        return self.named.name

    async def aclose(self) -> None:
        await self._client.aclose()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        with explained(self.named):
            return await super().request(messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        opened: list[Any] = []
        OPENED.set(opened)
        try:
            with explained(self.named):
                async with self.wrapped.request_stream(
                    messages, model_settings, model_request_parameters, run_context
                ) as stream:
                    yield stream
        finally:
            for response in opened:
                await response.aclose()


@contextmanager
def explained(named: Named) -> Iterator[None]:
    """Inside, what a person can mend is raised as a ProviderError that says how; the rest as it is."""
    try:
        yield
    except ModelAPIError as error:
        if said := _mended_by(error, named):
            own = _own(error)
            again = own.retry if own else isinstance(error, ModelConnectionError)
            raise ProviderError(said, provider=named.name, retry=again) from error
        raise


def _mended_by(error: ModelAPIError, named: Named) -> str:
    if isinstance(error, ModelAuthenticationError) or _is_key(error):
        other = "" if named.keyed_by == KEY else f" (or {KEY})"
        missing = "" if named.key else ", and none is set"
        return f"The model {named.name} refused the key{missing}. Set {named.keyed_by}{other} to one that is valid."
    if isinstance(error, ModelNotFoundError):
        if named.vendor == "ollama":
            return f"The model {named.name} is not on this Ollama. Get it with: ollama pull {named.model}"
        where = f" at {named.url}; check the name and {URL}" if named.own_url else "; check its name"
        return f"The model {named.name} is not known to its provider{where}. `lumina models` lists what can be named."
    if isinstance(error, ModelConnectionError) and not isinstance(error, ModelTimeoutError):
        if cause := _own(error):
            return str(cause)
        if error.phase not in ("connect", None) or error.in_stream:
            return f"The connection to the model {named.name} broke. Try again."
        if named.vendor == "ollama":
            return f"No Ollama answers at {named.url}. Start it (ollama serve), or set OLLAMA_HOST to where it runs."
        if named.own_url:
            address = VENDORS[named.vendor].address
            return f"Nothing answers for the model {named.name} at {named.url}. Start it, or set {URL} or {address}."
        return f"The model {named.name} could not be reached. Check the network and try again."
    if isinstance(error, ModelContextWindowExceededError) or _is_too_long(error):
        return f"The model {named.name} cannot take that much text. Ask with a smaller budget."
    return ""


def _is_too_long(error: ModelAPIError) -> bool:
    """Local servers say it in words of their own: Ollama, llama.cpp."""
    said = str(error).lower()
    return (
        isinstance(error, ModelHTTPError)
        and error.status_code in (400, 413, 500)
        and any(words in said for words in ("exceeds the context length", "exceeds the available context size"))
    )


def _is_key(error: ModelAPIError) -> bool:
    """Google refuses a key with 400 and says why only in the details."""
    return isinstance(error, ModelHTTPError) and error.status_code == 400 and "API_KEY_INVALID" in str(error.body)


def _own(error: BaseException | None) -> ProviderError | None:
    """Lumina's own error that a vendor's SDK has wrapped in its own."""
    for _ in range(10):
        if error is None or isinstance(error, ProviderError):
            return error
        error = error.__cause__ or error.__context__
    return None


def hooks(named_url: str) -> Mapping[str, list[Any]]:
    """What the client of a model looks at before its SDK does: an error page that came as if all were well."""

    async def is_an_answer(response: Any) -> None:
        if (opened := OPENED.get()) is not None:
            opened.append(response)
        kind = response.headers.get("content-type", "").lower()
        if response.status_code < 400 and kind.startswith(NO_ANSWERS):
            raise ProviderError(
                f"What came from {named_url} is no model's answer but {kind.partition(';')[0]}: a sign-in page or a "
                f"proxy, perhaps. Check the address ({URL}).",
                provider=named_url, retry=False,
            )  # fmt: skip
        if 300 <= response.status_code < 400:
            raise ProviderError(
                f"{named_url} leads elsewhere ({response.status_code}), and a key is sent to no other place. Set {URL} "
                "to where the model is.", provider=named_url, retry=False,
            )  # fmt: skip

    return {"response": [is_an_answer]}
