"""Runs commands in this process, each test with a data folder of its own."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lumina.cli.main import carry_out


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def lumina(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = carry_out(list(arguments))
        sys.stdout.flush()
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Done(code, captured.out, captured.err)

    return run
