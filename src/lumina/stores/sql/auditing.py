"""The audit: who did something to a subject's data, in order; never what it held."""

from sqlalchemy import Connection, func, insert, select

from lumina.memory.removal import NewAudit
from lumina.memory.scope import SubjectScope
from lumina.stores.schema import audit
from lumina.stores.sql.keys import columns, inside, of_subject

LAST = select(func.max(audit.c.number)).where(*of_subject(audit))


def last_number(connection: Connection, scope: SubjectScope) -> int:
    return connection.execute(LAST, inside(scope)).scalar() or 0


def add(connection: Connection, scope: SubjectScope, new: NewAudit, number: int, detail: str) -> None:
    row = {"number": number, "thread": new.thread, "action": new.action, "by": new.by, "at": new.at, "detail": detail}
    connection.execute(insert(audit), {**columns(scope), **row})
