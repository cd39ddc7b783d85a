"""Threads: made, listed, titled; and a turn whose process is gone, ended."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from lumina.memory.errors import NotFound, StoreError
from lumina.memory.passages import passages_of
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.turns import Searched, ThreadInfo, TurnEnd
from lumina.stores import checks, rows
from lumina.stores.passage_ids import PLACE_BITS, SEQ_BITS
from lumina.stores.schema import counters, subjects, threads
from lumina.stores.sql import events, removing, turns
from lumina.stores.sql.keys import THREAD_ROW, columns, inside, no_thread, of_subject, of_thread, thread_row
from lumina.stores.sql.portable import is_whole, upsert

LISTED = (
    select(threads)
    .where(*of_subject(threads))
    .order_by(threads.c.number.desc(), threads.c.thread)
    .limit(bindparam("most"))
)
LAST_TURN = select(func.max(turns.turns.c.seq)).where(
    *of_thread(turns.turns), is_whole(turns.turns.c.seq), turns.turns.c.seq <= checks.MOST
)
MAKE_SUBJECT = upsert(subjects).values(number=0).on_conflict_do_nothing()
MAKE = insert(threads)
TITLE = update(threads).where(*of_thread(threads)).values(title=bindparam("new_title"))
NEXT = (
    update(counters)
    .where(counters.c.name == bindparam("in_name"))
    .values(last=counters.c.last + bindparam("more"))
    .returning(counters.c.last)
)
FREE = turns.ON_THREAD.values(running=0, running_attempt=0, owner="")


def next_number(connection: Connection, counter: str, more: int = 1) -> int:
    """Takes `more` numbers of a counter and returns the last; none is ever given out twice."""
    last: Any = connection.execute(NEXT, {"in_name": counter, "more": more}).scalar()
    if not isinstance(last, int) or not 0 < last <= checks.MOST:
        raise StoreError(f"The counter {counter!r} of this database is damaged. Restore it from a copy.")
    return last


def open_thread(
    connection: Connection, scope: ThreadScope, deltas: bool, alive: Callable[[str], bool],
    expires_at: datetime | None = None, now: datetime | None = None,
) -> ThreadInfo:  # fmt: skip
    expires = checks.check_moment("expires_at", expires_at)
    checks.check_moment("now", now)
    removing.remove_expired(connection, scope.of_subject, now, alive)
    if connection.execute(THREAD_ROW, inside(scope)).one_or_none() is None:
        _make(connection, scope, deltas, expires)
    row = thread_row(connection, scope)
    if row.running and not alive(row.owner if isinstance(row.owner, str) else ""):
        _interrupt(connection, scope, row)
        row = thread_row(connection, scope)
    return rows.thread_info(row)


def needs_opening(
    connection: Connection, scope: ThreadScope, alive: Callable[[str], bool], now: datetime | None = None
) -> ThreadInfo | None:
    """The thread if it is there and nothing has to be written, so that opening it costs no write lock."""
    if checks.check_moment("now", now) and now and removing.expired(connection, scope.of_subject, now, alive):
        return None
    try:
        row = thread_row(connection, scope)
    except NotFound:
        return None
    if row.running and not (isinstance(row.owner, str) and row.owner and alive(row.owner)):
        return None
    return rows.thread_info(row)


def _make(connection: Connection, scope: ThreadScope, deltas: bool, expires_at: str) -> None:
    handle = next_number(connection, "thread")
    if handle >> 63 - PLACE_BITS - SEQ_BITS:
        raise StoreError("This database is full: it cannot hold more threads. Start another one.")
    connection.execute(MAKE_SUBJECT, columns(scope.of_subject))
    empty: dict[str, object] = {"title": "", "turns": 0, "sources": 0, "number": 0, "running": 0, "running_attempt": 0}
    row = {
        **columns(scope),
        **empty,
        "handle": handle,
        "deltas": int(deltas),
        "owner": "",
        "asked_at": "",
        "expires_at": expires_at,
    }
    connection.execute(MAKE, row)


def _interrupt(connection: Connection, scope: ThreadScope, thread: Any) -> None:
    """Ends the running turn as partial with what its log holds. A turn that cannot be read is left as it is; the
    thread is freed of it.
    """
    seq, attempt = thread.running, thread.running_attempt
    turn = turns.some(connection, scope, [(seq, attempt)]).get((seq, attempt))
    if turn is None or turn.status != "running":
        connection.execute(FREE, inside(scope))
        return
    answer, searched, finished = _told(connection, scope, seq, attempt)
    last = {"kind": "turn.finished", "seq": 0, "thread": scope.thread, "turn": seq}
    body = json.dumps({**last, "status": "partial", "reason": "interrupted", "searched": searched})
    before = turns.recent(connection, scope, 1, seq).turns
    end = TurnEnd(
        seq=seq,
        attempt=attempt,
        answer=answer,
        status="partial",
        reason="interrupted",
        searched=searched,
        passages=passages_of(turn.question, answer),
        window_start=before[-1].window_start if before else 1,
        delta="waiting" if thread.deltas else "none",
        events=() if finished else (body,),
    )
    turns.close(connection, scope, turn, end)
    events.add(connection, scope, 0, 0, [body])


def _told(connection: Connection, scope: ThreadScope, seq: int, attempt: int) -> tuple[str, Searched, bool]:
    """The text in a turn's log, how its searches ended, and whether the log has its last event."""
    pieces: list[str] = []
    outcomes: set[str] = set()
    finished = False
    for row in connection.execute(events.AFTER, {**inside(scope, seq, attempt), "after": 0}):
        try:
            event = rows.parsed(row, "body", dict)
        except rows.Damaged:
            continue  # what can be read of the answer is kept
        kind, piece, outcome = event.get("kind"), event.get("text"), event.get("outcome")
        if kind == "text" and isinstance(piece, str):
            pieces.append(piece)
        if kind == "search.finished" and isinstance(outcome, str):
            outcomes.add(outcome)
        finished = finished or kind == "turn.finished"
    order: tuple[Searched, ...] = ("found", "failed", "empty")
    ended: list[Searched] = [outcome for outcome in order if outcome in outcomes]
    # An escaped lone surrogate or NUL in an event's JSON cannot stand in the answer.
    answer = "".join(pieces).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return answer, ended[0] if ended else "not needed", finished


def listed(connection: Connection, scope: SubjectScope, limit: int) -> list[ThreadInfo]:
    found = connection.execute(LISTED, {**inside(scope), "most": max(limit, 0)}).all()
    return [rows.thread_to_read(row, lambda row=row: _last_turn(connection, scope, row.thread)) for row in found]


def _last_turn(connection: Connection, scope: SubjectScope | ThreadScope, thread: Any) -> int:
    """For a thread whose own count is damaged."""
    return connection.execute(LAST_TURN, {**inside(scope), "in_thread": thread}).scalar() or 0


def info(connection: Connection, scope: ThreadScope) -> ThreadInfo:
    row = connection.execute(THREAD_ROW, inside(scope)).one_or_none()
    if row is None:
        raise no_thread(scope)
    return rows.thread_to_read(row, lambda: _last_turn(connection, scope, scope.thread))


def set_title(connection: Connection, scope: ThreadScope, title: str, turn: tuple[int, int] | None = None) -> None:
    checks.check_text("title", title)
    if turn is not None and connection.execute(turns.GONE, inside(scope, *turn)).scalar():
        return
    if not connection.execute(TITLE, {**inside(scope), "new_title": title}).rowcount:
        raise NotFound(f"There is no thread {scope.thread!r} here. Nothing was changed.")
