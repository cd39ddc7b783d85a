"""What model calls took: a row a call, numbered within its turn. Nothing of what was said is in it."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, bindparam, func, insert, select

from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import ModelUse
from lumina.stores import rows
from lumina.stores.checks import check_uses
from lumina.stores.schema import usage
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread, of_turn, turn_number

ADD = insert(usage)
LAST = select(func.max(usage.c.number)).where(*of_turn(usage))
SINCE = (
    select(usage)
    .where(usage.c.day >= bindparam("since"))
    .order_by(*(usage.c[name] for name in ("day", "subject", "thread", "seq", "attempt", "number")))
)


def add(connection: Connection, scope: ThreadScope, uses: Sequence[ModelUse]) -> None:
    check_uses(uses)
    for use in uses:
        turn_number(connection, scope, use.seq, use.attempt)
        last = connection.execute(LAST, inside(scope, use.seq, use.attempt)).scalar() or 0
        values = {**asdict(use), **columns(scope), "number": last + 1}
        connection.execute(ADD, values)


def read(connection: Connection, scope: TenantScope | SubjectScope | ThreadScope, since: str) -> list[ModelUse]:
    if isinstance(scope, ThreadScope):
        held, values = of_thread(usage), inside(scope)
    elif isinstance(scope, SubjectScope):
        held, values = of_subject(usage), inside(scope)
    else:
        held, values = [usage.c.tenant == bindparam("in_tenant")], {"in_tenant": scope.tenant}
    found = connection.execute(SINCE.where(*held), {**values, "since": since})
    return [rows.readable(f"usage of turn {row.seq}", rows.model_use, row) for row in found]
