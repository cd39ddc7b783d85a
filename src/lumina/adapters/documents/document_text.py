"""What a reader makes of a file: one plain text, and where its parts stand in it.

Every later step (cutting into passages, quoting, opening a source at the right place) speaks in offsets into
this one text, counted in code points. So a reader writes the text block by block through `TextBuilder`, which
notes the offsets as it goes; nothing is searched for afterwards. A file that cannot be read gives a `Refused`
with a reason that a person can act on, never an exception.
"""

import re
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "definition", "text", "code", "page"]

# Left out of every text: control characters, and the invisible ones that only say where a word may be broken
# (soft hyphen, zero-width space, byte order mark) and so hide a word from search. Joiners stay: scripts and
# emoji need them.
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\ufeff\ud800-\udfff]")
SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of the text, `start`..`end` (code points, end exclusive).

    A heading has a `level` from 1; every other block has the number of definition lists around it. A page (of
    a PDF) has no text of its own: `label` names it and start = end.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read. `blocks` are in order and do not overlap; `notes` say what a person should know
    of it.
    """

    title: str
    text: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    kind: Literal["document"] = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A file that was not read, and why, in words for the person who added it."""

    reason: str
    kind: Literal["refused"] = "refused"


ReadResult = Document | Refused


def clean(text: str) -> str:
    """`text` with line ends as \\n and without characters that nobody can see or search for."""
    return UNWANTED.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n"))


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return SPACE.sub(" ", text).strip()


class TextBuilder:
    """Writes a document's text block by block and keeps the offsets."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    def add(self, kind: BlockKind, text: str, *, level: int = 0, apart: bool = True) -> None:
        """Appends a block; `apart` puts a blank line before it. Text that is empty after cleaning adds
        nothing.
        """
        body = clean(text).strip("\n") if kind == "code" else clean(text).strip()
        if not body.strip():
            return
        if self._length:
            gap = "\n\n" if apart else "\n"
            self._pieces.append(gap)
            self._length += len(gap)
        start = self._length
        self._pieces.append(body)
        self._length += len(body)
        label = one_line(body) if kind == "heading" else ""
        self._blocks.append(Block(kind=kind, start=start, end=self._length, level=level, label=label))

    def page(self, label: str) -> None:
        """Notes that a page of the original begins at the next block."""
        self._blocks.append(Block(kind="page", start=self._length, end=self._length, label=label))

    @property
    def length(self) -> int:
        """Code points written so far."""
        return self._length

    def finish(self, title: str, *, notes: tuple[str, ...] = ()) -> ReadResult:
        """The document, or a refusal if nothing was written."""
        if not self._length:
            return Refused(reason="there is no text in it")
        return Document(
            title=one_line(clean(title))[:300],
            text="".join(self._pieces),
            blocks=tuple(self._blocks),
            notes=notes,
        )
