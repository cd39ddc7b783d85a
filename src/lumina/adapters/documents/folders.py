"""Which files a path stands for.

A folder stands for the readable kinds of file below it. Hidden and version-control folders, installed packages and a
documentation builder's private copies are not what a person means by "my documents". Links inside a folder are not
followed: one that stays inside would be read twice or for ever, one that leads outside would bring in what nobody
added.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lumina.adapters.documents.readers import ENDINGS, MAX_BYTES, ending, too_large

# Folders that hold no documents of their own, and why.
LEFT_OUT = {
    "node_modules": "installed packages",
    "__pycache__": "",
    "CVS": "",
    "_darcs": "",
    "_static": "",
    "_sources": "a documentation builder's copies; the pages themselves are read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or folder that was not read, and why, for a person."""

    path: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Finding:
    """What the paths stand for: `files` in the order of their paths, each once.

    `folders` are the given folders; `unread` are folders and files that could not be looked into, so nothing is known
    about what is gone there; `other` counts files of kinds that are not read.
    """

    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)
    other: int = 0

    def skip(self, path: Path, reason: str) -> None:
        self.skipped.append(Skipped(path=shown(path), reason=reason))


def shown(path: Path) -> str:
    """The path as text that can be stored and printed, whatever bytes its name has."""
    return os.fsencode(path).decode("utf-8", "replace")


def find_files(paths: Iterable[str | os.PathLike[str]]) -> Finding:
    """The files that `paths` (files and folders) stand for. Never raises for what is on the disk."""
    finding = Finding()
    for given in paths:
        try:
            path = Path(given).expanduser().resolve()
            mode = path.stat().st_mode
        except (OSError, ValueError, RuntimeError):
            finding.skip(Path(given), "there is no such file or folder")
            continue
        if stat.S_ISDIR(mode):
            finding.folders.append(path)
            _walk(path, finding)
        elif stat.S_ISREG(mode):
            if ending(path.name) in ENDINGS:
                _take(path, finding)
            else:
                finding.skip(path, "it is not a kind of file that is read (md, txt, html, pdf)")
        else:
            finding.skip(path, "it is neither a file nor a folder")
    finding.files = sorted(dict.fromkeys(finding.files))
    return finding


def _walk(root: Path, finding: Finding) -> None:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            finding.unread.append(folder)
            finding.skip(folder, f"the folder cannot be opened ({error.strerror})")
            continue
        for entry in inside:
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                _link(path, root, finding)
            elif entry.is_dir():
                if not _left_out(path, finding):
                    waiting.append(path)
            elif entry.is_file():
                if ending(entry.name) in ENDINGS:
                    _take(path, finding)
                else:
                    finding.other += 1


def _left_out(folder: Path, finding: Finding) -> bool:
    if (folder / "pyvenv.cfg").exists():
        finding.skip(folder, "a Python environment")
        return True
    if folder.name in LEFT_OUT:
        if reason := LEFT_OUT[folder.name]:
            finding.skip(folder, reason)
        return True
    return False


def _link(path: Path, root: Path, finding: Finding) -> None:
    try:
        target = path.resolve()
        readable = target.is_dir() or ending(path.name) in ENDINGS
    except (OSError, RuntimeError):  # a loop
        return
    if readable and not target.is_relative_to(root):
        finding.skip(path, "a link that leads outside the folder; add what it points to by its own path")


def _take(path: Path, finding: Finding) -> None:
    try:
        str(path).encode("utf-8")
        size = path.stat().st_size
    except UnicodeEncodeError:
        finding.skip(path, "its name is not valid UTF-8; rename it")
    except OSError as error:
        finding.unread.append(path)
        finding.skip(path, f"it cannot be opened ({error.strerror})")
    else:
        if size > MAX_BYTES:
            finding.skip(path, too_large(size))
        else:
            finding.files.append(path)
