"""Chat completions, as OpenAI, Ollama and many servers speak them, told honestly.

pydantic-ai takes a stream that stops without saying how it ended for a complete one: a connection that a proxy closed
in the middle would give half an answer that looks whole. Here such a stream has ended in an error.

openai walks through every message with each of the types that it may have, to rename fields; no field of a chat message
has another name. Twenty messages take it as long as all of Lumina's own work before a request, so they go past it.
"""

from functools import cached_property
from typing import Any

from openai import AsyncOpenAI
from openai.resources.chat import AsyncChat
from openai.resources.chat.completions import AsyncCompletions
from pydantic_ai.messages import FinishReason
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse


class ToldStream(OpenAIStreamedResponse):
    def _missing_finish_reason(self) -> FinishReason:
        return "error"


class PlainCompletions(AsyncCompletions):
    """Sends messages and tools as they are: plain JSON, with the names that the provider knows."""

    async def create(self, *, messages: Any, extra_body: Any = None, **rest: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return await super().create(messages=[], extra_body={"messages": messages, **(extra_body or {})}, **rest)


class PlainChat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:  # pyright: ignore[reportIncompatibleMethodOverride]
        return PlainCompletions(self._client)


class ChatClient(AsyncOpenAI):
    @cached_property
    def chat(self) -> AsyncChat:  # pyright: ignore[reportIncompatibleMethodOverride]
        return PlainChat(self)


class ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ToldStream


class OllamaChat(OllamaModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ToldStream
