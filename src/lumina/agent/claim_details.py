"""The parts of a sentence that are right or wrong on their own: names, numbers, dates, quotations, a
negation.

What separates a sentence that a page carries half from one that it carries is, more than anything, a name, a
number or a date that stands nowhere on the page (WiCE: in 10 % of the supported claims, 62 % of the partly
supported). So these are read here in one form, from the claim and from the page alike: `2.5 million`,
`2,500,000` and `2500000` are one number, `12 March 2019`, `March 12, 2019` and `2019-03-12` one date.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from lumina.memory.words import STOP_WORDS, Word, words

Kind = Literal["name", "number", "date", "quote", "negation"]

NUMBER = re.compile(
    r"(?<![\w.,])\d{1,3}(?:[,.'’\u00a0\u202f]\d{3}){1,5}+(?:[.,]\d{1,9})?+(?!\d)|\d{1,18}(?:[.,]\d{1,9})?"
)
MAGNITUDE = re.compile(r"[ \u00a0-]?(hundred|thousand|million|billion|trillion|mio|mrd|bn|k|m)\b", re.IGNORECASE)
POWERS = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "mio": 6,
    "m": 6,
    "billion": 9,
    "bn": 9,
    "mrd": 9,
}
POWERS["trillion"] = 12
# fmt: off
ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)
# fmt: on
VALUES = {word: n for n, word in enumerate(ONES)} | {word: 10 * n for n, word in enumerate(TENS, 2)}
VALUES |= {word: n for n, word in enumerate(ORDINALS)}
VALUES |= {"once": 1, "twice": 2, "dozen": 12, "hundred": 100, "thousand": 1000}
VAGUE = frozenset({"zero", "one", "first", "second", "once", "zeroth", "dozen", "hundred", "thousand"})

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNNAMED = STOP_WORDS.union(MONTHS, WEEKDAYS)  # capitals that make no name at its edges
ISO_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)")

# fmt: off
NEGATIONS = frozenset((
    "not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot",
    "nicht", "kein", "keine", "keinen", "keiner", "nie", "niemals", "ohne", "pas", "jamais", "aucun", "sans",
    "nunca", "ningún", "ninguna", "mai", "senza", "não", "nem", "niet", "geen", "nooit", "нет", "не", "без",
))
# fmt: on
QUOTED = re.compile(
    '"([^"\n]{1,600})"|“([^“”\n]{1,600})”|„([^„“”\n]{1,600})[“”]|«([^«»\n]{1,600})»|「([^「」\n]{1,600})」'
    "|『([^『』\n]{1,600})』|»([^«»\n]{1,600})«|‘([^‘\n]{1,600}?)’(?!\\w)"
)
ALIKE = {"“”„«»「」": '"', "‘’ʼ`´": "'", "‐‑‒–—−": "-"}
FOLDED = str.maketrans({mark: plain for marks, plain in ALIKE.items() for mark in marks})
SPACE = re.compile(r"\s+")
ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")
TITLE_CASE = 0.6  # share of capitalised words above which a quotation is a title, a claim a heading


@dataclass(frozen=True, slots=True)
class Detail:
    """One such part: `text` as it stands in the claim (`start`..`end`), and what it is compared by.

    name: `words`, folded; number: `values`; date: `dates` as (year, month, day), 0 = not said. The last two
    hold each possible reading.
    """

    kind: Kind
    text: str
    start: int
    end: int
    words: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    dates: tuple[tuple[int, int, int], ...] = ()


def fold_quote(text: str) -> str:
    """`text` in NFC with white space, quotation marks and dashes made equal, as quotations are compared."""
    return SPACE.sub(" ", unicodedata.normalize("NFC", text).translate(FOLDED)).strip()


def unaccented(form: str) -> str:
    if form.isascii():
        return form
    return "".join(c for c in unicodedata.normalize("NFKD", form) if not unicodedata.combining(c))


def quotations(text: str) -> Iterator[Detail]:
    """What stands in quotation marks, but for titles of works: they are names, and pages give them in many ways (of the
    quotations in WiCE's supported claims that are not on the page word for word, 8 of 10 are titles)."""
    for match in QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        inside = text[start:end]
        raw = [inside[word.start : word.end] for word in words(inside)]
        meaning = [part for part in raw if part.lower() not in STOP_WORDS]
        if raw and sum(part[0].isupper() for part in meaning) <= TITLE_CASE * len(meaning):
            yield Detail("quote", inside, start, end)


def without_quotations(text: str) -> str:
    return QUOTED.sub(" ", text)


def quoted_parts(quotation: str) -> list[str]:
    """The folded parts of a quotation between `[...]` or `...`; a stop at an end is the quoting text's."""
    parts = ELLIPSIS.split(fold_quote(quotation))
    return [part for part in (part.strip(" .,;:!?") for part in parts) if part]


def numbers(text: str) -> Iterator[Detail]:
    """Every number of a claim, in digits or in words."""
    yield from digit_numbers(text)
    yield from word_numbers(text)


def digit_numbers(text: str) -> Iterator[Detail]:
    """`2,500`, `2.5 million`, `3rd`; not the digits of a name (A320). The 19 of 2018-19 is also 2019."""
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if start and text[start - 1].isalpha():
            continue  # A320, B2B: part of a name
        readings = _readings(match.group())
        if end - start == 2 and start > 4 and text[start - 1] in "-–/" and text[start - 5 : start - 1].isdecimal():
            readings.append(Decimal(text[start - 5 : start - 3] + match.group()))
        if magnitude := MAGNITUDE.match(text, end):
            power = Decimal(10) ** POWERS[magnitude[1].lower()]
            readings = [reading * power for reading in readings]
            end = magnitude.end()
        yield Detail("number", text[start:end], start, end, values=tuple(dict.fromkeys(map(_plain, readings))))


def _readings(digits: str) -> list[Decimal]:
    """`1.234` is 1234 or 1.234, by the country."""
    parts = re.split(r"[.,'’\u00a0\u202f]", digits)
    if len(parts) == 1:
        return [Decimal(digits)]
    whole = [Decimal("".join(parts))] if all(len(part) == 3 for part in parts[1:]) else []
    return [*whole, Decimal("".join(parts[:-1]) + "." + parts[-1])]


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


WORD_NUMBER = re.compile(
    r"\b(?=[zotfsenhdw])(?:" + "|".join(sorted(VALUES, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


def word_numbers(text: str, *, vague: bool = False) -> Iterator[Detail]:
    """`twenty-five`, `two million`. `vague`: also words that often count nothing (`one`, `first`)."""
    found = [(match[0].lower(), match.start(), match.end()) for match in WORD_NUMBER.finditer(text)]
    skip = -1
    for at, (word, start, end) in enumerate(found):
        if at == skip:
            continue
        value = VALUES[word]
        following = found[at + 1] if at + 1 < len(found) else None
        if following and word in TENS and 0 < VALUES[following[0]] < 10 and text[end : following[1]] in ("-", " ", "‑"):
            value, end, skip = value + VALUES[following[0]], following[2], at + 1
        elif magnitude := MAGNITUDE.match(text, end):
            value, end = value * 10 ** POWERS[magnitude[1].lower()], magnitude.end()
        elif word in VAGUE and not vague:
            continue
        yield Detail("number", text[start:end], start, end, values=(str(value),))


def dates(text: str) -> Iterator[Detail]:
    """Dates that name a day or a month; a year alone is a number. `3/4/2019` is in April or in March."""
    for match in ISO_DATE.finditer(text):
        yield _date(match, (int(match[1]), int(match[2]), int(match[3])))
    for match in NUMERIC_DATE.finditer(text):
        first, second, year = int(match[1]), int(match[2]), int(match[3])
        yield _date(match, (year, second, first), (year, first, second))
    for match in WRITTEN_DATE.finditer(text):
        month = MONTHS[(match["month"] or match["month2"]).lower()]
        day, year = match["day"] or match["day2"], match["year"] or match["year2"]
        if day or year:
            yield _date(match, (int(year or 0), month, int(day or 0)))


MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
WRITTEN_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH})\b\.?(?:,? (?P<year>\d{{4}})\b)?"
    rf"|(?P<month2>{MONTH})\b\.?(?: (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?"
    r"(?:,? (?P<year2>\d{4})\b)?)",
    re.IGNORECASE,
)


def _date(match: re.Match[str], *readings: tuple[int, int, int]) -> Detail:
    return Detail("date", match[0], match.start(), match.end(), dates=readings)


def names(text: str, *, nouns_are_capitalised: bool = False) -> Iterator[Detail]:
    """Runs of capitalised words, as far as capitals tell: no months or days, not the first word alone.

    A claim that is written like a heading has none.
    """
    found = [word for word in words(text) if word.end > word.start]
    capital = [_is_capitalised(text[word.start : word.end]) for word in found]
    if len(found) >= 4 and sum(capital) > TITLE_CASE * len(found):
        return
    run: list[Word] = []
    for at, word in enumerate([*found, None]):
        if word and capital[at] and (not run or _joined(text, run[-1], word)):
            run.append(word)
            continue
        if run:
            yield from _name(text, run, single_first=run[0] is found[0], strict=nouns_are_capitalised)
        run = [word] if word and capital[at] else []


def _is_capitalised(raw: str) -> bool:
    return raw[0].isupper() or any(character.isupper() for character in raw[1:])


def _joined(text: str, left: Word, right: Word) -> bool:
    return text[left.end : right.start] in (" ", "-", "'", "’", ". ", " & ", "‑", "–", ".")


def _name(text: str, run: list[Word], *, single_first: bool, strict: bool) -> Iterator[Detail]:
    raw = [text[word.start : word.end] for word in run]
    while run and raw[0].lower() in UNNAMED:
        run, raw, single_first = run[1:], raw[1:], False
    while run and raw[-1].lower() in UNNAMED:
        run, raw = run[:-1], raw[:-1]
    telling = any(character.isupper() for part in raw for character in part[1:])
    if not run or (len(run) == 1 and (single_first or strict) and not telling):
        return
    kept = tuple(
        word.form for word, part in zip(run, raw, strict=True) if len(part) > 1 and part.lower() not in STOP_WORDS
    )
    if kept:
        start, end = run[0].start, run[-1].end
        yield Detail("name", text[start:end], start, end, words=kept)


def negations(text: str) -> list[int]:
    """Where the words of negation start; `n't` where the word before it starts, `non` only by itself."""
    found = list(words(text))
    cues = [word.start for word in found if _denies(text[word.start : word.end].lower(), text[word.end : word.end + 1])]
    for left, right in pairwise(found):
        if right.form == "t" and text[left.end : right.start] in ("'", "’") and text[left.end - 1] == "n":
            cues.append(left.start)
    return sorted(cues)


def _denies(raw: str, following: str) -> bool:
    return raw in NEGATIONS or (raw == "non" and following == " ")
