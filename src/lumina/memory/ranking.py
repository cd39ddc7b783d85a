"""Orders passages of earlier turns by how likely they hold what a question asks for.

A passage of a conversation rarely says by itself what it is about: the question before it does, or the answer after
it. So each passage is scored by BM25 three times: by its own words, by those of its near surroundings and by those of
its wide ones, where a neighbour counts the less the more tokens lie between. Each score is divided by the best one for
the question, and they are summed with the weights below. Neighbours lend their words; they are sent only when their own
sum is among the best. To that comes what the question says about the passage besides its subject: whose words it asks
for, that it asks when something was, the month or day it names. A passage that only asks gives way a little to one that
tells. With an embedder, the cosines of passage and question count in the same three ways beside the words.

Weights and reaches were chosen on the five conversations between people in LoCoMo's development half, with none of them
kept apart (docs/why/ranking.md has the figures and how many settings were tried). There is one setting for all; chats
with an assistant were not measured with it. Only the passages at hand count, as neighbours and as results: the work is
bounded by how many the caller has fetched, is linear in them, and does not grow with the thread.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from lumina.memory.passages import rough_tokens
from lumina.memory.question import asks_when, dates_in, has_time_word, named, whose
from lumina.memory.store import StoredPassage
from lumina.memory.words import content_words, forms

NEAR_REACH, WIDE_REACH = 30.0, 120.0  # tokens after which a neighbour counts 1/e
FAR = 4  # reaches after which it counts nothing
UNSEEN = 25  # tokens that a part of a turn is taken to have when it is not at hand
K1, B = 1.2, 0.75
ASKING = ("?", "？", "؟")
LEAST = 0.05  # a score below it is no reason to show anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each sign counts. The first three are scores of at most 1 by words, the next three by cosines."""

    own: float
    near: float
    wide: float
    alike: float = 0.0
    alike_near: float = 0.0
    alike_wide: float = 0.0
    asking: float = 0.3  # what a passage that ends as a question loses
    speaker: float = 2.5
    user: float = 1.5  # what a user says is short and their own; an assistant's answer can be had again
    time: float = 1.5
    month: float = 3.0
    day: float = 2.5


