"""A model provider on loopback: real sockets, real HTTP/1.1, the vendors' own stream formats, answers from a script.

    with Provider(["It keeps 128 [1].", Refuse("rate", after="1"), Reply("It ", Cut())], form="anthropic") as provider:
        ... provider.url, provider.asked[0].spoken()

A step is what `lumina.testing.ScriptedModel` takes (text, Call, Thought, Reply, a list of pieces, a function of the
request), or one of what only a wire has: Refuse (an error answer), Garbage (any bytes); inside a Reply a Cut (the
connection breaks) or a Hold (nothing comes until the test says so). A model double in the place of the script answers
for itself: ObeyingModel obeys what it reads off the wire. Requests without a stream (the delta step's) get `note` and
are kept apart in `noted`. The server runs in a thread, so that it serves this process and others; the test ends it.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import ModelMessage

from lumina.testing import Call, Captured, PlayedModel, Reply, Thought
from lumina.testing.scripted import NOTHING_CHANGED, chunked
from support.providers.errors import Refuse
from support.providers.formats import CONTENT_TYPE, Form, Writer, whole
from support.providers.wire import model_messages, rows

LONGEST = 60.0  # seconds that a test waits for something that must come


class Cut:
    """The connection breaks here, without an ending."""


class Hold:
    """Nothing more comes until `open()`. `reached` is set when the reply gets here."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._opened = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        self._opened.set()
        for loop, event in self._waiting:
            loop.call_soon_threadsafe(event.set)

    async def passed(self) -> None:
        event = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), event))
        self.reached.set()
        if not self._opened.is_set():
            await event.wait()


