"""Looks further back than the window, only when the question points there.

A follow-up leans on the last turns, and they are in the window word for word; fetching what merely sounds related
would put nineteen old remarks beside "ok, what do you recommend". So recall has a gate. It opens for two reasons only:
the question uses words of reference ("earlier", "you said", "the first option", a month or day on which something older
was said), or one older turn covers clearly more of the question's rare words than any turn of the window or the state
does. The reason is a sentence for a person and stands in the receipt, whether it opened or not.

Nothing here reads or waits. The caller goes

    query_words(question)  -> store.matches(words, before=first seq of the window, cap=MATCH_CAP)
    candidates(matches)    -> store.passages(ids)
    gate(...)              -> if it opens, store.passages(ids, around=AROUND)
    decide(...)            -> pick_within(...)

and every step is bounded: 12 words, 400 ids a word, 100 candidates with two neighbours on each side. A thread of ten
thousand turns costs what one of a few hundred does. The neighbours matter: two thirds of the messages that hold an
answer share no word with the question, but stand beside one that does. benchmarks/recall_locomo.py measures all this.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lumina.memory.question import dates_in, subject_words
from lumina.memory.ranking import Pick, Speakers, Unit, rank, units_of
from lumina.memory.reference import pointing_phrase
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.words import content_words, vocabulary, words

__all__ = [
    "AROUND",
    "CANDIDATES",
    "MATCH_CAP",
    "QUERY_WORDS",
    "SMALL_SHARE",
    "Extent",
    "Pick",
    "Pointing",
    "Recalled",
    "Speakers",
    "candidates",
    "decide",
    "gate",
    "pick_within",
    "points_back",
    "query_words",
]

QUERY_WORDS = 12
MATCH_CAP = 400
CANDIDATES = 100
AROUND = 2  # passages on each side of a candidate that are fetched with it
MARGIN = 0.10  # of the question's idf weight: how much more an older turn must cover
LENGTH_COST = 0.5  # a passage loses this much score per unit of log tokens
SMALL_SHARE = 0.25  # of recall's budget, for the small recall that is always sent
ASSISTANT = Speakers()

Extent = Literal["none", "small", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing:
    """Whether the question points further back. `words`: idf of the words that were looked for."""

    fire: bool
    reason: str
    words: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What recall found. `fire` is the gate's word; `extent` says how much of recall's budget the picks may take:
    full when it fired, small (SMALL_SHARE) when a small recall is always wanted, none else. `picks` best first."""

    fire: bool
    extent: Extent
    reason: str
    picks: tuple[Pick, ...] = ()


def query_words(question: str) -> list[str]:
    """At most QUERY_WORDS folded words to look for, in the order of the question.

    Of a long question the words that name a subject come before the rest, and among them names, numbers and long words
    before short ones: these are rare. Of a run of Chinese or Japanese, pairs of function characters come last.
    """
    kept, subject = set(content_words(question)), set(subject_words(question))
    rank_of: dict[str, tuple[bool, bool, int, int]] = {}
    for at, word in enumerate(words(question)):
        if word.form in kept and word.form not in rank_of:
            raw = question[word.start : word.end]
            telling = any(c.isdigit() or c.isupper() for c in raw) and not (at == 0 and raw.istitle())
            rank_of[word.form] = (word.form not in subject, not telling, -len(raw), at)
    best = sorted(rank_of, key=lambda form: rank_of[form])[:QUERY_WORDS]
    return sorted(best, key=lambda form: rank_of[form][3])


def candidates(matches: WordMatches) -> list[int]:
    """At most CANDIDATES ids of passages worth reading: by summed idf of the words they hold, newest first among
    equals, then in ascending order."""
    weights = rarity(matches)
    total: dict[int, float] = defaultdict(float)
    for word, ids in matches.ids.items():
        for passage in ids:
            total[passage] += weights[word]
    best = sorted(total, key=lambda passage: (-total[passage], -passage))[:CANDIDATES]
    return sorted(best)


def rarity(matches: WordMatches, window: Sequence[str] = ()) -> dict[str, float]:
    """idf of each asked word in the thread (BM25's, never negative): in how many passages it stands, and how many there
    are. A word that reached the cap is taken to stand as densely in the rest of the thread as in what was seen."""
    return _rarity(matches, [vocabulary(text) for text in window])


