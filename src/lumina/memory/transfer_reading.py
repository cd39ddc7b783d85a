"""Reading an export: every line checked by itself and against those before, and all of them against the seal.

The file is not trusted: it may be cut, changed or made up. A fault is a UsageError that names the line and the field.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from lumina.memory.errors import UsageError
from lumina.memory.transfer_check import Checker, EventCheck, any_event
from lumina.memory.transfer_lines import DocumentLine, End, Header, Line, ThreadLine, TurnLine, parse

LONGEST = 256 * 2**20  # bytes of a line; the text of a thousand pages has some three million


def read_lines(file: BinaryIO, *, event: EventCheck = any_event) -> Iterator[Header | Line]:
    """The header, then every line, each checked by itself and against those before. UsageError at the first fault;
    that all lines came is known when the iterator ends."""
    file.seek(0)
    seal = hashlib.sha256()
    checker: Checker | None = None
    count = 0
    while raw := file.readline(LONGEST + 1):
        try:
            line = _line(raw)
            if isinstance(line, End):
                _check_end(line, count, seal.hexdigest(), file)
                if checker is None:
                    raise ValueError("the file has no header")
                checker.end()
                return
            if isinstance(line, Header):
                if checker is not None:
                    raise ValueError("a second header")
                checker = Checker(line, event=event)
            elif checker is None:
                raise ValueError("the first line is no header of an export")
            else:
                checker.take(line)
        except ValueError as error:
            raise UsageError(f"Line {count + 1} of the file: {error}. Nothing was imported.") from None
        seal.update(raw)
        count += 1
        yield line
    raise UsageError(
        f"The file ends after line {count} without its last line: it is not complete. Nothing was imported."
        if count
        else "The file is empty. Nothing was imported."
    )


def _line(raw: bytes) -> Header | Line | End:
    if len(raw) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} bytes")
    if not raw.endswith(b"\n"):
        raise ValueError("it is cut off: the file is not complete")
    return parse(raw)


def _check_end(line: End, count: int, seal: str, file: BinaryIO) -> None:
    if line.lines != count:
        raise ValueError(f"lines: {count} lines stand before it, not {line.lines}")
    if line.sha256 != seal:
        raise ValueError("sha256: the lines before it are not those that were exported")
    if file.read(1):
        raise ValueError("something follows the last line")


@dataclass(slots=True, kw_only=True)
class Summary:
    header: Header
    turns: dict[str, int] = field(default_factory=dict)  # by thread
    documents: int = 0


def summarised(file: BinaryIO, event: EventCheck) -> Summary:
    """Reads the whole file, so that all of it is known to be good, and counts."""
    lines = read_lines(file, event=event)
    header = next(lines)
    assert isinstance(header, Header)
    summary = Summary(header=header)
    thread = ""
    for line in lines:
        match line:
            case ThreadLine():
                thread = line.thread
                summary.turns[thread] = 0
            case TurnLine():
                summary.turns[thread] += 1
            case DocumentLine():
                summary.documents += 1
            case _:
                pass
    return summary