@dataclass(frozen=True)
class Garbage:
    """An answer of any bytes. With `pieces` of a Reply before it, it stands in the middle of a stream."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200


@dataclass(frozen=True)
class Asked:
    """A request exactly as it arrived. `body` is what was read from `raw`."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    form: Form
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def streamed(self) -> bool:
        if self.form == "google":
            return "streamGenerateContent" in self.path
        return bool(self.body.get("stream", self.form == "native"))

    @property
    def model(self) -> str:
        if self.form == "google":
            return self.path.partition("/models/")[2].partition(":")[0]
        return str(self.body.get("model", ""))

    def rows(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """What the model reads, in order: (role, text, calls as (name, JSON)). One row a message of the wire."""
        return rows(self.form, self.body)

    def messages(self) -> list[ModelMessage]:
        return model_messages(self.rows())

    def captured(self) -> Captured:
        return Captured(messages=self.messages(), tools=self.tools, settings=None, streamed=self.streamed)

    @property
    def tools(self) -> tuple[str, ...]:
        if self.form == "google":
            declared = [one for tool in self.body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
            return tuple(one["name"] for one in declared)
        return tuple((tool.get("function") or tool)["name"] for tool in self.body.get("tools") or ())


Step = Any  # str | Call | Thought | Reply | Sequence | Refuse | Garbage | Callable[[Asked], Step]


class Provider:
    """`script`: steps, one a streamed request, or a model double. `tokens` are reported as (input, output)."""

    def __init__(
        self, script: Sequence[Step] | PlayedModel = (), *, form: Form = "openai", note: Step = NOTHING_CHANGED,
        models: Sequence[str] = ("scripted",), capabilities: Sequence[str] = ("completion", "tools"),
        tokens: tuple[int, int] = (0, 0),
    ) -> None:  # fmt: skip
        self.asked: list[Asked] = []  # streamed requests
        self.noted: list[Asked] = []  # others for an answer
        self.looked: list[Asked] = []  # lists of models and what they can do
        self.url = ""
        self.hung_up = threading.Event()  # a client left before its answer was complete
        self._script = script
        self._form: Form = form
        self._note = note
        self._models = models
        self._capabilities = capabilities
        self._tokens = tokens
        self._open: set[asyncio.StreamWriter] = set()
        self._idle = threading.Event()
        self._idle.set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Provider":
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONGEST)
        self._loop.close()

    def nobody_connected(self) -> bool:
        """Waits until every connection was closed by its client; False when one stays open."""
        return self._idle.wait(LONGEST)

    def environment(self) -> dict[str, str]:
        """What a process must be told to ask this provider."""
        vendor = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "google": "GOOGLE"}.get(self._form)
        if vendor is None:
            return {"OLLAMA_HOST": self.url}
        path = "/v1" if vendor == "OPENAI" else ""
        return {"LUMINA_MODEL_URL": self.url + path, f"{vendor}_API_KEY": "sk-of-this-test"}

    def name(self, model: str = "scripted") -> str:
        return f"{'ollama' if self._form in ('ollama', 'native') else self._form}:{model}"

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LONGEST)

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self._idle.clear()
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                asked = await self._read(head, reader)
                if not await self._answer(asked, reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(Exception):
                await writer.wait_closed()
            self._open.discard(writer)
            if not self._open:
                self._idle.set()

    async def _read(self, head: bytes, reader: asyncio.StreamReader) -> Asked:
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        form = next((form for part, form in PATHS.items() if part in path), self._form)
        form = "ollama" if form == "openai" and self._form in ("ollama", "native") else form
        return Asked(method, path, headers, raw, form, json.loads(raw) if raw else {})

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can be used again."""
        if asked.path.endswith(("/models", "/api/tags", "/api/show", "/api/version")) or "/models?" in asked.path:
            self.looked.append(asked)
            return await _send(writer, 200, {"content-type": "application/json"}, self._list(asked))
        (self.asked if asked.streamed else self.noted).append(asked)
        step = await self._next(asked)
        if isinstance(step, Refuse):
            return await _send(writer, *step.sent(asked.form))
        if isinstance(step, Garbage):
            return await _send(writer, step.status, {"content-type": step.content_type}, step.body)
        reply = _as_reply(step)
        if not asked.streamed:
            parts = [piece for piece in reply.pieces if isinstance(piece, str | Thought | Call)]
            body = whole(asked.form, asked.model, parts, reply.finish, self._tokens)
            return await _send(writer, 200, {"content-type": "application/json"}, json.dumps(body).encode())
        return await self._stream(asked, reply, reader, writer)

    async def _next(self, asked: Asked) -> Step:
        if not asked.streamed:
            return self._note(asked) if callable(self._note) else self._note
        if isinstance(self._script, PlayedModel):
            return await self._script.reply(asked.captured())
        if len(self.asked) > len(self._script):
            return Refuse("bad request", body=b"the script of this test has no more steps", status=418)
        step = self._script[len(self.asked) - 1]
        return step(asked) if isinstance(step, Callable) else step  # type: ignore[arg-type]

    async def _stream(
        self, asked: Asked, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = {"content-type": CONTENT_TYPE[asked.form], "transfer-encoding": "chunked"}
        writer.write(_head(200, head))
        written = Writer(asked.form, asked.model, tokens=self._tokens)
        gone = asyncio.ensure_future(reader.read(1))  # a client says nothing more, unless it leaves
        try:
            for chunk in written.opening():
                await _chunk(writer, chunk)
            for piece in reply.pieces:
                if isinstance(piece, Cut):
                    return False
                if isinstance(piece, Hold):
                    passed = asyncio.ensure_future(piece.passed())
                    await asyncio.wait({passed, gone}, return_when=asyncio.FIRST_COMPLETED)
                    if gone.done():
                        passed.cancel()
                        self.hung_up.set()
                        return False
                elif isinstance(piece, Garbage):
                    await _chunk(writer, piece.body)
                else:
                    for chunk in written.piece(piece):
                        await _chunk(writer, chunk)
            for chunk in written.ending(reply.finish):
                await _chunk(writer, chunk)
            await _chunk(writer, b"")
            return False
        except ConnectionError:
            self.hung_up.set()
            raise
        finally:
            gone.cancel()

    def _list(self, asked: Asked) -> bytes:
        if asked.path.endswith("/api/tags"):
            body: Any = {"models": [{"name": name, "model": name, "size": 1} for name in self._models]}
        elif asked.path.endswith("/api/show"):
            body = {"capabilities": list(self._capabilities), "details": {"family": "scripted"},
                    "model_info": {"scripted.context_length": 4096}}  # fmt: skip
        elif asked.path.endswith("/api/version"):
            body = {"version": "0.13.0"}
        else:
            body = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
        return json.dumps(body).encode()


PATHS: dict[str, Form] = {
    "/chat/completions": "openai", "/v1/messages": "anthropic", "/api/chat": "native", "/v1beta/": "google",
}  # fmt: skip


def _as_reply(step: Step) -> Reply:
    if isinstance(step, Reply):
        return step
    if isinstance(step, str):
        return Reply(*chunked(step, "words"))
    return Reply(step) if isinstance(step, Call | Thought | Cut | Hold) else Reply(*step)


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _send(writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes) -> bool:
    writer.write(_head(status, headers | {"content-length": str(len(body))}) + body)
    await writer.drain()
    return True


async def _chunk(writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
    await writer.drain()
