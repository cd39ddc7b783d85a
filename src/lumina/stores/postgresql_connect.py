"""How a PostgreSQL database is opened, and how its errors are told.

Lumina's tables stand in a schema of their own, `lumina`, so that a database can be shared with another program without
either seeing the other's tables. A commit is on the disk before it is acknowledged (synchronous_commit on, or what the
administrator has set beyond it). Ten processes that open a new database at once wait for one of them to make the
tables, under an advisory lock, in one transaction.

A URL can hold a password. No message, log line or exception that is made here shows it.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from lumina.memory.errors import LuminaError, StoreError, UsageError
from lumina.stores.schema import REVISIONS

T = TypeVar("T")
SCHEMA = "lumina"
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
OLDEST = 13  # the version that brought pg_current_xact_id
CONNECT_SECONDS = 10
LOCK_SECONDS = 60  # how long a writer of another process is waited for
PATIENCE = 10.0  # seconds in which a server that was started again is reached again
TRIES = 20  # for a job that others were in the way of
MIGRATING = 0x6C756D696E61  # the advisory lock of who changes the tables: "lumina" in ASCII
# Settings of each connection. Keepalives let the server notice within a minute that a machine is gone; an open
# transaction that nobody goes on with gives up its locks.
SETTINGS = f"""
    SELECT set_config('search_path', '{SCHEMA}', false), set_config('jit', 'off', false),
        set_config('lock_timeout', '{LOCK_SECONDS}s', false),
        set_config('idle_in_transaction_session_timeout', '{LOCK_SECONDS}s', false),
        set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
        set_config('tcp_keepalives_count', '3', false),
        set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
"""
IS_NEW = text("SELECT to_regclass(:versions) IS NULL")
THEIRS = text(
    "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
    "WHERE nspname = :schema AND relkind IN ('r', 'p', 'v', 'm', 'f')"
)
VECTORS = text(
    "SELECT nspname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid "
    "JOIN pg_namespace ON pg_namespace.oid = typnamespace "
    "WHERE attrelid = to_regclass(:vectors) AND attname = 'vector' AND typname = 'vector'"
)
ABOUT = text("SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')")


def parse(where: str) -> URL:
    """The database that a URL names. UsageError, which does not repeat the URL, when it names none."""
    try:
        url = make_url(where)
        if url.drivername not in SCHEMES:
            raise ArgumentError
        if not url.database:
            raise UsageError(
                "The PostgreSQL URL names no database. Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
            )
    except (ArgumentError, ValueError):
        raise UsageError(
            "This is no PostgreSQL URL. Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the "
            "password."
        ) from None
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise UsageError(
            "PostgreSQL needs the package psycopg, which is not installed: pip install 'lumina-search[postgres]'."
        ) from None
    return url.set(drivername="postgresql+psycopg")


def shown(url: URL) -> str:
    """The place for people: no password, and no parameters, which can hold one."""
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"PostgreSQL database {url.database!r} on {host if isinstance(host, str) else host[0]}{port}"


def connect(url: URL, *, pool: int = 0) -> Engine:
    """An engine with at most `pool` connections, made as they are needed; 0: each is closed after its use."""
    kept: dict[str, Any] = {"poolclass": NullPool}
    if pool:
        kept = {"poolclass": QueuePool, "pool_size": pool, "max_overflow": 0, "pool_timeout": LOCK_SECONDS}
    given = {"connect_timeout": CONNECT_SECONDS, "client_encoding": "utf8", "application_name": "lumina"}
    engine = create_engine(
        url, connect_args={name: value for name, value in given.items() if name not in url.query}, hide_parameters=True,
        use_native_hstore=False, isolation_level="READ COMMITTED", **kept,
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: object) -> None:
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(SETTINGS)
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise

    return engine


def prepare(url: URL) -> str:
    """Makes the tables, or brings them up to date, if need be. Returns the schema of the type `vector` of pgvector, ""
    when vectors are kept as bytes. Blocks: run it in a thread."""
    engine = connect(url)
    try:
        with telling(url), engine.connect() as connection:
            version, encoding = connection.execute(ABOUT).one()
            if version < OLDEST:
                raise StoreError(f"{shown(url)} runs version {version}. Lumina needs PostgreSQL {OLDEST} or newer.")
            if encoding != "UTF8":
                raise StoreError(
                    f"{shown(url)} has the encoding {encoding}, which cannot keep every text. Create one with ENCODING "
                    "'UTF8' TEMPLATE template0."
                )
            if _revision(connection, url) != REVISIONS[-1]:
                _upgrade(connection, url)
                connection.commit()
            return connection.execute(VECTORS, {"vectors": f"{SCHEMA}.vectors"}).scalar() or ""
    finally:
        engine.dispose()


def _revision(connection: Connection, url: URL) -> str | None:
    """The schema's revision, None when there are no tables yet. StoreError for what is not of this program."""
    if connection.execute(IS_NEW, {"versions": f"{SCHEMA}.alembic_version"}).scalar_one():
        if connection.execute(THEIRS, {"schema": SCHEMA}).scalar_one():
            raise StoreError(
                f"The schema {SCHEMA} in {shown(url)} holds tables of another program. It was left as it is; choose "
                "another database for Lumina."
            )
        return None
    revision = connection.execute(text(f"SELECT max(version_num) FROM {SCHEMA}.alembic_version")).scalar()  # noqa: S608
    if revision is not None and revision not in REVISIONS:
        raise StoreError(
            f"{shown(url)} has schema {revision!r}, which this version of Lumina does not know: a newer version has "
            f"written it. It was left as it is; install that version, or open another database (known up to "
            f"{REVISIONS[-1]})."
        )
    return revision


