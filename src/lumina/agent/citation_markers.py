"""What a citation marker is: the one grammar, with no state and no opinion on which numbers are good.

A marker is a bracketed group of source numbers. Models write it in many ways, all of which are read here:

    [1]  [1, 2]  [1-3]  [^1]  [[1]]  [#1]  [Source 1]  [citation:1]  \\[1\\]  【1】  【1†source】  ［１］

The digits of any script count, brackets of the three kinds may be mixed, and characters that show nothing may
stand between, a line end too. Everything else in brackets is text: `[x]`, `[ ]`, `[sic]`, `[a1]`, `[-1]`, `[1.5]`,
`[12:30]`.
A marker is at most 64 characters long, 160 when it holds a `†`: an answer is never held back for longer than
that.
"""

import re
from dataclasses import dataclass
from enum import Enum

OPENERS = "[［【"
CLOSERS = "]］】"
LONGEST = 64  # code points from the opener to the closer
LONGEST_DAGGER = 160  # `【3†the title of a page】` names the page
DEEPEST = 6  # brackets within brackets
WIDEST_RANGE = 50  # [1-300] is two numbers, not three hundred

INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"
SPACES = " \t\n\r\u00a0\u2002\u2003\u2009\u202f\u3000"
SEPARATORS = ",;，、；"
DASHES = "-‐‑‒–—−~〜～－"
LEADS = (
    "sources",
    "source",
    "citations",
    "citation",
    "cite",
    "references",
    "reference",
    "refs",
    "ref",
    "来源",
    "出典",
)

FILLING = frozenset(INVISIBLE + SPACES + SEPARATORS + DASHES + "^#")
SIMPLE = re.compile(r"\[\^?(\d{1,9}(?:[,;] ?\d{1,9}){0,9})\]", re.ASCII)
DASHED = re.compile(f"[{SPACES}{INVISIBLE}]{{0,8}}[{re.escape(DASHES)}][{SPACES}{INVISIBLE}]{{0,8}}")
BREAKS = re.compile(f"[{SPACES}{SEPARATORS}{re.escape(OPENERS + CLOSERS)}^#\\\\]+")
ITEM = re.compile(r"(\d+)(?:-(\d+))?")
DIGITS = re.compile(r"\d+")
BRACKETS = re.compile(f"[{re.escape(OPENERS + CLOSERS)}]")
ADDRESSES = ("http:", "https:", "mailto:", "ftp:", "www.", "/", "#", "./", "../", "<")
UNSHOWN = str.maketrans("", "", INVISIBLE)


