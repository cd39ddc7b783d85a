"""What reaches a terminal.

Answers, titles, passages and file names come from outside. Before they are printed, everything that a terminal could
obey is made visible: no control character but line feed and tab, no direction override (CASES O4). Results go to
standard output, what happens meanwhile to standard error; colour only where a person reads.
"""

import os
import re
import sys
from typing import TextIO

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "amber": "33"}


def safe(text: str) -> str:
    """`text` without anything that a terminal obeys; each such character becomes U+FFFD."""
    return OBEYED.sub("\ufffd", text.replace("\r\n", "\n"))


def prepare() -> None:
    """A text that the terminal's encoding lacks is escaped, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


def coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a style where a person reads, else as it is. The text must be safe already."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if coloured(stream or sys.stdout) else text


def say(text: str = "", style: str = "") -> None:
    """A line of the result."""
    text = safe(text)
    sys.stdout.write((styled(text, style) if style else text) + "\n")


def write(text: str) -> None:
    """A piece of the result, at once."""
    sys.stdout.write(safe(text))
    sys.stdout.flush()


def note(text: str, style: str = "dim") -> None:
    """A line about what happens meanwhile."""
    sys.stdout.flush()
    sys.stderr.write(styled(safe(text), style, sys.stderr) + "\n")
    sys.stderr.flush()


def complain(text: str) -> None:
    """An error, for people."""
    sys.stdout.flush()
    sys.stderr.write(styled("lumina:", "red", sys.stderr) + " " + safe(text) + "\n")


def columns(rows: list[tuple[str, ...]], *, right: frozenset[int] = frozenset(), width: int = 0) -> list[str]:
    """Rows of text in columns, the last one cut to the terminal's `width` (0: as wide as it is, or uncut in a pipe).
    `right` are the columns of numbers."""
    import shutil

    if not rows:
        return []
    rows = [tuple(safe(cell).replace("\n", " ").replace("\t", " ") for cell in row) for row in rows]
    wide = [max(cells(row[at]) for row in rows) for at in range(len(rows[0]))]
    limit = width or (shutil.get_terminal_size().columns if sys.stdout.isatty() else 0)
    lines: list[str] = []
    for row in rows:
        parts = [
            " " * (wide[at] - cells(cell)) + cell if at in right else cell + " " * (wide[at] - cells(cell))
            for at, cell in enumerate(row)
        ]
        lines.append(cut("  ".join(parts).rstrip(), limit))
    return lines


def cells(text: str) -> int:
    """How many terminal columns `text` takes."""
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, limit: int) -> str:
    if not limit or cells(text) <= limit:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, limit - 1).rstrip() + "…"
