"""What reaches a terminal.

Answers, titles, passages and file names come from outside. Before they are printed, everything that a terminal could
obey is made visible: no control character but line feed and tab, no direction override (CASES O4). Results go to
standard output, what happens meanwhile to standard error; colour, bars and wrapped lines only where a person reads.
"""

import logging
import os
import re
import shutil
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Direction marks and byte order marks are ordinary in text of some scripts; a terminal needs none of them.
UNNEEDED = re.compile("[\u061c\u200e\u200f\ufeff]")
STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "amber": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
MEASURE = 100  # columns; longer lines are hard to read
ROOM = 24  # columns; a reason with less of them is easier to read in a line of its own
BELOW = "    "
MESSAGE = 2000  # characters of an error that are shown; it may quote what it was given


def safe(text: str) -> str:
    """`text` without anything that a terminal obeys; each such character becomes U+FFFD."""
    return OBEYED.sub("\ufffd", UNNEEDED.sub("", text.replace("\r\n", "\n")))


def flat(text: str) -> str:
    """`text` on one line and safe: a title or a file name cannot begin a line of its own."""
    return safe(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))


def prepare() -> None:
    """A character that the terminal's encoding lacks is escaped, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


class _SafeFormatter(logging.Formatter):
    """A record is one line, whatever stands in it; a traceback follows in lines that no record begins like."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return flat(super().formatMessage(record).replace("\r", "\n"))

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record)).replace("\n", "\n  | ")


def send_logs(*, shown: bool) -> None:
    """What the program writes into its log, and what its libraries warn of, goes to standard error, or nowhere: a
    person is told in words."""
    if not shown and not sys.warnoptions:
        warnings.simplefilter("ignore")
    handler: logging.Handler = logging.StreamHandler() if shown else logging.NullHandler()
    if shown:
        handler.setLevel(logging.WARNING)
        handler.setFormatter(_SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.lastResort = handler  # who embeds the program and has set up a log of their own keeps it


def coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a style where a person reads, else as it is. The text must be safe already."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and coloured(stream or sys.stdout) else text


def can_show(text: str) -> bool:
    """Whether standard output can encode `text`."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def width() -> int:
    """Columns of the terminal; 0 where nobody watches, and lines are not to be cut or wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def measure() -> int:
    """Columns in which text is wrapped; 0 where it is not."""
    return min(width(), MEASURE)


def say(text: str = "", style: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(styled(safe(text), style) + "\n")


def say_line(line: str) -> None:
    """A line of the result that was made safe before it was styled."""
    sys.stdout.write(line + "\n")


def note(text: str, style: str = "dim") -> None:
    """A line about what happens meanwhile."""
    sys.stdout.flush()
    sys.stderr.write(styled(safe(text), style, sys.stderr) + "\n")
    sys.stderr.flush()


def complain(text: str) -> None:
    """An error, for people. Only its first line begins at the left."""
    shown = text if len(text) <= MESSAGE else text[:MESSAGE] + "…"
    sys.stdout.flush()
    sys.stderr.write(styled("lumina:", "red", sys.stderr) + " " + safe(shown).replace("\n", "\n  ") + "\n")
    sys.stderr.flush()


# Columns and lines


def columns(rows: list[tuple[str, ...]], *, right: frozenset[int] = frozenset(), limit: int | None = None) -> list[str]:
    """Rows of text in columns, the last one cut to `limit` terminal columns (None: what the terminal has; 0: uncut).
    `right` are the columns of numbers."""
    if not rows:
        return []
    limit = width() if limit is None else limit
    rows = [tuple(flat(cell) for cell in row) for row in rows]
    wide = [max(cells(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        parts = [
            " " * (wide[at] - cells(cell)) + cell if at in right else cell + " " * (wide[at] - cells(cell))
            for at, cell in enumerate(row)
        ]
        lines.append(cut("  ".join(parts).rstrip(), limit))
    return lines


def table(
    rows: Sequence[tuple[str, ...]], *, folds: int, right: frozenset[int] = frozenset(), limit: int
) -> list[list[str]]:
    """The lines of each row, in `limit` columns (0: any, and one line a row). Nothing is cut: the last column and the
    column `folds` are wrapped where they stand, and the last one goes below its row where too little room is left."""
    if not limit or not rows:
        return [[line] for line in columns(list(rows), right=right, limit=0)]
    rows = [tuple(flat(cell) for cell in row) for row in rows]
    wide = [max(cells(row[at]) for row in rows) for at in range(len(rows[0]))]
    last = len(wide) - 1
    room = limit - 2 * last - sum(wide[at] for at in range(last) if at != folds)
    least = min(ROOM, wide[last])
    beside = room - least >= min(ROOM, wide[folds])
    wide[folds] = min(wide[folds], max(room - least if beside else room + 2, len(BELOW)))
    shown: list[list[str]] = []
    for row in rows:
        parts = [[cell] for cell in row[: last + beside]]
        parts[folds] = folded(row[folds], wide[folds])
        if beside:
            parts[last] = folded(row[last], max(room - wide[folds], 1))
        lines = [
            "  ".join(_placed(part[at] if at < len(part) else "", wide[place], place in right)
                      for place, part in enumerate(parts)).rstrip()
            for at in range(max(map(len, parts)))
        ]  # fmt: skip
        lines += [] if beside or not row[last] else [BELOW + line for line in folded(row[last], limit - len(BELOW))]
        shown.append(lines)
    return shown


def _placed(cell: str, wide: int, right: bool) -> str:
    space = " " * max(wide - cells(cell), 0)
    return space + cell if right else cell + space


def folded(text: str, limit: int) -> list[str]:
    """`text` in lines of at most `limit` terminal columns, between words where that can be."""
    lines, left = [""], text.split()
    while left:
        word = left.pop(0)
        joined = f"{lines[-1]} {word}".lstrip()
        if cells(joined) <= limit:
            lines[-1] = joined
        elif lines[-1]:
            lines.append("")
            left.insert(0, word)
        else:
            end = 1
            while cells(word[: end + 1]) <= limit:
                end += 1
            lines[-1], left = word[:end], [word[end:], *left]
            lines.append("")
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def cells(text: str) -> int:
    """How many terminal columns `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` columns (0: any), with `…` where it was cut."""
    if not limit or cells(text) <= limit:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, limit - 1).rstrip() + "…"
