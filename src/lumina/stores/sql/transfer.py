"""Export and import on SQL: rows as lines, in the order of the file, and back.

Turns are read and written a few hundred at a time, with all that belongs to them, so that the length of a thread costs
time and no memory. Only plain selects and inserts: the same on every database.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, func, insert, select, update

from lumina.memory.errors import StoreError, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Snapshot
from lumina.memory.transfer_lines import (
    AuditLine,
    DocumentLine,
    DocumentSpan,
    Line,
    SourceLine,
    SubjectLine,
    TextLine,
    ThreadLine,
)
from lumina.memory.turns import IndexedPassage
from lumina.stores import rows
from lumina.stores.line_words import document, folded, indexed
from lumina.stores.receipt_digests import receipt_digests
from lumina.stores.schema import (
    audit,
    citations,
    document_passages,
    documents,
    profiles,
    receipts,
    sources,
    states,
    subjects,
    texts,
    threads,
    turns,
)
from lumina.stores.sql import documents as library
from lumina.stores.sql import recall, state
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread, thread_row
from lumina.stores.sql.threads import next_number
from lumina.stores.sql.transfer_rows import BELONGING, line_of, row_of, turn_line, turn_row, turn_sources_rows

Take = Callable[[Line], object]
AT_ONCE = 200  # turns
LOG_AT_ONCE = 2000  # events of a thread's own log
ABOUT_TRANSFERS = ("export", "import")

SUBJECT_NUMBER = select(subjects.c.number).where(*of_subject(subjects))
# What is put in order by its text is sorted here: databases have orders of their own.
THREADS = select(threads.c.number, threads.c.thread).where(*of_subject(threads))
DIGESTS = select(texts.c.digest).where(*of_subject(texts))
TEXT = select(texts.c.digest, texts.c.text).where(*of_subject(texts), texts.c.digest == bindparam("in_digest"))
USED = [select(table.c.digest).where(*of_thread(table)).distinct() for table in (sources, citations)]
RECEIPTS = select(receipts.c.body).where(*of_thread(receipts))
LOCATORS = select(documents.c.locator, documents.c.id).where(*of_subject(documents))
DOCUMENT = select(documents).where(*of_subject(documents), documents.c.id == bindparam("in_document"))
DOCUMENT_PASSAGES = (
    select(document_passages)
    .where(*of_subject(document_passages), document_passages.c.document == bindparam("in_document"))
    .order_by(document_passages.c.ordinal)
)
AUDIT = select(audit).where(*of_subject(audit), audit.c.action.not_in(ABOUT_TRANSFERS)).order_by(audit.c.number)
LAST_AUDIT = select(func.max(audit.c.number)).where(*of_subject(audit))
THREAD_AUDIT = AUDIT.where(audit.c.thread == bindparam("in_thread"))
SOURCES = select(sources).where(*of_thread(sources)).order_by(sources.c.n)
TURNS = (
    select(turns)
    .where(*of_thread(turns), turns.c.seq > bindparam("past"), turns.c.seq <= bindparam("last"))
    .order_by(turns.c.seq, turns.c.attempt)
)
COUNT = update(subjects).where(*of_subject(subjects)).values(number=bindparam("new_number"))


# Export


def export(connection: Connection, scope: SubjectScope | ThreadScope, take: Take) -> None:
    of_one = isinstance(scope, ThreadScope)
    subject = scope.of_subject if of_one else scope
    if of_one:
        thread_row(connection, scope)
    names: Sequence[str] = [scope.thread] if of_one else [name for _, name in _sorted(connection, THREADS, subject)]
    number = connection.execute(SUBJECT_NUMBER, inside(subject)).scalar()
    take(SubjectLine(number=number or 0))
    digests = _used(connection, scope) if of_one else [digest for (digest,) in _sorted(connection, DIGESTS, subject)]
    for digest in digests:
        row = connection.execute(TEXT, {**inside(subject), "in_digest": digest}).one_or_none()
        if row is not None:
            take(_read(f"text {digest}", TextLine, row))
    for _, id in () if of_one else _sorted(connection, LOCATORS, subject):
        take(_document(connection, subject, id))
    for row in connection.execute(THREAD_AUDIT if of_one else AUDIT, inside(scope)):
        take(_read("audit", AuditLine, row))
    for name in names:
        _export_thread(connection, subject.thread(name), take)


def _sorted(connection: Connection, statement: Any, scope: SubjectScope) -> list[Any]:
    try:
        return sorted(tuple(row) for row in connection.execute(statement, inside(scope)))
    except TypeError:
        raise StoreError(
            "A stored name is no text any more, so nothing can be exported. It was left as it is."
        ) from None


def _read(what: str, line: Any, row: Any, **changed: object) -> Any:
    """A line with the columns of its own names. A field that is not what was written is StoreError."""
    return rows.readable(what, lambda row: line_of(line, row, **changed), row)


def _used(connection: Connection, scope: ThreadScope) -> list[str]:
    """The digests of the texts that a thread's sources, citations and receipts name."""
    found: set[str] = set()
    for statement in USED:
        found |= {each for each in connection.execute(statement, inside(scope)).scalars() if isinstance(each, str)}
    for body in connection.execute(RECEIPTS, inside(scope)).scalars():
        found |= receipt_digests(body)
    return sorted(found)


