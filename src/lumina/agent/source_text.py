"""The stored text of one source, indexed once, so that many sentences can be held against it.

Words are those of `lumina.memory.words`; positions are sentences. What only some claims need (numbers in
words, dates, initials, the text folded for quotations) is read from the text when the first such claim comes.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from lumina.agent.claim_details import (
    Detail,
    dates,
    digit_numbers,
    fold_quote,
    quoted_parts,
    unaccented,
    word_numbers,
)
from lumina.agent.sentences import Span, sentence_spans
from lumina.memory.words import STOP_WORDS, words

UNSPACED = "\u2e80"  # from here on scripts write words without spaces between them
NATIONAL = ("n", "an", "ian", "i", "ish", "ese")  # Libya, Libyan


class SourceText:
    """`text` with its sentences and words. `title` and `url` count only for names, numbers and dates.

    `language` (ISO 639-1) says how sentences end.
    """

    def __init__(self, text: str, title: str = "", url: str = "", *, language: str = "en") -> None:
        self.text = text
        self.language = language
        self.spans: list[Span] = sentence_spans(text, language=language)
        self.forms: list[set[str]] = [set() for _ in self.spans]
        self.postings: dict[str, list[int]] = defaultdict(list)  # form -> the sentences it stands in, in order
        self._all = f"{title}\n{url}\n{text}"
        self._head = {word.form for word in words(f"{title}\n{url}")}
        self._address = "".join(character for character in url.lower() if character.isalnum())
        self._index()

    def _index(self) -> None:
        spans, forms, postings = self.spans, self.forms, self.postings
        at = 0
        for form, start, _ in words(self.text):
            while at < len(spans) and spans[at].end <= start:
                at += 1
            if at == len(spans):
                break
            if form not in forms[at]:
                forms[at].add(form)
                postings[form].append(at)

    def __len__(self) -> int:
        return len(self.spans)

    def sentences_with(self, form: str) -> list[int]:
        return self.postings.get(form, [])

    def weight(self, form: str) -> float:
        """How rare a word is in this source (idf); a word that is not in it is the rarest."""
        return math.log((len(self.spans) + 1) / (len(self.sentences_with(form)) + 0.5))

    def share_of(self, detail: Detail) -> float:
        """How much of a name, number or date stands in the source, 0 to 1."""
        if detail.kind == "number":
            held = not self._digits.isdisjoint(detail.values) or not self._number_words.isdisjoint(detail.values)
            return 1.0 if held else 0.0
        if detail.kind == "date":
            return max(self._share_of_date(*date) for date in detail.dates)
        share = sum(self._holds(form) for form in detail.words) / len(detail.words)
        return 1.0 if share < 1.0 and self._holds_short(detail) else share

    def quotes(self, quotation: str) -> bool:
        """Whether it stands here word for word, its parts in order; `[...]` stands for what was left out. A quotation
        may begin with a capital that the source has not, or the other way round."""
        at = 0
        for part in quoted_parts(quotation):
            ends = [end for form in (part, part[0].swapcase() + part[1:]) if (end := self._end_of(form, at)) >= 0]
            if not ends:
                return False
            at = min(ends)
        return True

    def _end_of(self, part: str, at: int) -> int:
        """Where the first `part` from `at` on ends that is no piece of longer words; -1: there is none."""
        text = self._folded
        while (start := text.find(part, at)) >= 0:
            end = start + len(part)
            if not (_one_word(text[start - 1 : start], part[0]) or _one_word(part[-1], text[end : end + 1])):
                return end
            at = start + 1
        return -1

    def _holds(self, form: str) -> bool:
        if form in self.postings or form in self._head or unaccented(form) in self._unaccented:
            return True
        if len(form) > 3 and form in self._address:
            return True
        return len(form) > 4 and any(near in self.postings for near in _nationals(form))

    def _holds_short(self, name: Detail) -> bool:
        """A name and its initials stand for each other."""
        if len(name.words) > 1:
            return "".join(form[0] for form in name.words) in self.postings
        form = "".join(name.words)
        return name.text.isupper() and 2 < len(form) < 7 and form in self._initials

    def _share_of_date(self, year: int, month: int, day: int) -> float:
        """A date without its year counts when the year stands elsewhere: pages say it once."""
        fitting = [y for y, m, d in self._dates if m == month and (not day or d == day)]
        if fitting and (not year or year in fitting or str(year) in self._digits):
            return 1.0
        return 0.5 if year and str(year) in self._digits else 0.0

    @cached_property
    def _unaccented(self) -> set[str]:
        return {unaccented(form) for forms in (self.postings, self._head) for form in forms}

    @cached_property
    def _digits(self) -> set[str]:
        return {value for detail in digit_numbers(self._all) for value in detail.values}

    @cached_property
    def _number_words(self) -> set[str]:
        return {value for detail in word_numbers(self._all, vague=True) for value in detail.values}

    @cached_property
    def _dates(self) -> set[tuple[int, int, int]]:
        return {date for detail in dates(self._all) for date in detail.dates}

    @cached_property
    def _initials(self) -> str:
        """The first letters of capitalised words in a row; `of` and the like do not end it, a dot does."""
        letters: list[str] = []
        for word in words(self._all):
            first = self._all[word.start]
            if first.isupper():
                letters.append(first.lower())
            elif self._all[word.start : word.end] not in STOP_WORDS:
                letters.append(".")
        return "".join(letters)

    @cached_property
    def _folded(self) -> str:
        return fold_quote(self.text)


def _one_word(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word, in a script that puts spaces between words."""
    return left.isalnum() and right.isalnum() and max(left, right) < UNSPACED


def _nationals(form: str) -> Iterator[str]:
    yield from (form + ending for ending in NATIONAL)
    for ending in NATIONAL:
        if form.endswith(ending) and len(form) - len(ending) > 3:
            yield form[: -len(ending)]
