"""A text as a point: what an embedder gives, and what may be done with it here.

An embedder turns a text into a vector of length 1, so that the cosine of two texts is their dot product. Its `name`
stands for everything that makes its vectors comparable, the model and the number of dimensions: vectors of two names
are never compared. Which embedder there is, if any, is chosen outside (`lumina.adapters.embedders`); nothing in the
memory needs one.

Vectors are `array("f")`, float32, of the standard library: a thread's own few are compared here, a thread's thousands
in the store.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Literal, Protocol

from lumina.memory.errors import ProviderError, UsageError

Kind = Literal["question", "passage"]
Vector = array  # of typecode "f"

LONGEST_NAME = 200  # code points
MOST_DIMENSIONS = 16_384


class EmbedderError(ProviderError):
    """An embedder failed, or gave something that is no vector. `retry` says whether trying again may help. Recall goes
    on by words; the passages stay without vectors until they are made up for."""


class Embedder(Protocol):
    """Makes vectors. `name` is its identity, model and dimensions included, such as `minilm-l6-v2-int8/384`."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """One vector for each of `texts`, in order, each of length 1. Some models embed a question and a passage that
        answers it in two ways: `kind` says which these are. Raises EmbedderError."""
        ...


def unit(values: Iterable[float]) -> Vector:
    """`values` as a vector of length 1. ValueError when they have no direction: all zero, or one is not a number."""
    found = array("f", values)
    length = math.sqrt(math.fsum(map(mul, found, found)))
    if not math.isfinite(length) or not length:
        raise ValueError("a vector without a direction")
    return array("f", [value / length for value in found])


def dot(one: Vector, other: Vector) -> float:
    """The cosine of two vectors of length 1. ValueError when they have not the same dimensions."""
    if len(one) != len(other):
        raise ValueError(f"{len(one)} and {len(other)} dimensions cannot be compared")
    return math.fsum(map(mul, one, other))


def mean(vectors: Sequence[Vector], weights: Sequence[float] = ()) -> Vector:
    """The direction between `vectors` (all of the same dimensions), each taken `weights` times (1 if none are given),
    as a vector of length 1. ValueError where they cancel out, or there are none."""
    if not vectors:
        raise ValueError("no vectors to take the mean of")
    times = weights or [1.0] * len(vectors)
    return unit(
        math.fsum(weight * value for weight, value in zip(times, column, strict=True))
        for column in zip(*vectors, strict=True)
    )


def check_embedder(embedder: Embedder) -> None:
    """UsageError for an embedder whose name or dimensions cannot be kept."""
    name, dimensions = embedder.name, embedder.dimensions
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(f"An embedder's name is 1 to {LONGEST_NAME} printable characters, not {name!r}.")
    if not isinstance(dimensions, int) or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise UsageError(f"The embedder {name} says it has {dimensions!r} dimensions; 1 to {MOST_DIMENSIONS} are kept.")


async def embed(embedder: Embedder, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
    """What `embedder` makes of `texts`, checked: as many vectors as texts, of its dimensions, each of length 1.
    EmbedderError says what was wrong."""
    made = await embedder.embed(texts, kind=kind)
    if len(made) != len(texts):
        raise EmbedderError(
            f"{embedder.name} gave {len(made)} vectors for {len(texts)} texts. None was kept.",
            provider=embedder.name, retry=False,
        )  # fmt: skip
    return [checked(embedder, vector) for vector in made]


def checked(embedder: Embedder, values: Sequence[float]) -> Vector:
    """One vector of `embedder`, of length 1. EmbedderError where it has other dimensions or no direction."""
    if len(values) != embedder.dimensions:
        raise EmbedderError(
            f"{embedder.name} gave a vector of {len(values)} dimensions, not {embedder.dimensions}. It was not kept.",
            provider=embedder.name, retry=False,
        )  # fmt: skip
    try:
        return unit(values)
    except (ValueError, TypeError, OverflowError):
        raise EmbedderError(
            f"{embedder.name} gave a vector without a direction (zero, or not numbers). It was not kept.",
            provider=embedder.name, retry=False,
        ) from None  # fmt: skip