def _document(connection: Connection, scope: SubjectScope, id: int) -> DocumentLine:
    row = connection.execute(DOCUMENT, {**inside(scope), "in_document": id}).one()
    spans = connection.execute(DOCUMENT_PASSAGES, {**inside(scope), "in_document": id})
    what = f"document {id}"
    return _read(what, DocumentLine, row, passages=tuple(_read(what, DocumentSpan, span) for span in spans))


def _export_thread(connection: Connection, scope: ThreadScope, take: Take) -> None:
    thread = thread_row(connection, scope)
    take(_read(f"thread {scope.thread!r}", ThreadLine, thread, deltas=bool(thread.deltas)))
    for row in connection.execute(SOURCES, inside(scope)):
        take(_read(f"source {row.n}", SourceLine, row))
    running = (thread.running, thread.running_attempt)
    for past in range(0, thread.turns, AT_ONCE):
        among = {**inside(scope), "past": past, "last": past + AT_ONCE}
        belonging = [(kind, _by_turn(connection.execute(kind.statement, among))) for kind in BELONGING]
        for row in connection.execute(TURNS, among).all():
            key = row.seq, row.attempt
            if key == running:
                continue
            read = [one for kind, found in belonging if kind.line is None for one in found.get(key, ())]
            take(rows.readable(f"turn {row.seq}", lambda row, read=read: turn_line(row, read), row))
            for kind, found in belonging:
                for one in found.get(key, ()) if kind.line is not None else ():
                    take(_read(f"{kind.table.name} of turn {row.seq}", kind.line, one))
    log = next(kind for kind in BELONGING if kind.table.name == "events")
    for row in connection.execute(log.statement, {**inside(scope), "past": -1, "last": 0}):
        take(_read("event of the thread", log.line, row))


def _by_turn(found: Iterable[Any]) -> dict[tuple[Any, Any], list[Any]]:
    grouped: dict[tuple[Any, Any], list[Any]] = {}
    for row in found:
        grouped.setdefault((row.seq, row.attempt), []).append(row)
    return grouped


# Import


def import_(connection: Connection, scope: SubjectScope, read: Callable[[int], Iterable[Line]]) -> None:
    before = connection.execute(SUBJECT_NUMBER, inside(scope)).scalar()
    work = _Writing(connection, scope, known=before is not None)
    for line in read(before or 0):
        work.take(line)
    work.end()


