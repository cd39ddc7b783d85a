"""Takes what was deleted out of a SQLite file's bytes.

`secure_delete` overwrites what a statement frees, in the database. Two places keep old bytes all the same: the
full-text index, whose segments hold a deleted word until they are merged, and the write-ahead log, which holds old
pages until it is truncated. So the index is merged into one segment, and then the log is checkpointed and cut to
nothing. A reader in another program can hold the log for as long as it reads; it is waited for, up to a limit.
"""

import sqlite3
from typing import Any

WAIT_SECONDS = 5.0  # for readers of other programs
MERGE = "INSERT INTO turn_words (turn_words) VALUES ('optimize')"


def scrub(connection: Any, busy_seconds: float) -> bool:
    """On a DBAPI connection that is in no transaction. Whether nothing that was deleted is left. `busy_seconds` is
    what the connection waits otherwise."""
    cursor: sqlite3.Cursor = connection.cursor()
    try:
        cursor.execute("BEGIN IMMEDIATE")
        try:
            cursor.execute(MERGE)
            cursor.execute("COMMIT")
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")
        cursor.close()
