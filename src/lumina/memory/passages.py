"""Cuts a turn into the stretches that recall can find.

The unit of recall is one part of a turn: its question, or its answer. Assistants write long answers, and a whole one
would eat the budget of recall for the sake of one sentence in it; so a part of more than about 160 tokens is cut into
passages of at most about 90, at the borders its writer set: paragraphs, list items, lines of code, and sentences within
them. Only a sentence that is too long by itself is cut between words.

A passage is two offsets into the part as it is stored; it never begins or ends with white space.
"""

import re
import unicodedata
from collections.abc import Iterator

from lumina.memory.turns import IndexedPassage, Part
from lumina.memory.words import content_words

# Tokens. 90 of 30-160 tried on chats with answers of 800 tokens on average; single turns of people stay below 160.
WHOLE = 160
MOST = 90

FENCE = ("```", "~~~")
# Where a sentence may end: at most three closing marks follow it, so that the search stays linear.
SENTENCE_END = re.compile(r"[.!?…؟][\"'”’»)\]]{0,3}(?=\s)|[。！？｡][\"”’」』）)]{0,3}")

JOINER = "\u200d"
VIRAMA = 9  # the combining class of the signs that join two consonants

Span = tuple[int, int]


def passages_of(question: str, answer: str) -> tuple[IndexedPassage, ...]:
    """The passages of a turn, the question's first. One without a word that carries meaning is left out: no search
    could find it."""
    return (*_of_part("question", question), *_of_part("answer", answer))


def rough_tokens(text: str) -> float:
    """Tokens of `text` by script, to decide where to cut: close to cl100k for English (5.2 characters a token), Arabic
    and Cyrillic (1.3), Chinese and Japanese (1)."""
    if text.isascii():
        return len(text) / 5.2
    return sum(1.0 if c >= "\u2e80" else 0.77 if c >= "\u0370" and not "\u2000" <= c < "\u2e80" else 0.2 for c in text)


def _of_part(part: Part, text: str) -> Iterator[IndexedPassage]:
    for start, end in spans(text):
        words = tuple(content_words(text[start:end]))
        if words:
            yield IndexedPassage(part=part, start=start, end=end, words=words)


def spans(text: str) -> list[Span]:
    """Where the passages of one part stand: in order, apart, together every character but white space."""
    whole = _trim(text, 0, len(text))
    if whole is None:
        return []
    if rough_tokens(text) <= WHOLE:
        return [whole]
    return [span for start, end in _packed(text, list(_pieces(text))) if (span := _trim(text, start, end))]


def _packed(text: str, pieces: list[tuple[int, int, bool]]) -> Iterator[Span]:
    """Neighbouring pieces together up to the limit. A paragraph that would not fit begins anew once half is held."""
    start, end, held = 0, 0, 0.0
    for at, stop, opens in pieces:
        size = rough_tokens(text[at:stop])
        if held and (held + size > MOST or (opens and held > MOST / 2)):
            yield start, end
            start, held = at, 0.0
        elif not held:
            start = at
        end, held = stop, held + size
    if held:
        yield start, end


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """The smallest stretches that are kept whole, and whether each opens a paragraph, a list item or a code block."""
    in_code, after_blank, at = False, True, 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        stripped = line.strip()
        fence = stripped.startswith(FENCE)
        if not stripped:
            after_blank = not in_code
            continue
        opens = not in_code and (after_blank or fence or _is_item(stripped))
        whole_line = in_code or fence
        for piece_start, piece_end in [(start, at)] if whole_line else _sentences(text, start, at):
            for cut_start, cut_end in _cut(text, piece_start, piece_end):
                yield cut_start, cut_end, opens
                opens = False
        in_code, after_blank = in_code ^ fence, False


def _is_item(line: str) -> bool:
    """Whether a stripped line begins a list item or is a heading."""
    if line.startswith(("- ", "* ", "+ ", "• ", "#")):
        return True
    mark = line.split(maxsplit=1)[0]
    return 1 < len(mark) <= 4 and mark[-1] in ".)" and mark[:-1].isalnum() and not mark[:-1].isalpha()


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for stop in SENTENCE_END.finditer(text, start, end):
        yield at, stop.end()
        at = stop.end()
    if at < end:
        yield at, end


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """One piece, or several of at most MOST tokens, cut after white space where there is any in the second half."""
    while start < end:
        if end - start <= 5 * MOST and rough_tokens(text[start:end]) <= MOST:
            yield start, end
            return
        stop = min(end, start + _reach(text, start, end))
        if stop < end:
            for back in range(stop, start + (stop - start) // 2, -1):
                if text[back - 1].isspace():
                    stop = back
                    break
            else:
                stop = _before_cluster(text, start, stop)
        yield start, stop
        start = stop


def _before_cluster(text: str, start: int, stop: int) -> int:
    """`stop`, moved back a little where it would part a letter from its marks or a joined emoji."""
    for at in range(stop, max(start, stop - 16), -1):
        if not (_joins(text[at]) or text[at - 1] == JOINER or unicodedata.combining(text[at - 1]) == VIRAMA):
            return at
    return stop


def _joins(character: str) -> bool:
    return (
        unicodedata.category(character).startswith("M")
        or character == JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
    )


def _reach(text: str, start: int, end: int) -> int:
    """How many characters from `start` make MOST tokens; at least one."""
    low, high = 1, min(end - start, 6 * MOST)
    while low < high:
        middle = (low + high + 1) // 2
        if rough_tokens(text[start : start + middle]) <= MOST:
            low = middle
        else:
            high = middle - 1
    return low


def _trim(text: str, start: int, end: int) -> Span | None:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    right = len(body.rstrip())
    return (start + left, start + right) if left < right else None
