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

and every step is bounded: 12 words, 400 ids a word, at most 300 candidates (fewer when little may be sent) with three
neighbours on each side. A thread of ten thousand turns costs what one of a few hundred does. The neighbours matter: two
thirds of the messages that hold an answer share no word with the question, but stand beside one that does.
benchmarks/recall_locomo.py measures all this.

With an embedder the passages whose vectors are nearest to the question's are candidates too, and their cosines are
given to `decide`. The gate goes by words alone.

A question that asks for what the state says already (it names the key of an entry), and a message that tells something
and asks nothing, fire as any other, but are sent a reminder only: a small recall of the passages that fit best.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lumina.memory.passages import rough_tokens
from lumina.memory.question import asks_how_it_was, asks_when, dates_in, only_tells, subject_words, whose
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
    "candidates_for",
    "considered",
    "decide",
    "gate",
    "pick_within",
    "points_back",
    "query_words",
    "worth_sending",
]

QUERY_WORDS = 12
MATCH_CAP = 400
CANDIDATES = 300
FEWEST_CANDIDATES = 60
AROUND = 3  # passages on each side of a candidate that are fetched with it
MARGIN = 0.10  # of the question's idf weight: how much more an older turn must cover
LENGTH_COST = 0.5  # a passage loses this much score per unit of log tokens
HEADING = 5  # tokens of "#12 user: "
WORTH_SENDING = 1 / 3  # of the best passage's score: below it, passages share little but the manner of asking
WORTH_A_REMINDER = 2 / 3  # the same where a reminder is enough
ABOUT_AS_MUCH = 2 / 3  # of the rare words that older turns hold: the question's manner of asking is among them
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
    full when it fired, small (SMALL_SHARE) when what the question asks for is noted, or a
    small recall is always wanted; none else. `picks` best first."""

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


def candidates(matches: WordMatches, most: int = CANDIDATES) -> list[int]:
    """At most `most` ids of passages worth reading: by summed idf of the words they hold, newest first among equals,
    then in ascending order."""
    weights = rarity(matches)
    total: dict[int, float] = defaultdict(float)
    for word, ids in matches.ids.items():
        for passage in ids:
            total[passage] += weights[word]
    best = sorted(total, key=lambda passage: (-total[passage], -passage))[:most]
    return sorted(best)


def candidates_for(share: int) -> int:
    """How many candidates are read when recall may send `share` tokens: 80 for 2,000. Who has room for many passages
    gains by the less likely ones, so the number grows faster than the room."""
    return min(CANDIDATES, max(FEWEST_CANDIDATES, share * share // 50_000))


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
    held: dict[tuple[str, int], set[str]] = defaultdict(set)
    for unit in older:
        held[unit.passage.thread, unit.passage.seq].update(unit.found)

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
    covers = {turn: sum(weights[word] for word in found) / whole for turn, found in held.items() if found}
    if not covers:
        return answer(False, "No older turn holds a word of the question.")
    nearest = max(near, key=lambda found: _weight(weights, found), default=())
    # Of the turns that name more of the subject, if there are any: one may hold more of the question by its manner of
    # asking ("how many", "how long") alone.
    telling = [turn for turn in covers if not subject.isdisjoint(held[turn].difference(nearest))]
    turn = max(telling or covers, key=lambda turn: (covers[turn], not turn[0], turn))
    place = f"turn {turn[1]} of another conversation" if turn[0] else f"turn {turn[1]}"
    best, shown = covers[turn], _weight(weights, nearest) / whole
    told = f"{place} holds {best:.0%} of its rare words, the shown turns and the state {shown:.0%}"
    if telling and best - shown >= MARGIN:
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
    older = units_of(_older(passages, before), (), _held(matches))
    return points_back(question, weights=_rarity(matches, near[:-1]), older=older, near=near)


def _older(passages: Sequence[StoredPassage], before: int) -> list[StoredPassage]:
    """All of another thread is older than this thread's window."""
    return [passage for passage in passages if passage.thread or passage.seq < before]


def _held(matches: WordMatches, passages: Sequence[StoredPassage] = ()) -> dict[int, dict[str, float]]:
    """Passage id -> the asked words it holds, by the index's own word. Of a word that reached the cap the index gave
    the newest only: for that one the text of older `passages` is asked."""
    held: dict[int, dict[str, float]] = defaultdict(dict)
    for word, ids in matches.ids.items():
        for id in ids:
            held[id][word] = 1.0
    capped = {word: ids[-1] for word, ids in matches.ids.items() if len(ids) >= MATCH_CAP}
    for passage in passages if capped else ():
        unsaid = [word for word, oldest in capped.items() if passage.thread or passage.id < oldest]
        if unsaid:
            said = vocabulary(passage.text)
            held[passage.id].update((word, 1.0) for word in unsaid if word in said)
    return held


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
    older = _older(passages, before)
    units = _said_last(units_of(older, weights, _held(matches, older)))
    pointing = pointing or points_back(question, weights=weights, older=units, near=near)
    if not pointing.fire and not always_small:
        return Recalled(fire=False, extent="none", reason=pointing.reason)
    picks = rank(question, weights, units, speakers, similar)
    reminder = _a_reminder_will_do(question, state, weights, units) if pointing.fire and picks else ""
    extent: Extent = "none" if not picks else "full" if pointing.fire and not reminder else "small"
    told = reminder or (" A small recall is sent all the same." if extent == "small" else "")
    return Recalled(fire=pointing.fire, extent=extent, reason=pointing.reason + told, picks=picks)


