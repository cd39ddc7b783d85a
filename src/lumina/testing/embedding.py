"""An embedder without a model: a text's words, hashed into a few dimensions.

Texts that share words are near each other, and nothing else is; `same` makes words count as one, so that a test can say
which texts a real model would have found alike.
"""

import hashlib
from collections.abc import Mapping, Sequence

from lumina.memory.embedding import EmbedderError, Kind, Vector, unit
from lumina.memory.words import content_words


class HashedWords:
    """An `Embedder`. `asked` keeps what it was given, as (kind, texts); `fails` makes every call fail with that reason.

    HashedWords(same={"automobile": "car"})    finds "my automobile" when asked for a car
    """

    def __init__(self, *, dimensions: int = 32, same: Mapping[str, str] | None = None, name: str = "") -> None:
        self.dimensions = dimensions
        self.name = name or f"hashed-words/{dimensions}"
        self.same = {word: other for pair in (same or {}).items() for word, other in [map(_folded, pair)]}
        self.asked: list[tuple[Kind, tuple[str, ...]]] = []
        self.fails = ""

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        self.asked.append((kind, tuple(texts)))
        if self.fails:
            raise EmbedderError(self.fails, provider=self.name, retry=True)
        return [self._of(text) for text in texts]

    def _of(self, text: str) -> Vector:
        values = [0.0] * self.dimensions
        for word in content_words(text) or [""]:
            digest = hashlib.sha256(self.same.get(word, word).encode("utf-8")).digest()
            values[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        return unit(values)


def _folded(word: str) -> str:
    return next(iter(content_words(word)), word)
