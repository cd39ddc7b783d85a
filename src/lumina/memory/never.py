"""What must never be kept: card numbers and the like, found in any text and masked there.

A mask has the length of what it hides, so that offsets into the text hold. Four kinds are built in; others are given
as shapes, a small part of the usual notation for patterns in which every text can be read in one way only, so that
finding is linear and nothing has to be tried twice. Every place where something matches is masked, overlapping ones
too: whether a character is masked depends on its neighbourhood alone, and a text that arrives in pieces (`MaskStream`)
is masked as the whole would be.

Digits and letters count in their other forms too (full width, Arabic), and invisible characters between them do not
hide a number. A match begins and ends at the edge of a run of letters and digits, as far as these are ASCII.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lumina.memory.errors import UsageError
from lumina.memory.evidence import DASHES

MARK = "\u2588"
MAX_SHAPE = 100  # characters that a shape can match at most
DIGITS = frozenset("0123456789")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
ALNUM = DIGITS | LETTERS
RUN = ALNUM | {MARK}

Span = tuple[int, int]


class Rule(Protocol):
    """One kind of text that must never be kept."""

    @property
    def name(self) -> str: ...

    def spans(self, text: str) -> Iterator[Span]:
        """Every place of `text` (in plain form) that matches."""
        ...

    def open_at(self, text: str) -> int:
        """Where the first match would begin that needs more text to be sure of; len(text) if there is none."""
        ...


class _Plain(dict[int, str]):
    """One character for one character: other forms of digits, letters, spaces and dashes as ASCII has them."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if code < 0x80:
            return character
        if character.isdecimal():
            return str(unicodedata.decimal(character))
        if 0xFF01 <= code <= 0xFF5E:
            return chr(code - 0xFEE0)
        if character.isspace() or unicodedata.category(character) == "Cf":
            return " "
        return DASHES.get(character, character)


PLAIN = _Plain()


def plain(text: str) -> str:
    """`text` as rules read it; of the same length."""
    return text if text.isascii() else text.translate(PLAIN)


# Shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """`least` to `most` characters out of `letters`."""

    letters: frozenset[str]
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Pieces one after the other. `check` may refuse what has the right shape."""

    name: str
    pieces: tuple[Piece, ...]
    check: Callable[[str], bool] = lambda _: True

    def spans(self, text: str) -> Iterator[Span]:
        for start, letter in enumerate(text):
            if self._may_begin(text, start, letter):
                end = self._end(text, start)
                if end > start and not _inside(text, end) and self.check(text[start:end]):
                    yield start, end

    def open_at(self, text: str) -> int:
        for start in range(max(0, len(text) - MAX_SHAPE), len(text)):
            # A match that ends where the text does may have to be taken back, or grow.
            if self._may_begin(text, start, text[start]) and self._end(text, start) in (0, len(text)):
                return start
        return len(text)

    def _may_begin(self, text: str, start: int, letter: str) -> bool:
        for piece in self.pieces:
            if letter in piece.letters:
                return not _inside(text, start)
            if piece.least:
                return False
        return False

    def _end(self, text: str, start: int) -> int:
        """Where the match from `start` ends; -1: there is none; 0: the text ends before it can be told."""
        at = start
        for piece in self.pieces:
            count = 0
            while count < piece.most and at < len(text) and text[at] in piece.letters:
                at, count = at + 1, count + 1
            if count < piece.least:
                return 0 if at == len(text) else -1
        return at


def _inside(text: str, at: int) -> bool:
    """Whether a run of ASCII letters and digits goes on across `at`. What was masked before was such a run."""
    return 0 < at < len(text) and text[at - 1] in RUN and text[at] in RUN


def shape(name: str, written: str) -> Shape:
    r"""The shape that `written` stands for. UsageError, with the place, for what is no shape.

    Letters stand for themselves; `\d` a digit, `\w` a letter, digit or `_`, `[A-Z0-9]` one of these; `{6}`, `{2,4}`
    and `?` say how often. `*`, `+`, `.`, `|` and groups are not taken, nor is a piece that may be longer or shorter
    when the next one begins with the same characters.
    """
    pieces: list[Piece] = []
    at = 0
    while at < len(written):
        letters, at = _letters(name, written, at)
        least, most, at = _times(name, written, at)
        pieces.append(Piece(letters=letters, least=least, most=most))
    if not pieces or not any(piece.least for piece in pieces):
        raise UsageError(f"The pattern {name!r} would match where nothing is.")
    if sum(piece.most for piece in pieces) > MAX_SHAPE:
        raise UsageError(f"The pattern {name!r} can match more than {MAX_SHAPE} characters.")
    _check_one_way(name, pieces)
    return Shape(name=name, pieces=tuple(pieces))


def _check_one_way(name: str, pieces: Sequence[Piece]) -> None:
    for at, piece in enumerate(pieces):
        if piece.least == piece.most:
            continue
        for later in pieces[at + 1 :]:
            if piece.letters & later.letters:
                both = min(piece.letters & later.letters)
                raise UsageError(
                    f"The pattern {name!r} can be read in several ways: {both!r} may belong to two of its pieces. Give "
                    "a fixed number of characters, or a sign between the pieces."
                )
            if later.least:
                break


ESCAPES = {"d": DIGITS, "w": ALNUM | {"_"}, "s": frozenset(" \t\n")}


def _letters(name: str, written: str, at: int) -> tuple[frozenset[str], int]:
    letter = written[at]
    if letter == "\\" and at + 1 < len(written):
        after = written[at + 1]
        if after in ALNUM and after not in ESCAPES:
            raise _bad(name, at, f"\\{after} is not taken: \\d, \\w and \\s are")
        return ESCAPES.get(after, frozenset(after)), at + 2
    if letter == "[":
        return _one_of(name, written, at)
    if letter in "*+.|()^${}]?\\":
        raise _bad(name, at, f"{letter!r} is not taken here; write \\{letter} for the character itself")
    return frozenset(letter), at + 1


def _one_of(name: str, written: str, start: int) -> tuple[frozenset[str], int]:
    end = written.find("]", start + 1)
    inside = written[start + 1 : end] if end > 0 else ""
    if not inside or inside[0] == "^" or "\\" in inside or "[" in inside:
        raise _bad(name, start, "a choice is written like [A-Z0-9_], without ^, \\ and [")
    letters: set[str] = set()
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            first, last = inside[at], inside[at + 2]
            if not (first in ALNUM and last in ALNUM and first <= last):
                raise _bad(name, start, f"{first}-{last} is no range of letters or digits")
            letters |= {chr(code) for code in range(ord(first), ord(last) + 1)} & ALNUM
            at += 3
        else:
            letters.add(inside[at])
            at += 1
    return frozenset(letters), end + 1


def _times(name: str, written: str, at: int) -> tuple[int, int, int]:
    if written[at : at + 1] == "?":
        return 0, 1, at + 1
    if written[at : at + 1] != "{":
        return 1, 1, at
    end = written.find("}", at)
    least, comma, most = written[at + 1 : end].partition(",") if end > 0 else ("", "", "")
    numbers = (least, most if comma else least)
    if not all(number.isascii() and number.isdigit() and len(number) <= 3 for number in numbers):
        raise _bad(name, at, "how often is written {6} or {2,4}")
    if not int(numbers[0]) <= int(numbers[1]) or not int(numbers[1]):
        raise _bad(name, at, "it would match nothing")
    return int(numbers[0]), int(numbers[1]), end + 1


def _bad(name: str, at: int, why: str) -> UsageError:
    return UsageError(f"The pattern {name!r} cannot be used (at character {at + 1}): {why}.")


# Built in


class CardNumber:
    """13 to 19 digits, alone or in groups, that begin as a card's do and pass Luhn's check."""

    name = "card_number"
    BETWEEN = frozenset(" \t\r\n.-")
    APART = 2  # signs between two digits at most
    LENGTHS = (
        ("4", (13, 16, 19)), ("34", (15,)), ("37", (15,)), ("3", (14, 15, 16)), ("5", range(13, 20)),
        ("6", range(13, 20)),
    )  # fmt: skip

    def spans(self, text: str) -> Iterator[Span]:
        for start, letter in enumerate(text):
            if letter in "23456" and not (start and text[start - 1] in DIGITS):
                yield from ((start, end) for end in self._ends(text, start))

    def open_at(self, text: str) -> int:
        first, digits, apart = len(text), 0, 0
        for at in range(len(text) - 1, -1, -1):
            if text[at] in DIGITS:
                digits, apart = digits + 1, 0
                if digits > 19:
                    break
                if text[at] in "23456" and not (at and text[at - 1] in DIGITS):
                    first = at
            elif text[at] in self.BETWEEN and apart < self.APART:
                apart += 1
            else:
                break
        return first

    def _ends(self, text: str, start: int) -> Iterator[int]:
        digits, apart = "", 0
        for at in range(start, len(text)):
            if text[at] in DIGITS:
                digits, apart = digits + text[at], 0
                if len(digits) > 19:
                    return
                whole = at + 1 == len(text) or text[at + 1] not in DIGITS
                if whole and len(digits) >= 13 and self._is_card(digits):
                    yield at + 1
            elif text[at] in self.BETWEEN and apart < self.APART:
                apart += 1
            else:
                return

    def _is_card(self, digits: str) -> bool:
        if digits[0] == "2":  # Mastercard's newer range; other years and dates begin so too
            fits = len(digits) == 16 and 2221 <= int(digits[:4]) <= 2720
        else:
            fits = any(digits.startswith(begin) and len(digits) in lengths for begin, lengths in self.LENGTHS)
        return fits and _luhn(digits)


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


IBAN_DIGITS = {letter: str(int(letter, 36)) for letter in ALNUM}


class Iban:
    """An account number by ISO 13616, unbroken or in groups of four, whose check digits are right."""

    name = "iban"
    LEAST, MOST = 15, 34
    LONGEST = MOST + MOST // 4

    def spans(self, text: str) -> Iterator[Span]:
        for start, letter in enumerate(text):
            if letter in LETTERS and not _inside(text, start):
                yield from ((start, end) for end, whole in self._ends(text, start) if self._is_iban(whole))

    def open_at(self, text: str) -> int:
        for start in range(max(0, len(text) - self.LONGEST - 1), len(text)):
            if text[start] in LETTERS and not _inside(text, start) and self._reaches_end(text, start):
                return start
        return len(text)

    def _groups(self, text: str, start: int) -> Iterator[Span]:
        """The runs of letters and digits from `start`: a first one, and while they have four, the next ones."""
        at = start
        while True:
            end = at
            while end < len(text) and text[end] in ALNUM and end - at <= self.MOST:
                end += 1
            if end == at:
                return
            yield at, end
            if end - at != 4 or text[end : end + 1] not in (" ", "-"):
                return
            at = end + 1

    def _ends(self, text: str, start: int) -> Iterator[tuple[int, str]]:
        whole = ""
        if not self._begins(text[start : start + 4]):
            return
        for at, end in self._groups(text, start):
            whole += text[at:end]
            if len(whole) > self.MOST or (whole != text[start:end] and end - at > 4):
                return
            if len(whole) >= self.LEAST:
                yield end, whole

    def _reaches_end(self, text: str, start: int) -> bool:
        last = start
        for at, end in self._groups(text, start):
            last = end
            if end - start > self.LONGEST or (at > start and end - at > 4):
                return False
        begins = self._begins(text[start : min(last, start + 4)])
        return begins and (last == len(text) or (last + 1 == len(text) and text[last] in " -"))

    def _begins(self, whole: str) -> bool:
        return all(letter in (LETTERS if at < 2 else DIGITS) for at, letter in enumerate(whole[:4]))

    def _is_iban(self, whole: str) -> bool:
        return int("".join(map(IBAN_DIGITS.__getitem__, whole[4:] + whole[:4]))) % 97 == 1


class Email:
    """An address of electronic mail."""

    name = "email"
    LOCAL, DOMAIN = 64, 253  # characters at most

    def spans(self, text: str) -> Iterator[Span]:
        at = text.find("@")
        while at >= 0:
            start, end = at, at + 1
            while start > max(0, at - self.LOCAL) and self._local(text[start - 1]):
                start -= 1
            while end < min(len(text), at + 1 + self.DOMAIN) and self._domain(text[end]):
                end += 1
            domain = text[at + 1 : end].rstrip(".-")
            name, dot, last = domain.rpartition(".")
            if start < at and dot and name.strip(".-") and len(last) >= 2:
                yield start, at + 1 + len(domain)
            at = text.find("@", at + 1)

    def open_at(self, text: str) -> int:
        at = len(text)
        least = max(0, at - self.LOCAL - self.DOMAIN - 1)
        while at > least and (self._local(text[at - 1]) or text[at - 1] == "@"):
            at -= 1
        return at

    def _domain(self, letter: str) -> bool:
        return letter in ALNUM or letter in ".-" or _spaced_letter(letter)

    def _local(self, letter: str) -> bool:
        return letter in ALNUM or letter in "._%+-'" or _spaced_letter(letter)


def _spaced_letter(letter: str) -> bool:
    """A letter beyond ASCII, of a script in which an address can be told from the words around it."""
    return "\xaa" <= letter < "\u0e00" and letter.isalnum()


def _is_ssn(found: str) -> bool:
    return found[:3] not in ("000", "666") and found[0] != "9" and found[4:6] != "00" and found[7:] != "0000"


def _digits(count: int) -> Piece:
    return Piece(letters=DIGITS, least=count, most=count)


_HYPHEN = Piece(letters=frozenset("- "), least=1, most=1)
US_SSN = Shape(
    name="us_ssn", pieces=(_digits(3), _HYPHEN, _digits(2), _HYPHEN, _digits(4)), check=_is_ssn
)  # fmt: skip
BUILT_IN: dict[str, Rule] = {rule.name: rule for rule in (CardNumber(), Iban(), US_SSN, Email())}
