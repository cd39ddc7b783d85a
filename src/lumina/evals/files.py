"""From paths to parsed files: JSON, JSON Lines and tab-separated text, plain or gzip-compressed.

What cannot be used is refused by name and with the reason, before anything is measured; nothing is passed over in
silence.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lumina.memory.errors import UsageError

KINDS = (".json", ".jsonl", ".tsv")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file that was read. `kind` is json, jsonl or tsv; `content` the parsed JSON, a list of parsed lines, or a list
    of rows of text."""

    path: Path
    kind: str
    content: Any

    @property
    def name(self) -> str:
        return self.path.name


def read_files(paths: Sequence[Path]) -> list[DataFile]:
    """Every data file at `paths`, those of a folder in the order of their names. UsageError for a path that is not
    there, holds no data file, or a file that cannot be parsed."""
    if not paths:
        raise UsageError(
            "Give the files or folders to evaluate on. `lumina eval --list` says what each scenario reads."
        )
    return [read_file(path) for path in _found(paths)]


def read_file(path: Path) -> DataFile:
    """One file. UsageError with the place of what is wrong in it."""
    kind = _kind(path)
    if kind not in KINDS:
        raise UsageError(f"{path} is of no kind that is read here: .json, .jsonl or .tsv, plain or with .gz.")
    text = _text(path)
    if kind == ".tsv":
        rows = [line.split("\t") for line in text.splitlines() if line.strip()]
        return DataFile(path=path, kind="tsv", content=rows)
    if kind == ".jsonl":
        lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
        return DataFile(path=path, kind="jsonl", content=[_json(line, path, at) for at, line in lines])
    return DataFile(path=path, kind="json", content=_json(text, path, 0))


def _found(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if each.is_file() and _kind(each) in KINDS)
            if not inside:
                raise UsageError(f"The folder {path} holds no .json, .jsonl or .tsv file (plain or with .gz).")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"There is no file or folder {path}.")
    return list(dict.fromkeys(found))


def _kind(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _text(path: Path) -> str:
    try:
        body = path.read_bytes()
        if body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text in UTF-8 (byte {error.start}).") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None


def _json(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {line or error.lineno}, column {error.colno}"
        raise UsageError(f"{path} is not JSON: {error.msg} at {place}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}.") from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Each of `lines` as a line of a new file. UsageError when the file cannot be written."""
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from None