class Unread(Enum):
    """Why there is no marker at an opener."""

    MORE = "more"  # it may become one: what follows decides
    TEXT = "text"  # it is not one, whatever follows
    KNOT = "knot"  # it begins like one and goes wrong: without its opener nothing is left that reads like one
    CUT = "cut"  # the text ends inside it


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker as it was written: `buffer[start:end]`, and the numbers in it, in order, each once.

    `numbers` is empty when a `†` says that it is a marker and its number cannot be told (`【4:0†source】`).
    `linkable`: written in one pair of ASCII brackets, so that it can be the text of a link or open a
    definition.
    """

    end: int
    numbers: tuple[int, ...]
    linkable: bool = False
    certain: bool = False  # it holds a `†`: no reader would take it for anything else


def read_marker(buffer: str, start: int, *, final: bool) -> Marker | Unread:
    """The marker whose opener is `buffer[start]`. `final`: nothing follows the buffer.

    The answer depends on at most `LONGEST_DAGGER` characters from `start`, and is MORE as long as those that
    have not come yet could change it.
    """
    if simple := SIMPLE.match(buffer, start):
        numbers = simple[1].replace(";", ",").split(",")
        return Marker(simple.end(), tuple(dict.fromkeys(map(int, numbers))), linkable=True)
    lead = _lead(buffer, start + 1)
    if lead is None:
        return Unread.TEXT
    depth, deepest, digits = 1, 1, False
    dagger = 0  # the depth of the bracket in which a dagger stands: what follows in there is words
    at = start + 1 + lead
    while at < len(buffer):
        if at - start >= (LONGEST_DAGGER if dagger else LONGEST):
            return Unread.KNOT if deepest > 1 or dagger else Unread.TEXT
        character = buffer[at]
        if character in CLOSERS:
            depth -= 1
            if not depth:
                linkable = deepest == 1 and buffer[start] == "[" and character == "]" and buffer[at - 1] != "\\"
                return _marker(buffer[start + 1 + lead : at], at + 1, linkable=linkable, nested=deepest > 1)
            dagger = dagger if depth >= dagger else 0
        elif character in OPENERS:
            depth, deepest = depth + 1, max(deepest, depth + 1)
            if depth > DEEPEST:
                return Unread.KNOT
        elif dagger:
            if character == "\n":
                return Unread.KNOT
        elif character == "†" and digits:
            dagger = depth
        elif character.isdecimal():
            digits = True
        elif character == "\\":
            if at + 1 < len(buffer) and buffer[at + 1] not in OPENERS + CLOSERS:
                return Unread.TEXT
        elif character not in FILLING and not (character == ":" and _dagger_ahead(buffer, at)):
            return Unread.TEXT
        at += 1
    if not final:
        return Unread.MORE
    if deepest > 1 and digits:
        return Unread.KNOT
    return Unread.CUT if digits and ":" not in buffer[start + 1 + lead :] else Unread.TEXT


def _lead(buffer: str, at: int) -> int | None:
    """How many characters of a leading word (`Source `, `citation:`) stand at `at`; None: another word."""
    end = at
    while end < len(buffer) and end - at < 12 and buffer[end].isalpha():
        end += 1
    if end == at:
        return 0
    word = buffer[at:end].casefold()
    if end == len(buffer):
        return end - at if any(lead.startswith(word) for lead in LEADS) else None
    if word not in LEADS:
        return None
    return end - at + 1 if buffer[end] in ":." else end - at


def _dagger_ahead(buffer: str, at: int) -> bool:
    """Whether the colon at `at` is that of `【4:0†source】`, as far as the buffer goes."""
    end = at + 1
    while end < len(buffer) and end - at < 6 and buffer[end].isdecimal():
        end += 1
    return end == len(buffer) or buffer[end] == "†"


def _marker(inside: str, end: int, *, linkable: bool, nested: bool) -> Marker | Unread:
    inside = inside.translate(UNSHOWN)
    certain = "†" in inside
    if certain:
        inside = "".join(_before_daggers(inside))
        if ":" in inside:
            return Marker(end, (), certain=True)
    numbers: list[int] = []
    for item in BREAKS.split(DASHED.sub("-", inside)):
        if not item:
            continue
        match = ITEM.fullmatch(item)
        if match is None:
            if not nested:
                return Unread.TEXT
            numbers = [int(run) for run in DIGITS.findall(inside)]
            break
        numbers.extend(_range(int(match[1]), int(match[2])) if match[2] else (int(match[1]),))
    if not numbers:
        return Unread.TEXT
    return Marker(end, tuple(dict.fromkeys(numbers)), linkable=linkable and not certain, certain=certain)


def _before_daggers(body: str) -> list[str]:
    """`1†source` without what a dagger introduces, up to the end of the bracket it stands in."""
    parts, depth, dagger = [], 1, 0
    for character in body:
        if character in OPENERS:
            depth += 1
        elif character in CLOSERS:
            depth -= 1
            dagger = dagger if depth >= dagger else 0
        elif character == "†" and not dagger:
            dagger = depth
        if not dagger:
            parts.append(character)
    return parts


def _range(first: int, last: int) -> tuple[int, ...]:
    if first <= last < first + WIDEST_RANGE:
        return tuple(range(first, last + 1))
    return (first, last)


def rows_of(group: str) -> list[list[int]]:
    """The numbers of a group of groups, row by row; nothing if it is one row."""
    rows = [[int(run) for run in DIGITS.findall(row)] for row in BRACKETS.split(group)]
    return [row for row in rows if row] if len(rows) > 1 else []


def begins_address(buffer: str, at: int, *, final: bool) -> bool | None:
    """Whether an address (`https://...`, `/path`, `<...>`) begins at `at`; None: not certain yet."""
    begin = buffer[at : at + 8].lower()
    if begin.startswith(ADDRESSES):
        return True
    return None if not final and len(begin) < 8 and any(a.startswith(begin) for a in ADDRESSES) else False
