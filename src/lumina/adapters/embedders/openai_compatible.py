"""Vectors from an endpoint that speaks as OpenAI's does: POST {base}/embeddings.

What is embedded leaves the machine for that endpoint: passages of turns, and questions that point back. Nothing of it
is logged or put into an error, and neither is what the endpoint says, which may quote it. A try that may pass later
(too many requests, an overloaded or unreachable server) is repeated a few times, with the pause that the server asks
for or a growing one, never longer than a cap; then the caller is told, and recall goes on by words.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lumina.agent.ports import Answered, Door
from lumina.memory.embedding import EmbedderError, Kind, Vector, checked
from lumina.memory.errors import ProviderError, UsageError

OPENAI = "https://api.openai.com/v1"
# Own dimensions of OpenAI's models (its reference of embedding models); of others the caller says them.
OWN = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
SHORTENED = "text-embedding-3-"  # models that can give fewer dimensions when asked

AT_ONCE = 64  # texts in one request
LONGEST = 8000  # characters of a text that are sent; 8,191 tokens are the most that OpenAI takes
TRIES = 4
PAUSE, LONGEST_PAUSE = 0.5, 20.0  # seconds
SPARE = 1_000_000  # bytes of an answer beside its numbers
BYTES_A_NUMBER = 40
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
SAID = {
    401: "refused the key; check it",
    403: "refused the key; check it",
    404: "knows no such model, or is not at this address",
    413: "refused a text as too long",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAICompatible:
    """An `Embedder`. `door` leads to the host of `url`, which is the base, up to and with its version. `width` is the
    number of dimensions: it need not be given for OpenAI's own models; a smaller one is asked of those that can give
    it. `timeout` in seconds, for one try.
    """

    door: Door = field(repr=False)
    model: str
    url: str = OPENAI
    key: str = field(default="", repr=False)
    width: int = 0
    timeout: float = 30.0
    pause: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("The embedder's model has no name. Write it, for example openai:text-embedding-3-small.")
        if not self.url.startswith(("http://", "https://")) or any(c.isspace() for c in self.url):
            raise UsageError(f"The embedder's address {self.url!r} is not one. Give a base such as {OPENAI}.")
        if not self.dimensions:
            raise UsageError(
                f"How many dimensions has {self.model}? Write them after it: openai:{self.model}/768, for example."
            )
        if self.url.rstrip("/") == OPENAI and not self.key:
            raise UsageError(f"{self.model} at OpenAI needs a key. Set OPENAI_API_KEY.")

    @property
    def dimensions(self) -> int:
        return self.width or OWN.get(self.model, 0)

    @property
    def name(self) -> str:
        return f"openai:{self.model}/{self.dimensions}"

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """One vector a text, in order. A question and a passage are embedded alike."""
        found: list[Vector] = []
        for at in range(0, len(texts), AT_ONCE):
            found += await self._some([_sendable(text) for text in texts[at : at + AT_ONCE]])
        return found

    async def _some(self, texts: list[str]) -> list[Vector]:
        body: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self.width and self.width != OWN.get(self.model) and self.model.startswith(SHORTENED):
            body["dimensions"] = self.width
        wait = PAUSE
        for left in reversed(range(TRIES)):
            try:
                return self._read(await self._post(body, len(texts)), len(texts))
            except _Passing as error:
                if not left:
                    raise self._error(f"{error}, {TRIES} times", retry=True) from None
                await self.pause(min(error.after if error.after is not None else wait, LONGEST_PAUSE))
                wait *= 2
        raise AssertionError("the last try either gave vectors or raised")

    async def _post(self, body: dict[str, Any], count: int) -> bytes:
        try:
            answer = await self.door.send(
                "POST", f"{self.url.rstrip('/')}/embeddings", json=body, seconds=self.timeout,
                headers={"authorization": f"Bearer {self.key}"} if self.key else {},
                limit=SPARE + count * self.dimensions * BYTES_A_NUMBER,
            )  # fmt: skip
        except ProviderError as error:
            if error.retry:
                raise _Passing(f"gave no answer ({str(error).rstrip('.')})") from None
            raise self._error(f"cannot be asked ({str(error).rstrip('.')})", retry=False) from None
        if answer.status != 200:
            self._refuse(answer)
        if answer.cut:
            raise self._error("answered more than vectors could be", retry=False)
        return answer.body

    def _refuse(self, answer: Answered) -> None:
        status = answer.status
        if status in PASSING:
            raise _Passing(f"is overloaded or takes no more requests ({status})", after=_seconds(answer))
        said = SAID.get(status, "sent us elsewhere" if 300 <= status < 400 else "refused the request")
        raise self._error(f"{said} ({status})", retry=False)

    def _read(self, body: bytes, count: int) -> list[Vector]:
        try:
            rows = json.loads(body)["data"]
            placed = sorted((row.get("index", at), at) for at, row in enumerate(rows))
            vectors = [rows[at]["embedding"] for _, at in placed]
            right = [index for index, _ in placed] == list(range(count)) and all(isinstance(v, list) for v in vectors)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._error("answered something that holds no vectors", retry=False) from None
        if not right:
            raise self._error(f"gave {len(vectors)} vectors for {count} texts, or not one for each", retry=False)
        return [checked(self, vector) for vector in vectors]

    def _error(self, said: str, *, retry: bool) -> EmbedderError:
        return EmbedderError(f"The embedder {self.model} {said}.", provider=self.name, retry=retry)


class _Passing(Exception):
    """It may work the next time; `after`: when the server says so, in seconds."""

    def __init__(self, said: str, after: float | None = None) -> None:
        super().__init__(said)
        self.after = after


def _seconds(answer: Answered) -> float | None:
    """Retry-After in seconds; one that is a date, or no number, says nothing."""
    said = answer.headers.get("retry-after", "").strip()
    return float(said) if said.isascii() and said.isdigit() and len(said) < 10 else None


def _sendable(text: str) -> str:
    """What of a text is sent: a bounded part, without lone surrogates; never nothing, which endpoints refuse."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8") if text.strip() else "."
