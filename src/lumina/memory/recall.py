"""Looks further back than the window, only when the question points there.

A follow-up leans on the last turns, and they are in the window word for word; fetching what merely sounds related
would put nineteen old remarks beside "ok, what do you recommend". So recall has a gate. It opens for two reasons only:
the question uses words of reference ("earlier", "you said", "the first option", a day on which something older was
said), or one older turn covers clearly more of the question's rare words than any turn of the window or the state
does. The reason is a sentence for a person and stands in the receipt, whether it opened or not.

Nothing here reads or waits. The caller goes

    query_words(question) -> store.matches(words, before=window's first seq, cap=MATCH_CAP)
    candidates(matches)   -> store.passages(ids)
    decide(...)           -> pick_within(...)

and every step is bounded: 12 words, 400 ids a word, 100 passages. A thread of ten thousand turns costs what one of a
hundred does. The figures of the gate and the ranking are in docs; benchmarks/recall_locomo.py measures them.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lumina.memory.question import dates_in, subject_words
from lumina.memory.ranking import Pick, Speakers, found_words, rank
from lumina.memory.reference import pointing_phrase
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.words import content_words, words

__all__ = [
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
    "pick_within",
    "points_back",
    "query_words",
]

QUERY_WORDS = 12
MATCH_CAP = 400
CANDIDATES = 100
MARGIN = 0.10  # of the question's idf weight: how much more an older turn must cover
LENGTH_COST = 0.5  # a passage loses this much score per unit of log tokens
SMALL_SHARE = 0.25  # of recall's budget, for the small recall that is always sent

Extent = Literal["none", "small", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing:
    """Whether the question points further back. `words`: idf of its words, those without a subject left out."""

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
    seen = [id for ids in matches.ids.values() for id in (ids[:1] + ids[-1:])]
    span = max(seen) - min(seen) + 1 if seen else 1
    here = [set(content_words(text)) for text in window]
    counts = {word: _frequency(ids, span) + sum(word in turn for turn in here) for word, ids in matches.ids.items()}
    passages = max([2.0 * (matches.turns + len(here)), *counts.values()])
    return {word: math.log(1 + (passages - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def _frequency(ids: tuple[int, ...], span: int) -> float:
    if len(ids) < MATCH_CAP:
        return len(ids)
    return max(1.0, span / (ids[0] - ids[-1] + 1)) * len(ids)


def points_back(
    question: str, *, window: Sequence[str], state: str, matches: WordMatches, passages: Sequence[StoredPassage]
) -> Pointing:
    """The gate. `window`: each turn's question and answer as one text; `state`: the text of state and profile as it is
    shown; `matches` and `passages`: of the turns before the window."""
    weights = rarity(matches, window)
    subject = {word: weights[word] for word in subject_words(question) if word in weights}
    if phrase := pointing_phrase(question):
        return Pointing(fire=True, reason=f"The question points back: “{phrase}”.", words=subject)
    days = sorted({p.day for p in passages for date in dates_in(question) if date.in_month_of(p.day)})
    if days:
        return Pointing(
            fire=True, reason=f"The question names a time when something older was said: {days[0]}.", words=subject
        )
    whole = sum(subject.values())
    if not whole:
        return Pointing(fire=False, reason="The question names nothing to look for; the last turns are enough.")
    if not passages:
        return Pointing(fire=False, reason="No older turn holds a word of the question.", words=subject)
    older: dict[int, set[str]] = defaultdict(set)
    for passage in passages:
        older[passage.seq].update(found_words(passage.text, subject))
    seq, best = max(
        ((seq, sum(subject[word] for word in held) / whole) for seq, held in older.items()),
        key=lambda row: (row[1], row[0]),
    )
    near = max(sum(subject[word] for word in found_words(text, subject)) / whole for text in (*window, state))
    told = f"turn {seq} holds {best:.0%} of the question's rare words, the shown turns and the state {near:.0%}"
    if best - near >= MARGIN:
        return Pointing(fire=True, reason=f"An older turn fits better: {told}.", words=subject)
    return Pointing(fire=False, reason=f"No older turn fits clearly better: {told}.", words=subject)


def decide(
    question: str,
    *,
    window: Sequence[str],
    state: str,
    matches: WordMatches,
    passages: Sequence[StoredPassage],
    always_small: bool = False,
    speakers: Speakers = Speakers(),  # noqa: B008 - a frozen value
) -> Recalled:
    """Whether to recall, why, and the passages best first (at most CANDIDATES)."""
    pointing = points_back(question, window=window, state=state, matches=matches, passages=passages)
    extent: Extent = "full" if pointing.fire else "small" if always_small and pointing.words else "none"
    if extent == "none":
        return Recalled(fire=False, extent=extent, reason=pointing.reason)
    picks = rank(question, rarity(matches, window), passages[:CANDIDATES], speakers)
    reason = pointing.reason
    if not picks:
        reason += " But no older turn holds its words."
    elif extent == "small":
        reason += " A small recall is always sent."
    return Recalled(fire=pointing.fire, extent=extent if picks else "none", reason=reason, picks=picks)


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
