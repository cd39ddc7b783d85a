"""How a SQLite file is opened, and how its errors are told.

WAL with synchronous FULL: a commit is on the disk before it is acknowledged, and readers never wait for a writer. Every
writing transaction takes the write lock when it begins (BEGIN IMMEDIATE); a transaction that first reads and then
writes would otherwise fail at once when another has written in between, whatever the timeout. Python's sqlite3 would
open transactions of its own, so its handling is switched off (`isolation_level = None`) and BEGIN is sent here.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lumina.memory.errors import StoreError, UsageError
from lumina.stores import rows
from lumina.stores.schema import REVISIONS

BUSY_SECONDS = 60.0  # how long a writer of another process is waited for
PRAGMAS = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
    "temp_store = MEMORY",
    "cache_size = -32000",
)
WRITE = {"lumina_begin": "BEGIN IMMEDIATE"}


def prepare(path: Path) -> Path:
    """Makes the file if there is none and brings its schema up to date; returns its absolute path. Blocks: run it in
    a thread.
    """
    path = path.absolute()
    with telling(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StoreError(
                f"The folder {path.parent} cannot be made ({problem.strerror}). Choose another place for the database."
            ) from None
        if _revision(path) != REVISIONS[-1]:
            _use_wal(path)
            from lumina.stores.migrations.upgrade import upgrade  # alembic is loaded only when it has work to do

            engine = connect(path)
            try:
                with engine.execution_options(**WRITE).begin() as connection:
                    upgrade(connection)
            finally:
                engine.dispose()
    return path


def _revision(path: Path) -> str | None:
    """The schema's revision, None for an empty file. StoreError for anything that is not a database of this program."""
    if not path.exists():
        return None
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'").fetchone()[0]
        if tables:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            revision = found[0] if found else None
        elif connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreError(
                f"{path} is a database of another program. It was left as it is; choose another place for Lumina's."
            )
        else:
            return None
    if revision not in REVISIONS:
        raise StoreError(
            f"{path} has schema {revision!r}, which this version of Lumina does not know: a newer version has written "
            f"it. It was left as it is; install that version, or open another database (known up to {REVISIONS[-1]})."
        )
    return revision


def _use_wal(path: Path) -> None:
    # SQLite does not wait for others when it changes the journal mode, so several first openers try in turn.
    end = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem) or time.monotonic() > end:
                    raise
                time.sleep(0.02)


def connect(path: Path) -> Engine:
    """An engine on a prepared file. A connection serves one job at a time, on whichever thread has it."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        pool_size=5,
        max_overflow=0,
        pool_timeout=BUSY_SECONDS,
    )
    _listen(engine)
    return engine


def _listen(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: object) -> None:
        connection.isolation_level = None
        connection.text_factory = rows.decode
        cursor = connection.cursor()
        for pragma in PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begins(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("lumina_begin", "BEGIN"))


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Errors of the database as errors for people."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as problem:
        cause = problem.orig if isinstance(problem, DBAPIError) and problem.orig is not None else problem
        raise StoreError(_told(path, str(cause))) from problem
    except OverflowError:
        raise UsageError("A number is too large for a database. Nothing was changed.") from None


def _told(path: Path, cause: str) -> str:
    low = cause.lower()
    if "not a database" in low:
        return f"{path} is not a database. It was left as it is; choose another file."
    if "readonly" in low:
        return f"{path} cannot be written to ({cause}). Make the file and its folder writable, or choose another place."
    if "unable to open" in low:
        return f"{path} cannot be opened ({cause}). Check that it is a file, and that it and its folder may be written."
    if "full" in low or "disk i/o" in low:
        return f"{path}: {cause}. Nothing of this step was stored; make room on the disk and try again."
    if "locked" in low or "busy" in low:
        return f"{path} was held by another program for {BUSY_SECONDS:.0f} s. Nothing was stored; try again."
    if "malformed" in low or "corrupt" in low:
        return f"{path} is damaged ({cause}). It was left as it is; restore it from a copy."
    return f"{path}: {cause}. Nothing of this step was stored."
