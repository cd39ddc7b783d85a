"""What comes out of a citation stream, and what can be looked back at while it does."""

from dataclasses import dataclass
from typing import Literal

NEAR = 64  # code points of emitted text that can be looked back at
FAR = 1024

Reason = Literal["not citable", "unreadable", "cut off"]


@dataclass(frozen=True, slots=True)
class Text:
    """Text of the answer, canonical markers included: the answer is the `text` of all of these, joined."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Cited:
    """`[n]` stands at `position` (code points) of the answer; the Text that holds it came before."""

    n: int
    position: int
    kind: Literal["cited"] = "cited"


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
    kind: Literal["removed"] = "removed"


Piece = Text | Cited | Removed


class Answer:
    """The answer as far as it is certain: pieces not handed over yet, and the end of the text before them."""

    def __init__(self) -> None:
        self.length = 0
        self._recent = ""  # the end of the text; cut to `NEAR` now and then, not at every piece
        self._texts: list[str] = []
        self._pieces: list[Piece] = []

    def add(self, text: str) -> None:
        if text:
            self._texts.append(text)
            self.length += len(text)
            self._recent = self._recent + text if len(self._recent) < FAR else self._recent[-NEAR:] + text

    @property
    def near(self) -> str:
        """The last `NEAR` code points."""
        return self._recent[-NEAR:]

    def cite(self, n: int, marker: str, before: str = "") -> None:
        """Adds `before` and the canonical `marker` of `n`."""
        self.add(before + marker)
        self._join()
        self._pieces.append(Cited(n, self.length - len(marker)))

    def remove(self, marker: str, reason: Reason, numbers: tuple[int, ...]) -> None:
        self._join()
        self._pieces.append(Removed(marker, reason, self.length, numbers))

    def take(self) -> list[Piece]:
        """The pieces since the last call."""
        if self._texts:
            self._join()
        pieces, self._pieces = self._pieces, []
        return pieces

    def _join(self) -> None:
        if self._texts:
            self._pieces.append(Text("".join(self._texts)))
            self._texts = []

    def line(self) -> str | None:
        """What stands on the current line so far; None: more than is kept."""
        _, newline, line = self.near.rpartition("\n")
        return line if newline or self.length <= NEAR else None

    def at_line_start(self) -> bool:
        line = self.line()
        return line is not None and not line.strip()

    def apart_from(self, follower: str) -> str:
        """What keeps the text and `follower` apart when a marker was taken out between them."""
        last = self._recent[-1:]
        glued = last.isascii() and last.isalnum() and follower.isascii() and follower.isalnum()
        linked = (last == "]" and follower == "(") or (last in ("[", "［", "【") and follower.isalpha())
        return " " if glued or linked else ""
