"""Export and import: a thread, or all that is kept of a subject, as a file of lines and back.

    exported = await export_to(store, scope, file.write)          # one thread, or a whole subject
    imported = await import_from(store, scope, file)              # a binary file that can be read twice

Both stream: a thread of ten thousand turns takes no more memory than a short one. An import is checked whole before
anything is written, and then written in one transaction: what is bad, or killed, leaves nothing behind. It never
overwrites: a thread that is there already is refused, or left out if that was asked for.

The file is not trusted. Every field is checked as hard as the input of an API (`transfer_lines`, `transfer_check`); an
error names the line and the field. No model is asked.

What is imported into a subject that has asked before counts as said after that: the numbers of its turns are moved up
by the subject's count, in turns, deltas and receipts alike. Into an empty subject they stay, so that exporting again
gives the same bytes.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import BinaryIO

from lumina.memory.change import dump_changes, load_changes
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.receipt import NOWHERE, Item, Receipt
from lumina.memory.scope import SubjectScope, ThreadScope, check_id
from lumina.memory.store import Store
from lumina.memory.transfer_check import Checker, EventCheck, any_event
from lumina.memory.transfer_lines import (
    AuditLine,
    DeltaLine,
    DocumentLine,
    End,
    EventLine,
    Header,
    Line,
    ReceiptLine,
    SubjectLine,
    ThreadLine,
    TurnLine,
    dump,
)
from lumina.memory.transfer_reading import Summary, read_lines, summarised

Progress = Callable[[int], object]  # told how many turns are done


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What a file holds. `unproved`: receipts whose hash was left out, because they show what another thread said."""

    lines: int = 0
    threads: tuple[str, ...] = ()
    turns: int = 0
    documents: int = 0
    unproved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import made. `threads`: the name in the file and the name here. `there_already`: threads and documents
    that were left out because they are here. `moved`: by how much the numbers of its turns went up."""

    threads: tuple[tuple[str, str], ...] = ()
    there_already: tuple[str, ...] = ()
    turns: int = 0
    documents: int = 0
    moved: int = 0


async def export_to(
    store: Store,
    scope: SubjectScope | ThreadScope,
    write: Callable[[bytes], object],
    *,
    event: EventCheck = any_event,
    told: Progress | None = None,
    by: str = "",
    now: datetime | None = None,
) -> Exported:
    """Writes the file of a thread or of a subject, line by line, from one view of the database; then notes in the
    audit that it was exported. A turn that is being answered is not in it. `write` is called in another thread.

    NotFound when there is nothing of that name; StoreError when something stored cannot be read or does not hold
    together, with the place: the file is then not complete and has no last line.
    """
    is_thread = isinstance(scope, ThreadScope)
    header = Header(
        what="thread" if is_thread else "subject", tenant=scope.tenant, subject=scope.subject,
        thread=scope.thread if is_thread else "",
    )  # fmt: skip
    writer = _Writer(header, write, event=event, told=told, own=await _numbers(store, scope) if is_thread else None)
    await store.export_rows(scope, writer.take)
    exported = writer.end()
    of_subject = scope.of_subject if isinstance(scope, ThreadScope) else scope
    counts = {"threads": len(exported.threads), "turns": exported.turns}
    note = _audit("export", header.thread, counts, by=by, now=now)
    await store.import_rows(of_subject, lambda _: [note])
    return exported


async def import_from(
    store: Store,
    scope: SubjectScope,
    file: BinaryIO,
    *,
    name: str = "",
    skip: bool = False,
    dry_run: bool = False,
    event: EventCheck = any_event,
    told: Progress | None = None,
    by: str = "",
    now: datetime | None = None,
) -> Imported:
    """Reads a file into a subject: its own or another one. `name` is what its one thread is called from now on.

    `skip`: what is there already is left out; otherwise it is a UsageError that names it. With `dry_run` everything
    is checked and nothing is written. Any fault of the file is a UsageError with the line and the field.
    """
    summary = await asyncio.to_thread(summarised, file, event)
    names = _names(summary, name)
    there = [old for old, new in names.items() if await _is_there(store, scope.thread(new))]
    if there and not skip:
        raise UsageError(
            f"{_listed(names[old] for old in there)} is here already. Nothing was imported. Give the thread another "
            "name (--as), or leave out what is here (--skip)."
        )
    coming = {old: new for old, new in names.items() if old not in there}
    placing = _Placing(scope=scope, names=coming, left_out=there, skip=skip)
    counts = {"threads": len(placing.names), "turns": sum(summary.turns[old] for old in placing.names)}
    note = _audit("import", "", counts, by=by, now=now)
    if not dry_run:
        await store.import_rows(scope, lambda number: _placed(file, event, placing, number, note, told))
    return Imported(
        threads=tuple(placing.names.items()),
        there_already=tuple(names[old] for old in there),
        turns=counts["turns"],
        documents=summary.documents,
        moved=placing.moved,
    )


def _audit(action: str, thread: str, counts: Mapping[str, int], *, by: str, now: datetime | None) -> AuditLine:
    at = (now or datetime.now(UTC)).astimezone(UTC).isoformat()
    return AuditLine(thread=thread, action=action, by=by, at=at, detail=json.dumps(counts))


async def _is_there(store: Store, scope: ThreadScope) -> bool:
    try:
        await store.thread_info(scope)
    except NotFound:
        return False
    return True


def _listed(names: Iterable[str]) -> str:
    found = [repr(name) for name in names]
    return ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")


# Writing


async def _numbers(store: Store, scope: ThreadScope) -> frozenset[int]:
    """The subject's numbers of the thread's turns."""
    found: set[int] = set()

    def take(line: Line) -> None:
        if isinstance(line, TurnLine):
            found.add(line.number)

    await store.export_rows(scope, take)
    return frozenset(found)


class _Writer:
    """Checks the lines that a store hands over, writes and counts them."""

    def __init__(
        self, header: Header, write: Callable[[bytes], object], *, event: EventCheck, told: Progress | None,
        own: Collection[int] | None,
    ) -> None:  # fmt: skip
        self._checker = Checker(header, event=event)
        self._write = write
        self._told = told
        self._own = own
        self._hash = hashlib.sha256()
        self._counts = Exported()
        self._turn = (0, 0)
        self._outside: set[int] = set()  # calls of the turn that show what another thread said
        self._put(dump(header))

    def take(self, line: Line) -> None:
        if isinstance(line, ReceiptLine) and self._own is not None:
            line = self._provable(line, self._own)
        try:
            self._checker.take(line)
        except ValueError as error:
            place = f" of turn {key[0]}" if (key := getattr(line, "key", None)) else ""
            raise StoreError(
                f"What is stored cannot be exported: {line.kind}{place}: {error}. It was left as it is; the file is "
                "not complete."
            ) from None
        self._put(dump(line))
        counts = self._counts
        match line:
            case ThreadLine():
                self._counts = replace(counts, threads=(*counts.threads, line.thread))
            case TurnLine():
                self._counts = replace(counts, turns=counts.turns + 1)
                self._turn, self._outside = (line.seq, line.attempt), set()
                if self._told is not None:
                    self._told(counts.turns + 1)
            case DocumentLine():
                self._counts = replace(counts, documents=counts.documents + 1)
            case _:
                pass

    def _provable(self, line: ReceiptLine, own: Collection[int]) -> ReceiptLine:
        """A receipt that shows an entry or a passage of another thread cannot be rendered again without that thread:
        its hash goes, as it does when an entry is forgotten, and so does the other thread's name."""
        receipt = Receipt.from_json(line.body)
        if receipt.base not in self._outside and not any(_is_outside(item, own) for item in receipt.items):
            return line
        self._outside.add(line.call)
        self._counts = replace(self._counts, unproved=self._counts.unproved + bool(receipt.sent))
        told = {"items": tuple(_bound(item, {}) for item in receipt.items), "sent": ""}
        return line.model_copy(update={"body": receipt.model_copy(update=told).to_json()})

    def end(self) -> Exported:
        self._checker.end()
        counts = self._counts
        self._write(dump(End(lines=counts.lines, sha256=self._hash.hexdigest())))
        return counts

    def _put(self, raw: bytes) -> None:
        self._hash.update(raw)
        self._counts = replace(self._counts, lines=self._counts.lines + 1)
        self._write(raw)


