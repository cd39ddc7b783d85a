"""Which sentence of an answer each citation belongs to.

A marker belongs to the sentence it stands in; behind a full stop, and on a line of its own, to the sentence
before; at the begin of a line to the sentence that follows. A row of a table is one sentence if only one of
its cells is cited, else each cited cell is one. List items and headings are sentences without their bullets.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from lumina.agent.citations import LARGEST_PLAIN, Cited, cite
from lumina.agent.sentences import Span, blocks, sentence_spans

BULLET = re.compile(r"[ \t>]*+(?:[-*+•][ \t]++(?:\[[ xX]\][ \t]++)?|\d{1,9}[.)][ \t]++|#{1,6}[ \t]++)?")


class CitedSentence(NamedTuple):
    """`start`..`end`: code points of the answer; `numbers` in the order they are cited, each once; `claim`:
    the
    sentence without its markers."""

    start: int
    end: int
    numbers: tuple[int, ...]
    claim: str


class _Mark(NamedTuple):
    start: int  # of the space before the marker, which is taken out with it
    end: int
    n: int


def cited_sentences(
    answer: str, citations: Iterable[Cited] | None = None, *, language: str = "en"
) -> list[CitedSentence]:
    """The sentences that cite something, in order.

    `citations`: as the stream reported them; without them every `[n]` up to 999 that is no code and no link
    counts.
    """
    if citations is None:
        citations = [found for found in cite(answer, lambda n: n <= LARGEST_PLAIN)[1] if isinstance(found, Cited)]
    marks = sorted(_mark(answer, citation) for citation in citations)
    starts = [mark.start for mark in marks]
    numbers: dict[Span, list[int]] = defaultdict(list)
    claims: dict[Span, str] = {}
    before: tuple[Span, str] | None = None
    for start, end in blocks(answer):
        inside = marks[bisect_left(starts, start) : bisect_left(starts, end)]
        found = _Block(answer, start, end, inside, language)
        for at, mark in enumerate(inside):
            sentence = found.sentence_of(at) or before
            if sentence:
                claims[sentence[0]] = sentence[1]
                numbers[sentence[0]].append(mark.n)
        before = found.last() or before
    return [
        CitedSentence(span.start, span.end, tuple(dict.fromkeys(cited)), claims[span])
        for span, cited in sorted(numbers.items())
    ]


def _mark(answer: str, citation: Cited) -> _Mark:
    start = citation.position
    while start and answer[start - 1] in " \t":
        start -= 1
    return _Mark(start, citation.position + len(f"[{citation.n}]"), citation.n)


class _Block:
    """A line or paragraph of an answer with its markers taken out, and its sentences."""

    def __init__(self, answer: str, start: int, end: int, marks: list[_Mark], language: str) -> None:
        bullet = BULLET.match(answer, start, end)
        self._begin = bullet.end() if bullet else start
        parts, self._places, self._taken = [], [], [0]
        at = length = self._begin
        for mark in marks:
            parts.append(answer[at : max(at, mark.start)])
            length += len(parts[-1])
            self._places.append(length - self._begin)
            self._taken.append(mark.end - length)
            at = mark.end
        parts.append(answer[at:end])
        self._bare = "".join(parts)
        self._spans = self._row() if self._bare.lstrip().startswith("|") else []
        self._spans = self._spans or sentence_spans(self._bare, language=language)
        self._spans = [span for span in self._spans if any(map(str.isalnum, self._bare[span.start : span.end]))]

    def _row(self) -> list[Span]:
        """The cells of a table's row; the row as a whole if only one of them is cited."""
        edges = [at for at, character in enumerate(self._bare) if character == "|"]
        if not self._bare.rstrip().endswith("|"):
            edges.append(len(self._bare))
        if len({bisect_left(edges, place) for place in self._places}) < 2:
            return [_stripped(self._bare, 0, len(self._bare))]
        return [_stripped(self._bare, left + 1, right) for left, right in pairwise(edges)]

    def sentence_of(self, mark: int) -> tuple[Span, str] | None:
        """The sentence that the block's marker number `mark` belongs to."""
        if not self._spans:
            return None
        before = bisect_left(self._spans, Span(self._places[mark], 0))
        return self._sentence(max(0, before - 1))

    def last(self) -> tuple[Span, str] | None:
        return self._sentence(-1) if self._spans else None

    def _sentence(self, at: int) -> tuple[Span, str]:
        span = self._spans[at]
        claim = self._bare[span.start : span.end]
        return Span(self._in_answer(span.start), self._in_answer(span.end - 1) + 1), claim

    def _in_answer(self, place: int) -> int:
        """Where in the answer a character of the bare text stands."""
        return self._begin + place + self._taken[bisect_right(self._places, place)]


def _stripped(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    return Span(start, start + len(inside.strip()))
