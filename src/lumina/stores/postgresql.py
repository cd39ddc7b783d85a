"""Threads in a PostgreSQL database, for many processes on many machines.

Each method is one transaction and one job of a worker thread, as on SQLite (docs/decisions/0009), with two differences.

There are several writing threads. The writes of one conversation always go to the same one, so they queue up in the
order in which they were asked for; across processes they are put in order by a lock on the thread's row, taken before
anything is read. Numbers are given out under it: no seq is skipped, and none appears after a higher one.

The server is elsewhere, so a connection can end in the middle of a job. Before the commit nothing has happened, and the
job is done again. At the commit nobody knows: the transaction's own number is kept, and the server is asked what became
of it before anything is said.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from lumina.memory.errors import StoreError, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.turns import NewTurn, Turn
from lumina.stores.postgresql_connect import PATIENCE, connect, is_lost, parse, patiently, prepare, shown
from lumina.stores.postgresql_runs import PostgreSQLRuns
from lumina.stores.postgresql_scrub import scrub
from lumina.stores.sql import forgetting, removing
from lumina.stores.sql.held import LOCK_THREADS
from lumina.stores.sql.keys import inside
from lumina.stores.sql.pgvector import SCHEMA
from lumina.stores.sql.store import SQLStore

P = ParamSpec("P")
T = TypeVar("T")
READERS = 4  # threads, and as many connections, made as they are needed
WRITERS = 4
READ = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}  # several statements, one moment

# The lock of a writing job, and the number of its transaction.
LOCKS = {
    ThreadScope: "SELECT pg_current_xact_id()::text, (SELECT true FROM threads WHERE tenant = :in_tenant AND "
    "subject = :in_subject AND thread = :in_thread FOR NO KEY UPDATE)",
    SubjectScope: "SELECT pg_current_xact_id()::text, (SELECT true FROM subjects WHERE tenant = :in_tenant AND "
    "subject = :in_subject FOR NO KEY UPDATE)",
}
# Jobs of a subject that write to its threads, too. They take these before the subject, in the order in which a write to
# a thread does: otherwise each could wait for the other, and the server breaks that only after a second.
OVER_THREADS = (forgetting.forget, removing.remove_expired)
HOLD = {kind: text(statement) for kind, statement in LOCKS.items()}
NUMBER = text("SELECT pg_current_xact_id()::text, NULL")
OUTCOME = text("SELECT pg_xact_status(CAST(:number AS text)::xid8)")


class PostgreSQLStore(SQLStore):
    """A `Store` and a `DocumentStore`. Made by `PostgreSQLStore.open`, ended by `close`."""

    def __init__(self, url: URL, vectors: str) -> None:
        self._url = url
        self._engine = connect(url, pool=READERS + WRITERS).execution_options(**{SCHEMA: vectors})
        self._reading = self._engine.execution_options(**READ)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="lumina-reads")
        self._writers = [ThreadPoolExecutor(1, thread_name_prefix="lumina-writes") for _ in range(WRITERS)]
        self._runs = PostgreSQLRuns(url)
        self._closed = False

    @classmethod
    async def open(cls, where: str) -> "PostgreSQLStore":
        """The store in the database that the URL `where` names; its tables are made, or brought up to date, if need
        be. UsageError for a URL that cannot be used, StoreError that says what to do when the database cannot be."""
        url = parse(where)
        return cls(url, await asyncio.to_thread(prepare, url))

    async def close(self) -> None:
        """Ends the connections, once what was begun is done. A turn that this store left running can from now on be
        ended by another."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        for worker in (self._readers, *self._writers):
            worker.shutdown()
        self._engine.dispose()
        self._runs.release()

    async def _read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        def once() -> T:
            with self._reading.connect() as connection:
                return work(connection, *args, **named)

        return await asyncio.wrap_future(self._begin(self._readers, once))

    async def _write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs) -> T:
        scope = args[0] if args else None
        job = self._begin(self._writers[hash(scope) % WRITERS], lambda: self._commit(scope, work, *args, **named))
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            while not job.done():  # one that had not begun is cancelled by now; one that had takes milliseconds
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([asyncio.wrap_future(job)])
            raise

    def _begin(self, worker: ThreadPoolExecutor, once: Callable[[], T]) -> Future[T]:
        if self._closed:
            raise UsageError("This store is closed. Open it again.")
        return worker.submit(patiently, self._url, once)

    def _commit(
        self, scope: object, work: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        self._runs.keep()
        with self._engine.connect() as connection:
            if work in OVER_THREADS:
                connection.execute(LOCK_THREADS, inside(scope)).all()  # type: ignore[arg-type]
            number = _hold(connection, scope)
            done = work(connection, *args, **named)
            try:
                connection.commit()
            except SQLAlchemyError as problem:
                if not is_lost(problem):
                    raise
                connection.invalidate()
                if not self._was_committed(number):
                    raise  # nothing was stored: it is done again
            return done

    def _was_committed(self, number: str) -> bool:
        """What became of a transaction whose commit was not answered."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(SQLAlchemyError), self._engine.connect() as connection:
                status = connection.execute(OUTCOME, {"number": number}).scalar()
                if status in ("committed", "aborted"):
                    return status == "committed"
            time.sleep(0.05)
        raise StoreError(
            f"{shown(self._url)} went away while a step was being stored, and cannot be asked whether it was. Look at "
            "the thread again; a question that is sent again with the same client_id is never stored twice."
        )

    async def begin_turn(self, scope: ThreadScope, new: NewTurn, *, instead_of: int = 0) -> tuple[Turn, bool]:
        if self._closed:
            raise UsageError("This store is closed. Open it again.")
        await asyncio.to_thread(self._runs.token)  # asks the server, so not on the event loop
        return await super().begin_turn(scope, new, instead_of=instead_of)

    async def scrub(self) -> bool:
        def once() -> bool:
            with self._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                return scrub(connection)

        return await asyncio.wrap_future(self._begin(self._readers, once))

    def _token(self) -> str:
        return self._runs.held

    def _mine(self) -> str:
        return self._runs.held

    def _alive(self) -> Callable[[str], bool]:
        return self._runs.alive


def _hold(connection: Connection, scope: Any) -> str:
    """Takes the lock of what will be written to and returns the transaction's number. A thread that is not there yet
    has no row to lock; of two that make it, one is refused by its key, and finds the other's when it is done again."""
    if type(scope) in HOLD:
        return connection.execute(HOLD[type(scope)], inside(scope)).one()[0]
    return connection.execute(NUMBER).one()[0]
