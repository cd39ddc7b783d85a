"""How well a source's text carries a sentence, where in it, and what of the sentence is not there.

No model is asked. The score is (3A + 2H + h + 3W) / 9:

- A: the words of the sentence that carry meaning, each credited with the share of the sentence's weight (idf
  in this source) that the best three sentences around it hold;
- H: the share of its names, numbers and dates that stand in the source, and h: the worst of them; 1 if it has
  none;
- W: the share of all its words, function words too, in the best three sentences in a row.

The weights were fitted on WiCE's development half, checked on its other half and carried over to BEGIN
unchanged; thresholds did not carry over. So this is evidence to look at, not a verdict: show the passage and
what is missing. Questions and sentences in the first person are not checkable, they say nothing that a page
could carry.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from heapq import nlargest

from lumina.agent.claim_details import (
    Detail,
    Kind,
    dates,
    names,
    negations,
    numbers,
    quotations,
    without_quotations,
)
from lumina.agent.sentences import Span
from lumina.agent.source_text import SourceText
from lumina.memory.words import STOP_WORDS, Word, words

__all__ = ["Missing", "SourceText", "Span", "Support", "support"]

CLOSE_LOOKS = 64  # windows, and sentences, that are compared word by word: those with most of the weight
PASSAGE = 3  # sentences; three hold a gold sentence of 97 to 99 % of WiCE's supported claims, one of 91 to 93 %
NEAR = 5  # words between a negation and what it denies
NAMED = 0.5  # a name of which no more than this is found counts as missing
FUNCTION_WORD = 0.25  # what a function word adds to a sentence of the passage, beside 1 for a word with meaning
FIRST_PERSON = frozenset(
    [
        "i",
        "me",
        "my",
        "myself",
        "we",
        "us",
        "our",
        "ours",
        "ourselves",
        "ich",
        "mich",
        "mir",
        "wir",
        "uns",
        "je",
        "nous",
        "moi",
        "yo",
        "nosotros",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What of the sentence stands nowhere in the source, `text` as the sentence has it.

    A negation is missing when the passage denies nothing near the words that the sentence denies; then `text`
    is the negating word. A quotation is missing when it is not there word for word.
    """

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """`score`: 0 to 1, comparable within one kind of text. `passage`: at most three sentences of the source's
    text
    (code points), in order, neighbours as one span; empty if no word of the sentence stands there."""

    score: float
    checkable: bool
    passage: tuple[Span, ...] = ()
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class _Claim:
    text: str
    found: tuple[Word, ...]
    forms: frozenset[str]
    content: frozenset[str]


def support(claim: str, source: SourceText) -> Support:
    """How `source` carries `claim`: one sentence of an answer, without its markers."""
    found = tuple(words(claim))
    forms = frozenset(word.form for word in found)
    content = frozenset(word.form for word in found if claim[word.start : word.end].lower() not in STOP_WORDS)
    if not forms:
        return Support(score=0.0, checkable=False)
    return _support(_Claim(claim, found, forms, content or forms), source)


def _support(claim: _Claim, source: SourceText) -> Support:
    weights = {form: source.weight(form) for form in sorted(claim.content)}
    windows = _windows(weights, source)
    details = [(detail, source.share_of(detail)) for detail in _details(claim, source.language)]
    shares = [share for _, share in details] or [1.0]
    score = 3 * _around(weights, windows, source) + 2 * sum(shares) / len(shares) + min(shares)
    score += 3 * _best_window(claim.forms, windows, source)
    chosen = _passage(claim, weights, source)
    missing = [
        Missing(kind=detail.kind, text=detail.text)
        for detail, share in details
        if share < 1.0 and (detail.kind != "name" or share <= NAMED)
    ]
    missing += _misquoted(claim, source)
    missing += _negation(claim, chosen, source)
    return Support(
        score=score / 9 if windows else 0.0,
        checkable=_is_checkable(claim),
        passage=_merged(chosen, source.spans),
        missing=tuple(missing),
    )


def _windows(weights: dict[str, float], source: SourceText) -> dict[int, float]:
    """What share of the claim's weight every three sentences in a row hold, if any; by the middle one."""
    masks: dict[int, int] = defaultdict(int)  # sentence -> one bit for each of the claim's words in it
    for bit, form in enumerate(weights):
        for at in source.sentences_with(form):
            masks[at] |= 1 << bit
    held: dict[int, int] = {}
    for at in masks:
        for middle in range(max(0, at - 1), min(len(source), at + 2)):
            if middle not in held:
                held[middle] = masks.get(middle - 1, 0) | masks.get(middle, 0) | masks.get(middle + 1, 0)
    values = list(weights.values())
    whole = sum(values) or 1.0
    share = {
        mask: sum(value for bit, value in enumerate(values) if mask >> bit & 1) / whole for mask in set(held.values())
    }
    return {middle: share[mask] for middle, mask in held.items()}


