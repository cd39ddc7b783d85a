"""The documents of a scope, kept equal to the files that were added.

Adding a path again costs a hash per file: only what changed is read, what vanished below an added folder is removed,
and the report names everything that was done and everything that could not be done. Documents are written in small
batches, so that a run that is stopped half-way has kept what it reported, and goes on from there the next time.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lumina.adapters.documents.document_text import Refused
from lumina.adapters.documents.folders import Finding, Skipped, find_files, shown
from lumina.adapters.documents.reading import PREFIX, Prepared, Unreadable, digest, file_bytes, locator, prepare_all
from lumina.agent.ports import DocumentInfo, DocumentStore, NewDocument
from lumina.memory.scope import SubjectScope

BATCH_DOCUMENTS = 32
BATCH_LETTERS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far `add` is: `done` of `total` files; `name` is the file that was finished last."""

    done: int
    total: int
    name: str


@dataclass(slots=True, kw_only=True)
class Report:
    """What `add` did, as paths. `noted`: files that were read, with something to know of them.

    `other` counts files of kinds that are not read; `passages` those of the added and changed documents.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    noted: list[Skipped] = field(default_factory=list)
    other: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What `remove` did: the documents that are gone, and what was asked for and not found."""

    removed: tuple[DocumentInfo, ...]
    unknown: tuple[str, ...]


class Library:
    """The service behind `lumina docs`: adds, lists and removes documents.

    `workers`: processes for reading; 0 = none; None = as many as processors, at most 8, once it pays.
    """

    def __init__(self, store: DocumentStore, *, workers: int | None = None) -> None:
        self._store = store
        self._workers = workers

    async def add(
        self,
        scope: SubjectScope,
        paths: Iterable[str | os.PathLike[str]],
        *,
        own: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Reads the files and folders into the scope and reports.

        `own`: the subject's documents instead of the tenant's. StoreError if they cannot be written; what was written
        before is kept. Nothing on the disk makes it raise.
        """
        finding = await asyncio.to_thread(find_files, list(paths))
        kept = {info.locator: info for info in await self._store.documents(scope) if info.own == own}
        run = _Run(self._store, scope, own, kept, finding, progress)
        changed = await run.without_unchanged()
        async for path, outcome in prepare_all(changed, workers=self._workers):
            await run.take(path, outcome)
        await run.write()
        await run.remove_vanished()
        return run.report

    async def documents(self, scope: SubjectScope) -> list[DocumentInfo]:
        """All documents that the scope may read, in the order of their locators."""
        return await self._store.documents(scope)

    async def remove(self, scope: SubjectScope, what: Sequence[str], *, own: bool | None = None) -> Removal:
        """Removes documents by path, by folder, or by the number that `documents` shows (`7` or `#7`).

        A path need not exist any more. `own` None: the tenant's and the subject's; else only these.
        """
        known = [info for info in await self._store.documents(scope) if own is None or info.own == own]
        chosen: dict[int, DocumentInfo] = {}
        unknown = []
        for asked in what:
            found = _named(asked, known)
            chosen.update((info.id, info) for info in found)
            if not found:
                unknown.append(asked)
        if chosen:
            await self._store.remove_documents(scope, list(chosen))
        return Removal(removed=tuple(chosen.values()), unknown=tuple(unknown))


class _Run:
    """One `add`: what was found, what is kept, and the report as it grows."""

    def __init__(
        self,
        store: DocumentStore,
        scope: SubjectScope,
        own: bool,
        kept: dict[str, DocumentInfo],
        finding: Finding,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.report = Report(skipped=list(finding.skipped), other=finding.other)
        self._store, self._scope, self._own = store, scope, own
        self._kept, self._finding, self._progress = kept, finding, progress
        self._present = {locator(path) for path in finding.files}
        self._batch: list[NewDocument] = []
        self._done = 0

    async def without_unchanged(self) -> list[Path]:
        """The files whose content is not the kept one's; the others are reported as unchanged."""
        remaining = []
        for path in self._finding.files:
            info = self._kept.get(locator(path))
            if info is not None:
                data = await asyncio.to_thread(file_bytes, path)
                if not isinstance(data, Unreadable) and digest(data) == info.digest:
                    self.report.unchanged.append(shown(path))
                    self._step(path)
                    continue
            remaining.append(path)
        return remaining

    async def take(self, path: Path, outcome: Prepared | Refused | Unreadable) -> None:
        """Reports one file and, if it was read, puts it with the batch to write."""
        if isinstance(outcome, Prepared):
            known = locator(path) in self._kept
            self._batch.append(outcome.document)
            (self.report.changed if known else self.report.added).append(shown(path))
            self.report.noted += [Skipped(path=shown(path), reason=note) for note in outcome.notes]
            self.report.passages += len(outcome.document.passages)
            if len(self._batch) >= BATCH_DOCUMENTS or sum(len(one.text) for one in self._batch) > BATCH_LETTERS:
                await self.write()
        else:
            self.report.skipped.append(Skipped(path=shown(path), reason=outcome.reason))
            if isinstance(outcome, Refused):  # its kept text is no longer what the file says
                self._present.discard(locator(path))
        self._step(path)

    async def write(self) -> None:
        """Writes the batch."""
        if self._batch:
            batch, self._batch = self._batch, []
            await self._store.put_documents(self._scope, batch, own=self._own)

    async def remove_vanished(self) -> None:
        """Removes kept documents whose file is gone, or can no longer be read as text, below the given paths."""
        within = [locator(folder).rstrip("/") + "/" for folder in self._finding.folders]
        unknown = [locator(path) for path in self._finding.unread]
        given = {locator(path) for path in self._finding.files}
        gone = [
            info
            for info in self._kept.values()
            if info.locator not in self._present
            and (info.locator in given or info.locator.startswith(tuple(within)))
            and not any(info.locator == one or info.locator.startswith(one + "/") for one in unknown)
        ]
        if gone:
            await self._store.remove_documents(self._scope, [info.id for info in gone])
            self.report.removed += [info.locator.removeprefix(PREFIX) for info in gone]

    def _step(self, path: Path) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(Progress(done=self._done, total=len(self._finding.files), name=shown(path)))


def _named(asked: str, known: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """The documents that `asked` names: a number, a locator, a file's path, or a folder's."""
    number = asked.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        found = [info for info in known if info.id == int(number)]
        if found:
            return found
    if asked.startswith(PREFIX):
        return [info for info in known if info.locator == asked]
    try:
        place = locator(Path(asked).expanduser().resolve()).rstrip("/")
    except (OSError, ValueError, RuntimeError):
        return []
    return [info for info in known if info.locator == place or info.locator.startswith(place + "/")]
