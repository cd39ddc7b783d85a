"""Where quoted words stand in a text.

A value is remembered only with a quote, and a quote counts only if it stands in the text that was shown. Models copy
words well and typography badly, so both sides are folded before they are compared: NFC, case, runs of white space,
quote marks and dashes. What is kept are offsets into the original text (code points, end exclusive), never the copy.
A match begins and ends at a word's edge: `no` does not stand in `know`. Scripts written without spaces have no edges.

A date or a number may be kept in its plain form (`2026-03-05`, `1200.5`) when the quote says it in another one
("5 March 2026", "1.200,50"); the quote stays beside it.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from lumina.memory.words import UNSPACED

QUOTE_MARKS = dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u00b4`\u02bc\uff07", "'") | dict.fromkeys(
    "\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f", '"'
)
DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
TYPOGRAPHY = QUOTE_MARKS | DASHES
ASCII_TYPOGRAPHY = str.maketrans({mark: plain for mark, plain in TYPOGRAPHY.items() if mark.isascii()})

HEAD, TAIL = 16_000, 8_000  # code points of a long text that the delta step is shown: its beginning and its end
MAX_MARKS = 30  # combining marks taken with one letter; sorting an endless run of them would be quadratic
# Control characters, lone surrogates, and the marks that turn the direction of a line around.
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile("[\ud800-\udfff]")
MARKER = re.compile(r"\[([0-9]{1,9})\]")
STOP = re.compile(r"(?<![.!?…])[.!?…]+|[。！？؟]|\n")
NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
SEPARATOR = re.compile(r"[^\d]")
TOKEN = re.compile(r"\d+|[^\W\d_]+")


class Span(NamedTuple):
    """A stretch of a text: code points, end exclusive."""

    start: int
    end: int


class Passage:
    """A text, folded once, in which quotes are sought. `offset` is where it begins in the text it is a part of."""

    def __init__(self, text: str, offset: int = 0) -> None:
        self._offset = offset
        letters: list[str] = []
        self._spans: list[Span] = []
        for start, end in _clusters(text):
            form = _fold_cluster(text[start:end])
            letters.append(form)
            self._spans.extend([Span(start, end)] * len(form))
        self._text = "".join(letters)

    def find(self, quote: str) -> Span | None:
        """The first place where `quote` stands whole, or None. A copy wrapped in quote marks is taken without them."""
        wanted = folded(quote)
        return self._find(wanted) or self._find(wanted.strip("\"' "))

    def _find(self, wanted: str) -> Span | None:
        if not any(letter.isalnum() for letter in wanted):
            return None
        at = self._text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if not self._splits_word(at) and not self._splits_word(end):
                return Span(self._offset + self._spans[at].start, self._offset + self._spans[end - 1].end)
            at = self._text.find(wanted, at + 1)
        return None

    def _splits_word(self, at: int) -> bool:
        if not 0 < at < len(self._text):
            return False
        before, after = self._text[at - 1], self._text[at]
        return before.isalnum() and after.isalnum() and not UNSPACED.match(before) and not UNSPACED.match(after)


class Shown:
    """A text as far as the delta step is shown it: all of it, or its beginning and its end when it is long."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.pieces = pieces(text)
        self._passages: list[Passage] | None = None

    def find(self, quote: str) -> Span | None:
        """Offsets into the whole text."""
        if self._passages is None:
            last = len(self._text) - len(self.pieces[-1])
            offsets = (0, last)
            self._passages = [Passage(piece, offset) for piece, offset in zip(self.pieces, offsets, strict=False)]
        return next((found for passage in self._passages if (found := passage.find(quote))), None)


def pieces(text: str) -> tuple[str, ...]:
    """What is shown of `text`: itself, or its first HEAD and last TAIL code points."""
    return (text,) if len(text) <= HEAD + TAIL else (text[:HEAD], text[-TAIL:])


def folded(text: str) -> str:
    """`text` as it is compared."""
    if text.isascii():  # the same at a tenth of the cost: no letter combines with another
        return " ".join(text.translate(ASCII_TYPOGRAPHY).casefold().split())
    return "".join(_fold_cluster(text[start:end]) for start, end in _clusters(text)).strip()


def same(one: str, other: str) -> bool:
    """Whether two values differ in typography and case at most."""
    return one == other or folded(one) == folded(other)


def in_one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


def plain_line(value: object, limit: int) -> str:
    """A text of one line without control characters; "" for anything that is no text, or far too long to be one."""
    if not isinstance(value, str) or len(value) > 10 * limit:
        return ""
    line = in_one_line(CONTROLS.sub(" ", value))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def verbatim(value: str, quote: str) -> str | None:
    """`value` in the spelling of `quote`, or None if it does not stand there."""
    found = Passage(quote).find(value)
    return in_one_line(quote[found.start : found.end]) if found else None


def normalised(value: str, quote: str, day: str) -> str | None:
    """`value` in plain form if it is a date or number that `quote` says in another form, else None.

    `day` is the asker's day (ISO 8601): "tomorrow", a weekday and a date without its year are read from there.
    """
    plain = value.strip()
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", plain):
        return plain if _says_date(quote, plain, day) else None
    if len(plain) <= 40 and re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", plain):
        wanted = Decimal(plain.removeprefix("-"))
        found = any(wanted in set(_readings(match.group())) for match in NUMBER.finditer(quote))
        negative = plain.startswith("-")
        return plain if found and (not negative or "-" in folded(quote)) else None
    return None


