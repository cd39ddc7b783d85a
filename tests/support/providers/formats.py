"""How an answer looks on the wire, vendor by vendor: a reply's pieces in, the bytes of a stream out.

Each format is a generator of chunks: what opens the stream, one or more chunks a piece, what ends it. The shapes are
those of the vendors' own documentation and SDKs.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

from lumina.testing import Call, Thought

Form = Literal["openai", "ollama", "native", "anthropic", "google"]
Part = str | Thought | Call

CONTENT_TYPE: dict[Form, str] = {
    "openai": "text/event-stream; charset=utf-8", "ollama": "text/event-stream", "native": "application/x-ndjson",
    "anthropic": "text/event-stream; charset=utf-8", "google": "text/event-stream",
}  # fmt: skip
OPENAI_FINISH = {"stop": "stop", "length": "length", "content_filter": "content_filter", "tool_call": "tool_calls"}
ANTHROPIC_FINISH = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_call": "tool_use"}
GOOGLE_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY", "tool_call": "STOP"}


class Writer:
    """Writes one streamed answer. `tokens` are (input, output) as the provider reports them."""

    def __init__(self, form: Form, model: str, *, tokens: tuple[int, int]) -> None:
        self._form: Form = form
        self._model = model
        self._tokens = tokens
        self._block = -1
        self._open = ""
        self._calls = 0

    def opening(self) -> Iterator[bytes]:
        if self._form == "anthropic":
            message = {"id": "msg_01", "type": "message", "role": "assistant", "model": self._model, "content": [],
                       "stop_reason": None, "stop_sequence": None,
                       "usage": {"input_tokens": self._tokens[0], "output_tokens": 1}}  # fmt: skip
            yield _event("message_start", {"message": message})
            yield _event("ping", {})
        elif self._form in ("openai", "ollama"):
            yield self._chunk({"role": "assistant", "content": ""})

    def piece(self, part: Part) -> Iterator[bytes]:
        if self._form == "anthropic":
            yield from self._anthropic(part)
        elif self._form == "google":
            yield _data({"candidates": [{"content": {"role": "model", "parts": [_google(part)]}, "index": 0}],
                         "modelVersion": self._model})  # fmt: skip
        elif self._form == "native":
            yield self._line({"role": "assistant", **_native(part)}, done=False)
        else:
            yield from self._openai(part)

    def ending(self, finish: str) -> Iterator[bytes]:
        sent, written = self._tokens
        if self._form == "anthropic":
            if self._open:
                yield _event("content_block_stop", {"index": self._block})
            yield _event("message_delta", {
                "delta": {"stop_reason": ANTHROPIC_FINISH[finish], "stop_sequence": None},
                "usage": {"output_tokens": written},
            })  # fmt: skip
            yield _event("message_stop", {})
        elif self._form == "google":
            yield _data({
                "candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0,
                                "finishReason": GOOGLE_FINISH[finish]}],
                "usageMetadata": {"promptTokenCount": sent, "candidatesTokenCount": written,
                                  "totalTokenCount": sent + written},
                "modelVersion": self._model,
            })  # fmt: skip
        elif self._form == "native":
            yield self._line({"role": "assistant", "content": ""}, done=True, finish=finish)
        else:
            yield self._chunk({}, finish=OPENAI_FINISH[finish])
            usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
            yield self._chunk(None, usage=usage)
            yield b"data: [DONE]\n\n"

    # OpenAI, and Ollama's copy of it

    def _openai(self, part: Part) -> Iterator[bytes]:
        if isinstance(part, str):
            yield self._chunk({"content": part})
        elif isinstance(part, Thought):
            yield self._chunk({"reasoning_content" if self._form == "openai" else "reasoning": part.text})
        else:
            at, whole = self._calls, part.json
            self._calls += 1
            half = len(whole) // 2 if self._form == "openai" else len(whole)  # Ollama sends a call in one piece
            call: dict[str, Any] = {"index": at, "id": part.id or f"call_{at}", "type": "function"}
            yield self._chunk({"tool_calls": [call | {"function": {"name": part.name, "arguments": whole[:half]}}]})
            if whole[half:]:
                yield self._chunk({"tool_calls": [{"index": at, "function": {"arguments": whole[half:]}}]})

    def _chunk(self, delta: dict[str, Any] | None, *, finish: str | None = None, usage: Any = None) -> bytes:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764547200, "model": self._model,
                "system_fingerprint": "fp_1", "choices": choices}  # fmt: skip
        return _data(body | ({"usage": usage} if usage else {}))

    # Anthropic

    def _anthropic(self, part: Part) -> Iterator[bytes]:
        kind = "text" if isinstance(part, str) else "thinking" if isinstance(part, Thought) else "tool_use"
        if kind != self._open or kind == "tool_use":
            if self._open:
                yield _event("content_block_stop", {"index": self._block})
            self._block += 1
            self._open = kind
            yield _event("content_block_start", {"index": self._block, "content_block": self._started(part)})
        if isinstance(part, Call):
            half = len(part.json) // 2
            deltas: list[Any] = [{"type": "input_json_delta", "partial_json": piece}
                                 for piece in ("", part.json[:half], part.json[half:])]  # fmt: skip
        elif isinstance(part, Thought):
            deltas = [{"type": "thinking_delta", "thinking": part.text}]
        else:
            deltas = [{"type": "text_delta", "text": part}]
        for delta in deltas:
            yield _event("content_block_delta", {"index": self._block, "delta": delta})

    def _started(self, part: Part) -> dict[str, Any]:
        if isinstance(part, Call):
            self._calls += 1
            return {"type": "tool_use", "id": part.id or f"toolu_{self._calls}", "name": part.name, "input": {}}
        if isinstance(part, Thought):
            return {"type": "thinking", "thinking": "", "signature": ""}
        return {"type": "text", "text": ""}

    # Ollama's own

    def _line(self, message: dict[str, Any], *, done: bool, finish: str = "stop") -> bytes:
        body: dict[str, Any] = {"model": self._model, "created_at": "2026-12-01T00:00:00Z", "message": message,
                                "done": done}  # fmt: skip
        if done:
            body |= {"done_reason": "length" if finish == "length" else "stop", "total_duration": 1_000_000,
                     "prompt_eval_count": self._tokens[0], "eval_count": self._tokens[1]}  # fmt: skip
        return json.dumps(body).encode() + b"\n"


def _native(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"content": part}
    if isinstance(part, Thought):
        return {"content": "", "thinking": part.text}
    return {"content": "", "tool_calls": [{"function": {"name": part.name, "arguments": json.loads(part.json)}}]}


def _google(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, Thought):
        return {"text": part.text, "thought": True}
    return {"functionCall": {"name": part.name, "args": json.loads(part.json)}}


def _data(body: Any) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _event(kind: str, body: dict[str, Any]) -> bytes:
    return f"event: {kind}\n".encode() + _data({"type": kind} | body)


def whole(form: Form, model: str, parts: list[Part], finish: str, tokens: tuple[int, int]) -> Any:
    """The same answer to a request that asked for no stream."""
    text = "".join(part for part in parts if isinstance(part, str))
    calls = [part for part in parts if isinstance(part, Call)]
    if form == "anthropic":
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": f"toolu_{at}", "name": call.name, "input": json.loads(call.json)}
                    for at, call in enumerate(calls)]  # fmt: skip
        return {"id": "msg_01", "type": "message", "role": "assistant", "model": model, "content": content,
                "stop_reason": ANTHROPIC_FINISH[finish], "stop_sequence": None,
                "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]}}  # fmt: skip
    if form == "google":
        return {"candidates": [{"content": {"role": "model", "parts": [_google(part) for part in parts]}, "index": 0,
                                "finishReason": GOOGLE_FINISH[finish]}], "modelVersion": model,
                "usageMetadata": {"promptTokenCount": tokens[0], "candidatesTokenCount": tokens[1],
                                  "totalTokenCount": sum(tokens)}}  # fmt: skip
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": call.id or f"call_{at}", "type": "function",
             "function": {"name": call.name, "arguments": call.json}} for at, call in enumerate(calls)
        ]  # fmt: skip
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1764547200, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": OPENAI_FINISH[finish], "logprobs": None}],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1],
                      "total_tokens": sum(tokens)}}  # fmt: skip
