"""From a place to a store."""

import os
from pathlib import Path

from lumina.memory.errors import UsageError
from lumina.memory.store import Store

SQLITE = "sqlite:///"
POSTGRESQL = ("postgresql://", "postgres://", "postgresql+psycopg://")


async def open_store(where: str | os.PathLike[str] | None = None) -> Store:
    """The store at `where`: a path or `sqlite:///PATH` is a SQLite file, made with its folder when missing;
    `postgresql://USER:PASSWORD@HOST:PORT/DATABASE` is a PostgreSQL database; None or ":memory:" is kept in memory and
    gone when closed.

    Raises UsageError for a place that is not one of these, StoreError when the file cannot be used; the message says
    what to do.
    """
    if where is None or where == ":memory:":
        from lumina.stores.in_memory import InMemoryStore

        return InMemoryStore()
    if isinstance(where, str) and where.startswith(POSTGRESQL):
        from lumina.stores.postgresql import PostgreSQLStore

        return await PostgreSQLStore.open(where)
    from lumina.stores.sqlite import SQLiteStore

    return await SQLiteStore.open(_path(where))


def _path(where: str | os.PathLike[str]) -> Path:
    place = os.fspath(where)
    if not isinstance(place, str) or not place or "\0" in place:
        raise UsageError("Give the path of a database file, or None to keep everything in memory.")
    scheme, is_url, _ = place.partition("://")
    if is_url and not place.startswith(SQLITE):
        raise UsageError(
            f"{scheme}:// is not a kind of database that Lumina knows. Give a path, sqlite:///PATH or "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        )
    path = place.removeprefix(SQLITE) if is_url else place
    if not path or path == ":memory:":
        raise UsageError("The URL names no file. Write sqlite:///PATH, with four slashes for an absolute path.")
    return Path(path).expanduser()
