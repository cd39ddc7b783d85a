"""Orders passages of earlier turns by how likely they hold what a question asks for.

A passage of a conversation rarely says by itself what it is about: the question before it does, or the answer after
it. So each passage is scored by BM25 three times: its own words, with its near neighbours, with its wide ones; each
score is divided by the best one for the question, and they are summed with the weights below. Neighbours help the
score and are not sent. To that comes what the question says about the passage besides its subject: whose words it
asks for, that it asks when something was, the month or day it names.

Weights and distances were measured on conversations between people (LoCoMo, development half) and on chats with
assistants, and are one setting for both. Only the passages at hand count, as neighbours and as results: the work is
bounded by how many the caller has fetched and does not grow with the thread.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lumina.memory.passages import rough_tokens
from lumina.memory.question import asks_when, dates_in, has_time_word, named, whose
from lumina.memory.store import StoredPassage
from lumina.memory.words import content_words, forms

OWN, NEAR, WIDE = 2.5, 2.0, 3.0
SPEAKER, TIME, MONTH, DAY = 2.5, 1.5, 3.0, 2.5
USER = 1.5  # what a user says is short and their own; an assistant's answer can be had again

NEAR_REACH, WIDE_REACH = 45, 120  # tokens between a passage and its neighbour
UNSEEN = 25  # tokens that a part of a turn is taken to have when it is not at hand
K1, B = 1.2, 0.75


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
    found: Counter[str]  # the question's words in it
    length: int  # content words
    per_token: float  # characters a token has in it


def units_of(passages: Iterable[StoredPassage], words: Collection[str]) -> list[Unit]:
    """`passages` in the order of the thread, with the asked words they hold."""
    return sorted((_unit(passage, words) for passage in passages), key=_order)


def rank(question: str, weights: Mapping[str, float], units: Sequence[Unit], speakers: Speakers) -> tuple[Pick, ...]:
    """The passages best first. One that holds no word of the question, has no neighbour that does and was not said
    when the question asks about is left out; of equal scores the newest comes first. `weights`: idf of the question's
    words; `units` in the order of the thread."""
    names = _spoken_names(question, speakers)
    weights = {word: weight for word, weight in weights.items() if word not in names} or weights
    scores = [0.0] * len(units)
    for weight, reach in ((OWN, -1), (NEAR, NEAR_REACH), (WIDE, WIDE_REACH)):
        found = [_with_neighbours(units, at, reach) for at in range(len(units))]
        mean = sum(length for _, length in found) / len(found) if found else 1.0
        raw = [_bm25(words, length / (mean or 1.0), weights) for words, length in found]
        best = max(raw, default=0.0) or 1.0
        scores = [score + weight * value / best for score, value in zip(scores, raw, strict=True)]
    when, who = _time_bonus(question), _speaker_bonus(question, speakers)
    timely = [score + when(unit.passage) for unit, score in zip(units, scores, strict=True)]
    newest_first = [
        Pick(passage=unit.passage, score=score + who(unit.passage))
        for unit, score in zip(reversed(units), reversed(timely), strict=True)
        if score
    ]
    return tuple(sorted(newest_first, key=lambda pick: -pick.score))


def _unit(passage: StoredPassage, words: Collection[str]) -> Unit:
    body = content_words(passage.text)
    return Unit(
        passage=passage,
        place=2 * passage.seq + (passage.part == "answer"),
        found=Counter(word for word in body if word in words),
        length=len(body),
        per_token=len(passage.text) / (rough_tokens(passage.text) or 1.0),
    )


def _order(unit: Unit) -> tuple[int, int, int]:
    return unit.place, unit.passage.start, unit.passage.id


def _with_neighbours(units: Sequence[Unit], at: int, reach: int) -> tuple[Counter[str], int]:
    """The words and the length of a unit and of those within `reach` tokens of it on the same day."""
    words, length = Counter(units[at].found), units[at].length
    for step in (-1, 1):
        other = at + step
        while 0 <= other < len(units) and _gap(units[at], units[other]) < reach:
            words.update(units[other].found)
            length += units[other].length
            other += step
    return words, length


def _gap(one: Unit, other: Unit) -> float:
    """Tokens between two passages; what is not at hand between them is taken at UNSEEN a part."""
    if one.passage.day != other.passage.day:
        return math.inf
    first, second = (one, other) if _order(one) <= _order(other) else (other, one)
    if first.place == second.place:
        return (second.passage.start - first.passage.end) / first.per_token
    return (second.place - first.place - 1) * UNSEEN + second.passage.start / second.per_token


def _bm25(found: Counter[str], length: float, weights: Mapping[str, float]) -> float:
    """`length` as a multiple of the mean."""
    norm = K1 * (1 - B + B * length)
    return sum(weights[word] * times * (K1 + 1) / (times + norm) for word, times in found.items() if word in weights)


def _spoken_names(question: str, speakers: Speakers) -> frozenset[str]:
    """The words of the name of the one speaker that is asked about: they say who, not what."""
    part = named(question, speakers.names)
    if part is None:
        return frozenset()
    return frozenset(forms(speakers.user if part == "question" else speakers.assistant))


def _speaker_bonus(question: str, speakers: Speakers) -> Callable[[StoredPassage], float]:
    part = named(question, speakers.names) or (None if speakers.people else whose(question))
    prior = 0.0 if speakers.people else USER
    return lambda passage: (SPEAKER if passage.part == part else 0.0) + (prior if passage.part == "question" else 0.0)


def _time_bonus(question: str) -> Callable[[StoredPassage], float]:
    dates, when = dates_in(question), asks_when(question)

    def bonus(passage: StoredPassage) -> float:
        total = TIME if when and has_time_word(passage.text) else 0.0
        if any(date.in_month_of(passage.day) for date in dates):
            total += MONTH
        return total + DAY if any(date.is_day(passage.day) for date in dates) else total

    return bonus
