"""BM25 over the documents that a scope may read, and over nothing else.

A full-text engine's own score counts every row of its table, so other tenants' documents would slow a search down and
move its order. Here the index is a plain table: for an owner and a word, one packed row for each document that holds
it. A search reads the rows of the asked words for the (at most two) owners of the scope, so its cost depends on how
many passages of the scope hold the words. The formula is Robertson and Zaragoza's ("The Probabilistic Relevance
Framework", 2009) with k1 = 1.2, b = 0.75, the values that SQLite's FTS5 uses, too. Every store ranks with this code.
"""

import heapq
import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lumina.agent.ports import PassageSpan

K1, B = 1.2, 0.75
MOST_TIMES, MOST_WORDS = 255, 65535  # a posting's fields: one byte, two bytes; more is the same to the score

Posting = tuple[int, int, int]  # passage's ordinal, how often the word stands in it, how many words it has


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`best`: (document, ordinal), best first. `frequency`: passages that hold each word."""

    best: tuple[tuple[int, int], ...]
    frequency: dict[str, int]


def index(passages: Sequence[PassageSpan]) -> dict[str, list[Posting]]:
    """Each word of a document with its postings, in the order of the passages."""
    found: dict[str, list[Posting]] = {}
    for ordinal, passage in enumerate(passages):
        length = min(len(passage.words), MOST_WORDS)
        for form, times in Counter(passage.words).items():
            found.setdefault(form, []).append((ordinal, min(times, MOST_TIMES), length))
    return found


def pack(postings: Sequence[Posting]) -> bytes:
    n = len(postings)
    ordinals, times, lengths = zip(*postings, strict=True)
    return struct.pack(f"<{n}I{n}H{n}B", *ordinals, *lengths, *times)


def unpack(packed: bytes) -> Iterable[Posting]:
    """The postings again. ValueError when the bytes are not what `pack` makes."""
    n, rest = divmod(len(packed), 7)
    if rest:
        raise ValueError("not a list of postings")
    fields = struct.unpack(f"<{n}I{n}H{n}B", packed)
    return zip(fields[:n], fields[2 * n :], fields[n : 2 * n], strict=True)


def rank(
    asked: Sequence[str],
    words: Mapping[str, Sequence[tuple[int, Iterable[Posting]]]],
    *,
    passages: int,
    total_words: int,
    limit: int,
) -> Ranking:
    """`words`: for each of the words `asked` (one that is asked twice counts twice) the documents that hold it, with
    postings. `passages` and `total_words` count the whole scope. Passages of equal score come in the
    order of (document, ordinal).
    """
    times_asked = Counter(asked)
    mean = max(total_words / passages, 1.0) if passages else 1.0
    floor, slope = K1 * (1 - B), K1 * B / mean
    scores: dict[tuple[int, int], float] = {}
    frequency: dict[str, int] = {}
    for word in times_asked:
        found = words.get(word, ())
        postings = [(document, list(held)) for document, held in found]
        count = frequency[word] = sum(len(held) for _, held in postings)
        # Lucene's form of the weight: a word that stands in most passages counts little, never less than nothing.
        weight = times_asked[word] * (K1 + 1) * math.log(1 + (passages - count + 0.5) / (count + 0.5))
        for document, held in postings:
            for ordinal, times, length in held:
                key = document, ordinal
                scores[key] = scores.get(key, 0.0) + weight * times / (times + floor + slope * length)
    best = heapq.nsmallest(limit, scores.items(), key=lambda one: (-one[1], one[0]))
    return Ranking(best=tuple(key for key, _ in best), frequency=frequency)
