"""A conversation with questions about it, in one form whatever file it came from.

What the first speaker says is a turn's question, what the second says is its answer; a second message in a row of the
same speaker begins a turn. So a conversation of two people, or of a user and an assistant, becomes a thread.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lumina.memory.turns import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message, and where it stands in the thread: `seq` of its turn, question or answer."""

    id: str
    speaker: str
    part: Part
    seq: int
    day: str  # ISO 8601
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A message that an answer needs: the whole of it, or, with `quote`, those words."""

    id: str
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about a conversation with the messages that hold its answer."""

    question: str
    evidence: tuple[Gold, ...]
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """`user` and `assistant` are the speakers' names where two people talk, "" for a user and an assistant.
    `passed_over`: questions that could not be used, because they name no evidence or one that is not there."""

    name: str
    lines: tuple[Line, ...]
    asked: tuple[Asked, ...]
    user: str = ""
    assistant: str = ""
    passed_over: int = 0

    @property
    def turns(self) -> int:
        return self.lines[-1].seq if self.lines else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A message before it has a place. `asks`: the first speaker's. `session`: a new one begins a turn."""

    id: str
    speaker: str
    asks: bool
    day: str
    text: str
    session: int = 0


def lines_of(spoken: Iterable[Spoken]) -> tuple[Line, ...]:
    """The messages in their places. A message without text is left out: nothing could be sent of it."""
    lines: list[Line] = []
    seq, answered, session = 0, True, None
    for each in spoken:
        if not each.text.strip():
            continue
        answered = answered or each.session != session
        if each.asks or answered:
            seq += 1
        answered, session = not each.asks, each.session
        part: Part = "question" if each.asks else "answer"
        lines.append(Line(id=each.id, speaker=each.speaker, part=part, seq=seq, day=each.day, text=each.text))
    return tuple(lines)


def usable(asked: Iterable[Asked], lines: Iterable[Line]) -> tuple[tuple[Asked, ...], int]:
    """The questions whose evidence is all there, and how many others there were."""
    known = {line.id for line in lines}
    every = list(asked)
    kept = tuple(each for each in every if each.evidence and all(gold.id in known for gold in each.evidence))
    return kept, len(every) - len(kept)