def sentences(text: str) -> list[Span]:
    """The sentences of `text` in order. Citations right after a full stop belong to the sentence that it ends."""
    spans: list[Span] = []
    start = 0
    for stop in STOP.finditer(text):
        end = stop.end()
        if end <= start or (stop.group()[0] in ".!?…" and end < len(text) and text[end] not in " \t\r\n[\"'”’)"):
            continue
        end = _past_markers(text, end)
        spans.append(Span(start, end))
        start = end
    if start < len(text):
        spans.append(Span(start, len(text)))
    return spans


def overlapping(spans: list[Span], part: Span) -> list[Span]:
    """Those of `spans` that share a code point with `part`."""
    return [span for span in spans if span.start < part.end and part.start < span.end]


def _past_markers(text: str, end: int) -> int:
    while True:
        at = end
        while at < len(text) and text[at] in " \"'”’)":
            at += 1
        marker = MARKER.match(text, at)
        if not marker:
            return end
        end = marker.end()


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Runs of white space, and letters with the marks that may combine with them, so that NFC can work on each."""
    at, size = 0, len(text)
    while at < size:
        end = at + 1
        if text[at].isspace():
            while end < size and text[end].isspace():
                end += 1
        else:
            while end < size and end - at <= MAX_MARKS and text[end] >= "\u0300" and _combines(text[end]):
                end += 1
        yield at, end
        at = end


def _combines(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"  # the latter: Hangul


def _fold_cluster(piece: str) -> str:
    if piece.isspace():
        return " "
    if not piece.isascii():
        piece = unicodedata.normalize("NFC", piece)
    return TYPOGRAPHY.get(piece) or piece.casefold()


def _readings(token: str) -> Iterator[Decimal]:
    """The numbers that digits with separators may mean: 1.200 is 1200 and 1.2; 1.200,50 is 1200.5."""
    groups = SEPARATOR.split(token)
    if sum(map(len, groups)) > 40:
        return
    marks = SEPARATOR.findall(token)
    for group in groups:
        yield Decimal(group)
    if len(groups) == 1:
        return
    if all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3:
        yield Decimal("".join(groups))
    if marks[-1] in ".," and all(len(group) == 3 for group in groups[1:-1]) and marks[-1] not in marks[:-1]:
        yield Decimal("".join(groups[:-1]) + "." + groups[-1])


# English, German, French, Spanish, Italian, Portuguese, Dutch: names of months and weekdays, days near today.
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro januari",
            "february feb februar février fevrier febrero febbraio fevereiro februari",
            "march mar märz maerz mars marzo março maart",
            "april apr avril abril aprile",
            "may mai mayo maggio maio mei",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet julio luglio julho",
            "august aug août aout agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober okt octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre decembre diciembre dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes lunedì maandag 月曜日",
            "tuesday dienstag mardi martes martedì dinsdag 火曜日",
            "wednesday mittwoch mercredi miércoles mercoledì woensdag 水曜日",
            "thursday donnerstag jeudi jueves giovedì donderdag 木曜日",
            "friday freitag vendredi viernes venerdì vrijdag 金曜日",
            "saturday samstag samedi sábado sabato zaterdag 土曜日",
            "sunday sonntag dimanche domingo domenica zondag 日曜日",
        )
    )
    for name in names.split()
}
NEAR_DAYS = {
    **dict.fromkeys("today tonight heute aujourd hoy oggi hoje vandaag 今日 今天".split(), 0),
    **dict.fromkeys("tomorrow morgen demain mañana domani amanhã 明日 明天".split(), 1),
    **dict.fromkeys("yesterday gestern hier ayer ieri ontem gisteren 昨日 昨天".split(), -1),
}
BESIDE_DATES = frozenset("of the st nd rd th de del er le el den 年 月 日 号".split())


def _says_date(quote: str, plain: str, day: str) -> bool:
    try:
        wanted, today = date.fromisoformat(plain), date.fromisoformat(day)
    except ValueError:
        return False
    away = (wanted - today).days
    tokens = [token.group() for token in TOKEN.finditer(folded(quote))]
    if any(NEAR_DAYS.get(token) == away for token in tokens):
        return True
    if abs(away) <= 13 and any(WEEKDAYS.get(token) == wanted.weekday() for token in tokens):
        return True
    eastern = "月" in tokens
    parts = [token for token in tokens if token not in BESIDE_DATES]
    for at in range(len(parts)):
        if _is_date(parts[at : at + 3], wanted):
            return True
        named = eastern or any(part in MONTHS for part in parts[at : at + 2])
        if named and abs(away) <= 366 and _is_day(parts[at : at + 2], wanted):
            return True
    return False


def _is_date(parts: list[str], wanted: date) -> bool:
    if len(parts) != 3:
        return False
    if _is_year(parts[2], wanted):
        return _is_day(parts[:2], wanted)
    return len(parts[0]) == 4 and _is_year(parts[0], wanted) and _is_day(parts[1:], wanted)


def _is_day(parts: list[str], wanted: date) -> bool:
    values = [MONTHS.get(part, int(part) if part.isdecimal() and len(part) <= 2 else 0) for part in parts]
    if len(values) != 2 or all(part in MONTHS for part in parts):
        return False
    if parts[0] in MONTHS:
        return values == [wanted.month, wanted.day]
    if parts[1] in MONTHS:
        return values == [wanted.day, wanted.month]
    return sorted(values) == sorted((wanted.month, wanted.day))


def _is_year(part: str, wanted: date) -> bool:
    return part.isdecimal() and len(part) in (2, 4) and int(part) in (wanted.year, wanted.year % 100)