def _upgrade(connection: Connection, url: URL) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
    if _revision(connection, url) == REVISIONS[-1]:
        return  # another process has done it meanwhile
    # Asked before it is made: CREATE SCHEMA IF NOT EXISTS needs the right to create one even where it exists.
    if not connection.execute(text("SELECT to_regnamespace(:schema) IS NOT NULL"), {"schema": SCHEMA}).scalar_one():
        connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
    from lumina.stores.migrations import upgrade  # alembic is loaded only when it has work to do

    upgrade.upgrade(connection)


def patiently(url: URL, once: Callable[[], T]) -> T:
    """The result of `once`, begun again as long as it has done nothing: others were faster, or the server was away."""
    end = time.monotonic() + PATIENCE
    tries = 0
    while True:
        tries += 1
        try:
            with telling(url):
                return once()
        except Overtaken:
            if tries >= TRIES:
                raise
            time.sleep(0.002 * tries)
        except LostConnection:
            if time.monotonic() > end:
                raise
            time.sleep(min(0.05 * tries, 0.5))


class LostConnection(StoreError):
    """The server cannot be reached, or went away in the middle of something."""


class Overtaken(StoreError):
    """Another process was in the way: nothing was stored, and the same work may succeed when it is done again."""


def sqlstate(problem: BaseException) -> str:
    cause = problem.orig if isinstance(problem, DBAPIError) and problem.orig is not None else problem
    return getattr(cause, "sqlstate", None) or ""


@contextmanager
def telling(url: URL) -> Iterator[None]:
    """Errors of the database as errors for people."""
    try:
        yield
    except LuminaError:
        raise
    except PoolTimeout:
        raise StoreError(f"{shown(url)}: all connections of this process stayed busy. Nothing was stored.") from None
    except (SQLAlchemyError, OSError) as problem:
        raise _told(url, problem) from problem
    except OverflowError:
        raise UsageError("A number is too large for a database. Nothing was changed.") from None


def _told(url: URL, problem: BaseException) -> LuminaError:
    state, where = sqlstate(problem), shown(url)
    cause = problem.orig if isinstance(problem, DBAPIError) and problem.orig is not None else problem
    said = _one_line(str(cause), url)
    if state in ("40001", "40P01", "23503", "23505"):
        return Overtaken(
            f"{where}: another process changed the same rows again and again ({said}). Nothing was stored."
        )
    if state == "22003":
        return UsageError("A number is too large for a database. Nothing was changed.")
    if state == "54000":
        return UsageError(f"An id is too long for an index of PostgreSQL ({said}). Nothing was stored; shorten it.")
    if state == "55P03":
        return StoreError(f"{where} was held by another program for {LOCK_SECONDS} s. Nothing was stored; try again.")
    if state == "53100":
        return StoreError(f"{where}: {said}. Nothing of this step was stored; make room on the server's disk.")
    if state == "25006":
        return StoreError(f"{where} takes no writes ({said}). It may be a standby: give the URL of the primary.")
    if state == "42501":
        return StoreError(
            f"{where}: {said}. Its owner can make the schema for you: CREATE SCHEMA {SCHEMA} AUTHORIZATION "
            f"{url.username or 'your_user'};"
        )
    return (
        _unreached(where, said)
        if is_lost(problem)
        else StoreError(f"{where}: {said}. Nothing of this step was stored.")
    )


def _unreached(where: str, said: str) -> LuminaError:
    low = said.lower()
    if "password" in low or "authentication" in low or "pg_hba" in low or 'role "' in low:
        return StoreError(f"{where} refuses this user ({said}). Check user and password in LUMINA_DATABASE_URL.")
    if 'database "' in low and "does not exist" in low:
        return StoreError(
            f"{where} does not exist. Create it: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0;"
        )
    if "invalid connection option" in low or "invalid uri" in low or "invalid sslmode" in low:
        return UsageError(f"The PostgreSQL URL has a part that cannot be used: {said}.")
    if "too many" in low or "remaining connection slots" in low:
        return StoreError(f"{where} has no connection left ({said}). Raise max_connections, or run fewer processes.")
    return LostConnection(
        f"{where} cannot be reached ({said}). Nothing of this step was stored; is the server running?"
    )


def is_lost(problem: BaseException) -> bool:
    """Whether there is no connection any more, or none was made."""
    if isinstance(problem, LostConnection | OSError):
        return True
    state = sqlstate(problem)
    if not isinstance(problem, DBAPIError):
        return False
    # Without a code it is the client's word on a connection, or on a URL.
    return problem.connection_invalidated or state[:2] in ("08", "28", "3D") or state in (
        "", "57P01", "57P02", "57P03", "57P05", "25P03", "53300",
    )  # fmt: skip


def _one_line(said: str, url: URL) -> str:
    line = re.sub(r"\s+", " ", said).strip().rstrip(".")[:300]
    secret = str(url.password or "")
    return line.replace(secret, "***") if len(secret) > 2 else line
