"""A few processes that read pages, started when they are needed and killed when they do not come to an end.

One bad page costs its own reading: the process that is busy with it is killed, and the next page gets a new one.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

AT_ONCE = 2
SECONDS = 12.0  # for one page
SPARE = 5.0  # by so much longer the process's own alarm waits
JOBS = 200  # after so many pages a process is replaced: what parsers leave behind is freed
LONGEST_ANSWER = 20_000_000  # bytes
PIECE = 262_144  # bytes
STARTS = 30.0  # seconds in which a new process must be ready, on a busy machine too
INHERITED = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class NotRead(Exception):
    """The process was ended, or could not be started; says why, for a person."""


class Workers:
    """Reads in other processes. `aclose` ends them; without it they end with this process."""

    def __init__(self, *, timeouts: Callable[[float], asyncio.Timeout] = asyncio.timeout) -> None:
        self._timeouts = timeouts
        self._idle: list[_Worker] = []
        self._free = asyncio.Semaphore(AT_ONCE)
        self._all: set[_Worker] = set()

    async def ask(self, body: bytes, **asked: Any) -> dict[str, Any]:
        """The answer of `worker`. Raises NotRead."""
        async with self._free:
            worker = self._idle.pop() if self._idle else await self._started()
            try:
                async with self._timeouts(SECONDS):
                    answer = await worker.ask(body, {**asked, "size": len(body), "seconds": SECONDS + SPARE})
            except TimeoutError:
                await self._end(worker)
                raise NotRead(f"reading it took more than {SECONDS:g} seconds") from None
            except (OSError, EOFError, ValueError):  # it has ended: memory, or a fault of a parser
                await self._end(worker)
                raise NotRead("reading it needs too much memory or time, or it is damaged") from None
            except BaseException:
                await self._end(worker)
                raise
            if worker.jobs < JOBS:
                self._idle.append(worker)
            else:
                await self._end(worker)
            return answer

    async def aclose(self) -> None:
        for worker in list(self._all):
            await self._end(worker)
        self._idle.clear()

    async def _started(self) -> "_Worker":
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "lumina.adapters.pages.worker",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
            )  # fmt: skip
        except OSError as error:
            raise NotRead(f"no process could be started to read it ({error.strerror})") from None
        worker = _Worker(process)
        self._all.add(worker)
        try:
            async with self._timeouts(STARTS):
                await worker.answer()
        except (OSError, EOFError, ValueError):  # TimeoutError among them
            await self._end(worker)
            raise NotRead("the process that should read it did not start") from None
        except BaseException:
            await self._end(worker)
            raise
        return worker

    async def _end(self, worker: "_Worker") -> None:
        self._all.discard(worker)
        await worker.end()


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.jobs = 0
        self._process = process

    async def ask(self, body: bytes, asked: dict[str, Any]) -> dict[str, Any]:
        stdin = self._process.stdin
        if stdin is None:
            raise EOFError
        stdin.write(json.dumps(asked).encode("ascii") + b"\n")
        for at in range(0, len(body), PIECE):  # in pieces, so that no second copy of it waits in a buffer
            stdin.write(body[at : at + PIECE])
            await stdin.drain()
        answer = await self.answer()
        self.jobs += 1
        return answer

    async def answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        if stdout is None:
            raise EOFError
        length = int.from_bytes(await stdout.readexactly(4), "big")
        if length > LONGEST_ANSWER:
            raise ValueError("an answer of this length is none")
        return json.loads(await stdout.readexactly(length))

    async def end(self) -> None:
        """Kills it and waits, so that no dead process is left standing."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        with contextlib.suppress(Exception):
            if self._process.stdin is not None:
                self._process.stdin.close()
        await asyncio.shield(self._process.wait())


def _environment() -> dict[str, str]:
    """What a Python process needs to find its modules; no key and no setting."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
