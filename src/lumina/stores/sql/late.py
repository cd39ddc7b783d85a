"""What comes late, after a forget: it must not bring back what is gone.

Where the subject has forgotten something (its audit says so, one short look), receipts and events that arrive are
compared with what is still there, in the transaction that writes them (`lumina.memory.late`).
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, select

from lumina.memory.change import About
from lumina.memory.late import late_events, late_receipt
from lumina.memory.scope import ThreadScope
from lumina.memory.store import StoredReceipt
from lumina.stores.schema import audit, deltas, profiles, states, turns
from lumina.stores.sql.keys import inside, of_subject, of_thread

FORGOT = (
    select(audit.c.at)
    .where(*of_subject(audit), audit.c.action.startswith("forget"))
    .order_by(audit.c.number.desc())
    .limit(1)
)
LOST = select(turns.c.seq, turns.c.attempt, turns.c.forgotten).where(
    *of_thread(turns), turns.c.forgotten != "", turns.c.seq.in_(bindparam("some", expanding=True))
)
BY_SEQ = select(deltas.c.changes).where(*of_thread(deltas), deltas.c.seq.in_(bindparam("some", expanding=True)))
BY_NUMBER = select(deltas.c.changes).where(*of_subject(deltas), deltas.c.number.in_(bindparam("some", expanding=True)))
STATE = select(states.c.body).where(*of_thread(states))
PROFILE = select(profiles.c.body).where(*of_subject(profiles))
AT_ONCE = 500


def receipt_body(connection: Connection, scope: ThreadScope, receipt: StoredReceipt) -> str:
    """The receipt's body without what was forgotten since it was made."""
    at = connection.execute(FORGOT, inside(scope.of_subject)).scalar()
    if at is None:
        return receipt.body
    return late_receipt(scope.thread, receipt, _Remains(connection, scope), str(at)[:10])


def event_bodies(connection: Connection, scope: ThreadScope, bodies: Sequence[str]) -> Sequence[str]:
    """Events of the thread's log without what was forgotten since they were made."""
    if not bodies or connection.execute(FORGOT, inside(scope.of_subject)).scalar() is None:
        return bodies
    return late_events(bodies, _Remains(connection, scope))


class _Remains:
    def __init__(self, connection: Connection, scope: ThreadScope) -> None:
        self._connection = connection
        self._scope = scope

    def forgotten_turns(self, seqs: Collection[int]) -> dict[tuple[int, int], str]:
        wanted, found = sorted(seqs), {}
        for at in range(0, len(wanted), AT_ONCE):
            values = {**inside(self._scope), "some": wanted[at : at + AT_ONCE]}
            found |= {(row.seq, row.attempt): row.forgotten for row in self._connection.execute(LOST, values)}
        return found

    def deltas_of(self, *, seqs: Collection[int] = (), numbers: Collection[int] = ()) -> list[str]:
        found: list[str] = []
        for statement, scope, some in ((BY_SEQ, self._scope, seqs), (BY_NUMBER, self._scope.of_subject, numbers)):
            wanted = sorted(some)
            for at in range(0, len(wanted), AT_ONCE):
                values = {**inside(scope), "some": wanted[at : at + AT_ONCE]}
                found += self._connection.execute(statement, values).scalars()
        return found

    def snapshots(self) -> list[tuple[About, str]]:
        state = self._connection.execute(STATE, inside(self._scope)).scalar()
        profile = self._connection.execute(PROFILE, inside(self._scope.of_subject)).scalar()
        held: tuple[tuple[About, object], ...] = (("thread", state), ("subject", profile))
        return [(about, body) for about, body in held if isinstance(body, str)]
