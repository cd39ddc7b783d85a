"""Runs the real command: in a pipe, and on a terminal that pyte draws."""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

COMMAND = [sys.executable, "-m", "lumina"]
# The command with a model that says "It keeps up to" and then waits for ever.
SLOW = [
    sys.executable,
    "-c",
    """
import os
from lumina import wiring
from lumina.agent.run import Work
if os.environ.get("STOP_HANGS"):
    Work.stop = lambda self: None
from lumina.testing import Gate, Reply, ScriptedModel, ScriptedNotes
wiring.note_taker = lambda model: ScriptedNotes()  # the model's one step is for an answer
wiring.find_model = lambda name, **_: ScriptedModel([Reply("It ", "keeps ", "up to ", Gate(), "never")])
from lumina.cli.main import run
run()
""",
]
LONGEST = 300.0  # seconds until a test that waits for output gives up


class Terminal:
    """A command on a terminal of its own. `raw` is every byte that it wrote, `text` what the screen shows."""

    def __init__(self, command: list[str], environment: dict[str, str], width: int, height: int) -> None:
        self._screen = pyte.Screen(width, height)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = b""
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

        def own_the_terminal() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, preexec_fn=own_the_terminal
        )
        os.close(theirs)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).strip()

    def type(self, keys: str) -> None:
        os.write(self._mine, keys.encode())

    def wait_for(self, words: str) -> None:
        """Reads until the screen shows `words`."""
        end = time.monotonic() + LONGEST
        while words not in self.text:
            assert self._read(end), f"{words!r} never came. The screen:\n{self.text}"

    def wait_for_prompt(self) -> None:
        end = time.monotonic() + LONGEST
        while not self.text.endswith("›"):
            assert self._read(end), f"No prompt came. The screen:\n{self.text}"

    def ended(self) -> int:
        """Reads to the end; the exit code, or minus the signal."""
        end = time.monotonic() + LONGEST
        while self._read(end):
            pass
        return self.process.wait(timeout=LONGEST)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._mine)

    def _read(self, end: float) -> bool:
        """The next piece of output; False when there is no more."""
        ready, _, _ = select.select([self._mine], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"Nothing came for too long. The screen:\n{self.text}"
        try:
            piece = os.read(self._mine, 65536)
        except OSError:  # Linux: the other side is closed
            return False
        self.raw += piece
        self._stream.feed(self._decoder.decode(piece))
        return bool(piece)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A person's environment with a data folder of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    return kept | {"LUMINA_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "PYTHONWARNINGS": "error"}


@pytest.fixture
def lumina(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs `lumina ...` in a pipe, to its end."""

    def run(*arguments: str | bytes, stdin: bytes = b"", **settings: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*COMMAND, *arguments], input=stdin, env=environment | settings, capture_output=True, timeout=LONGEST
        )

    return run


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Starts `lumina ...` on a terminal; `slow` gives it a model that never ends its answer."""
    started: list[Terminal] = []

    def start(*arguments: str, slow: bool = False, width: int = 80, height: int = 50, **settings: str) -> Terminal:
        command = [*(SLOW if slow else COMMAND), *arguments]
        started.append(Terminal(command, environment | settings, width, height))
        return started[-1]

    yield start
    for one in started:
        one.kill()