def _rarity(matches: WordMatches, window: Sequence[set[str]]) -> dict[str, float]:
    ends = [id for ids in matches.ids.values() for id in (*ids[:1], *ids[-1:])]
    span = max(ends) - min(ends) + 1 if ends else 1
    counts = {word: _frequency(ids, span) + sum(word in turn for turn in window) for word, ids in matches.ids.items()}
    passages = max([2.0 * (matches.turns + len(window)), *counts.values()])
    return {word: math.log(1 + (passages - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def _frequency(ids: tuple[int, ...], span: int) -> float:
    if len(ids) < MATCH_CAP:
        return len(ids)
    return max(1.0, span / (ids[0] - ids[-1] + 1)) * len(ids)


def points_back(
    question: str, *, weights: Mapping[str, float], older: Sequence[Unit], near: Sequence[Collection[str]]
) -> Pointing:
    """The gate. `weights`: idf of the question's words (`rarity`); `older`: passages before the window; `near`: the
    words of each turn of the window, and of the state."""
    subject = {word for word in subject_words(question) if word in weights}
    held: dict[int, set[str]] = defaultdict(set)
    for unit in older:
        held[unit.passage.seq].update(unit.found)

    def answer(fire: bool, reason: str) -> Pointing:
        return Pointing(fire=fire, reason=reason, words=dict(weights))

    if phrase := pointing_phrase(question):
        sought = subject or set(weights)
        if any(not sought.isdisjoint(found) for found in held.values()):
            return answer(True, f"The question points back: “{phrase}”.")
        return answer(False, f"The question points back (“{phrase}”), but no older turn holds its words.")
    if day := _day_named(question, older):
        return answer(True, f"The question names a time when something older was said: {day}.")
    if not subject:
        return answer(False, "The question names nothing to look for; the last turns are enough.")
    whole = sum(weights.values())
    covers = {seq: sum(weights[word] for word in found) / whole for seq, found in held.items() if found}
    if not covers:
        return answer(False, "No older turn holds a word of the question.")
    seq = max(covers, key=lambda seq: (covers[seq], seq))
    nearest = max(near, key=lambda found: _weight(weights, found), default=())
    best, shown = covers[seq], _weight(weights, nearest) / whole
    told = f"turn {seq} holds {best:.0%} of its rare words, the shown turns and the state {shown:.0%}"
    if best - shown >= MARGIN and (held[seq] & subject).difference(nearest):
        return answer(True, f"An older turn fits the question better: {told}.")
    return answer(False, f"No older turn fits the question clearly better: {told}.")


def _weight(weights: Mapping[str, float], found: Collection[str]) -> float:
    return sum(weight for word, weight in weights.items() if word in found)


def _day_named(question: str, older: Sequence[Unit]) -> str:
    """The first day of an older turn that the question names, or "". A month in which all of them were said picks out
    none: "the weather in November" is no look back in a thread of November."""
    for date in dates_in(question):
        days = [unit.passage.day for unit in older]
        told = [day for day in days if date.is_day(day)] if date.day else [day for day in days if date.in_month_of(day)]
        if told and (date.day or len(told) < len(days)):
            return told[0]
    return ""


def gate(
    question: str,
    *,
    before: int,
    window: Sequence[str],
    state: str,
    matches: WordMatches,
    passages: Sequence[StoredPassage],
) -> Pointing:
    """The gate alone, from the index's own word of who holds what: no older text is read for a question that stays
    with the last turns. Arguments as for `decide`; `passages` are the candidates."""
    near = [vocabulary(text) for text in (*window, state)]
    held: dict[int, Counter[str]] = defaultdict(Counter)
    for word, ids in matches.ids.items():
        for id in ids:
            held[id][word] = 1
    older = [
        Unit(passage=passage, place=2 * passage.seq, found=held[passage.id], length=0, per_token=1.0)
        for passage in passages
        if passage.seq < before
    ]
    return points_back(question, weights=_rarity(matches, near[:-1]), older=older, near=near)


def decide(
    question: str,
    *,
    before: int,
    window: Sequence[str],
    state: str,
    matches: WordMatches,
    passages: Sequence[StoredPassage],
    pointing: Pointing | None = None,
    always_small: bool = False,
    speakers: Speakers = ASSISTANT,
    similar: Mapping[int, float] | None = None,
) -> Recalled:
    """Whether to recall, why, and the passages best first.

    `before`: seq of the window's first turn; a passage from there on is ignored. `window`: question and answer of each
    of its turns, as one text. `state`: the text of state and profile as it is shown. `matches` and `passages`: what
    the store gave, candidates and their neighbours, in any order. `pointing`: what `gate` said, when it was asked.
    `similar`: cosine to the question by passage id, when there is an embedder.
    """
    near = [vocabulary(text) for text in (*window, state)]
    weights = _rarity(matches, near[:-1])
    units = units_of((passage for passage in passages if passage.seq < before), weights)
    pointing = pointing or points_back(question, weights=weights, older=units, near=near)
    if not pointing.fire and not always_small:
        return Recalled(fire=False, extent="none", reason=pointing.reason)
    picks = rank(question, weights, units, speakers)
    seen = {pick.passage.id for pick in picks}
    alike = [Pick(passage=unit.passage, score=(similar or {}).get(unit.passage.id, 0.0)) for unit in units]
    more = [pick for pick in alike if pick.score > 0 and pick.passage.id not in seen]
    picks += tuple(sorted(more, key=lambda pick: -pick.score))
    extent: Extent = "none" if not picks else "full" if pointing.fire else "small"
    told = " A small recall is sent all the same." if extent == "small" else ""
    return Recalled(fire=pointing.fire, extent=extent, reason=pointing.reason + told, picks=picks)


def pick_within(
    picks: Sequence[Pick], token_budget: int, count_tokens: Callable[[StoredPassage], int]
) -> tuple[Pick, ...]:
    """The picks that are sent, oldest first.

    `count_tokens` gives what a passage costs as it will be rendered, its heading included. Chosen by score minus
    LENGTH_COST x log tokens, so that two short passages go before a long one that scores little more; one that does
    not fit is passed over.
    """
    costs = [max(1, count_tokens(pick.passage)) for pick in picks]
    by_worth = sorted(range(len(picks)), key=lambda at: (LENGTH_COST * math.log(costs[at]) - picks[at].score, at))
    chosen, left = [], token_budget
    for at in by_worth:
        if costs[at] <= left:
            chosen.append(picks[at])
            left -= costs[at]
    return tuple(sorted(chosen, key=lambda pick: _place(pick.passage)))


def _place(passage: StoredPassage) -> tuple[int, bool, int]:
    return passage.seq, passage.part == "answer", passage.start
