"""What an import makes again: the words of passages, and the snapshots that deltas fold to."""

from collections.abc import Iterable

from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.change import About, load_changes
from lumina.memory.state import fold
from lumina.memory.store import AppliedDelta, Snapshot
from lumina.memory.transfer_lines import DocumentLine, PassageLine, TurnLine
from lumina.memory.turns import IndexedPassage
from lumina.memory.words import content_words, words

MAX_WORD = 64  # as in lumina.adapters.documents.passages: a longer run is data that nobody asks for


def indexed(turn: TurnLine, line: PassageLine) -> IndexedPassage:
    """The passage with its words, as lumina.memory.passages finds them."""
    text = turn.question if line.part == "question" else turn.answer
    found = tuple(content_words(text[line.start : line.end]))
    return IndexedPassage(part=line.part, start=line.start, end=line.end, words=found)


def document(line: DocumentLine) -> NewDocument:
    """The document with the words of its passages: those of the last heading above one, then its own."""
    passages = tuple(
        PassageSpan(
            start=span.start,
            end=span.end,
            heading=span.heading,
            words=(*_forms(span.heading.rpartition(" > ")[2] or line.title), *_forms(line.text[span.start : span.end])),
        )
        for span in line.passages
    )
    return NewDocument(
        locator=line.locator, url=line.url, title=line.title, digest=line.digest, text=line.text, passages=passages,
        size=line.size,
    )  # fmt: skip


def _forms(text: str) -> tuple[str, ...]:
    return tuple(word.form for word in words(text) if len(word.form) <= MAX_WORD)


def folded(deltas: Iterable[AppliedDelta], *, about: About = "thread", version: int = 1) -> Snapshot:
    """The snapshot that the deltas make."""
    state = fold((load_changes(delta.changes) for delta in deltas), about=about)
    return Snapshot(version=version, body=state.to_json())