def _around(weights: dict[str, float], windows: dict[int, float], source: SourceText) -> float:
    credit = sum(max((windows[at] for at in source.sentences_with(form)), default=0.0) for form in weights)
    return credit / len(weights)


def _best_window(forms: frozenset[str], windows: dict[int, float], source: SourceText) -> float:
    best = 0
    for middle in nlargest(CLOSE_LOOKS, windows, key=lambda at: (windows[at], -at)):
        around = source.forms[max(0, middle - 1) : middle + 2]
        best = max(best, len(forms.intersection(set().union(*around))))
    return best / len(forms)


def _passage(claim: _Claim, weights: dict[str, float], source: SourceText) -> list[int]:
    """Greedy: again and again the sentence with most words that no chosen one holds; in the text's order."""
    held: dict[int, float] = defaultdict(float)
    for form, weight in weights.items():
        for at in source.sentences_with(form):
            held[at] += weight
    candidates = set(nlargest(CLOSE_LOOKS, held, key=lambda at: (held[at], -at)))
    open_forms, chosen = set(claim.forms), []

    def gain(at: int) -> tuple[float, int]:
        new = source.forms[at] & open_forms
        meaning = len(new & claim.content)
        return (meaning + FUNCTION_WORD * (len(new) - meaning) if meaning else 0.0), -at

    while candidates and len(chosen) < PASSAGE:
        best = max(candidates, key=gain)
        if not gain(best)[0]:
            break
        chosen.append(best)
        candidates.discard(best)
        open_forms -= source.forms[best]
    return sorted(chosen)


def _merged(chosen: list[int], spans: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for place, at in enumerate(chosen):
        if place and chosen[place - 1] == at - 1:
            merged[-1] = Span(merged[-1].start, spans[at].end)
        else:
            merged.append(spans[at])
    return tuple(merged)


def _details(claim: _Claim, language: str) -> list[Detail]:
    """Names, dates, and the numbers that are not part of a date."""
    days = list(dates(claim.text))
    counts = [number for number in numbers(claim.text) if not any(day.start <= number.start < day.end for day in days)]
    return [*days, *names(claim.text, nouns_are_capitalised=language in ("de", "lb")), *counts]


def _is_checkable(claim: _Claim) -> bool:
    said = without_quotations(claim.text)
    if said.rstrip(" \t\n\"'”’»)]").endswith(("?", "？", "؟")):
        return False
    raw = [said[word.start : word.end] for word in words(said)]
    return not any(_is_first_person(raw, at) for at in range(len(raw)))


def _is_first_person(raw: list[str], at: int) -> bool:
    word = raw[at]
    if word.lower() not in FIRST_PERSON:
        return False
    if word == "I":  # World War I, Charles I
        return at == 0 or not raw[at - 1][0].isupper() or raw[at - 1].lower() in STOP_WORDS
    return not word.isupper()  # the US


def _misquoted(claim: _Claim, source: SourceText) -> list[Missing]:
    parts = [part.text for part in quotations(claim.text)]
    return [Missing(kind="quote", text=part) for part in parts if not source.quotes(part)]


def _negation(claim: _Claim, chosen: list[int], source: SourceText) -> list[Missing]:
    """A negation in the claim that has no counterpart near the same words of the passage."""
    cues = negations(claim.text)
    if not cues:
        return []
    passage = [source.text[source.spans[at].start : source.spans[at].end] for at in chosen]
    if any(not claim.content.isdisjoint(near) for sentence in passage for near in _denied(sentence)):
        return []
    cue = next(word for word in claim.found if word.start == cues[0])
    return [Missing(kind="negation", text=claim.text[cue.start : cue.end])]


def _denied(sentence: str) -> list[Collection[str]]:
    """For each negation of the sentence the words near it."""
    cues = negations(sentence)
    found = list(words(sentence)) if cues else []
    starts = [word.start for word in found]
    near: list[Collection[str]] = []
    for cue in cues:
        at = bisect_right(starts, cue) - 1
        near.append({word.form for word in found[max(0, at - NEAR) : at] + found[at + 1 : at + 1 + NEAR]})
    return near
