"""A memory that began in a SQLite file goes on in PostgreSQL: sources, notes, corrections, superseded and forgotten
turns, all of it, by export and import."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lumina.cli.main import carry_out

TALK = b"I live in Paris. How does Lumina remember?\nMy name is Ana.\nWhat is a receipt?\n/again\n"


@pytest.fixture
def lumina(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command in this process; it has to end well. Returns what it printed."""

    def run(*arguments: str, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = carry_out(list(arguments))
        sys.stdout.flush()
        told = capfd.readouterr()
        assert code == 0, told.err
        return told.out

    return run


def test_a_memory_moves_to_postgresql_and_back_byte_for_byte(
    lumina: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgresql_url: str
) -> None:
    """DEMAND 31, M1."""
    first, again, back = (tmp_path / name for name in ("first.jsonl", "again.jsonl", "back.jsonl"))
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path / "home"))
    lumina("chat", "--thread", "main", stdin=TALK)
    lumina("state", "set", "pet.name", "Rex", "--thread", "main")
    lumina("forget", "turn", "1", "--thread", "main", "--yes")
    lumina("ask", "--thread", "second", "And what is a delta?")
    before = [lumina("state", "show", "main"), lumina("show", "main", "--verify"), lumina("threads")]
    assert "Rex" in before[0]
    assert "parts were forgotten" in before[1]
    lumina("export", "--all", "-o", str(first))

    monkeypatch.setenv("LUMINA_DATABASE_URL", postgresql_url)
    assert "2 conversations with 5 turns imported: main, second" in lumina("import", str(first))
    assert [lumina("state", "show", "main"), lumina("show", "main", "--verify"), lumina("threads")] == before
    assert "fold of its deltas, byte for byte" in lumina("show", "second", "--verify")
    lumina("export", "--all", "-o", str(again))
    assert again.read_bytes() == first.read_bytes()
    assert "Ana" in lumina("ask", "--thread", "main", "What is my name?")
    assert "The word index of 2 conversations" in lumina("reindex", "--words")

    monkeypatch.delenv("LUMINA_DATABASE_URL")
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path / "elsewhere"))
    lumina("import", str(again))
    lumina("export", "--all", "-o", str(back))
    assert back.read_bytes() == first.read_bytes()
