"""What a subject's rows hold, for a rule that decides what of it goes (`lumina.memory.removal.Held`).

Read inside the transaction that carries the answer out. The threads' and turns' rows are read for update first: on a
database with many writers at once, whatever would add a row below one of them waits until the forget is committed.
"""

from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Table, exists, select

from lumina.memory.removal import HeldDelta, HeldJob, HeldReceipt, TurnKey
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.turns import Citation, Source, ThreadInfo, ToolRecord, Turn
from lumina.stores import rows
from lumina.stores.schema import (
    TURN,
    citations,
    delta_jobs,
    deltas,
    documents,
    receipts,
    sources,
    subjects,
    texts,
    threads,
    tool_calls,
    turn_sources,
    turns,
)
from lumina.stores.sql import events
from lumina.stores.sql.keys import inside, of_subject, of_thread, of_turn
from lumina.stores.sql.turns import MODEL, _select

LOCK_THREADS = select(threads.c.thread).where(*of_subject(threads)).order_by(threads.c.thread).with_for_update()
LOCK_TURNS = select(turns.c.seq).where(*of_subject(turns)).order_by(*(turns.c[name] for name in TURN)).with_for_update()
THREADS = select(threads).where(*of_subject(threads)).order_by(threads.c.thread)
KEYS = select(turns.c.seq, turns.c.attempt).where(*of_thread(turns)).order_by(turns.c.seq, turns.c.attempt)
TURNS = _select(*MODEL).where(*of_thread(turns)).order_by(turns.c.seq, turns.c.attempt)
FOLLOWUPS = select(turns.c.seq, turns.c.attempt, turns.c.followups).where(*of_thread(turns))
SUPERSEDED = select(turns.c.thread, turns.c.seq, turns.c.attempt).where(*of_subject(turns), turns.c.superseded == 1)
CITATIONS = select(citations).where(*of_turn(citations)).order_by(citations.c.place)
CALLS = select(tool_calls).where(*of_turn(tool_calls)).order_by(tool_calls.c.place)
JOBS = select(delta_jobs).where(*of_thread(delta_jobs)).order_by(delta_jobs.c.seq, delta_jobs.c.attempt)
DELTAS = select(deltas).where(*of_subject(deltas)).order_by(
    deltas.c.thread, deltas.c.seq, deltas.c.attempt, deltas.c.correction
)  # fmt: skip
RECEIPTS = select(receipts).where(*of_subject(receipts)).order_by(
    receipts.c.thread, receipts.c.seq, receipts.c.attempt, receipts.c.call
)  # fmt: skip
SOURCES = select(sources).where(*of_thread(sources)).order_by(sources.c.n)
READINGS = select(turn_sources).where(*of_thread(turn_sources)).order_by(
    turn_sources.c.seq, turn_sources.c.attempt, turn_sources.c.place
)  # fmt: skip


class HeldRows:
    """A `Held` over a connection, for one subject."""

    def __init__(self, connection: Connection, scope: SubjectScope) -> None:
        self._connection = connection
        self._scope = scope
        connection.execute(LOCK_THREADS, inside(scope)).all()
        connection.execute(LOCK_TURNS, inside(scope)).all()

    def _thread(self, thread: str) -> ThreadScope:
        return self._scope.thread(thread)

    def _rows(self, statement: Any, thread: str = "", key: TurnKey | None = None) -> Any:
        scope = self._thread(thread) if thread else self._scope
        return self._connection.execute(statement, inside(scope, *key) if key else inside(scope))

    def anything(self) -> bool:
        def there(table: Table) -> bool:
            return bool(
                self._connection.execute(select(exists().where(*of_subject(table))), inside(self._scope)).scalar()
            )

        return any(map(there, (subjects, texts, documents)))

    def threads(self) -> list[ThreadInfo]:
        return [rows.thread_to_read(row, lambda: 0) for row in self._rows(THREADS)]

    def turn_keys(self, thread: str) -> list[TurnKey]:
        return [(row.seq, row.attempt) for row in self._rows(KEYS, thread)]

    def turns(self, thread: str) -> dict[TurnKey, Turn]:
        found: dict[TurnKey, Turn] = {}
        for row in self._rows(TURNS, thread):
            with suppress(rows.Damaged):
                found[row.seq, row.attempt] = rows.turn(row)
        return found

    def followups(self, thread: str) -> dict[TurnKey, tuple[str, ...]]:
        found: dict[TurnKey, tuple[str, ...]] = {}
        for row in self._rows(FOLLOWUPS, thread):
            with suppress(rows.Damaged):
                found[row.seq, row.attempt] = rows.listed(row, "followups", str)
        return found

    def citations(self, thread: str, key: TurnKey) -> list[Citation]:
        found: list[Citation] = []
        for row in self._rows(CITATIONS, thread, key):
            with suppress(rows.Damaged):
                found.append(rows.citation(row))
        return found

    def tool_calls(self, thread: str, key: TurnKey) -> list[ToolRecord]:
        found: list[ToolRecord] = []
        for row in self._rows(CALLS, thread, key):
            with suppress(rows.Damaged):
                found.append(rows.tool_record(row))
        return found

    def log(self, thread: str, key: TurnKey) -> list[tuple[int, str]]:
        values = {**inside(self._thread(thread), *key), "after": 0}
        return [(row.number, row.body) for row in self._connection.execute(events.AFTER, values)
                if isinstance(row.body, str)]  # fmt: skip

    def jobs(self, thread: str) -> list[HeldJob]:
        return [HeldJob(seq=row.seq, attempt=row.attempt, status=str(row.status)) for row in self._rows(JOBS, thread)]

    def deltas(self) -> list[HeldDelta]:
        superseded = {(row.thread, row.seq, row.attempt) for row in self._rows(SUPERSEDED)}
        found = [rows.readable(f"delta of turn {row.seq}", rows.applied_delta, row) for row in self._rows(DELTAS)]
        return [
            HeldDelta(
                thread=one.thread, seq=one.seq, attempt=one.attempt, correction=one.correction, number=one.number,
                changes=one.changes, live=one.correction > 0 or (one.thread, one.seq, one.attempt) not in superseded,
            )
            for one in found
        ]  # fmt: skip

    def receipts(self) -> list[HeldReceipt]:
        return [
            HeldReceipt(
                thread=row.thread, seq=row.seq, attempt=row.attempt, call=row.call, purpose=row.purpose, body=row.body
            )
            for row in self._rows(RECEIPTS)
            if isinstance(row.body, str)
        ]

    def sources(self, thread: str) -> list[Source]:
        found: list[Source] = []
        for row in self._rows(SOURCES, thread):
            with suppress(rows.Damaged):
                found.append(rows.source(row))
        return found

    def readings(self, thread: str) -> list[tuple[TurnKey, int]]:
        return [((row.seq, row.attempt), row.n) for row in self._rows(READINGS, thread)]