def _a_reminder_will_do(question: str, state: str, weights: Mapping[str, float], units: Sequence[Unit]) -> str:
    """Why a small recall is enough, or ""."""
    if _stands_noted(question, state, weights, units):
        return " What it asks for is noted, so a small recall is sent."
    if only_tells(question) and not pointing_phrase(question) and not dates_in(question):
        return " It tells something and asks nothing, so a small recall is sent."
    return ""


def _said_last(units: Sequence[Unit]) -> list[Unit]:
    """`units` without those that were said again later, word for word: thirty copies of "And how long does that take?"
    tell no more than one, and what stood beside each of them has little to do with the question."""
    last = {(unit.passage.part, unit.passage.text.strip().casefold()): unit for unit in units}
    kept = {id(unit) for unit in last.values()}
    return [unit for unit in units if id(unit) in kept]


def _stands_noted(question: str, state: str, weights: Mapping[str, float], older: Sequence[Unit]) -> bool:
    """Whether the question asks for what a line of the state says now: it names the whole key, and the line holds about
    as much of its rare words as all older turns together. Who asks how it was, when it was said or what the answer
    was gets all.
    """
    if asks_how_it_was(question) or asks_when(question) or dates_in(question) or whose(question) == "answer":
        return False
    asked = vocabulary(question)
    wanted = ABOUT_AS_MUCH * _weight(weights, {word for unit in older for word in unit.found})
    for line in state.splitlines():
        key = set(content_words(line.partition(": ")[0]))
        if key and key <= asked and _weight(weights, vocabulary(line)) >= wanted:
            return True
    return False


def pick_within(
    picks: Sequence[Pick],
    token_budget: int,
    count_tokens: Callable[[StoredPassage], int],
    heading_tokens: Callable[[StoredPassage], int] = lambda passage: 0,
) -> tuple[Pick, ...]:
    """The picks that are sent, oldest first.

    `count_tokens` gives what a passage costs as it will be rendered, `heading_tokens` what the heading of its day
    costs, which is paid once a day. Chosen by score minus LENGTH_COST x log tokens, so that two short passages go
    before a long one that scores little more; one that does not fit is passed over.
    """
    costs = [max(1, count_tokens(pick.passage)) for pick in picks]
    by_worth = sorted(range(len(picks)), key=lambda at: (LENGTH_COST * math.log(costs[at]) - picks[at].score, at))
    chosen: list[Pick] = []
    headed: set[tuple[str, str]] = set()
    left = token_budget
    for at in by_worth:
        passage = picks[at].passage
        day = passage.thread, passage.day
        cost = costs[at] + (0 if day in headed else heading_tokens(passage))
        if cost <= left:
            chosen.append(picks[at])
            headed.add(day)
            left -= cost
    return tuple(sorted(chosen, key=lambda pick: _place(pick.passage)))


def considered(picks: Sequence[Pick], share: int) -> tuple[Pick, ...]:
    """The best of `picks` among which `share` tokens are spent: half as much again as they hold, so that short ones can
    still go before long ones."""
    room = 1.5 * share
    for at, pick in enumerate(picks):
        room -= rough_tokens(pick.passage.text) + HEADING
        if room < 0:
            return tuple(picks[: at + 1])
    return tuple(picks)


def worth_sending(recalled: Recalled) -> tuple[Pick, ...]:
    """The picks that come near enough to the best one to be sent unasked: room that is left is no reason to fill it.
    Where a reminder is enough (it fired, and yet the recall is small), they must come nearer.

    What it costs is the difference of two rows of `lumina eval evidence`: recall alone, which spends its whole budget,
    and behind the gate. A model that looks back by itself gets all."""
    reminder = recalled.fire and recalled.extent == "small"
    share = WORTH_A_REMINDER if reminder else WORTH_SENDING
    return tuple(pick for pick in recalled.picks if pick.score >= share * recalled.picks[0].score)


def _place(passage: StoredPassage) -> tuple[bool, str, int, bool, int]:
    """Other threads first: they are the past of this one."""
    return not passage.thread, passage.thread, passage.seq, passage.part == "answer", passage.start
