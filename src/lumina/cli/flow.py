"""Text that flows: an answer that arrives in pieces, and lines made of styled words, both wrapped between words.

A terminal breaks lines in the middle of words. Where a person reads, lines are broken here, at spaces and between
wide characters; in a pipe nothing is wrapped, so that a script gets the text as it is.
"""

import re
import sys
from collections.abc import Iterable

from lumina.cli.screen import cells, safe, styled

# A line feed; blanks; one character of a script that writes no spaces; a run of anything else.
PIECE = re.compile(r"\n|[ \t]+|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|"
                   r"[^\s\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+|\s")  # fmt: skip


class Flow:
    """Writes text to standard output as it comes, in lines of at most `width` columns (0: as they are).

    A word is held back until what follows it shows that it is whole, but never more than a line of it.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._blank = ""
        self._word = ""
        self.wrote = False  # whether anything but white space was written
        self._open = False  # whether the line has begun
        self._long = False  # whether the word goes on from the line before

    def write(self, text: str) -> None:
        text = safe(text)
        self.wrote = self.wrote or bool(text.strip())
        if not self._width:
            sys.stdout.write(text)
            self._open = not text.endswith("\n") if text else self._open
        else:
            for piece in PIECE.findall(text):
                self._take(piece)
        sys.stdout.flush()

    def end(self) -> None:
        """Ends the text, and its last line."""
        self._place()
        self._blank = ""
        if self._open:
            self._break()
        sys.stdout.flush()

    def _take(self, piece: str) -> None:
        if piece == "\n":
            self._place()
            self._break()
        elif piece.isspace():
            self._place()
            self._long = False
            self._blank += piece.replace("\t", "    ")  # the same however the text was cut
        elif len(piece) == 1 and not piece.isascii() and cells(piece) == 2:
            self._place()
            self._word, self._long = piece, False
            self._place()
        else:
            self._word += piece
            while len(self._word) >= self._width:  # longer than a line: the terminal breaks it, and it can be copied
                rest = self._word[self._width :]
                self._word = self._word[: self._width]
                self._place()
                self._word, self._long = rest, True

    def _place(self) -> None:
        if not self._word:
            return
        need = cells(self._word)
        if self._column and not self._long and self._column + len(self._blank) + need > self._width:
            sys.stdout.write("\n")
            self._column, self._blank = 0, ""
        sys.stdout.write(self._blank + self._word)
        self._column += len(self._blank) + need
        if self._long:
            self._column = self._column % self._width or self._width
        self._blank = self._word = ""
        self._open, self._long = True, False

    def _break(self) -> None:
        sys.stdout.write("\n")
        self._column, self._blank, self._open, self._long = 0, "", False, False


Words = list[tuple[str, str]]  # (word, style)


def words_of(text: str, style: str = "") -> Words:
    return [(word, style) for word in safe(text).split()]


def wrapped(words: Iterable[tuple[str, str]], *, width: int, indent: str = "") -> list[str]:
    """Styled words in lines of at most `width` columns (0: one line), each behind `indent`."""
    lines: list[list[str]] = [[]]
    column = len(indent)
    for word, style in words:
        need = cells(word)
        if width and lines[-1] and column + 1 + need > width:
            lines.append([])
            column = len(indent)
        column += need + bool(lines[-1])
        lines[-1].append(styled(word, style))
    return [indent + " ".join(line) for line in lines if line]
