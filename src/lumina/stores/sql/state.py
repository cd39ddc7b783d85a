"""Delta jobs, applied deltas, the snapshots that they fold to, and receipts."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, bindparam, case, desc, func, insert, or_, select, update

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.removal import NewAudit
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import DAMAGED, DROPPED, AppliedDelta, DeltaJob, Snapshot, StoredReceipt, VersionConflict
from lumina.memory.turns import DeltaStatus
from lumina.stores import rows
from lumina.stores.checks import (
    check_audit,
    check_bodies,
    check_delta,
    check_receipt,
    check_snapshot,
    check_text,
    no_subject,
)
from lumina.stores.schema import TURN, delta_jobs, deltas, profiles, receipts, states, subjects, turns
from lumina.stores.sql import auditing, events, late
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread, of_turn, thread_row, turn_number
from lumina.stores.sql.portable import upsert

STATE = select(states).where(*of_thread(states))
# Held while the profile is compared and set, or the audit is given its next number, on PostgreSQL; on SQLite the whole
# transaction is.
HOLD_SUBJECT = select(subjects.c.number).where(*of_subject(subjects)).with_for_update(key_share=True)
PROFILE = select(profiles).where(*of_subject(profiles))
KNOWN_SUBJECT = select(subjects.c.number).where(*of_subject(subjects))
THREAD_DELTAS = select(func.count()).select_from(deltas).where(*of_thread(deltas))
SUBJECT_DELTAS = select(func.count()).select_from(deltas).where(*of_subject(deltas))
JOBS = (
    select(delta_jobs)
    .join_from(delta_jobs, turns, and_(*(delta_jobs.c[name] == turns.c[name] for name in TURN)))
    .where(
        *of_thread(delta_jobs),
        delta_jobs.c.status == bindparam("in_status"),
        turns.c.superseded != 1,
    )
)  # in no order: asked for one, SQLite walks along all jobs of the thread
ONE_JOB = select(delta_jobs).where(*of_turn(delta_jobs))
ON_JOB = update(delta_jobs).where(*of_turn(delta_jobs))
ANSWERED = ON_JOB.where(delta_jobs.c.status == "waiting").values(status="answered", answer=bindparam("new_answer"))
TRIED = ON_JOB.values(status=bindparam("new_status"), tries=bindparam("new_tries"), reason=bindparam("new_reason"))
AGAIN = ON_JOB.where(delta_jobs.c.status == "set aside").values(status="waiting", tries=0, answer="")
APPLIED = ON_JOB.values(status="applied")
IS_SUPERSEDED = select(turns.c.seq).where(*of_turn(turns), turns.c.superseded == 1)
IS_APPLIED = select(deltas.c.seq).where(*of_turn(deltas), deltas.c.correction == bindparam("in_correction"))
ADD_DELTA = insert(deltas)
ALL = select(deltas).join_from(deltas, turns, and_(*(deltas.c[name] == turns.c[name] for name in TURN)))
# A person's correction stays in the fold whatever became of the attempt that it followed.
LIVE = or_(deltas.c.correction > 0, turns.c.superseded == 0)
BY_SEQ = (
    deltas.c.seq,
    deltas.c.correction > 0,
    case((deltas.c.correction > 0, deltas.c.correction), else_=deltas.c.attempt),
    deltas.c.attempt,
)
BACK = tuple(desc(each) for each in BY_SEQ)
BY_NUMBER = (deltas.c.number, deltas.c.correction, deltas.c.thread, deltas.c.attempt)
OF_THREAD = ALL.where(*of_thread(deltas)).order_by(*BY_SEQ)
OF_SUBJECT = ALL.where(*of_subject(deltas)).order_by(*BY_NUMBER)
THREAD_FOLD, SUBJECT_FOLD = OF_THREAD.where(LIVE), OF_SUBJECT.where(LIVE)
NEWEST = ALL.where(*of_thread(deltas), LIVE, deltas.c.changes != "[]").order_by(*BACK).limit(bindparam("most"))
SOME_OF_THREAD = OF_THREAD.where(deltas.c.seq.in_(bindparam("some", expanding=True)))
SOME_OF_SUBJECT = OF_SUBJECT.where(deltas.c.number.in_(bindparam("some", expanding=True)))
UNNOTED = (
    select(delta_jobs.c.seq)
    .join_from(delta_jobs, turns, and_(*(delta_jobs.c[name] == turns.c[name] for name in TURN)))
    .where(
        *of_thread(delta_jobs),
        delta_jobs.c.status == bindparam("in_status"),
        delta_jobs.c.seq < bindparam("before"),
        turns.c.superseded != 1,
    )
    .order_by(delta_jobs.c.seq.desc())
    .limit(bindparam("most"))
)
KEEP_RECEIPT = upsert(receipts)
KEEP_RECEIPT = KEEP_RECEIPT.on_conflict_do_update(
    index_elements=[*TURN, "call"], set_={name: KEEP_RECEIPT.excluded[name] for name in ("purpose", "body")}
)
RECEIPTS = select(receipts).where(*of_turn(receipts)).order_by(receipts.c.call)


def read_state(connection: Connection, scope: ThreadScope) -> Snapshot:
    return _snapshot(connection, scope, STATE, THREAD_DELTAS)[0]


def read_profile(connection: Connection, scope: SubjectScope) -> Snapshot:
    return _snapshot(connection, scope, PROFILE, SUBJECT_DELTAS)[0]


def _snapshot(
    connection: Connection, scope: SubjectScope | ThreadScope, statement: Select[Any], counted: Select[Any]
) -> tuple[Snapshot, bool]:
    """The snapshot, and whether it is sound. In place of a damaged one stands DAMAGED, to be folded anew from the
    deltas; its version then goes up with each of them, so that two writers still notice each other."""
    row = connection.execute(statement, inside(scope)).one_or_none()
    try:
        return rows.snapshot(row), True
    except rows.Damaged:
        return Snapshot(version=1 + connection.execute(counted, inside(scope)).scalar_one(), body=DAMAGED), False


def jobs(connection: Connection, scope: ThreadScope, statuses: tuple[DeltaStatus, ...]) -> list[DeltaJob]:
    # One status at a time: each is a short walk along the index, however many turns were noted.
    found: list[DeltaJob] = []
    for status in dict.fromkeys(statuses):
        for row in connection.execute(JOBS, {**inside(scope), "in_status": status}):
            with suppress(rows.Damaged):  # its turn stays as not noted, and holds up no other
                found.append(rows.delta_job(row))
    return sorted(found, key=lambda job: (job.seq, job.attempt))


def _job(connection: Connection, scope: ThreadScope, seq: int, attempt: int) -> DeltaJob:
    row = connection.execute(ONE_JOB, inside(scope, seq, attempt)).one_or_none()
    if row is None:
        raise NotFound(f"Turn {seq} (attempt {attempt}) has no delta job. Nothing was changed.")
    return rows.readable(f"delta job of turn {seq}", rows.delta_job, row)


def answer(connection: Connection, scope: ThreadScope, seq: int, attempt: int, said: str) -> None:
    check_text("answer", said)
    _job(connection, scope, seq, attempt)
    connection.execute(ANSWERED, {**inside(scope, seq, attempt), "new_answer": said})


def fail(connection: Connection, scope: ThreadScope, seq: int, attempt: int, reason: str, set_aside: bool) -> int:
    check_text("reason", reason)
    job = _job(connection, scope, seq, attempt)
    if job.status in ("applied", "set aside"):
        return job.tries  # the work is over: a late failure changes nothing
    values = {"new_status": "set aside" if set_aside else "waiting", "new_tries": job.tries + 1, "new_reason": reason}
    connection.execute(TRIED, {**inside(scope, seq, attempt), **values})
    return job.tries + 1


def retry(connection: Connection, scope: ThreadScope, seq: int, attempt: int) -> bool:
    _job(connection, scope, seq, attempt)
    return connection.execute(AGAIN, inside(scope, seq, attempt)).rowcount > 0


def apply(
    connection: Connection, scope: ThreadScope, delta: AppliedDelta, state: Snapshot, profile: Snapshot | None,
    audit: NewAudit | None, bodies: Sequence[str],
) -> bool:  # fmt: skip
    check_delta(delta, state, profile)
    check_audit(audit)
    check_bodies(bodies)
    number = turn_number(connection, scope, delta.seq, delta.attempt, though_forgotten=delta.correction > 0)
    if number != delta.number:
        raise UsageError(f"Turn {delta.seq} has number {number}, not {delta.number}. Nothing was applied.")
    key = inside(scope, delta.seq, delta.attempt)
    if connection.execute(IS_APPLIED, {**key, "in_correction": delta.correction}).one_or_none() is not None:
        return False
    if delta.correction == 0 and connection.execute(IS_SUPERSEDED, key).one_or_none() is not None:
        return False
    _swap(connection, scope, state)
    if profile is not None or audit is not None:
        connection.execute(HOLD_SUBJECT, inside(scope.of_subject))
    if profile is not None:
        _swap(connection, scope.of_subject, profile)
    values = {"correction": delta.correction, "number": delta.number, "changes": delta.changes}
    connection.execute(ADD_DELTA, {**columns(scope, delta.seq, delta.attempt), **values})
    if delta.correction == 0:
        connection.execute(APPLIED, key)
    if audit is not None:
        last = auditing.last_number(connection, scope.of_subject)
        auditing.add(connection, scope.of_subject, audit, last + 1, audit.detail)
    events.add(connection, scope, 0, 0, late.event_bodies(connection, scope, bodies))
    return True


def _stored(connection: Connection, scope: SubjectScope | ThreadScope) -> tuple[Snapshot, bool]:
    counted = (STATE, THREAD_DELTAS) if isinstance(scope, ThreadScope) else (PROFILE, SUBJECT_DELTAS)
    return _snapshot(connection, scope, *counted)


def _swap(
    connection: Connection, scope: SubjectScope | ThreadScope, new: Snapshot, *, over_damage: bool = False
) -> None:
    """Compare and set by version. The transaction holds the write lock from its start, so nothing comes between."""
    table = states if isinstance(scope, ThreadScope) else profiles
    known, sound = _stored(connection, scope)
    if known.version + 1 != new.version:
        raise VersionConflict(
            f"The {'state' if table is states else 'profile'} is at version {known.version} by now; this change was "
            f"made from version {new.version - 1}. Nothing was applied: read it again and fold again."
        )
    if not sound and not over_damage:
        return  # the damaged bytes stay; the deltas are what counts
    _write(connection, scope, table, new)


def _write(connection: Connection, scope: SubjectScope | ThreadScope, table: Table, new: Snapshot) -> None:
    held: Any = of_thread(table) if isinstance(scope, ThreadScope) else of_subject(table)
    written = {"version": new.version, "body": new.body}
    if not connection.execute(update(table).where(*held).values(written), inside(scope)).rowcount:
        connection.execute(insert(table), {**columns(scope), **written})


def put_snapshot(connection: Connection, scope: SubjectScope | ThreadScope, new: Snapshot) -> None:
    check_snapshot("snapshot", new)
    if isinstance(scope, ThreadScope):
        thread_row(connection, scope)
    elif connection.execute(KNOWN_SUBJECT, inside(scope)).first() is None:
        raise no_subject(scope.subject)
    _swap(connection, scope, new, over_damage=True)


def drop(connection: Connection, scope: SubjectScope | ThreadScope) -> None:
    """What is folded no longer holds. Its version moves on, so that whoever has read it cannot write."""
    known, sound = _stored(connection, scope)
    if sound:
        _swap(connection, scope, Snapshot(version=known.version + 1, body=DROPPED))


def read_deltas(
    connection: Connection, scope: ThreadScope, seqs: Sequence[int] | None, newest: int = 0
) -> list[AppliedDelta]:
    if seqs is None and newest:
        return _in_fold(connection.execute(NEWEST, {**inside(scope), "most": newest}).all()[::-1])
    if seqs is None:
        return _in_fold(connection.execute(THREAD_FOLD, inside(scope)))
    return _some(connection, SOME_OF_THREAD, scope, seqs)


def read_subject_deltas(
    connection: Connection, scope: SubjectScope, numbers: Sequence[int] | None
) -> list[AppliedDelta]:
    if numbers is None:
        return _in_fold(connection.execute(SUBJECT_FOLD, inside(scope)))
    return _some(connection, SOME_OF_SUBJECT, scope, numbers)


def _some(
    connection: Connection, statement: Select[Any], scope: SubjectScope | ThreadScope, some: Sequence[int]
) -> list[AppliedDelta]:
    # Asked for in ascending parts, so that the whole comes in order.
    wanted, found = sorted(set(some)), []
    for at in range(0, len(wanted), 500):
        found += _in_fold(connection.execute(statement, {**inside(scope), "some": wanted[at : at + 500]}))
    return found


def _in_fold(found: Any) -> list[AppliedDelta]:
    # A fold without one of its deltas would be another state, so a damaged one stops it.
    return [rows.readable(f"delta of turn {row.seq}", rows.applied_delta, row) for row in found]


def unnoted(connection: Connection, scope: ThreadScope, before: int, limit: int) -> list[int]:
    # One status at a time: each is a short walk back along the index, however many turns were noted.
    found: set[int] = set()
    for status in ("waiting", "answered", "set aside"):
        values = {**inside(scope), "in_status": status, "before": before, "most": max(limit, 0)}
        found |= set(connection.execute(UNNOTED, values).scalars())
    return sorted(found)[-limit:] if limit > 0 else []


def put_receipt(connection: Connection, scope: ThreadScope, receipt: StoredReceipt) -> None:
    check_receipt(receipt)
    turn_number(connection, scope, receipt.seq, receipt.attempt)
    body = late.receipt_body(connection, scope, receipt)
    values = {"call": receipt.call, "purpose": receipt.purpose, "body": body}
    connection.execute(KEEP_RECEIPT, {**columns(scope, receipt.seq, receipt.attempt), **values})


def read_receipts(connection: Connection, scope: ThreadScope, seq: int, attempt: int) -> list[StoredReceipt]:
    found = connection.execute(RECEIPTS, inside(scope, seq, attempt))
    return [rows.readable(f"receipt of turn {seq}", rows.receipt, row) for row in found]
