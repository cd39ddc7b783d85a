"""Documents kept in memory: the twin of `lumina.stores.sql.documents`, ranked by the same code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lumina.agent.ports import DocumentInfo, NewDocument, PassageMatches, StoredPassage
from lumina.memory.errors import NotFound
from lumina.memory.scope import SubjectScope
from lumina.stores import ranking
from lumina.stores.checks import check_document

Owner = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDocument:
    id: int
    own: bool
    added_at: str
    document: NewDocument
    index: dict[str, bytes]
    words: int

    @classmethod
    def of(cls, document: NewDocument, id: int, *, own: bool, at: str) -> "KeptDocument":
        words = sum(len(passage.words) for passage in document.passages)
        return cls(id=id, own=own, added_at=at, document=document, index=ranking.index(document.passages), words=words)


class InMemoryDocuments:
    """A `DocumentStore`."""

    def __init__(self) -> None:
        self._documents: dict[Owner, dict[str, KeptDocument]] = {}
        self._last_document = 0

    def _readable(self, scope: SubjectScope) -> Iterator[tuple[Owner, KeptDocument]]:
        for owner in ((scope.tenant, ""), (scope.tenant, scope.subject)):
            for kept in self._documents.get(owner, {}).values():
                yield owner, kept

    async def put_documents(self, scope: SubjectScope, documents: Sequence[NewDocument], *, own: bool = False) -> None:
        for document in documents:
            check_document(document)
        mine = self._documents.setdefault((scope.tenant, scope.subject if own else ""), {})
        for document in documents:
            known = mine.get(document.locator)
            if known is None:
                self._last_document += 1
            id, now = known.id if known else self._last_document, datetime.now(UTC).isoformat()
            mine[document.locator] = KeptDocument.of(document, id, own=own, at=now)

    async def documents(self, scope: SubjectScope, *, under: str = "") -> list[DocumentInfo]:
        found = [kept for _, kept in self._readable(scope) if kept.document.locator.startswith(under)]
        return [
            DocumentInfo(
                id=kept.id,
                locator=kept.document.locator,
                url=kept.document.url,
                title=kept.document.title,
                digest=kept.document.digest,
                passages=len(kept.document.passages),
                added_at=kept.added_at,
                own=kept.own,
            )
            for kept in sorted(found, key=lambda kept: (kept.document.locator, kept.id))
        ]

    async def document_text(self, scope: SubjectScope, document: int) -> str:
        for _, kept in self._readable(scope):
            if kept.id == document:
                return kept.document.text
        raise NotFound(f"There is no document {document} here.")

    async def remove_documents(self, scope: SubjectScope, ids: Sequence[int]) -> int:
        going = [(owner, kept) for owner, kept in self._readable(scope) if kept.id in set(ids)]
        for owner, kept in going:
            del self._documents[owner][kept.document.locator]
        return len(going)

    async def find_passages(self, scope: SubjectScope, words: Sequence[str], *, limit: int) -> PassageMatches:
        mine = sorted((kept for _, kept in self._readable(scope)), key=lambda kept: kept.id)
        by_id = {kept.id: kept.document for kept in mine}
        passages = sum(len(kept.document.passages) for kept in mine)
        ranked = ranking.rank(
            words,
            {word: [(kept.id, kept.index[word]) for kept in mine if word in kept.index] for word in set(words)},
            passages=passages,
            total_words=sum(kept.words for kept in mine),
            limit=limit,
        )
        hits = tuple(_hit(by_id[id], id, ordinal, n) for n, (id, ordinal) in enumerate(ranked.best))
        return PassageMatches(hits=hits, frequency=ranked.frequency, passages=passages)


def _hit(document: NewDocument, id: int, ordinal: int, n: int) -> StoredPassage:
    span = document.passages[ordinal]
    return StoredPassage(
        document=id,
        locator=document.locator,
        url=document.url,
        title=document.title,
        ordinal=ordinal,
        start=span.start,
        end=span.end,
        heading=span.heading,
        body=document.text[span.start : span.end],
        rank=n,
    )
