"""Vectors in `evidence`: the rows that need an embedder, on one conversation.

Every message is embedded as it was said and with one neighbour on each side; cosines are compared exactly, without an
index. Lumina's own vectors are made and asked by the library (`lumina.memory.meaning`).
"""

from collections.abc import Sequence

from lumina.evals.baselines import Bm25, best_first, fused, with_neighbours
from lumina.evals.talks import Talk
from lumina.memory.embedding import Embedder, Vector, dot
from lumina.memory.meaning import Meaning

NAIVE, FUSED = "naive vector", "BM25 and vector, fused"
PORTION = 32  # texts embedded at a time


class Likeness:
    """The two baselines with vectors. Made by `of`."""

    def __init__(self, talk: Talk, alone: Sequence[Vector], around: Sequence[Vector]) -> None:
        self._alone, self._around = alone, around
        self._words = Bm25([line.text for line in talk.lines])
        self._words_around = Bm25(with_neighbours(talk.lines))

    @classmethod
    async def of(cls, talk: Talk, embedder: Embedder) -> "Likeness":
        """Embeds every message of the conversation."""
        alone = await _embedded(embedder, [line.text for line in talk.lines])
        return cls(talk, alone, await _embedded(embedder, with_neighbours(talk.lines)))

    def orders(self, question: str, asked: Vector) -> dict[str, list[int]]:
        """Places of the messages, best first, by row."""
        alone = best_first([dot(vector, asked) for vector in self._alone])
        around = best_first([dot(vector, asked) for vector in self._around])
        by_words = [best_first(each.scores(question)) for each in (self._words, self._words_around)]
        return {NAIVE: alone, FUSED: fused([alone, around, *by_words])}


async def all_made(meaning: Meaning) -> None:
    """Makes the vectors of every passage of the thread."""
    while await meaning.catch_up():
        pass


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    vectors: list[Vector] = []
    for at in range(0, len(texts), PORTION):
        vectors += await embedder.embed(texts[at : at + PORTION], kind="passage")
    return vectors
