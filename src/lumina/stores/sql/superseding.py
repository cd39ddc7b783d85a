"""A turn asked again or otherwise: what stood from there on makes room.

Nothing is deleted but words of the index, so that superseded turns are not recalled; rows, receipts and events stay to
be shown. Snapshots are dropped, not folded here: a store keeps rows, and what they fold to is the memory's rule.
"""

from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, select, update

from lumina.memory.scope import ThreadScope
from lumina.stores import checks, rows
from lumina.stores.schema import TURN, deltas, passages, turns
from lumina.stores.sql import recall, state
from lumina.stores.sql.keys import inside, of_thread

# Only what is soundly marked as live: a damaged mark is left as it is found.
FROM_HERE = (*of_thread(turns), turns.c.seq >= bindparam("first"), turns.c.superseded == 0)
ATTEMPTS = select(turns.c.attempt, turns.c.number, turns.c.superseded, turns.c.forgotten).where(
    *of_thread(turns), turns.c.seq == bindparam("first")
)
INDEXED = (
    select(passages.c.id)
    .select_from(passages.join(turns, and_(*(passages.c[name] == turns.c[name] for name in TURN))))
    .where(*FROM_HERE)
)
IN_PROFILE = (
    select(deltas.c.seq)
    .select_from(deltas.join(turns, and_(*(deltas.c[name] == turns.c[name] for name in TURN))))
    .where(*FROM_HERE, deltas.c.correction == 0)
    .limit(1)
)
SUPERSEDE = update(turns).where(*FROM_HERE).values(superseded=1)


def make_room(connection: Connection, scope: ThreadScope, thread: Row[Any], seq: int) -> tuple[int, int]:
    """Supersedes turn `seq` and all after it. Returns the next attempt of `seq`, and its number."""
    attempts = connection.execute(ATTEMPTS, {**inside(scope), "first": seq}).all()
    known = [rows.readable(f"turn {seq}", _attempt, row) for row in attempts]
    if not any(live for _, _, live in known):
        raise checks.no_place(seq)
    here = {**inside(scope), "first": seq}
    recall.unindex(connection, thread.handle, connection.execute(INDEXED, here).scalars().all())
    in_profile = connection.execute(IN_PROFILE, here).first() is not None
    connection.execute(SUPERSEDE, here)
    state.drop(connection, scope)
    if in_profile:
        state.drop(connection, scope.of_subject)
    return max(attempt for attempt, _, _ in known) + 1, known[0][1]


def _attempt(row: Any) -> tuple[int, int, bool]:
    live = not rows.whole(row, "superseded", 0, 1) and not rows.text(row, "forgotten")
    return rows.whole(row, "attempt", 1), rows.whole(row, "number", 1), live
