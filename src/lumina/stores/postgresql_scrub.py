"""Takes what was deleted out of the files of a PostgreSQL database's tables, as far as it may and can.

A deleted row stays in its table's file until VACUUM, and its bytes stay after it: VACUUM marks their room as free and
writes nothing over them (measured: the last turn of a table was still in the file, and the words in the index). VACUUM
FULL writes the table and its indexes anew, without them. It keeps everybody from the table while it does, so only
tables up to a size are written anew; a larger one is vacuumed, and the answer is that bytes may be left.

A transaction that began before keeps deleted rows alive, in a new file too; it is waited for a little. What no
statement reaches is the write-ahead log, standbys and backups. The planner's statistics hold no text of turns
(`lumina.stores.migrations.vectors_on_postgresql`).
"""

import time

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from lumina.stores.postgresql_connect import LOCK_SECONDS, SCHEMA, sqlstate
from lumina.stores.schema import metadata

LARGEST = 64 << 20  # bytes of a table with its indexes: written anew in about a second
WAIT_SECONDS = 5.0  # for transactions that began before
LOCK_WAIT_SECONDS = 2  # for a table; whoever comes after us to the same table waits as long
TABLES = sorted({*metadata.tables, "turn_words"} - {"meta", "counters", "audit"})

NOW = text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
# Sessions of another role may be shown without what they hold: then nobody can say.
OLDER = text(
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ("
    "age(backend_xmin) > age(CAST(:now AS xid)) OR age(backend_xid) > age(CAST(:now AS xid)) "
    "OR query = '<insufficient privilege>')) "
    "OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database()) "
    "OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) > age(CAST(:now AS xid)))"
)
ABOUT = text(
    "SELECT pg_total_relation_size(oid), pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(:table)"
)
LOCK_WAIT = text("SELECT set_config('lock_timeout', :wait, false)")


def scrub(connection: Connection) -> bool:
    """On a connection that commits each statement. Whether nothing that was deleted before is left in the files."""
    connection.execute(LOCK_WAIT, {"wait": f"{LOCK_WAIT_SECONDS}s"})
    try:
        anew = gone = _alone(connection)
        for table in TABLES:
            try:
                gone &= _vacuum(connection, table, anew=anew)
            except DBAPIError as problem:
                if sqlstate(problem) != "55P03":
                    raise
                anew = gone = False  # in use all the time; whoever reads one for long may well read the next
        return gone
    finally:
        if not connection.invalidated:
            connection.execute(LOCK_WAIT, {"wait": f"{LOCK_SECONDS}s"})


def _alone(connection: Connection) -> bool:
    """Whether no transaction is left that may still see what was deleted before this was asked."""
    now = int(connection.execute(NOW).scalar_one()) % (1 << 32)
    end = time.monotonic() + WAIT_SECONDS
    while connection.execute(OLDER, {"now": str(now)}).scalar_one():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _vacuum(connection: Connection, table: str, *, anew: bool) -> bool:
    """Whether the table was written anew."""
    size, ours = connection.execute(ABOUT, {"table": f"{SCHEMA}.{table}"}).one()
    if not ours:
        return False  # the server would skip it with no more than a warning
    anew = anew and size <= LARGEST
    connection.execute(text(f"VACUUM {'(FULL) ' if anew else ''}{SCHEMA}.{table}"))
    return anew
