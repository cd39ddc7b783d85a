"""Turns: begun, ended, and read in two views."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, exists, insert, select, update

from lumina.memory.errors import StoreError, TurnConflict, UsageError
from lumina.memory.scope import ThreadScope
from lumina.memory.store import StoredReceipt
from lumina.memory.turns import Citation, NewTurn, RecentTurns, Turn, TurnEnd, TurnPage, Unreadable
from lumina.stores import checks, rows
from lumina.stores.schema import SUBJECT, TURN, citations, delta_jobs, subjects, threads, turn_sources, turns
from lumina.stores.sql import events, recall, state, superseding
from lumina.stores.sql.fence import may_end
from lumina.stores.sql.keys import columns, inside, no_turn, of_thread, of_turn, thread_row, turn_number
from lumina.stores.sql.portable import upsert

# What `rows.turn` reads; page columns stay where they are.
MODEL = (
    *TURN[3:], "question", "answer", "status", "reason", "day", "exchanges", "cited", "window_start", "number",
    "forgotten", "superseded",
)  # fmt: skip


def _select(*names: str) -> Select[Any]:
    job = delta_jobs.c
    same = [turns.c[name] == job[name] for name in TURN]
    read = exists().where(*(turn_sources.c[name] == turns.c[name] for name in TURN))
    return select(*(turns.c[name] for name in names), job.status.label("delta"), read.label("read_sources")).join_from(
        turns, delta_jobs, same[0] & same[1] & same[2] & same[3] & same[4], isouter=True
    )


LIVE = turns.c.superseded != 1  # a damaged mark counts as live, so that its turn is shown as unreadable
ONE = _select(*MODEL).where(*of_turn(turns))
KNOWN = _select(*MODEL).where(*of_thread(turns), turns.c.client_id == bindparam("client"))
SOME = _select(*MODEL).where(*of_thread(turns), turns.c.seq.in_(bindparam("seqs", expanding=True)))
NEWEST = (
    _select(*MODEL)
    .where(*of_thread(turns), turns.c.status != "running", LIVE)
    .order_by(turns.c.seq.desc(), turns.c.attempt.desc())
    .limit(bindparam("most"))
    .offset(bindparam("past"))
)
EARLIER = NEWEST.where(turns.c.seq < bindparam("before"))
ALL_PAGES = (
    _select(*(column.name for column in turns.c if column.name not in ("tenant", "subject", "thread", "exchanges")))
    .where(*of_thread(turns), turns.c.seq >= bindparam("first"))
    .order_by(turns.c.seq, turns.c.attempt)
)
PAGE = ALL_PAGES.where(LIVE)
GONE = select(turns.c.forgotten).where(*of_turn(turns))  # the day it was forgotten, or ""
BEGIN = insert(turns)
END = update(turns).where(*of_turn(turns))
FOLLOWUPS = END.where(turns.c.forgotten == "").values(followups=bindparam("new_followups"))
ON_THREAD = update(threads).where(*of_thread(threads))
RUNNING = ON_THREAD.values(
    turns=bindparam("new_turns"),
    number=bindparam("new_number"),
    asked_at=bindparam("new_asked_at"),
    running=bindparam("new_running"),
    running_attempt=bindparam("new_attempt"),
    owner=bindparam("new_owner"),
)
STILL = ON_THREAD.where(threads.c.running == bindparam("in_seq"), threads.c.running_attempt == bindparam("in_attempt"))
ENDED = STILL.values(running=0, running_attempt=0, owner="")
NEXT_NUMBER = (
    upsert(subjects)
    .values(number=1)
    .on_conflict_do_update(index_elements=SUBJECT, set_={"number": subjects.c.number + 1})
    .returning(subjects.c.number)
)
CITE = insert(citations)
JOB = insert(delta_jobs)
CITATIONS = (
    select(citations)
    .where(*of_thread(citations), citations.c.seq >= bindparam("first"))
    .order_by(citations.c.seq, citations.c.attempt, citations.c.place)
)
READ = (
    select(turn_sources)
    .where(*of_thread(turn_sources), turn_sources.c.seq >= bindparam("first"))
    .order_by(turn_sources.c.seq, turn_sources.c.attempt, turn_sources.c.place)
)


def begin(
    connection: Connection, scope: ThreadScope, new: NewTurn, owner: str, instead_of: int = 0
) -> tuple[Turn, bool]:
    checks.check_new_turn(new)
    checks.check_whole("instead_of", instead_of)
    thread, known = _arrive(connection, scope, new)
    if known is not None:
        return known, False
    return _insert(connection, scope, thread, new, None, owner, instead_of), True


def record(
    connection: Connection, scope: ThreadScope, new: NewTurn, end: TurnEnd, receipt: str, instead_of: int = 0
) -> Turn:
    checks.check_new_turn(new)
    checks.check_whole("instead_of", instead_of)
    checks.check_end(end)
    thread, known = _arrive(connection, scope, new)
    if known is not None:
        return known
    turn = _insert(connection, scope, thread, new, end, "", instead_of)
    _attach(connection, scope, thread.handle, turn, end)
    account = StoredReceipt(seq=turn.seq, attempt=turn.attempt, call=1, purpose="answer", body=receipt)
    state.put_receipt(connection, scope, account)
    return turn


def _arrive(connection: Connection, scope: ThreadScope, new: NewTurn) -> tuple[Row[Any], Turn | None]:
    """The thread's row, and the turn that this question already is."""
    thread = thread_row(connection, scope)
    row = connection.execute(KNOWN, {**inside(scope), "client": new.client_id}).one_or_none()
    if row is None:
        if thread.running:
            raise TurnConflict(
                f"Turn {thread.running} of this thread is still being answered. One turn runs at a time; nothing was "
                "stored. Wait for it, or stop it.",
                running=thread.running,
            )
        return thread, None
    turn = rows.readable(f"turn {row.seq}", rows.turn, row)
    if turn.question != new.question and not turn.forgotten:
        raise UsageError(
            f"client_id {new.client_id!r} already belongs to turn {turn.seq}, which asks something else. Nothing was "
            "stored; give a new question a new client_id."
        )
    return thread, turn


