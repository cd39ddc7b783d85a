"""Vectors as bytes, and which of many are nearest to one: exact, in blocks of rows.

A stored vector is float32, little endian, of length 1, so that a dot product is a cosine. With numpy a block of rows is
one product of a matrix; without it the standard library does the same sums: 28 ms of processor time for a thousand
vectors of 384 dimensions where numpy takes 0.6 (docs/why/figures.md), and four times as long for a whole search with
its reading from SQLite. So numpy comes with the extra that brings a local embedder. Where two are equally near the
newer one comes first, on either path.
"""

import heapq
import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from operator import mul
from typing import Any

from lumina.memory.embedding import Vector
from lumina.memory.errors import UsageError

BLOCK = 2048  # rows at a time: 3 MB of 384 dimensions
# Vectors of a thread that are compared with a question, the newest first. At 384 dimensions a full scan of them reads
# 77 MB; a thread has one or two passages for a short turn, ten for a long answer.
SCANNED = 50_000
CLOSE_TO_ONE = 0.01

Row = tuple[int, Any]  # passage id, bytes as stored


def pack(vector: Sequence[float]) -> bytes:
    """As it is stored. UsageError for what is not of length 1."""
    found = array("f", vector)
    if not found or not abs(math.fsum(map(mul, found, found)) - 1.0) < CLOSE_TO_ONE:
        raise UsageError("A vector is kept only with the length 1 (lumina.memory.embedding.unit). Nothing was stored.")
    return _little(found).tobytes()


def unpack(stored: Any) -> Vector | None:
    """The vector, or None for what cannot be one."""
    if not isinstance(stored, bytes) or not stored or len(stored) % 4:
        return None
    found = array("f")
    found.frombytes(stored)
    return _little(found)


def nearest(blocks: Iterable[Iterable[Row]], vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
    """(id, cosine) of the `limit` nearest of all rows, best first. One that is no vector of these dimensions is passed
    over. A block at a time is held."""
    size = 4 * len(vector)
    score = _scorer(array("f", vector))
    best: list[tuple[float, int]] = []
    for block in blocks:
        kept = [(id, stored) for id, stored in block if isinstance(stored, bytes) and len(stored) == size]
        scored = zip(score([stored for _, stored in kept]), (id for id, _ in kept), strict=True)
        best = heapq.nlargest(max(limit, 0), [*best, *(one for one in scored if one[0] == one[0])])
    return [(id, cosine) for cosine, id in best]


def _scorer(vector: Vector) -> Any:
    """A function from stored vectors to their cosines with `vector`."""
    numpy = _numpy()
    if numpy is None:
        return lambda stored: [_plain(one, vector) for one in stored]
    wanted = numpy.array(vector, dtype="<f4")

    def score(stored: list[bytes]) -> list[float]:
        return (numpy.frombuffer(b"".join(stored), dtype="<f4").reshape(-1, len(wanted)) @ wanted).tolist()

    return score


def _plain(stored: bytes, vector: Vector) -> float:
    found = unpack(stored)
    return math.fsum(map(mul, found, vector)) if found is not None else math.nan


@cache
def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _little(vector: Vector) -> Vector:
    if sys.byteorder == "big":
        vector.byteswap()
    return vector
