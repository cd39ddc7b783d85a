"""Documents kept in memory, with the ranking of a full-text index: BM25 over the passages' folded words.

It serves Lumina's own documentation, which needs no database, and it is the plain reference that a database's
document store is compared with. Postings hold one row per word, so that a question touches only passages that
share a word with it: 20,000 passages take a few milliseconds.
"""

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lumina.agent.ports import DocumentInfo, NewDocument, PassageMatches, StoredPassage
from lumina.memory.errors import NotFound
from lumina.memory.scope import SubjectScope

K1 = 1.2  # both as in SQLite's bm25() and Robertson's "Okapi at TREC-3"
B = 0.75


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A document, whose it is (`subject` "" = the tenant's), and the row numbers of its passages."""

    info: DocumentInfo
    text: str
    tenant: str
    subject: str
    spans: tuple[tuple[int, int, str], ...]
    rows: range


@dataclass(slots=True, kw_only=True)
class _Index:
    """Every passage by its row number; rows are given once and never again."""

    postings: dict[str, dict[int, int]] = field(default_factory=dict)  # word -> row -> times
    lengths: dict[int, int] = field(default_factory=dict)
    document: dict[int, int] = field(default_factory=dict)  # row -> document
    totals: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # (tenant, subject, what) -> how many
    next_row: int = 0


class MemoryDocumentStore:
    """A `DocumentStore` without a database. Not shared between threads."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._by_owner: dict[tuple[str, str, str], int] = {}
        self._index = _Index()
        self._next_id = 1

    async def put_documents(self, scope: SubjectScope, documents: Sequence[NewDocument], *, own: bool = False) -> None:
        for document in documents:
            owner = (scope.tenant, scope.subject if own else "", document.locator)
            if (old := self._by_owner.get(owner)) is not None:
                self._drop(old)
            self._keep(owner, document, own)

    async def documents(self, scope: SubjectScope, *, under: str = "") -> list[DocumentInfo]:
        found = [kept.info for kept in self._readable(scope) if kept.info.locator.startswith(under)]
        return sorted(found, key=lambda info: (info.locator, info.own))

    async def document_text(self, scope: SubjectScope, document: int) -> str:
        kept = self._kept.get(document)
        if kept is None or not _may_read(scope, kept):
            raise NotFound("There is no such document.")
        return kept.text

    async def remove_documents(self, scope: SubjectScope, ids: Sequence[int]) -> int:
        mine = [id for id in dict.fromkeys(ids) if id in self._kept and _may_read(scope, self._kept[id])]
        for id in mine:
            self._drop(id)
        return len(mine)

    async def find_passages(self, scope: SubjectScope, words: Sequence[str], *, limit: int) -> PassageMatches:
        index = self._index
        owners = [(scope.tenant, ""), (scope.tenant, scope.subject)]
        passages = sum(index.totals[(*owner, "passages")] for owner in owners)
        if not passages:
            return PassageMatches()
        average = sum(index.totals[(*owner, "words")] for owner in owners) / passages or 1.0
        scores: dict[int, float] = {}
        frequency: dict[str, int] = {}
        for word, times_asked in Counter(words).items():
            held = {
                row: times
                for row, times in index.postings.get(word, {}).items()
                if _may_read(scope, self._kept[index.document[row]])
            }
            frequency[word] = len(held)
            idf = math.log(1 + (passages - len(held) + 0.5) / (len(held) + 0.5)) * times_asked
            for row, times in held.items():
                norm = K1 * (1 - B + B * index.lengths[row] / average)
                scores[row] = scores.get(row, 0.0) + idf * times * (K1 + 1) / (times + norm)
        best = heapq.nsmallest(limit, scores, key=lambda row: (-scores[row], row))
        hits = tuple(_stored(self._kept[index.document[row]], row, rank) for rank, row in enumerate(best))
        return PassageMatches(hits=hits, frequency=frequency, passages=passages)

    def _readable(self, scope: SubjectScope) -> list[_Kept]:
        return [kept for kept in self._kept.values() if _may_read(scope, kept)]

    def _keep(self, owner: tuple[str, str, str], document: NewDocument, own: bool) -> None:
        index, id = self._index, self._next_id
        first, self._next_id = index.next_row, id + 1
        for row, span in enumerate(document.passages, start=first):
            index.lengths[row] = len(span.words)
            index.document[row] = id
            for word, times in Counter(span.words).items():
                index.postings.setdefault(word, {})[row] = times
        index.next_row = first + len(document.passages)
        index.totals[(*owner[:2], "passages")] += len(document.passages)
        index.totals[(*owner[:2], "words")] += sum(len(span.words) for span in document.passages)
        info = DocumentInfo(
            id=id, locator=document.locator, url=document.url, title=document.title, digest=document.digest,
            passages=len(document.passages), own=own,
            added_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        spans = tuple((span.start, span.end, span.heading) for span in document.passages)
        self._kept[id] = _Kept(
            info=info, text=document.text, tenant=owner[0], subject=owner[1], spans=spans,
            rows=range(first, index.next_row),
        )  # fmt: skip
        self._by_owner[owner] = id

    def _drop(self, id: int) -> None:
        kept = self._kept.pop(id)
        del self._by_owner[(kept.tenant, kept.subject, kept.info.locator)]
        gone = set(kept.rows)
        self._index.totals[(kept.tenant, kept.subject, "passages")] -= len(gone)
        for row in gone:
            self._index.totals[(kept.tenant, kept.subject, "words")] -= self._index.lengths.pop(row)
            del self._index.document[row]
        for word in [word for word, rows in self._index.postings.items() if not gone.isdisjoint(rows)]:
            rows = self._index.postings[word]
            for row in gone.intersection(rows):
                del rows[row]
            if not rows:
                del self._index.postings[word]


def _may_read(scope: SubjectScope, kept: _Kept) -> bool:
    return kept.tenant == scope.tenant and kept.subject in ("", scope.subject)


def _stored(kept: _Kept, row: int, rank: int) -> StoredPassage:
    ordinal = row - kept.rows.start
    start, end, heading = kept.spans[ordinal]
    return StoredPassage(
        document=kept.info.id, locator=kept.info.locator, url=kept.info.url, title=kept.info.title,
        ordinal=ordinal, start=start, end=end, heading=heading, body=kept.text[start:end], rank=rank,
    )  # fmt: skip