def _insert(
    connection: Connection, scope: ThreadScope, thread: Row[Any], new: NewTurn, end: TurnEnd | None, owner: str,
    instead_of: int,
) -> Turn:  # fmt: skip
    asked = checks.asked_at(new)
    seq, attempt, number = thread.turns + 1, 1, 0
    if instead_of:
        seq = instead_of
        attempt, number = superseding.make_room(connection, scope, thread, seq)
    # The thread comes first in the list again; a turn that is asked again keeps its place in the profile's order.
    newest: Any = connection.execute(NEXT_NUMBER, columns(scope.of_subject)).scalar_one()
    if not isinstance(newest, int) or not 0 < newest <= checks.MOST:
        raise StoreError("The count of this person's turns is damaged. Nothing was stored; restore the database.")
    number = number or newest
    turn = Turn(
        seq=seq,
        attempt=attempt,
        question=new.question,
        answer=end.answer if end else "",
        status=end.status if end else "running",
        reason=end.reason if end else "",
        day=new.day,
        delta=end.delta if end else "none",
        exchanges=end.exchanges if end else (),
        cited=end.cited if end else (),
        window_start=end.window_start if end else 1,
        number=number,
    )
    connection.execute(
        BEGIN,
        {
            **columns(scope, seq, attempt),
            "client_id": new.client_id,
            "number": number,
            "status": turn.status,
            "reason": turn.reason,
            "searched": end.searched if end else "not needed",
            "asked_at": asked,
            "zone": new.zone,
            "day": new.day,
            "superseded": 0,
            "window_start": turn.window_start,
            "forgotten": "",
            "cited": rows.to_json(turn.cited),
            "followups": "[]",
            "usage": end.usage if end else "{}",
            "question": new.question,
            "answer": turn.answer,
            "exchanges": rows.messages_json(turn.exchanges),
        },
    )
    connection.execute(
        RUNNING,
        {
            **inside(scope),
            "new_turns": max(seq, thread.turns),
            "new_number": newest,
            "new_asked_at": asked,
            "new_running": 0 if end else seq,
            "new_attempt": 0 if end else attempt,
            "new_owner": owner,
        },
    )
    return turn


def finish(connection: Connection, scope: ThreadScope, end: TurnEnd, mine: str) -> Turn:
    checks.check_end(end)
    may_end(connection, scope, end.seq, end.attempt, mine)
    row = connection.execute(ONE, inside(scope, end.seq, end.attempt)).one_or_none()
    if row is None:
        raise no_turn(end.seq, end.attempt)
    turn = rows.readable(f"turn {end.seq}", rows.turn, row)
    return turn if turn.status != "running" else close(connection, scope, turn, end)


def close(connection: Connection, scope: ThreadScope, turn: Turn, end: TurnEnd) -> Turn:
    """Ends a running turn."""
    thread = thread_row(connection, scope)
    connection.execute(
        END.values(
            answer=end.answer,
            status=end.status,
            reason=end.reason,
            searched=end.searched,
            window_start=end.window_start,
            cited=rows.to_json(end.cited),
            usage=end.usage,
            exchanges=rows.messages_json(end.exchanges),
        ),
        inside(scope, end.seq, end.attempt),
    )
    _attach(connection, scope, thread.handle, turn, end)
    connection.execute(ENDED, inside(scope, end.seq, end.attempt))
    return replace(
        turn,
        answer=end.answer,
        status=end.status,
        reason=end.reason,
        delta=end.delta,
        exchanges=end.exchanges,
        cited=end.cited,
        window_start=end.window_start,
    )


