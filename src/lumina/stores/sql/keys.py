"""How a statement is held to a scope.

Every statement of a store carries the columns of its scope as bound parameters, `in_tenant` and so on. They are joined
by AND, compared byte for byte, and never glued together. A row that is written takes the same columns from `columns`.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, bindparam, select

from lumina.memory.errors import NotFound, StoreError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.stores import rows
from lumina.stores.schema import SUBJECT, THREAD, TURN, threads, turns


def _held(table: Table, names: tuple[str, ...]) -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(f"in_{name}") for name in names]


def of_subject(table: Table) -> list[ColumnElement[bool]]:
    return _held(table, SUBJECT)


def of_thread(table: Table) -> list[ColumnElement[bool]]:
    return _held(table, THREAD)


def of_turn(table: Table) -> list[ColumnElement[bool]]:
    return _held(table, TURN)


def columns(scope: SubjectScope | ThreadScope, seq: int | None = None, attempt: int | None = None) -> dict[str, Any]:
    """The key of a row that is written in this scope."""
    key: dict[str, Any] = {"tenant": scope.tenant, "subject": scope.subject}
    if isinstance(scope, ThreadScope):
        key["thread"] = scope.thread
    if seq is not None:
        key |= {"seq": seq, "attempt": attempt}
    return key


def inside(scope: SubjectScope | ThreadScope, seq: int | None = None, attempt: int | None = None) -> dict[str, Any]:
    """The parameters of `of_subject`, `of_thread` or `of_turn`."""
    return {f"in_{name}": value for name, value in columns(scope, seq, attempt).items()}


THREAD_ROW = select(threads).where(*of_thread(threads))
ATTEMPT_NUMBER = select(turns.c.number, turns.c.forgotten).where(*of_turn(turns))


def thread_row(connection: Connection, scope: ThreadScope) -> Row[Any]:
    """The thread's row with its numbers checked. NotFound when there is none."""
    row = connection.execute(THREAD_ROW, inside(scope)).one_or_none()
    if row is None:
        raise no_thread(scope)
    return rows.readable(f"row of thread {scope.thread!r}", _with_numbers, row)


def _with_numbers(row: Any) -> Any:
    rows.thread_info(row)
    for name in ("handle", "sources", "number", "running_attempt"):
        rows.whole(row, name)
    return row


def turn_number(
    connection: Connection, scope: ThreadScope, seq: int, attempt: int, *, though_forgotten: bool = False
) -> int:
    """The subject's number of a turn. NotFound when the thread has no such turn, or when it was forgotten and must not
    be written to."""
    row = connection.execute(ATTEMPT_NUMBER, inside(scope, seq, attempt)).one_or_none()
    if row is None:
        raise no_turn(seq, attempt)
    if row.forgotten and not though_forgotten:
        raise forgotten(seq)
    try:
        return rows.whole(row, "number", 1)
    except rows.Damaged as damage:
        raise StoreError(f"Turn {seq} cannot be read: {damage}. It was left as it is.") from None


def no_thread(scope: ThreadScope) -> NotFound:
    return NotFound(f"There is no thread {scope.thread!r} here. Open it first; nothing was changed.")


def no_turn(seq: int, attempt: int) -> NotFound:
    return NotFound(f"There is no turn {seq} (attempt {attempt}) in this thread. Nothing was changed.")


def forgotten(seq: int) -> NotFound:
    return NotFound(f"Turn {seq} was forgotten. Nothing was changed.")