def _is_outside(item: Item, own: Collection[int]) -> bool:
    if item.kind == "recalled":
        return bool(item.thread)
    return item.kind == "entry" and item.about == "subject" and item.number not in own


def _bound(item: Item, names: Mapping[str, str]) -> Item:
    """The item with the name that a thread it recalls has from now on. One that does not come along is nowhere: a
    thread of the same name may be here, or come one day, and its words are others."""
    return item.model_copy(update={"thread": names.get(item.thread, NOWHERE)}) if item.thread else item


# Placing: from the names and numbers of the file to those of here


def _names(summary: Summary, name: str) -> dict[str, str]:
    if not name:
        return {thread: thread for thread in summary.turns}
    if len(summary.turns) != 1:
        raise UsageError(f"The file holds {len(summary.turns)} threads; only one can be named. Nothing was done.")
    check_id("The new name", name)
    return dict.fromkeys(summary.turns, name)


@dataclass(slots=True, kw_only=True)
class _Placing:
    scope: SubjectScope
    names: Mapping[str, str]  # of the threads that are imported
    left_out: Collection[str]  # of those that are here already
    skip: bool
    moved: int = 0


def _placed(
    file: BinaryIO, event: EventCheck, placing: _Placing, number: int, note: AuditLine, told: Progress | None
) -> Iterator[Line]:
    """The lines as they are to be stored, read and checked once more; `number` is the subject's count here."""
    placing.moved = number
    lines = read_lines(file, event=event)
    next(lines)
    old, turns = "", 0
    for line in lines:
        if isinstance(line, Header):
            continue
        if isinstance(line, ThreadLine):
            old = line.thread
        if isinstance(line, AuditLine):
            # What is about the subject, or about a thread that is gone, stands here only if nothing stood before.
            if line.thread in placing.names or (not number and line.thread not in placing.left_out):
                yield line.model_copy(update={"thread": placing.names.get(line.thread, line.thread)})
        elif isinstance(line, DocumentLine) or (placing.names and (not old or old in placing.names)):
            yield _moved(line, old, placing.names, number)
            if isinstance(line, TurnLine):
                turns += 1
                if told is not None:
                    told(turns)
    yield note