def _attach(connection: Connection, scope: ThreadScope, handle: int, turn: Turn, end: TurnEnd) -> None:
    """What an ended turn brings with it."""
    key = columns(scope, turn.seq, turn.attempt)
    if end.citations:
        connection.execute(CITE, [{**key, **_cited(place, one)} for place, one in enumerate(end.citations)])
    recall.index_passages(connection, scope, handle, turn.seq, turn.attempt, end.passages)
    if end.delta != "none":
        connection.execute(JOB, {**key, "status": end.delta, "answer": "", "tries": 0, "reason": ""})
    if end.events:
        events.add(connection, scope, turn.seq, turn.attempt, end.events)


def _cited(place: int, one: Citation) -> dict[str, Any]:
    return {
        "place": place,
        "n": one.n,
        "position": one.position,
        "sentence_start": one.sentence_start,
        "sentence_end": one.sentence_end,
        "digest": one.digest,
        "passage": rows.to_json(one.passage),
        "score": one.score,
        "checkable": int(one.checkable),
        "missing": rows.to_json(one.missing),
    }


def recent(connection: Connection, scope: ThreadScope, limit: int, before: int) -> RecentTurns:
    found: list[Turn] = []
    unreadable: list[Unreadable] = []
    statement, values = (EARLIER, {"before": before}) if before else (NEWEST, {})
    while (need := limit - len(found)) > 0:
        # Only damaged rows make a second round; they are stepped over by count, whatever their seq has become.
        most = {**inside(scope), **values, "most": need, "past": len(found) + len(unreadable)}
        batch = connection.execute(statement, most).all()
        for row in batch:
            try:
                found.append(rows.turn(row))
            except rows.Damaged as damage:
                unreadable.append(_unreadable(row, damage))
        if len(batch) < need:
            break
    return RecentTurns(turns=tuple(reversed(found)), unreadable=tuple(reversed(unreadable)))


def _unreadable(row: Any, damage: rows.Damaged) -> Unreadable:
    return Unreadable(seq=row.seq if isinstance(row.seq, int) else 0, reason=str(damage))


def some(connection: Connection, scope: ThreadScope, keys: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Turn]:
    wanted = set(keys)
    seqs = sorted({seq for seq, _ in wanted})
    found: dict[tuple[int, int], Turn] = {}
    for at in range(0, len(seqs), 500):
        for row in connection.execute(SOME, {**inside(scope), "seqs": seqs[at : at + 500]}):
            if (row.seq, row.attempt) in wanted:
                with suppress(rows.Damaged):
                    found[row.seq, row.attempt] = rows.turn(row)
    return found


def page(
    connection: Connection, scope: ThreadScope, first: int, last: int, superseded: bool = False
) -> list[TurnPage | Unreadable]:
    values = {**inside(scope), "first": first, "last": last}
    up_to = (lambda statement, column: statement.where(column <= bindparam("last"))) if last else _as_is
    cited = _by_turn(connection.execute(up_to(CITATIONS, citations.c.seq), values))
    read = _by_turn(connection.execute(up_to(READ, turn_sources.c.seq), values))
    shown: list[TurnPage | Unreadable] = []
    for row in connection.execute(up_to(ALL_PAGES if superseded else PAGE, turns.c.seq), values):
        key = row.seq, row.attempt
        try:
            numbers = tuple(rows.whole(one, "n", 1) for one in read.get(key, ()))
            shown.append(rows.turn_page(row, _citations(cited.get(key, ())), numbers))
        except rows.Damaged as damage:
            shown.append(_unreadable(row, damage))
    return shown


def _as_is(statement: Select[Any], column: object) -> Select[Any]:
    return statement


def _by_turn(found: Iterable[Any]) -> dict[tuple[Any, Any], list[Any]]:
    grouped: dict[tuple[Any, Any], list[Any]] = {}
    for row in found:
        grouped.setdefault((row.seq, row.attempt), []).append(row)
    return grouped


def _citations(found: Sequence[Any]) -> tuple[Citation, ...]:
    read: list[Citation] = []
    for place, row in enumerate(found, 1):
        try:
            read.append(rows.citation(row))
        except rows.Damaged as damage:
            raise rows.Damaged(f"citation {place}: {damage}") from None
    return tuple(read)


def set_followups(connection: Connection, scope: ThreadScope, seq: int, attempt: int, followups: Sequence[str]) -> None:
    for question in followups:
        checks.check_text("followups", question)
    values = {**inside(scope, seq, attempt), "new_followups": rows.to_json(list(followups))}
    if not connection.execute(FOLLOWUPS, values).rowcount:
        turn_number(connection, scope, seq, attempt, though_forgotten=True)
