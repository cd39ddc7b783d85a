"""The last user message, read: what of the memory stands before the question, and the question itself.

Lumina puts `<memory ID>` at the very start of the message and closes it with the same ID, which nobody can guess. So
only that first block is read as memory; whatever looks like one further on is text that somebody typed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Section = Literal["about", "facts", "issues", "decisions", "findings", "recalled", "sources", ""]
HEADINGS: dict[str, Section] = {
    "About the user": "about",
    "Facts": "facts",
    "Open issues": "issues",
    "Decisions": "decisions",
    "Findings": "findings",
    "From earlier turns:": "recalled",
    "Sources that may be cited again:": "sources",
}
OPENING = "<memory "
FORGOTTEN = "[forgotten]"
NOT_SHOWN = "Keys not shown: "
HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One current value. `day` is when it was said (or read); `source` is a finding's number, else 0."""

    section: Section
    key: str
    value: str
    day: str
    source: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Words of an earlier turn. `replaced` is the turn that replaced them, or 0."""

    turn: int
    day: str
    by: Literal["user", "assistant"]
    text: str
    replaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The block's parts in order. `sources` maps each number that may be cited again to its title.
    `whole`: no key is left out."""

    entries: tuple[Entry, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    sources: tuple[tuple[int, str], ...] = ()
    whole: bool = True

    @property
    def citable(self) -> frozenset[int]:
        return frozenset(n for n, _ in self.sources)


def read_message(message: str) -> tuple[Memory, str]:
    """The memory block's content and the question. Without a block at its start, the whole message is the question."""
    head, line_end, rest = message.partition("\n")
    id_ = head.removeprefix(OPENING).removesuffix(">")
    if not line_end or head != f"{OPENING}{id_}>" or len(id_) < 8 or not HEX.issuperset(id_):
        return Memory(), message.strip()
    inside, closing, question = f"\n{rest}".partition(f"\n</memory {id_}>")
    if not closing:
        return Memory(), message.strip()
    return _memory(inside), question.strip()


def _memory(inside: str) -> Memory:
    entries: list[Entry] = []
    recalled: list[Recalled] = []
    sources: list[tuple[int, str]] = []
    for section, day, line in _items(inside):
        if section == "recalled":
            if (item := read_recalled(line)) is not None:
                recalled.append(item)
        elif section == "sources":
            n, title = numbered(line)
            if n and title != FORGOTTEN:
                sources.append((n, title))
        elif (entry := _entry(section, day, line)) is not None:
            entries.append(entry)
    whole = not any(line.startswith(NOT_SHOWN) for line in inside.split("\n"))
    return Memory(entries=tuple(entries), recalled=tuple(recalled), sources=tuple(sources), whole=whole)


def _items(inside: str) -> Iterator[tuple[Section, str, str]]:
    """Each line with its section and the month, or of recalled words the day, under which it stands."""
    section: Section = ""
    day = ""
    for line in inside.split("\n"):
        if line.startswith("- "):
            if section:
                yield section, day, line[2:]
        elif section == "recalled" and line.startswith("#"):
            head, colon, text = line[1:].partition(": ")
            yield section, day, f"turn {head.replace(' ', f', {day}, ', 1)}{colon}{text}"
        elif section == "recalled" and is_day(line[-11:-1]):
            day = line[-11:-1]
        elif section not in ("", "recalled", "sources") and line.endswith(":") and is_day(f"{line[:-1]}-01"):
            day = line[:-1]  # a further month of the same section
        else:
            name, _, day = line.removesuffix(":").partition(", ")
            section = HEADINGS.get(line) or HEADINGS.get(name, "")


def _entry(section: Section, month: str, line: str) -> Entry | None:
    """`03 key: value`, `03 key (corrected): value`, or `03 key: value [3]` for a finding."""
    head, colon, value = line.partition(": ")
    day, space, key = head.partition(" ")
    if not colon or not space or not is_day(f"{month}-{day}"):
        return None
    source = 0
    if section == "findings":
        text, bracket, number = value.rpartition(" [")
        if bracket and number.endswith("]") and is_number(number[:-1]):
            value, source = text, int(number[:-1])
    return Entry(section=section, key=key.partition(" (")[0], value=value, day=f"{month}-{day}", source=source)


def read_recalled(line: str) -> Recalled | None:
    """`turn 12, 2026-11-02, user: the words (replaced at turn 31)`: as look_back gives it, and as a block's line
    `#12 user: ...` reads together with its day."""
    head, colon, text = line.partition(": ")
    parts = head.split(", ")
    number = parts[0].removeprefix("turn ")
    if not colon or len(parts) != 3 or not is_number(number) or parts[2] not in ("user", "assistant"):
        return None
    words, bracket, tail = text.rpartition(" (replaced at turn ")
    replaced = 0
    if bracket and tail.endswith(")") and is_number(tail[:-1]):
        text, replaced = words, int(tail[:-1])
    by: Literal["user", "assistant"] = "user" if parts[2] == "user" else "assistant"
    return Recalled(turn=int(number), day=parts[1], by=by, text=text, replaced=replaced)


def numbered(line: str) -> tuple[int, str]:
    """`[3] title (host)` as 3 and the title; 0 when it is not one."""
    number, bracket, title = line.removeprefix("[").partition("] ")
    if not bracket or not line.startswith("[") or not is_number(number):
        return 0, ""
    return int(number), title.rpartition(" (")[0] or title


def is_day(text: str) -> bool:
    """Whether `text` is a day as Lumina writes it, such as 2026-11-02."""
    return len(text) == 10 and text[4] == text[7] == "-" and is_number(text.replace("-", "", 2)[:7])


def is_number(text: str) -> bool:
    """Whether `text` is a plain number that Lumina may have written: ASCII digits, at most seven."""
    return text.isascii() and text.isdigit() and len(text) <= 7
