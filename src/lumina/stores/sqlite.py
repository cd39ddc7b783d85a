"""Threads in one SQLite file.

Each method is one transaction, and each transaction is one job of a worker thread: what it does is in
`lumina.stores.sql` as plain functions over a connection; this module only says which of them read and which write. An
asynchronous driver would hand every statement to its thread and back, four times each; measured, that was two to four
times the processor time of a whole transaction done there (a read of the state: 1.5 ms against 0.4 ms).

There is one writing thread, so that writers of a process queue up in order and do not wait in SQLite's busy loop for
each other; those of other processes wait there. A write whose caller is cancelled is done wholly or not at all, and is
over when the caller is told.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from lumina.memory.errors import UsageError
from lumina.stores.runs import Runs
from lumina.stores.sql.store import SQLStore
from lumina.stores.sqlite_connect import BUSY_SECONDS, WRITE, connect, prepare, telling
from lumina.stores.sqlite_scrub import scrub

P = ParamSpec("P")
T = TypeVar("T")
READERS = 4  # threads, and connections; SQLite reads beside a writer


class SQLiteStore(SQLStore):
    """A `Store` and a `DocumentStore`. Made by `SQLiteStore.open`, ended by `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = connect(path)
        self._writing = self._engine.execution_options(**WRITE)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="lumina-reads")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="lumina-writes")
        self._runs = Runs(path)
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> "SQLiteStore":
        """Makes the file, or brings it up to date, if need be. StoreError says what to do when it cannot be used."""
        return cls(await asyncio.to_thread(prepare, path))

    async def close(self) -> None:
        """Gives up the file, once what was begun is done. A turn that this store left running can from now on be
        ended by another."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._readers.shutdown()
        self._writer.shutdown()
        self._engine.dispose()
        self._runs.release()

    async def _read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.wrap_future(self._begin(self._readers, self._engine.connect, work, *args, **named))

    async def _write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        job = self._begin(self._writer, self._writing.begin, work, *args, **named)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            while not job.done():  # one that had not begun is cancelled by now; one that had takes milliseconds
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([asyncio.wrap_future(job)])
            raise

    def _begin(
        self,
        worker: ThreadPoolExecutor,
        connected: Callable[[], AbstractContextManager[Any]],
        work: Callable[Concatenate[Any, P], T],
        *args: P.args,
        **named: P.kwargs,
    ) -> Future[T]:
        if self._closed:
            raise UsageError("This store is closed. Open it again.")

        def job() -> T:
            with telling(self._path), connected() as connection:
                return work(connection, *args, **named)

        return worker.submit(job)

    async def scrub(self) -> bool:
        return await asyncio.wrap_future(self._begin(self._writer, self._outside, scrub, BUSY_SECONDS))

    @contextmanager
    def _outside(self) -> Iterator[Any]:
        """A connection in no transaction: a checkpoint cannot be part of one."""
        connection = self._engine.raw_connection()
        try:
            yield connection.dbapi_connection
        finally:
            connection.close()

    def _token(self) -> str:
        return self._runs.token()

    def _mine(self) -> str:
        return self._runs.held

    def _alive(self) -> Callable[[str], bool]:
        return self._runs.alive