def _moved(line: Line, old: str, names: Mapping[str, str], by: int) -> Line:
    """The line under the thread's new name and with its numbers moved up."""
    changed: dict[str, object] = {}
    new = names.get(old, "")
    match line:
        case ThreadLine():
            changed = {"thread": new, "number": line.number + by if line.number else 0}
        case SubjectLine() | TurnLine():
            changed = {"number": line.number + by}
        case DeltaLine() if by or old != new:
            changes = [
                replace(change, number=change.number + by, thread=new if change.about == "subject" else change.thread)
                for change in load_changes(line.changes)
            ]
            changed = {"number": line.number + by, "changes": dump_changes(changes)}
        case ReceiptLine():
            receipt = Receipt.from_json(line.body)
            items = tuple(
                item.model_copy(update={"number": item.number + by}) if item.kind == "entry" and item.number else
                _bound(item, names) for item in receipt.items
            )  # fmt: skip
            if items != receipt.items:
                changed = {"body": receipt.model_copy(update={"items": items}).to_json()}
        case EventLine() if old != new:
            body = json.loads(line.body)
            if body.get("thread") == old:
                changed = {"body": json.dumps({**body, "thread": new}, separators=(",", ":"))}
        case _:
            pass
    return line.model_copy(update=changed) if changed else line
