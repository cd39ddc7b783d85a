"""The tree as the rules read it: files, and modules with their syntax trees."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "tools", "benchmarks", "docs", "locks", ".ci")
NOT_OURS = {"__pycache__", "node_modules", "dist"}


@dataclass(frozen=True, kw_only=True)
class Module:
    """A Python file of the project."""

    path: Path

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def name(self) -> str:
        """Dotted, for files below src/."""
        parts = self.path.relative_to(ROOT / "src").with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self) -> Iterator[tuple[str, int]]:
        """Dotted names of what is imported, wherever the import stands; `from a import b` gives a.b."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Calls by the dotted name they are written with, names imported by `from` spelled out."""
        origin = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                try:
                    head, dot, rest = ast.unparse(node.func).partition(".")
                except RecursionError:
                    continue
                yield origin.get(head, head) + dot + rest, node


def _modules(*folders: str) -> list[Module]:
    files = (file for folder in folders for file in sorted((ROOT / folder).rglob("*.py")))
    return [Module(path=file) for file in files if not NOT_OURS & set(file.parts)]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def source() -> list[Module]:
    """The modules of the package."""
    return _modules("src")


@pytest.fixture(scope="session")
def tests() -> list[Module]:
    return _modules("tests")


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    """Every Python file of the project."""
    return _modules("src", "tests", "tools", "benchmarks")


@pytest.fixture(scope="session")
def files() -> list[tuple[str, str]]:
    """(place, text) of every text file of the project that a person or a tool wrote by hand."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    paths += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = []
    for path in sorted(paths):
        if not NOT_OURS & set(path.parts) and path.name != ".git":
            try:
                found.append((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
            except UnicodeDecodeError:
                continue
    return found
