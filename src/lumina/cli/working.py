"""An event loop beside the keyboard.

The work of a command runs in a thread of its own. The main thread waits, or reads the keyboard, and is the one that
Ctrl-C reaches. So a chat goes on noting while somebody types, and Ctrl-C means something definite at any moment:

- the first stops what can be stopped (an answer, which then ends as partial), or else ends the command;
- the second leaves at once, whatever hangs. What was acknowledged is kept; a running turn ends as interrupted when its
  conversation is opened next.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
STOPPED = 130


class Worker:
    """Runs coroutines, one after another, on one loop. Used with `with`, from the main thread."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="lumina", daemon=True)
        self._future: Future[Any] | None = None
        self._stop: Callable[[], object] | None = None
        self._before: Any = None
        self.interrupts = 0  # how often Ctrl-C was pressed since the last `do` began

    def __enter__(self) -> "Worker":
        self._thread.start()
        self._ready.wait()
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends what still runs and waits for it; a Ctrl-C meanwhile leaves."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` to its end. KeyboardInterrupt if Ctrl-C ended it."""
        self.interrupts = 0
        self._future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return self._future.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._future = None

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """Inside the work: while it lasts, the first Ctrl-C calls `stop` on the loop and ends nothing else."""
        self._stop = stop
        try:
            yield
        finally:
            self._stop = None

    @contextmanager
    def keyboard(self) -> Iterator[None]:
        """While the main thread reads the keyboard, Ctrl-C raises there."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            asyncio.set_event_loop(self._loop)
            self._ready.set()
            self._loop.run_forever()

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self.interrupts += 1
        if self.interrupts > 1 or (self._stop is None and self._future is None):
            leave()
        if self._stop is not None:
            if sys.stderr.isatty():
                os.write(sys.stderr.fileno(), b"\n(stopping; Ctrl-C again leaves at once)\n")
            self._loop.call_soon_threadsafe(self._stop)
        elif self._future is not None:
            self._future.cancel()


def complete(work: Callable[[Worker], Coroutine[Any, Any, T]]) -> T:
    """Runs the work of a whole command."""
    with Worker() as worker:
        return worker.do(work(worker))


def leave() -> None:
    """Leaves now: no cleaning up that could hang. Only the cursor, which a progress bar hides, is given back."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\x1b[?25h\n")
    os._exit(STOPPED)