BY_WORDS = Weights(own=2.5, near=2.0, wide=3.0)
WITH_VECTORS = Weights(own=1.5, near=1.0, wide=2.5, alike=2.0, alike_near=1.5, alike_wide=1.5, asking=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speakers:
    """Who talks. With names given for both, two people do, and a question may name either; else a user ("I", "my")
    and an assistant ("did you recommend")."""

    user: str = ""
    assistant: str = ""

    @property
    def names(self) -> tuple[str, str]:
        return self.user, self.assistant

    @property
    def people(self) -> bool:
        return bool(self.user and self.assistant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A passage with its score: best first, comparable only within one question."""

    passage: StoredPassage
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A passage as it is scored: what of the question it holds, and where it stands."""

    passage: StoredPassage
    place: int  # parts of turns since the thread began
    found: Mapping[str, float]  # the question's words in it, and how often
    tokens: float


def units_of(
    passages: Iterable[StoredPassage], words: Collection[str], held: Mapping[int, Mapping[str, float]] | None = None
) -> list[Unit]:
    """`passages` in the order of the thread, with the asked `words` they hold: those that `held` (from the index, by
    passage id) says, or found in the text when it is not given."""
    return sorted((_unit(passage, words, held) for passage in passages), key=_order)


def rank(
    question: str,
    weights: Mapping[str, float],
    units: Sequence[Unit],
    speakers: Speakers,
    similar: Mapping[int, float] | None = None,
) -> tuple[Pick, ...]:
    """The passages best first. One that holds no word of the question, has no neighbour that does and was not said
    when the question asks about is left out; of equal scores the newest comes first.

    `weights`: idf of the question's words. `units` in the order of the thread. `similar`: cosine of a passage's vector
    and the question's by passage id, when there are any; a passage without one counts as the least alike.
    """
    if not units:
        return ()
    names = _spoken_names(question, speakers)
    weights = {word: weight for word, weight in weights.items() if word not in names} or weights
    use = WITH_VECTORS if similar else BY_WORDS
    scores = [0.0] * len(units)
    columns = [(weight, [unit.found.get(word, 0) for unit in units]) for word, weight in weights.items()]
    columns = [(weight, column) for weight, column in columns if any(column)]
    lengths = [unit.tokens for unit in units]
    alike = _cosines(units, similar) if similar else []
    ones = [1.0] * len(units)
    for reach, by_words, by_cosine in (
        (0.0, use.own, use.alike), (NEAR_REACH, use.near, use.alike_near), (WIDE_REACH, use.wide, use.alike_wide),
    ):  # fmt: skip
        spread = _spreading(units, reach) if reach else list
        _add(scores, by_words, _bm25([(weight, spread(column)) for weight, column in columns], spread(lengths)))
        if alike:
            around = zip(spread(alike), spread(ones), strict=True)
            _add(scores, by_cosine, [total / count for total, count in around])
    when, who = _time_bonus(question, use), _teller_bonus(question, speakers, use)
    timely = [score + when(unit.passage) for score, unit in zip(scores, units, strict=True)]
    newest_first = [
        Pick(passage=unit.passage, score=score + who(unit.passage))
        for unit, score in zip(reversed(units), reversed(timely), strict=True)
        if score >= LEAST
    ]
    return tuple(sorted(newest_first, key=lambda pick: -pick.score))


def _unit(passage: StoredPassage, words: Collection[str], held: Mapping[int, Mapping[str, float]] | None) -> Unit:
    return Unit(
        passage=passage,
        place=2 * passage.seq + (passage.part == "answer"),
        found=Counter(word for word in content_words(passage.text) if word in words)
        if held is None
        else held.get(passage.id, {}),
        tokens=rough_tokens(passage.text) or 1.0,
    )


def _order(unit: Unit) -> tuple[str, int, int, int]:
    return unit.passage.thread, unit.place, unit.passage.start, unit.passage.id


def _gap(one: Unit, other: Unit) -> float:
    """Tokens between a passage and a later one; what is not at hand between them is taken at UNSEEN a part."""
    if one.passage.day != other.passage.day or one.passage.thread != other.passage.thread:
        return math.inf
    per_token = len(other.passage.text) / other.tokens or 1.0
    if one.place == other.place:
        return max(0.0, (other.passage.start - one.passage.end) / per_token)
    return (other.place - one.place - 1) * UNSEEN + other.passage.start / per_token


def _spreading(units: Sequence[Unit], reach: float) -> Callable[[Sequence[float]], list[float]]:
    """A function that adds to each unit's value those of its neighbours, each times exp(-tokens between / reach)."""
    across = [math.exp(-unit.tokens / reach) for unit in units]
    step = [0.0, *(_decay(_gap(one, other), reach) for one, other in pairwise(units))]

    def spread(values: Sequence[float]) -> list[float]:
        found = list(values)
        carried = 0.0
        for at in range(1, len(values)):
            carried = (carried * across[at - 1] + values[at - 1]) * step[at]
            found[at] += carried
        carried = 0.0
        for at in range(len(values) - 2, -1, -1):
            carried = (carried * across[at + 1] + values[at + 1]) * step[at + 1]
            found[at] += carried
        return found

    return spread


def _decay(gap: float, reach: float) -> float:
    return math.exp(-gap / reach) if gap < FAR * reach else 0.0


def _bm25(columns: Sequence[tuple[float, Sequence[float]]], lengths: Sequence[float]) -> list[float]:
    """BM25 of each unit from how often it holds each word (`columns`: idf, times) and its length."""
    mean = sum(lengths) / len(lengths)
    norms = [K1 * (1 - B + B * length / mean) for length in lengths]
    scores = [0.0] * len(lengths)
    for weight, times in columns:
        full = weight * (K1 + 1)
        for at, count in enumerate(times):
            if count:
                scores[at] += full * count / (count + norms[at])
    return scores


def _cosines(units: Sequence[Unit], similar: Mapping[int, float]) -> list[float]:
    least = max(0.0, min(similar.values()))
    return [max(0.0, similar.get(unit.passage.id, least)) for unit in units]


def _add(scores: list[float], weight: float, values: Sequence[float]) -> None:
    """Adds `values`, as shares of the best of them, `weight` times."""
    best = max(values)
    if best > 0:
        for at, value in enumerate(values):
            scores[at] += weight * value / best


def _spoken_names(question: str, speakers: Speakers) -> frozenset[str]:
    """The words of the name of the one speaker that is asked about: they say who, not what."""
    part = named(question, speakers.names)
    if part is None:
        return frozenset()
    return frozenset(forms(speakers.user if part == "question" else speakers.assistant))


def _teller_bonus(question: str, speakers: Speakers, use: Weights) -> Callable[[StoredPassage], float]:
    """Who said it, and whether it tells or asks."""
    part = named(question, speakers.names) or (None if speakers.people else whose(question))
    prior = 0.0 if speakers.people else use.user

    def bonus(passage: StoredPassage) -> float:
        total = use.speaker if passage.part == part else 0.0
        total += prior if passage.part == "question" else 0.0
        return total - use.asking if passage.text.endswith(ASKING) else total

    return bonus


def _time_bonus(question: str, use: Weights) -> Callable[[StoredPassage], float]:
    dates, when = dates_in(question), asks_when(question)

    @cache
    def of_day(day: str) -> float:
        total = use.month if any(date.in_month_of(day) for date in dates) else 0.0
        return total + use.day if any(date.is_day(day) for date in dates) else total

    def bonus(passage: StoredPassage) -> float:
        total = use.time if when and has_time_word(passage.text) else 0.0
        return total + of_day(passage.day) if dates else total

    return bonus
