"""Local documents as a search provider.

A question's words, folded as everywhere in Lumina, go to the document store's full text; `ranking` chooses
among the passages that come back; each hit carries the whole document's text with the passage's offsets, so
that a citation opens at its place. A scope that holds no document yet is answered from Lumina's own
documentation.
"""

from collections import Counter
from collections.abc import Sequence

from lumina.adapters.documents.builtin import OWN_SCOPE, own_documentation
from lumina.adapters.documents.ranking import CANDIDATES, Question, Ranked, rank, read_question
from lumina.agent.ports import (
    DocumentStore,
    Empty,
    Failed,
    Found,
    Hit,
    PassageMatches,
    SearchResult,
    StoredPassage,
)
from lumina.memory.errors import NotFound, StoreError
from lumina.memory.scope import SubjectScope

HOST = "documents"
OWN_DOCUMENTATION = "lumina-documentation"  # the provider's name on what comes from the built-in corpus
FIRST = 5  # among so many hits ...
OF_ONE_DOCUMENT = 4  # ... at most so many come from one document: the fifth shows another place to look


class DocumentSearch:
    """A `SearchProvider` over the documents that a scope may read. `own`: whether a scope without any is answered from
    Lumina's own documentation; not where the web is asked next."""

    name = "documents"

    def __init__(self, store: DocumentStore, *, own: bool = True) -> None:
        self._store = store
        self._own = own

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        """At most `limit` passages, best first. Failed if the store cannot be read; it never raises."""
        question = read_question(query)
        if not question.words:
            return Empty(provider=self.name, reason="there is no word in the question that can be looked for")
        try:
            return await self._search(scope, question, limit)
        except StoreError as error:
            return Failed(provider=self.name, reason=str(error), retry=False)
        except Exception as error:  # whatever database is behind the port: to the agent it is a search that failed
            reason = f"the documents could not be searched ({type(error).__name__})"
            return Failed(provider=self.name, reason=reason, retry=True)

    async def _search(self, scope: SubjectScope, question: Question, limit: int) -> SearchResult:
        store, provider = self._store, self.name
        matches = await _matches(store, scope, question)
        if not matches.passages and not self._own:
            return Empty(provider=provider, reason="no documents have been added")
        if not matches.passages:
            store, scope, provider = await own_documentation(), OWN_SCOPE, OWN_DOCUMENTATION
            matches = await _matches(store, scope, question)
        if not matches.hits:
            return Empty(provider=provider, reason=_nothing(matches.passages))
        chosen = spread(without_copies(rank(question, matches)))[:limit]
        hits = await _hits(store, scope, chosen)
        if not hits:
            return Empty(provider=provider, reason="the documents were removed while they were searched")
        return Found(provider=provider, hits=hits)


def without_copies(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The candidates without those whose words were all seen before, in a copy of the same document."""
    seen: set[str] = set()
    kept = []
    for one in ranked:
        body = " ".join(one.passage.body.split())
        if body not in seen:
            seen.add(body)
            kept.append(one)
    return kept


def spread(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The same candidates; among the first FIRST at most OF_ONE_DOCUMENT share a document."""
    first: list[Ranked] = []
    later: list[Ranked] = []
    taken: Counter[str] = Counter()
    for one in ranked:
        if len(first) < FIRST and taken[one.passage.locator] < OF_ONE_DOCUMENT:
            first.append(one)
            taken[one.passage.locator] += 1
        else:
            later.append(one)
    return first + later


async def _matches(store: DocumentStore, scope: SubjectScope, question: Question) -> PassageMatches:
    return await store.find_passages(scope, tuple(question.words), limit=CANDIDATES)


async def _hits(store: DocumentStore, scope: SubjectScope, chosen: Sequence[Ranked]) -> tuple[Hit, ...]:
    texts: dict[int, str] = {}
    hits = []
    for one in chosen:
        document = one.passage.document
        try:
            if document not in texts:
                texts[document] = await store.document_text(scope, document)
        except NotFound:  # removed since the passages were found
            continue
        hits.append(_hit(one, texts[document]))
    return tuple(hits)


def _hit(one: Ranked, text: str) -> Hit:
    passage = one.passage
    stored, start, end = _place(passage, text)
    return Hit(
        locator=passage.locator,
        url=passage.url,
        title=passage.title,
        host=HOST,
        depth="page",
        stored=stored,
        start=start,
        end=end,
        heading=passage.heading,
        score=one.score,
        coverage=one.coverage,
    )


def _place(passage: StoredPassage, text: str) -> tuple[str, int, int]:
    """Text and offsets of the passage. A document replaced in between no longer holds it there: then it
    stands alone.
    """
    if text[passage.start : passage.end] == passage.body:
        return text, passage.start, passage.end
    return passage.body, 0, len(passage.body)


def _nothing(passages: int) -> str:
    if not passages:
        return "there are no documents yet; add some with `lumina docs add FOLDER`"
    of_all = (
        "the only passage of the documents does not hold"
        if passages == 1
        else (f"none of the {passages:,} passages of the documents holds")
    )
    return f"{of_all} a word of the question"
