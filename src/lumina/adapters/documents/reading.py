"""Reading many files at once: in worker processes when it pays, in a thread when it does not.

One file must not end the reading of the others. A worker that dies, or needs more than three minutes for one
file, takes only that file with it: the files it may have been busy with are tried again alone, and the one
that does it again is refused. Where no process can be started, files are read in a thread of this one.
"""

import asyncio
import hashlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from lumina.adapters.documents.document_text import Refused
from lumina.adapters.documents.passages import cut
from lumina.adapters.documents.readers import MAX_BYTES, READER, read_document
from lumina.agent.ports import NewDocument

PROCESSES_FROM = 24  # files; below, starting the processes costs more than they save
SECONDS = 180  # for one file, in a worker process; 20 MB of text take half a minute on a quiet machine
PREFIX = "doc:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A file that was read: the document to keep, and what a person should know of it."""

    document: NewDocument
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file that the system would not open; whether its text has changed is not known."""

    reason: str


Outcome = Prepared | Refused | Unreadable


def locator(path: Path) -> str:
    """A document's identity: `doc:` and the absolute path of its file, with forward slashes."""
    return PREFIX + path.as_posix()


def digest(data: bytes) -> str:
    """What tells whether a kept document is still what its file says: the content's hash, and the reader's
    version.
    """
    return f"{READER}:{hashlib.sha256(data).hexdigest()}"


def file_bytes(path: Path) -> bytes | Unreadable:
    """The file's bytes, one more than may be read at most."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        return Unreadable(reason=f"it cannot be opened ({error.strerror})")


def prepare(path: Path) -> Outcome:
    """Reads one file and cuts it into passages. Runs in a worker process, so it is a plain function of plain
    values.
    """
    data = file_bytes(path)
    if isinstance(data, Unreadable):
        return data
    document = read_document(path.name, data)
    if isinstance(document, Refused):
        return document
    return Prepared(
        document=NewDocument(
            locator=locator(path),
            url=path.as_uri(),
            title=document.title,
            digest=digest(data),
            text=document.text,
            passages=cut(document),
            size=len(data),
        ),
        notes=document.notes,
    )


async def prepare_all(paths: Sequence[Path], *, workers: int | None = None) -> AsyncIterator[tuple[Path, Outcome]]:
    """Every path with its outcome, in the order in which they are ready. `workers` 0: no processes."""
    count = min(os.cpu_count() or 1, 8) if workers is None else workers
    waiting = deque(paths)
    if count > 0 and (workers is not None or len(paths) >= PROCESSES_FROM):
        async for path, outcome in _in_processes(waiting, count):
            yield path, outcome
    while waiting:
        path = waiting.popleft()
        yield path, await asyncio.to_thread(prepare, path)


async def _in_processes(waiting: deque[Path], count: int) -> AsyncIterator[tuple[Path, Outcome]]:
    """Takes paths from `waiting` until it is empty, or until no process can be started."""
    while waiting:
        pool = await _started(count)
        if pool is None:
            return
        suspects: list[Path] = []
        try:
            async for path, outcome in _through(pool, waiting, 2 * count, suspects):
                yield path, outcome
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        for path in suspects:
            yield path, await _alone(path)


async def _through(
    pool: ProcessPoolExecutor, waiting: deque[Path], ahead: int, suspects: list[Path]
) -> AsyncIterator[tuple[Path, Outcome]]:
    """Keeps `ahead` files under way. When a worker dies, those under way become suspects and it ends."""
    loop = asyncio.get_running_loop()
    running: dict[asyncio.Future[Outcome], Path] = {}
    while (waiting or running) and not suspects:
        while waiting and len(running) < ahead:
            try:
                running[loop.run_in_executor(pool, _timed, waiting[0], SECONDS)] = waiting[0]
            except BrokenExecutor:
                break
            waiting.popleft()
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for future in done:
            path = running.pop(future)
            if isinstance(future.exception(), BrokenExecutor):
                suspects.append(path)
            else:
                yield path, future.result()
    if suspects:
        settled = await asyncio.gather(*running, return_exceptions=True)
        for path, outcome in zip(running.values(), settled, strict=True):
            if isinstance(outcome, BaseException):
                suspects.append(path)
            else:
                yield path, outcome


async def _alone(path: Path) -> Outcome:
    """The outcome for a file under suspicion, in a process of its own."""
    ended = Refused(reason=f"reading it failed, or took more than {SECONDS} seconds; it may be damaged")
    pool = await _started(1)
    if pool is None:
        return ended
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, _timed, path, SECONDS)
    except BrokenExecutor:
        return ended
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


async def _started(count: int) -> ProcessPoolExecutor | None:
    """A pool whose first worker has answered, or None where processes cannot be used."""
    try:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_depend_on_the_parent)
    except (OSError, ImportError, NotImplementedError):
        return None
    try:
        await asyncio.get_running_loop().run_in_executor(pool, _ready)
    except (BrokenExecutor, OSError):
        pool.shutdown(wait=False, cancel_futures=True)
        return None
    return pool


def _ready() -> bool:
    return True


def _depend_on_the_parent() -> None:
    """Ctrl-C is the parent's to handle; and when it is gone, killed or not, so is this process: its queue would never
    tell it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), name="lumina-parent", daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _timed(path: Path, seconds: float) -> Outcome:
    """`prepare`, with a clock that ends this process; a parser written in C cannot be interrupted otherwise."""
    if not hasattr(signal, "setitimer"):  # Windows
        return prepare(path)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return prepare(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
