"""Where the sentences of a text stand, in code points.

Text that was read from a page has a block on each line; text from a PDF is broken inside of sentences; an
answer is Markdown, with lists and tables. So lines are put together first where one plainly runs on into the
next, and only then cut at full stops (by sentencex, which knows abbreviations and scripts).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sentencex import get_sentence_boundaries  # pyright: ignore[reportAttributeAccessIssue]

LONGEST = 600  # code points; a longer sentence is a list or a table, and is cut between words
WRAPPED = 60  # a line this long that ends without a stop was broken by a page's width
STOPS = '.!?:;。！？…。؟।"”»)]'
BLOCK = re.compile(r"\s{0,8}(?:[-*+•·‣|#>]|\d{1,3}[.)]\s)")


class Span(NamedTuple):
    """Code points of a text, end exclusive."""

    start: int
    end: int


def sentence_spans(text: str, *, language: str = "en") -> list[Span]:
    """The sentences of `text` in order, without white space around them. `language`: an ISO 639-1 code."""
    spans = []
    for start, end in blocks(text):
        for found in get_sentence_boundaries(language, text[start:end]):
            spans.extend(_pieces(text, start + found["start_index"], start + found["end_index"]))
    return spans


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """Lines, put together where one runs on into the next."""
    start = at = 0
    while at < len(text):
        newline = text.find("\n", at)
        if newline < 0:
            break
        if not _runs_on(text, at, newline):
            yield start, newline
            start = newline + 1
        at = newline + 1
    if start < len(text):
        yield start, len(text)


def _runs_on(text: str, start: int, newline: int) -> bool:
    following = text[newline + 1 : newline + 2]
    if not following or following.isspace() or start == newline:
        return False
    last = text[start:newline].rstrip()[-1:]
    if not last or last in STOPS or BLOCK.match(text, newline + 1, newline + 8):
        return False
    return following.islower() or newline - start >= WRAPPED


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        cut = cut if cut > 0 else start + LONGEST
        yield Span(start, cut)
        start = cut + (1 if text[cut] == " " else 0)
    if end > start:
        yield Span(start, end)
