"""The in-memory twin of `lumina.stores.sql.transfer`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from lumina.memory.errors import UsageError
from lumina.memory.removal import Audited
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import AppliedDelta, DeltaJob, ModelUse, StoredReceipt
from lumina.memory.transfer_lines import (
    AuditLine,
    CitationLine,
    DeltaJobLine,
    DeltaLine,
    DocumentLine,
    DocumentSpan,
    EventLine,
    Line,
    PassageLine,
    ReceiptLine,
    SourceLine,
    SubjectLine,
    TextLine,
    ThreadLine,
    ToolCallLine,
    TurnLine,
    UsageLine,
)
from lumina.memory.turns import Citation, Message, Source, ThreadInfo, ToolCall, ToolRecord, Turn, TurnPage
from lumina.stores.in_memory_documents import InMemoryDocuments, KeptDocument
from lumina.stores.in_memory_forgetting import InMemoryForgetting
from lumina.stores.in_memory_kept import KeptSubject, KeptThread, KeptTurn, Key
from lumina.stores.line_words import document, folded, indexed
from lumina.stores.passage_ids import PLACE_BITS, passage_id
from lumina.stores.receipt_digests import receipt_digests

ABOUT_TRANSFERS = ("export", "import")


class InMemoryTransfer(InMemoryForgetting, InMemoryDocuments):
    """Lines out and in."""

    async def export_rows(self, scope: SubjectScope | ThreadScope, take: Callable[[Line], object]) -> None:
        of_one = isinstance(scope, ThreadScope)
        subject = self._subject(scope)
        named = {scope.thread: self._thread(scope)} if of_one else subject.threads
        take(SubjectLine(number=subject.number))
        digests = _used(named[scope.thread]) & subject.texts.keys() if of_one else subject.texts.keys()
        for digest in sorted(digests):
            take(TextLine(digest=digest, text=subject.texts[digest]))
        mine = {} if of_one else self._documents.get((scope.tenant, scope.subject), {})
        for locator in sorted(mine):
            take(_document_line(mine[locator]))
        for row in self._audits.get((scope.tenant, scope.subject), ()):
            if row.action not in ABOUT_TRANSFERS and (not of_one or row.thread == scope.thread):
                take(AuditLine(thread=row.thread, action=row.action, by=row.by, at=row.at, detail=row.detail))
        for name, thread in sorted(named.items(), key=lambda one: (one[1].number, one[0])):
            for line in _thread_lines(name, thread):
                take(line)

    async def import_rows(self, scope: SubjectScope, read: Callable[[int], Iterable[Line]]) -> None:
        kept = self._subject(scope)
        # Into copies, which take the place of what is there when all lines have come.
        subject = replace(kept, threads=dict(kept.threads), texts=dict(kept.texts))
        theirs = (scope.tenant, scope.subject)
        audits = list(self._audits.get(theirs, ()))
        documents, last = dict(self._documents.get(theirs, {})), self._last_document
        name, thread, turn, made = "", KeptThread(info=_empty("")), None, []
        for line in read(subject.number):
            match line:
                case SubjectLine():
                    subject.number = line.number
                case TextLine():
                    subject.texts.setdefault(line.digest, line.text)
                case DocumentLine():
                    if line.locator not in documents:
                        last += 1
                        documents[line.locator] = KeptDocument.of(document(line), last, own=True, at=line.added_at)
                case AuditLine():
                    number = audits[-1].number + 1 if audits else 1
                    audits.append(Audited(
                        number=number, thread=line.thread, action=line.action, by=line.by, at=line.at,
                        detail=line.detail,
                    ))  # fmt: skip
                case ThreadLine():
                    name, thread = line.thread, _opened(line)
                    if name in subject.threads:
                        raise UsageError(f"A thread {name!r} is here already. Nothing was imported.")
                    subject.threads[name] = thread
                    made.append(thread)
                case TurnLine():
                    turn = _add_turn(thread, line)
                case _:
                    _add(scope.subject, name, thread, turn, line)
        for thread in made:
            _finish(thread)
        if made:
            subject.profile = _profile(subject)
        self._audits[theirs] = audits
        self._subjects[theirs], self._documents[theirs], self._last_document = subject, documents, last


def _profile(subject: KeptSubject) -> Any:
    found = [delta for thread in subject.threads.values() for delta in _live(thread)]
    return folded(found, about="subject", version=subject.profile.version + 1) if found else subject.profile


def _live(thread: KeptThread) -> list[AppliedDelta]:
    return [
        delta
        for delta in thread.deltas.values()
        if delta.correction or not thread.turns[delta.seq, delta.attempt].page.superseded
    ]


# Export


def _used(thread: KeptThread) -> set[str]:
    found = {source.digest for source in thread.sources.values()}
    for kept in thread.turns.values():
        found |= {citation.digest for citation in kept.page.citations}
        for receipt in kept.receipts.values():
            found |= receipt_digests(receipt.body)
    return found


def _document_line(kept: KeptDocument) -> DocumentLine:
    one = kept.document
    spans = tuple(DocumentSpan(start=span.start, end=span.end, heading=span.heading) for span in one.passages)
    return DocumentLine(
        locator=one.locator, url=one.url, title=one.title, digest=one.digest, size=one.size, added_at=kept.added_at,
        text=one.text, passages=spans,
    )  # fmt: skip


def _thread_lines(name: str, thread: KeptThread) -> Iterator[Line]:
    info = thread.info
    yield ThreadLine(
        thread=name, title=info.title, deltas=info.deltas, sources=thread.last_source, number=thread.number,
        asked_at=info.asked_at, expires_at=thread.expires_at,
    )  # fmt: skip
    for n in sorted(thread.sources):
        yield SourceLine(**asdict(thread.sources[n]))
    passages: dict[Key, list[PassageLine]] = {}
    for (seq, attempt), one in thread.passages.values():
        line = PassageLine(seq=seq, attempt=attempt, part=one.part, start=one.start, end=one.end)
        passages.setdefault((seq, attempt), []).append(line)
    deltas: dict[Key, list[tuple[int, AppliedDelta]]] = {}
    for seq, attempt, correction in sorted(thread.deltas):
        found = thread.deltas[seq, attempt, correction]
        deltas.setdefault((seq, attempt), []).append((correction, found))
    for key in sorted(thread.turns):
        if thread.turns[key].turn.status != "running":
            yield from _turn_lines(thread, key, passages.get(key, []), deltas.get(key, []))
    for body in thread.logs.get((0, 0), ()):
        yield EventLine(seq=0, attempt=0, body=body)


def _turn_lines(
    thread: KeptThread, key: Key, passages: list[PassageLine], deltas: list[tuple[int, AppliedDelta]]
) -> Iterator[Line]:
    kept = thread.turns[key]
    turn, page = kept.turn, kept.page
    of: dict[str, Any] = {"seq": key[0], "attempt": key[1]}
    assert turn.status != "running"
    yield TurnLine(
        **of, client_id=page.client_id, number=turn.number, status=turn.status, reason=turn.reason,
        searched=page.searched, asked_at=page.asked_at, zone=page.zone, day=turn.day, superseded=page.superseded,
        window_start=turn.window_start, forgotten=turn.forgotten, cited=turn.cited, read=tuple(kept.read),
        followups=page.followups, usage=page.usage, question=turn.question, answer=turn.answer,
        exchanges=tuple(asdict(message) for message in turn.exchanges),  # pyright: ignore[reportArgumentType]
    )  # fmt: skip
    for index in sorted(kept.calls):
        values = asdict(kept.calls[index])
        yield ToolCallLine(**of, place=values.pop("index"), **values)
    for citation in page.citations:
        yield CitationLine(**of, **asdict(citation))
    if job := thread.jobs.get(key):
        yield DeltaJobLine(**asdict(job))
    for correction, delta in deltas:
        yield DeltaLine(**of, correction=correction, number=delta.number, changes=delta.changes)
    for call in sorted(kept.receipts):
        yield ReceiptLine(**asdict(kept.receipts[call]))
    for use in kept.uses:
        yield UsageLine(**_but(asdict(use), "number", "subject", "thread"))
    for body in thread.logs.get(key, ()):
        yield EventLine(**of, body=body)
    yield from sorted(passages, key=lambda line: (line.part != "question", line.start, line.end))


# Import


def _empty(name: str) -> ThreadInfo:
    return ThreadInfo(thread=name, title="", deltas=False, turns=0, running=0, asked_at="")


def _opened(line: ThreadLine) -> KeptThread:
    info = replace(_empty(line.thread), title=line.title, deltas=line.deltas, asked_at=line.asked_at)
    return KeptThread(info=info, number=line.number, last_source=line.sources, expires_at=line.expires_at)


def _add_turn(thread: KeptThread, line: TurnLine) -> TurnLine:
    exchanges = tuple(
        Message(
            role=one.role,
            content=one.content,
            tool_calls=tuple(ToolCall(**call.model_dump()) for call in one.tool_calls),
            tool_call_id=one.tool_call_id,
        )
        for one in line.exchanges
    )
    turn = Turn(
        seq=line.seq, attempt=line.attempt, question=line.question, answer=line.answer, status=line.status,
        reason=line.reason, day=line.day, delta="none", exchanges=exchanges, cited=line.cited,
        window_start=line.window_start, number=line.number, forgotten=line.forgotten, read_sources=bool(line.read),
    )  # fmt: skip
    page = TurnPage(
        seq=line.seq, attempt=line.attempt, client_id=line.client_id, question=line.question, answer=line.answer,
        status=line.status, reason=line.reason, searched=line.searched, asked_at=line.asked_at, zone=line.zone,
        superseded=line.superseded, delta="none", citations=(), read=(), followups=line.followups, usage=line.usage,
        forgotten=line.forgotten,
    )  # fmt: skip
    passage_id(line.seq, 0)
    thread.turns[line.seq, line.attempt] = KeptTurn(turn=turn, page=page, read=list(line.read))
    thread.by_client[line.client_id] = line.seq, line.attempt
    thread.info = replace(thread.info, turns=line.seq)
    return line


def _add(subject: str, name: str, thread: KeptThread, turn: TurnLine | None, line: Any) -> None:
    if isinstance(line, SourceLine):
        thread.sources[line.n] = Source(**line.model_dump(exclude={"kind"}))
        thread.by_locator[line.locator] = line.n
        return
    if isinstance(line, EventLine):
        thread.logs.setdefault(line.key, []).append(line.body)
        return
    values = line.model_dump(exclude={"kind"})
    kept = thread.turns[line.key]
    match line:
        case ToolCallLine():
            kept.calls[line.place] = ToolRecord(index=line.place, **_but(values, "seq", "attempt", "place"))
        case CitationLine():
            kept.page = replace(kept.page, citations=(*kept.page.citations, Citation(**_but(values, "seq", "attempt"))))
        case DeltaJobLine():
            thread.jobs[line.key] = DeltaJob(**values)
            kept.turn = replace(kept.turn, delta=line.status)
            kept.page = replace(kept.page, delta=line.status)
        case DeltaLine():
            thread.deltas[*line.key, line.correction] = AppliedDelta(**values, thread=name)
        case ReceiptLine():
            kept.receipts[line.call] = StoredReceipt(**values)
        case UsageLine():
            kept.uses.append(ModelUse(**values, number=len(kept.uses) + 1, subject=subject, thread=name))
        case PassageLine():
            assert turn is not None
            last = thread.passage_ids[-1] if thread.passage_ids else 0
            id = last + 1 if last >> PLACE_BITS == line.seq else passage_id(line.seq, 0)
            thread.passage_ids.append(id)
            thread.passages[id] = line.key, indexed(turn, line)


def _but(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _finish(thread: KeptThread) -> None:
    for id in thread.passage_ids:
        for word in set(thread.passages[id][1].words):
            thread.words.setdefault(word, []).append(id)
    if found := _live(thread):
        thread.state = folded(found, version=len(found))
