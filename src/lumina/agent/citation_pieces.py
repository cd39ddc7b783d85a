"""What comes out of a citation stream, and what can be looked back at while it does."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from lumina.agent.indented_code import INDENT, IndentedCode

NEAR = 64  # code points of emitted text that can be looked back at
FAR = 2048
MANY = 128
PREFIXES = " \t>*+-.)0123456789"
LINKING = ("(", "[", ":")  # directly behind a number in brackets they make a link or a definition of it

Reason = Literal["not citable", "unreadable", "cut off"]


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the answer, canonical markers included: the answer is the `text` of all of these, joined."""

    text: str
    kind: ClassVar[Literal["text"]] = "text"


@dataclass(frozen=True, slots=True)
class Cited:
    """`[n]` stands at `position` (code points) of the answer; the Text that holds all of it came before."""

    n: int
    position: int
    kind: ClassVar[Literal["cited"]] = "cited"


@dataclass(frozen=True, slots=True)
class Removed:
    """A marker, as the model wrote it, of which `numbers` were taken out; `position`: where the answer goes
    on.

    `numbers` is empty if they cannot be told. The other numbers of the same marker may have stayed.
    """

    marker: str
    reason: Reason
    position: int
    numbers: tuple[int, ...] = ()
    kind: ClassVar[Literal["removed"]] = "removed"


Piece = Text | Cited | Removed


class Answer:
    """The answer as far as it is certain: what was not handed over yet, and the end of the text."""

    def __init__(self) -> None:
        self.length = 0
        self._texts: list[str] = []
        self._found: list[Cited | Removed] = []
        self._end: list[str] = [""]  # the end of the text, in pieces
        self._read = 0  # how much of the joined pieces `_lines` has read
        self._lines = IndentedCode()

    def add(self, text: str) -> None:
        if text:
            self.length += len(text)
            self._texts.append(text)
            self._end.append(text)

    def _tail(self) -> str:
        """The last `NEAR` code points, and perhaps more."""
        if len(self._end) > 1:
            text = "".join(self._end)
            if len(text) > FAR:
                self._lines.read(text[self._read :])
                text = text[-NEAR:]
                self._read = len(text)
            self._end = [text]
        return self._end[0]

    @property
    def near(self) -> str:
        """The last `NEAR` code points."""
        return self._tail()[-NEAR:]

    @property
    def last(self) -> str:
        """The last code point, "" at the begin."""
        return self._end[-1][-1:]

    def in_code(self, further: str) -> bool:
        """Whether the current line is indented code, once `further` has come, as far as it belongs to the line."""
        text = self._tail()
        newline = text.rfind("\n", self._read)
        begins = text[newline + 1 :] if newline >= 0 else self._lines.begins + text[self._read :]
        if not INDENT.match(begins if len(begins) > 3 else begins + further.partition("\n")[0]):
            return False
        self._lines.read(text[self._read :])
        self._read = len(text)
        return self._lines.holds()

    def cite(self, n: int) -> None:
        """Adds the canonical marker of `n`."""
        self._found.append(Cited(n, self.length))
        self.add(f"[{n}]")

    def add_cited(self, text: str, found: list[Cited]) -> None:
        """Adds `text` and the citations in it."""
        self._found += found
        self.add(text)

    def remove(self, marker: str, reason: Reason, numbers: tuple[int, ...]) -> None:
        self._found.append(Removed(marker, reason, self.length, numbers))

    def take(self) -> list[Piece]:
        """What came since the last call: the text in one piece, then what was found in it."""
        pieces: list[Piece] = []
        if self._texts:
            pieces.append(Text(self._texts[0] if len(self._texts) == 1 else "".join(self._texts)))
            self._texts.clear()
            if len(self._end) > MANY:
                self._tail()
        if self._found:
            pieces += self._found
            self._found.clear()
        return pieces

    def line(self) -> str | None:
        """What stands on the current line so far; None: more than is kept."""
        _, newline, line = self.near.rpartition("\n")
        return line if newline or self.length <= NEAR else None

    def at_line_start(self) -> bool:
        line = self.line()
        return line is not None and not line.strip()

    def begins_block(self) -> bool:
        """Whether nothing stands on the line but what a list or a quotation begins with, as far as is kept."""
        return not self.near.rpartition("\n")[2].strip(PREFIXES)

    def apart_from(self, follower: str) -> str:
        """What keeps the text and `follower` apart when a marker was taken out between them."""
        last = self.last
        glued = last.isascii() and last.isalnum() and follower.isascii() and follower.isalnum()
        linked = (last == "]" and follower in LINKING) or (last in ("[", "［", "【") and follower.isalpha())
        return " " if glued or linked else ""
