"""Finding by meaning: a thread's vectors, made after its turns are kept and asked when recall has fired.

Words come first. Whether to look back at all is decided by them alone; a question is embedded only when that was
decided. Vectors of passages are never part of a turn's transaction and hold up nobody: they are made afterwards, oldest
first, and what a kill or a failing embedder left undone is made up for in bounded portions at the next turn. Without
them recall goes on by words.

Vectors of another embedder are left as they are, are not compared and not replaced, and while a thread has any, none
are made in it: only `reindex` replaces them, all of them. So changing the setting back loses nothing.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from lumina.memory.embedding import Embedder, EmbedderError, Vector, check_embedder, dot, embed
from lumina.memory.errors import NotFound
from lumina.memory.scope import TenantScope, ThreadScope
from lumina.memory.store import Store, StoredPassage

NEAREST = 50  # passages that come to the candidates for the sake of their vectors
PORTION = 32  # passages embedded at a time
MADE_UP = 256  # passages made up for beside one turn
QUESTION_SECONDS = 5.0  # a question whose vector is not there by then is sought by words


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What vectors say about a question: cosines of passages by id, best first; or `told`, why they say nothing."""

    similar: dict[int, float] = field(default_factory=dict)
    vector: Vector | None = None
    told: str = ""


NOTHING = Near()


class Meaning:
    """A thread's vectors by one embedder. `trouble` is what went wrong last when vectors were made, or ""."""

    def __init__(self, *, store: Store, scope: ThreadScope, embedder: Embedder) -> None:
        check_embedder(embedder)
        self.embedder = embedder
        self.trouble = ""
        self._store = store
        self._scope = scope
        self._past = -1  # passages up to here were refused by the embedder; they are left for reindex

    async def other(self) -> str:
        """The name of another embedder that made vectors of this thread, or ""."""
        ends = await self._store.vector_ends(self._scope)
        return next((name for name in (ends.last, ends.first) if name not in ("", self.embedder.name)), "")

    async def near(self, question: str, *, before: int, limit: int = NEAREST) -> Near:
        """The passages nearest to the question, of turns with seq < before."""
        if other := await self.other():
            return Near(told=f"Searched by words alone: vectors were made by {other}; run lumina reindex.")
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                (vector,) = await embed(self.embedder, [question], kind="question")
        except Exception as error:  # an embedder is the outside, and no question may fail for it
            return Near(told=f"Searched by words alone: {_reason(self.embedder, error)}")
        found = await self._store.nearest(
            self._scope, vector, embedder=self.embedder.name, before=before, limit=limit
        )  # fmt: skip
        return Near(similar=dict(found), vector=vector)

    async def similar(self, near: Near, passages: Sequence[StoredPassage]) -> dict[int, float]:
        """The cosine with the question of each of `passages` that has a vector."""
        asked = near.vector
        if asked is None:
            return {}
        missing = [one.id for one in passages if one.id not in near.similar]
        more = await self._store.vectors(self._scope, missing, embedder=self.embedder.name)
        return near.similar | {id: dot(vector, asked) for id, vector in more.items() if len(vector) == len(asked)}

    async def catch_up(self, *, most: int = MADE_UP) -> int:
        """Makes vectors for at most `most` passages that have none, oldest first; returns how many. What fails is kept
        in `trouble`, and tried again at the next turn unless the embedder refused the text itself."""
        made, seen = 0, 0
        try:
            ends = await self._store.vector_ends(self._scope)
            if await self.other():
                return 0
            after = max(ends.last_id, self._past)
            while seen < most:
                passages = await self._store.without_vectors(self._scope, after=after, limit=min(PORTION, most - seen))
                if not passages:
                    break
                after, seen = passages[-1].id, seen + len(passages)
                made += await self._make(passages)
            self.trouble = ""
        except Exception as error:
            self.trouble = _reason(self.embedder, error)
        return made

    async def _make(self, passages: Sequence[StoredPassage]) -> int:
        try:
            return await make(self._store, self._scope, self.embedder, passages)
        except EmbedderError as error:
            if not error.retry:
                self._past = passages[-1].id
            raise


async def make(store: Store, scope: ThreadScope, embedder: Embedder, passages: Sequence[StoredPassage]) -> int:
    """Embeds and keeps; returns how many were kept. Raises what the embedder raises."""
    texts = {one.id: one.text for one in passages}
    vectors = await embed(embedder, list(texts.values()), kind="passage")
    return await store.put_vectors(scope, embedder.name, dict(zip(texts, vectors, strict=True)), texts=texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """What reindexing did: vectors made, passages that the embedder refused (each as `thread: reason`), and how many
    passages already had theirs."""

    made: int = 0
    there: int = 0
    refused: tuple[str, ...] = ()


Progress = Callable[[int, int], None]  # done, of how many


async def reindex(
    store: Store, scope: TenantScope, embedder: Embedder, *, progress: Progress = lambda done, total: None
) -> Reindexed:
    """Gives every passage of every thread of the tenant a vector by `embedder`, in the place of any other.

    A portion is a transaction: whoever is killed or fails in between goes on where it stopped, and threads may be used
    meanwhile. Raises EmbedderError when the embedder fails in a way that may pass; what was made is kept.
    """
    check_embedder(embedder)
    counts = await store.embedders(scope)
    there = counts.pop(embedder.name, 0)
    total, done, made = sum(counts.values()), 0, 0
    refused: list[str] = []
    progress(0, total)
    for thread in await store.tenant_threads(scope):
        after = -1
        while passages := await store.without_vectors(thread, embedder=embedder.name, after=after, limit=PORTION):
            after, done = passages[-1].id, done + len(passages)
            kept, reasons = await _replace(store, thread, embedder, passages)
            made += kept
            refused += reasons
            progress(min(done, total), total)
    return Reindexed(made=made, there=there, refused=tuple(refused))


async def _replace(
    store: Store, scope: ThreadScope, embedder: Embedder, passages: Sequence[StoredPassage]
) -> tuple[int, list[str]]:
    """A portion; one that is refused as a whole is tried passage by passage."""
    try:
        return await make(store, scope, embedder, passages), []
    except EmbedderError as error:
        if error.retry:
            raise
        if len(passages) == 1:
            return 0, [f"{scope.thread}, turn {passages[0].seq}: {error}"]
    made, refused = 0, []
    for passage in passages:
        kept, reasons = await _replace(store, scope, embedder, [passage])
        made, refused = made + kept, refused + reasons
    return made, refused


async def reindex_words(store: Store, scope: TenantScope, *, progress: Progress = lambda done, total: None) -> int:
    """Writes the word index of every turn of the tenant anew from the stored text; returns the number of threads."""
    await store.mend_words()
    threads = await store.tenant_threads(scope)
    for done, thread in enumerate(threads):
        progress(done, len(threads))
        after = -1
        with suppress(NotFound):  # it was forgotten meanwhile, its words with it
            while (after := await store.reindex_words(thread, after=after)) >= 0:
                pass
    progress(len(threads), len(threads))
    return len(threads)


def _reason(embedder: Embedder, error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"{embedder.name} gave no vector within {QUESTION_SECONDS:g} s."
    return str(error) if isinstance(error, EmbedderError) else f"{embedder.name} failed ({type(error).__name__})."
