"""A model that says what a test tells it to, and keeps what it was sent.

A script is a list of steps, one for each request, in order:

    model = ScriptedModel([
        Call("web_search", {"query": "lru_cache"}),               # asks for a tool
        "It keeps up to 128 results [1].",                        # answers, word by word
        [Call("web_search", {"query": "a"}), Call("look_back", {"query": "b"})],  # several calls at once
        Reply("It kee", "ps", finish="length"),                   # chunks of your choice; cut by the provider's limit
        Reply("It kee", ConnectionError("reset")),                # breaks off midway
        Reply("It ", gate, "keeps"),                              # waits for gate.open()
        Reply(),                                                  # an empty answer
        TimeoutError(),                                           # fails before the first byte
        lambda request: request.question.upper(),                 # decides when it is asked
    ])
    agent = Agent(model)
    ...
    assert model.requests[0].spoken() == [("system", "..."), ("user", "...")]

A request beyond the end of the script raises ScriptEnded: a test that causes more model calls than it means to fails.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from lumina.agent.ports import NoteReply
from lumina.memory.delta import DeltaRequest
from lumina.testing.gates import Gate
from lumina.testing.playing import Call, Captured, Piece, PlayedModel, Reply, Thought

Chunks = Literal["words", "characters", "whole"]
Said = str | Call | Thought | Exception | Sequence[Piece] | Reply
Step = Said | Callable[[Captured], Said]
Note = str | NoteReply | Exception | Callable[[DeltaRequest], str]

NOTHING_CHANGED = '{"ops": [], "followups": [], "title": ""}'
WORD = re.compile(r"\S+\s*|\s+")


class ScriptEnded(AssertionError):
    """The model was asked more often than its script has steps."""


class ScriptedModel(PlayedModel):
    """Plays `steps`, one a request. A step that is a plain string is sent in `chunks`; a Reply keeps its own pieces."""

    def __init__(self, steps: Iterable[Step], *, chunks: Chunks = "words", name: str = "scripted") -> None:
        super().__init__(name=name)
        self._steps = list(steps)
        self._chunks: Chunks = chunks

    @property
    def unplayed(self) -> int:
        """How many steps are left."""
        return max(0, len(self._steps) - len(self.requests))

    async def reply(self, request: Captured) -> Reply:
        number = len(self.requests)
        if number > len(self._steps):
            raise ScriptEnded(f"The script has {len(self._steps)} steps and this is request {number}.")
        step = self._steps[number - 1]
        return self._as_reply(step(request) if callable(step) else step)

    def _as_reply(self, said: Said) -> Reply:
        if isinstance(said, Reply):
            return said
        if isinstance(said, str):
            return Reply(*chunked(said, self._chunks))
        if isinstance(said, Call | Thought | Exception):
            return Reply(said)
        return Reply(*said)


def chunked(text: str, chunks: Chunks) -> list[str]:
    """`text` in pieces that join to it: word by word with the white space that follows, by code point, or whole."""
    if chunks == "words":
        return WORD.findall(text)
    return list(text) if chunks == "characters" else [text]


class ScriptedNotes:
    """A note taker that answers with `notes`, one a turn: JSON text (which may be broken on purpose) or a NoteReply
    with what it took, an error to raise, or a function of the request. After the last it says that nothing changed.
    `requests` keeps what it was asked; a `gate` holds every answer back until it is opened.
    """

    def __init__(self, notes: Iterable[Note] = (), *, gate: Gate | None = None, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[DeltaRequest] = []
        self._notes = list(notes)
        self._gate = gate

    async def note(self, request: DeltaRequest) -> str | NoteReply:
        self.requests.append(request)
        number = len(self.requests)
        note = self._notes[number - 1] if number <= len(self._notes) else NOTHING_CHANGED
        if self._gate:
            await self._gate.passed()
        if isinstance(note, Exception):
            raise note
        return note(request) if callable(note) else note
