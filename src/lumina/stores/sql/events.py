"""The logs: one for each attempt at a turn, and the thread's own under (0, 0). Numbers count from 1 without gaps."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, func, insert, select

from lumina.memory.scope import ThreadScope
from lumina.stores import rows
from lumina.stores.checks import MOST, check_bodies
from lumina.stores.schema import events
from lumina.stores.sql import late
from lumina.stores.sql.fence import still_mine
from lumina.stores.sql.keys import columns, inside, of_turn, thread_row, turn_number
from lumina.stores.sql.portable import is_whole

# Numbers that are none are passed over: a log goes on after a damaged row.
LAST = select(func.max(events.c.number)).where(*of_turn(events), is_whole(events.c.number), events.c.number <= MOST)
AFTER = (
    select(events.c.number, events.c.body)
    .where(*of_turn(events), events.c.number > bindparam("after"))
    .order_by(events.c.number)
)
ADD = insert(events)


def append(connection: Connection, scope: ThreadScope, seq: int, attempt: int, bodies: Sequence[str], mine: str) -> int:
    check_bodies(bodies)
    if (seq, attempt) == (0, 0):
        thread_row(connection, scope)
        bodies = late.event_bodies(connection, scope, bodies)
    else:
        turn_number(connection, scope, seq, attempt)
        still_mine(connection, scope, seq, attempt, mine)
    return add(connection, scope, seq, attempt, bodies)


def add(connection: Connection, scope: ThreadScope, seq: int, attempt: int, bodies: Sequence[str]) -> int:
    """`append` for a log that is known to exist."""
    last: int = connection.execute(LAST, inside(scope, seq, attempt)).scalar() or 0
    if bodies:
        key = columns(scope, seq, attempt)
        connection.execute(ADD, [{**key, "number": last + n, "body": body} for n, body in enumerate(bodies, 1)])
    return last + 1


def read(connection: Connection, scope: ThreadScope, seq: int, attempt: int, after: int = 0) -> list[tuple[int, str]]:
    return [
        rows.readable(f"event after {after} of turn {seq}", rows.event, row)
        for row in connection.execute(AFTER, {**inside(scope, seq, attempt), "after": after})
    ]
