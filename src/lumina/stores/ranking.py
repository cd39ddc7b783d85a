"""BM25 over the documents that a scope may read, and over nothing else.

A full-text engine's own score counts every row of its table, so other tenants' documents would slow a search down and
move its order. Here the index is a plain table: for an owner and a word, one packed row for each document that holds
it. A search reads the rows of the asked words for the (at most two) owners of the scope, so its cost depends on how
many passages of the scope hold the words, and common words are unpacked only where they can still change the best.

The formula is Robertson and Zaragoza's ("The Probabilistic Relevance Framework", 2009) with k1 = 1.2, b = 0.75, the
values that SQLite's FTS5 uses, too. Every store ranks with this code.
"""

import heapq
import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from lumina.agent.ports import PassageSpan

K1, B = 1.2, 0.75
MOST_TIMES, MOST_WORDS = 255, 65535  # a posting's fields: one byte, two bytes; more is the same to the score

POSTING = 7  # bytes of one: ordinal, words, times


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`best`: (document, ordinal), best first. `frequency`: passages that hold each word."""

    best: tuple[tuple[int, int], ...]
    frequency: dict[str, int]


def index(passages: Sequence[PassageSpan]) -> dict[str, bytes]:
    """For each word of a document its postings, packed: the passage's ordinal, how many words it has, how often the
    word stands in it."""
    found: dict[str, tuple[list[int], list[int], list[int]]] = {}
    for ordinal, passage in enumerate(passages):
        length = min(len(passage.words), MOST_WORDS)
        for form, times in Counter(passage.words).items():
            ordinals, lengths, counts = found.setdefault(form, ([], [], []))
            ordinals.append(ordinal)
            lengths.append(length)
            counts.append(min(times, MOST_TIMES))
    return {form: struct.pack(_shape(len(fields[0])), *chain(*fields)) for form, fields in found.items()}


@lru_cache(maxsize=1024)
def _shape(n: int) -> str:
    return f"<{n}I{n}H{n}B"


def unpack(packed: bytes) -> Iterable[tuple[int, int, int]]:
    """(ordinal, words of the passage, times) again. ValueError when the bytes are not what `index` makes."""
    n, rest = divmod(len(packed), POSTING)
    if rest:
        raise ValueError("not a list of postings")
    fields = struct.unpack(_shape(n), packed)
    return zip(fields[:n], fields[n : 2 * n], fields[2 * n :], strict=True)


def rank(
    asked: Sequence[str],
    words: Mapping[str, Sequence[tuple[int, bytes]]],
    *,
    passages: int,
    total_words: int,
    limit: int,
) -> Ranking:
    """`words`: for each of the words `asked` (one that is asked twice counts twice) the documents that hold it, with
    packed postings. `passages` and `total_words` count the whole scope. Passages of equal score come in the order of
    (document, ordinal).
    """
    times_asked = Counter(asked)
    frequency = {word: sum(len(held) // POSTING for _, held in words.get(word, ())) for word in times_asked}
    if limit < 1:
        return Ranking(best=(), frequency=frequency)
    # Lucene's form of the weight: a word that stands in most passages counts little, never less than nothing. It is
    # also the most that the word can add to a score.
    weights = {
        word: times_asked[word] * (K1 + 1) * math.log(1 + (passages - count + 0.5) / (count + 0.5))
        for word, count in frequency.items()
    }
    mean = max(total_words / passages, 1.0) if passages else 1.0
    order = sorted(weights, key=lambda word: (-weights[word], word))
    scores: dict[int, float] = {}
    for at, word in enumerate(order):
        closed = _close(scores, sum(weights[other] for other in order[at:]), limit)
        _add(scores, words.get(word, ()), weights[word], K1 * B / mean, closed)
    best = heapq.nsmallest(limit, scores.items(), key=lambda one: (-one[1], one[0]))
    return Ranking(best=tuple((key >> 32, key & 0xFFFFFFFF) for key, _ in best), frequency=frequency)


def _close(scores: dict[int, float], rest: float, limit: int) -> bool:
    """Whether no passage without a score can still come among the best; then those that cannot either are dropped.
    `rest` is the most that the words to come can add.
    """
    if len(scores) < limit:
        return False
    least = heapq.nlargest(limit, scores.values())[-1] - 1e-9  # sums of the same numbers may differ in the last place
    if least <= rest:
        return False
    for key in [key for key, score in scores.items() if score + rest < least]:
        del scores[key]
    return True


def _add(
    scores: dict[int, float], found: Sequence[tuple[int, bytes]], weight: float, slope: float, closed: bool
) -> None:
    floor = K1 * (1 - B)
    if not closed:
        for document, packed in found:
            first = document << 32
            for ordinal, length, times in unpack(packed):
                key = first | ordinal
                scores[key] = scores.get(key, 0.0) + weight * times / (times + floor + slope * length)
        return
    documents = {key >> 32 for key in scores}
    for document, packed in found:
        if document in documents:
            first = document << 32
            for ordinal, length, times in unpack(packed):
                if (key := first | ordinal) in scores:
                    scores[key] += weight * times / (times + floor + slope * length)
