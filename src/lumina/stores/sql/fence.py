"""Whose turn it is: the check inside a write to a turn that is being answered.

The store that begins a turn leaves its token with the thread. When it seems to be gone, the next one that opens the
thread ends the turn as interrupted. Seeming is not being: a machine that hung, or was cut off, comes back and goes on
writing. So each write to a turn looks, in its own transaction, whether the turn is still its own: what a worker writes
after it was given up is not kept, and it is told.
"""

from sqlalchemy import Connection, and_, select

from lumina.memory.errors import StoreError
from lumina.memory.scope import ThreadScope
from lumina.stores.schema import THREAD, threads, turns
from lumina.stores.sql.keys import inside, of_turn

STANDS = (
    select(turns.c.status, turns.c.reason, threads.c.owner, (threads.c.running == turns.c.seq).label("runs"))
    .join_from(turns, threads, and_(*(turns.c[name] == threads.c[name] for name in THREAD)))
    .where(*of_turn(turns))
)


def still_mine(connection: Connection, scope: ThreadScope, seq: int, attempt: int, mine: str) -> None:
    """StoreError when the turn was ended as interrupted, or is being answered by another store than that of token
    `mine` ("" when it has begun none). A turn that is not there is the caller's to notice."""
    row = connection.execute(STANDS, inside(scope, seq, attempt)).one_or_none()
    if row is None:
        return
    if row.status == "partial" and row.reason == "interrupted":
        raise StoreError(
            f"Turn {seq} was ended as interrupted by another process, which found this one gone. Nothing of this step "
            "was stored; ask again."
        )
    held_by_another(seq, row.status, row.runs, row.owner, mine)


def held_by_another(seq: int, status: object, runs: object, owner: object, mine: str) -> None:
    if status == "running" and runs and owner and owner != mine:
        raise StoreError(f"Turn {seq} is being answered by another process. Nothing of this step was stored.")


def may_end(connection: Connection, scope: ThreadScope, seq: int, attempt: int, mine: str) -> None:
    """As `still_mine`, for the end of a turn: one that has ended is left as it is, and returned to whoever ends it."""
    row = connection.execute(STANDS, inside(scope, seq, attempt)).one_or_none()
    if row is not None:
        held_by_another(seq, row.status, row.runs, row.owner, mine)
