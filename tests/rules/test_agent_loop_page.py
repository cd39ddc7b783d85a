"""docs/agent-loop.md names what exists: files, functions, events, tables, limits, in the files it says."""

import ast
import re
from dataclasses import asdict
from pathlib import Path

import pytest

FILE = re.compile(r"`((?:src|tests|agent|memory|stores)/[\w/]+\.py)`")
FUNCTION = re.compile(r"\b([A-Za-z_]\w*(?:\.[a-z_]\w*)?)\(\)")
PROPERTY = re.compile(r"`([A-Z]\w+\.[a-z_]+)`")
EVENT = re.compile(r"`((?:turn|search|page|citation|state)\.[a-z]+)`")
TABLE_ROW = re.compile(r"^\| .+ \| (.*`.+) \| `[\w.]+\(\)` \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "agent-loop.md").read_text(encoding="utf-8")


def place(root: Path, named: str) -> Path:
    return root / named if named.startswith(("tests/", "src/")) else root / "src" / "lumina" / named


def defined(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            names |= {f"{node.name}.{one.name}" for one in inside}
    return names


def test_every_file_that_it_names_exists(root: Path, page: str) -> None:
    named = FILE.findall(page)
    assert len(named) > 20
    assert [file for file in named if not place(root, file).is_file()] == []


def test_every_function_is_in_the_file_that_it_says(root: Path, page: str) -> None:
    """In a file of its own line; on a line without one, in any file of the page."""
    everywhere = set().union(*(defined(place(root, file)) for file in FILE.findall(page)))
    lost = []
    for line in page.splitlines():
        files = FILE.findall(line)
        there = set().union(*(defined(place(root, file)) for file in files)) if files else everywhere
        lost += [(name, files) for name in (*FUNCTION.findall(line), *PROPERTY.findall(line)) if name not in there]
    assert lost == []


def test_every_event_and_every_table_that_it_names_exists(page: str) -> None:
    from lumina.agent.events import EVENT as UNION
    from lumina.stores.schema import metadata

    kinds = set(UNION.json_schema()["discriminator"]["mapping"])
    assert [name for name in EVENT.findall(page) if name not in kinds] == []
    rows = TABLE_ROW.findall(page)
    assert len(rows) == 19
    written = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert written - kinds <= set(metadata.tables)


def test_its_limits_are_those_of_the_code(page: str) -> None:
    from lumina.agent.desk import Limits

    limits = {name: int(value) for name, value in re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE)}
    assert limits == {name: value for name, value in asdict(Limits()).items() if name != "note_pause"}
