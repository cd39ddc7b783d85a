"""A thread that goes with all its rows: of every table, of the word index, and the source texts that only it had."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, exists, or_, select, union

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.stores import checks
from lumina.stores.schema import (
    citations,
    delta_jobs,
    deltas,
    events,
    passages,
    receipts,
    sources,
    states,
    texts,
    threads,
    tool_calls,
    turn_sources,
    turns,
    usage,
    vectors,
)
from lumina.stores.sql import recall
from lumina.stores.sql.keys import inside, of_subject, of_thread, thread_row

# Each before what it refers to.
ROWS: tuple[Table, ...] = (
    vectors, passages, usage, citations, turn_sources, tool_calls, delta_jobs, deltas, receipts, events, states, turns,
    sources, threads,
)  # fmt: skip
DELETES = tuple(delete(table).where(*of_thread(table)) for table in ROWS)
TEMPORARY = select(threads.c.thread, threads.c.expires_at, threads.c.running, threads.c.owner).where(
    *of_subject(threads), threads.c.expires_at != ""
)
READ_HERE = union(
    select(sources.c.digest).where(*of_thread(sources)), select(citations.c.digest).where(*of_thread(citations))
)
# A receipt names instructions by their digest; those of other threads must stay.
FORGET_TEXT = delete(texts).where(
    *of_subject(texts),
    texts.c.digest == bindparam("digest"),
    ~or_(
        exists().where(*of_subject(sources), sources.c.digest == bindparam("digest")),
        exists().where(*of_subject(citations), citations.c.digest == bindparam("digest")),
        exists().where(*of_subject(receipts), receipts.c.body.contains(bindparam("digest"), autoescape=False)),
    ),
)


def remove_thread(connection: Connection, scope: ThreadScope) -> None:
    """Every row of a thread. What its deltas said in the profile is not taken out: a temporary thread says nothing
    there. NotFound when there is none."""
    recall.unindex_thread(connection, thread_row(connection, scope).handle)
    digests = connection.execute(READ_HERE, inside(scope)).scalars().all()
    for statement in DELETES:
        connection.execute(statement, inside(scope))
    for digest in digests:
        connection.execute(FORGET_TEXT, {**inside(scope.of_subject), "digest": digest})


def expired(
    connection: Connection, scope: SubjectScope, now: datetime, alive: Callable[[str], bool]
) -> list[ThreadScope]:
    """The subject's temporary threads whose time has come; not one whose turn is being answered."""
    found: list[ThreadScope] = []
    row: Any
    for row in connection.execute(TEMPORARY, inside(scope)):
        answering = row.running and isinstance(row.owner, str) and row.owner and alive(row.owner)
        if checks.has_expired(row.expires_at, now) and not answering:
            found.append(scope.thread(row.thread))
    return found


def remove_expired(
    connection: Connection, scope: SubjectScope, now: datetime | None, alive: Callable[[str], bool]
) -> None:
    for one in expired(connection, scope, now, alive) if now else ():
        remove_thread(connection, one)
