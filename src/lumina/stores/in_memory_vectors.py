"""The in-memory twin of `lumina.stores.sql.vectors`."""

import math
from array import array
from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence

from lumina.memory.embedding import Vector
from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import StoredPassage, VectorEnds
from lumina.memory.words import content_words
from lumina.stores import checks, nearness
from lumina.stores.in_memory_kept import KeptThread
from lumina.stores.in_memory_state import InMemoryState
from lumina.stores.passage_ids import PLACE_BITS


class InMemoryVectors(InMemoryState):
    """Vectors of passages."""

    async def put_vectors(
        self,
        scope: ThreadScope,
        embedder: str,
        vectors: Mapping[int, Vector],
        *,
        texts: Mapping[int, str] | None = None,
    ) -> int:
        checks.check_text("embedder", embedder)
        for vector in vectors.values():
            nearness.pack(vector)
        thread = self._look(scope)
        if thread is None:
            return 0
        now = {one.id: one.text for one in await self.passages(scope, list(vectors))}
        kept = [
            id for id in _live(thread) if id in vectors and (not texts or now.get(id) == texts.get(id, now.get(id)))
        ]
        for id in kept:
            thread.vectors[id] = embedder, array("f", vectors[id])
        return len(kept)

    async def vectors(self, scope: ThreadScope, ids: Sequence[int], *, embedder: str) -> dict[int, Vector]:
        wanted = set(ids)
        return {id: array("f", vector) for id, vector in self._made_by(scope, embedder) if id in wanted}

    async def nearest(
        self, scope: ThreadScope, vector: Vector, *, embedder: str, before: int, limit: int
    ) -> list[tuple[int, float]]:
        older = [(id, one) for id, one in self._made_by(scope, embedder) if id >> PLACE_BITS < before]
        newest = older[-nearness.SCANNED :]
        return nearness.nearest([[(id, nearness.pack(one)) for id, one in newest]], vector, limit)

    async def without_vectors(
        self, scope: ThreadScope, *, embedder: str = "", after: int = -1, limit: int = 100
    ) -> list[StoredPassage]:
        thread = self._look(scope)
        wanted = [
            id
            for id in _live(thread)
            if id > after and (_maker(thread, id) != embedder if embedder else not _maker(thread, id))
        ]
        return await self.passages(scope, wanted[: max(limit, 0)])

    async def vector_ends(self, scope: ThreadScope) -> VectorEnds:
        thread = self._look(scope)
        ids = [id for id in _live(thread) if _maker(thread, id)]
        if not ids:
            return VectorEnds()
        return VectorEnds(first=_maker(thread, ids[0]), last=_maker(thread, ids[-1]), last_id=ids[-1])

    async def mend_words(self) -> None:
        pass  # a dictionary does not break

    async def reindex_words(self, scope: ThreadScope, *, after: int = -1, limit: int = 500) -> int:
        thread = self._thread(scope)
        ids = [id for id in thread.passage_ids if id > after][: max(limit, 0)]
        last = ids[-1] if ids else math.inf
        for word, held in list(thread.words.items()):
            thread.words[word] = [id for id in held if not after < id <= last]
        for one in await self.passages(scope, ids):
            for word in set(content_words(one.text)):
                insort(thread.words.setdefault(word, []), one.id)
        return ids[-1] if ids else -1

    async def embedders(self, scope: TenantScope | SubjectScope | ThreadScope) -> dict[str, int]:
        threads = [self._look(one) for one in self._threads_in(scope)]
        return dict(Counter(_maker(thread, id) for thread in threads for id in _live(thread)))

    async def tenant_threads(self, scope: TenantScope) -> list[ThreadScope]:
        return self._threads_in(scope)

    def _threads_in(self, scope: TenantScope | SubjectScope | ThreadScope) -> list[ThreadScope]:
        if isinstance(scope, ThreadScope):
            return [scope]
        self._subject(SubjectScope(tenant=scope.tenant, subject="any"))  # says so when the store is closed
        return [
            ThreadScope(tenant=tenant, subject=subject, thread=name)
            for (tenant, subject), kept in sorted(self._subjects.items())
            if tenant == scope.tenant and (isinstance(scope, TenantScope) or subject == scope.subject)
            for name in sorted(kept.threads)
        ]

    def _made_by(self, scope: ThreadScope, embedder: str) -> list[tuple[int, Vector]]:
        """By id, ascending."""
        thread = self._look(scope)
        return [(id, thread.vectors[id][1]) for id in _live(thread) if thread and _maker(thread, id) == embedder]


def _live(thread: KeptThread | None) -> list[int]:
    """Passages of live turns."""
    if thread is None:
        return []
    return [id for id in thread.passage_ids if not thread.turns[thread.passages[id][0]].page.superseded]


def _maker(thread: KeptThread | None, id: int) -> str:
    return thread.vectors[id][0] if thread and id in thread.vectors else ""