class _Writing:
    """Takes lines in the order of the file. What belongs to some turns is written together."""

    def __init__(self, connection: Connection, scope: SubjectScope, *, known: bool) -> None:
        self._connection = connection
        self._scope = scope
        self._known = known
        self._thread: ThreadScope | None = None
        self._handle = 0
        self._turn: Any = None
        self._turns: list[dict[str, Any]] = []
        self._held: dict[str, list[dict[str, Any]]] = {}
        self._passages: dict[tuple[int, int], list[IndexedPassage]] = {}
        self._counted: dict[tuple[str, int, int], int] = {}
        self._threads: list[ThreadScope] = []

    def take(self, line: Line) -> None:
        connection, scope = self._connection, self._scope
        match line:
            case SubjectLine():
                if not self._known:
                    connection.execute(insert(subjects), {**columns(scope), "number": 0})
                    self._known = True
                connection.execute(COUNT, {**inside(scope), "new_number": line.number})
            case TextLine():
                if connection.execute(TEXT, {**inside(scope), "in_digest": line.digest}).one_or_none() is None:
                    connection.execute(insert(texts), {**columns(scope), "digest": line.digest, "text": line.text})
            case DocumentLine():
                self._document(line)
            case AuditLine():
                last = connection.execute(LAST_AUDIT, inside(scope)).scalar() or 0
                values = line.model_dump(exclude={"kind"})
                connection.execute(insert(audit), {**columns(scope), "number": last + 1, **values})
            case ThreadLine():
                self._open(line)
            case _:
                self._of_thread(line)

    def _document(self, line: DocumentLine) -> None:
        held = {"in_tenant": self._scope.tenant, "in_owner": self._scope.subject, "in_locator": line.locator}
        if self._connection.execute(library.KNOWN, held).one_or_none() is None:
            library.put(self._connection, self._scope, [document(line)], True)
            mine = [*of_subject(documents), documents.c.locator == bindparam("in_locator")]
            when = update(documents).where(*mine).values(added_at=line.added_at)
            self._connection.execute(when, {**inside(self._scope), "in_locator": line.locator})

    def _open(self, line: ThreadLine) -> None:
        self._flush()
        self._counted = {}
        connection, scope = self._connection, self._scope.thread(line.thread)
        if connection.execute(select(threads.c.handle).where(*of_thread(threads)), inside(scope)).one_or_none():
            raise UsageError(f"A thread {line.thread!r} is here already. Nothing was imported.")
        self._thread, self._handle = scope, next_number(connection, "thread")
        self._threads.append(scope)
        values = line.model_dump(exclude={"kind", "thread"})
        values |= {"handle": self._handle, "deltas": int(line.deltas), "turns": 0, "running": 0, "running_attempt": 0}
        connection.execute(insert(threads), {**columns(scope), "owner": "", **values})

    def _of_thread(self, line: Any) -> None:
        assert self._thread is not None
        key = columns(self._thread)
        if line.kind == "source":
            self._connection.execute(insert(sources), {**key, **line.model_dump(exclude={"kind"})})
        elif line.kind == "turn":
            if len(self._turns) >= AT_ONCE:
                self._flush()
            self._turn = line
            self._turns.append({**key, **turn_row(line)})
            self._held.setdefault("turn_sources", []).extend({**key, **row} for row in turn_sources_rows(line))
        elif line.kind == "passage":
            self._passages.setdefault(line.key, []).append(indexed(self._turn, line))
        else:
            name, row = row_of(line, self._count(line))
            self._held.setdefault(name, []).append({**key, **row})
            if not line.seq and len(self._held[name]) >= LOG_AT_ONCE:
                self._flush()

    def _count(self, line: Any) -> int:
        """How many lines of the kind stand before it in its turn: its place, or its number in a log."""
        key = line.kind, line.seq, line.attempt
        self._counted[key] = self._counted.get(key, -1) + 1
        return self._counted[key]

    def _flush(self) -> None:
        connection, scope = self._connection, self._thread
        if scope is None:
            return
        if self._turns:
            connection.execute(insert(turns), self._turns)
            last = {**inside(scope), "new_turns": self._turns[-1]["seq"]}
            connection.execute(update(threads).where(*of_thread(threads)).values(turns=bindparam("new_turns")), last)
        for kind in BELONGING:
            if found := self._held.get(kind.table.name):
                connection.execute(insert(kind.table), found)
        for (seq, attempt), found in self._passages.items():
            recall.index_passages(connection, scope, self._handle, seq, attempt, found)
        self._turns, self._held, self._passages = [], {}, {}
        self._counted = {key: last for key, last in self._counted.items() if not key[1]}  # the thread's own log goes on

    def end(self) -> None:
        self._flush()
        connection, scope = self._connection, self._scope
        for thread in self._threads:
            if deltas := state.read_deltas(connection, thread, None):
                _put(connection, thread, states, folded(deltas, version=len(deltas)))
        if self._threads and (deltas := state.read_subject_deltas(connection, scope, None)):
            known = state.read_profile(connection, scope)
            _put(connection, scope, profiles, folded(deltas, about="subject", version=known.version + 1))


def _put(connection: Connection, scope: SubjectScope | ThreadScope, table: Table, new: Snapshot) -> None:
    held: Any = of_thread(table) if isinstance(scope, ThreadScope) else of_subject(table)
    values = {"version": new.version, "body": new.body}
    if not connection.execute(update(table).where(*held).values(**values), inside(scope)).rowcount:
        connection.execute(insert(table), {**columns(scope), **values})
