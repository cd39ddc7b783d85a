"""Chat completions, as OpenAI, Ollama and many servers speak them, told honestly.

pydantic-ai takes a stream that stops without saying how it ended for a complete one: a connection that a proxy closed
in the middle would give half an answer that looks whole. Here such a stream has ended in an error.
"""

from pydantic_ai.messages import FinishReason
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse


class ToldStream(OpenAIStreamedResponse):
    def _missing_finish_reason(self) -> FinishReason:
        return "error"


class ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ToldStream


class OllamaChat(OllamaModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ToldStream
