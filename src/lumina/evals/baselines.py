"""What the memory is compared with: the usual ways to choose earlier messages for a prompt.

Each gives messages best first; they are sent whole until one does not fit. Words are cut and folded as Lumina does it,
so that the baselines do not lose by a worse tokenizer. Sources: BM25 as Robertson and Zaragoza (2009) with k1 1.2 and
b 0.75; reciprocal rank fusion with k 60 as Cormack, Clarke and Büttcher (2009).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from lumina.evals.talks import Line
from lumina.memory.words import content_words

K1, B = 1.2, 0.75
FUSION = 60
LAST = 20  # messages
REACH = 1  # neighbours on each side

Vector = Sequence[float]


class Bm25:
    """Scores of texts for a question."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._bags = [Counter(content_words(text)) for text in texts]
        size = len(self._bags)
        self._mean = sum(bag.total() for bag in self._bags) / size if size else 1.0
        frequency = Counter(word for bag in self._bags for word in bag)
        self._idf = {word: math.log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}

    def scores(self, question: str) -> list[float]:
        asked = set(content_words(question))
        found: list[float] = []
        for bag in self._bags:
            norm = K1 * (1 - B + B * bag.total() / (self._mean or 1.0))
            found.append(
                sum(self._idf[word] * bag[word] * (K1 + 1) / (bag[word] + norm) for word in asked if word in bag)
            )
        return found


def with_neighbours(lines: Sequence[Line]) -> list[str]:
    """Each message with REACH messages on each side, as one text."""
    return ["\n".join(each.text for each in lines[max(0, at - REACH) : at + REACH + 1]) for at in range(len(lines))]


def best_first(scores: Sequence[float]) -> list[int]:
    """Places in the order of their scores; of equals the first said comes first."""
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def cosines(question: Vector, vectors: Sequence[Vector]) -> list[float]:
    """Cosine of a question's vector with each of `vectors`."""
    length = math.hypot(*question) or 1.0
    return [
        sum(a * b for a, b in zip(question, vector, strict=True)) / (length * (math.hypot(*vector) or 1.0))
        for vector in vectors
    ]


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Several orders of the same places as one, by reciprocal rank."""
    score: Counter[int] = Counter()
    for ranking in rankings:
        for rank, at in enumerate(ranking, 1):
            score[at] += 1 / (FUSION + rank)  # pyright: ignore[reportArgumentType] - a Counter adds fractions as well
    return sorted(score, key=lambda at: (-score[at], at))


def last_messages(lines: Sequence[Line]) -> list[int]:
    """The places of the last LAST messages, the newest first."""
    return list(range(len(lines) - 1, max(-1, len(lines) - 1 - LAST), -1))


def sent_within(
    order: Sequence[int], lines: Sequence[Line], budget: int, costs: Mapping[str, int], reach: int = 0,
    heading: Callable[[str], int] = lambda day: 0,
) -> set[str]:  # fmt: skip
    """Ids of the messages that are sent: best first, each with `reach` neighbours; a group that does not fit is passed
    over. The heading of a day is paid once, as Lumina's rows pay it."""
    sent: set[str] = set()
    days: set[str] = set()
    for at in order:
        group = lines[max(0, at - reach) : at + reach + 1]
        cost = sum(costs[line.id] for line in group if line.id not in sent)
        cost += sum(heading(day) for day in {line.day for line in group} - days)
        if cost <= budget:
            budget -= cost
            sent.update(line.id for line in group)
            days.update(line.day for line in group)
    return sent
