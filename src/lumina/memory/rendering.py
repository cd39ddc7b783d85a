"""From decisions to messages: the one place where a context becomes text.

`render` needs the receipt and the rows it refers to, and nothing else: building a context and showing it again run the
same code, so that they cannot differ. Everything that anybody wrote passes through `visible_text` on its way. The
layout is fixed by `RENDERING`; a change of one byte in what is written here needs a new version beside the old one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lumina.memory.budget import ScriptCounter
from lumina.memory.change import Change
from lumina.memory.control_tokens import CONTROL_TOKENS, FIRST_TOKENS
from lumina.memory.receipt import Item, Receipt
from lumina.memory.state import Entry
from lumina.memory.turns import Message, SourceName, ToolCall, ToolRecord, Turn
from lumina.memory.visible_text import clean, clean_answer, one_line, shorten

MEASURE = ScriptCounter()  # of a long answer
# 1: each recalled passage and each entry had its day in its own line. 2: each month of entries named its section again;
# the delta step's receipt did not name its instructions, and the turn stood before the notes. 3: fewer control tokens
# were known, and the delta step saw hidden characters as they were.
RENDERING = 4
NO_ANSWER = "(no answer was given)"
STOPPED = "(stopped here)"
TITLE_LIMIT = 80  # characters of a source's title and host
PASSAGE_LIMIT = 2000  # characters of a recalled passage; recall cuts at about 90 tokens
FORGOTTEN = "[forgotten]"
RECALLED = "From earlier turns:"
MONTH = 7  # characters of 2026-11
ELSEWHERE = -1  # replaced_at, when a turn of another thread replaced it
# A citation in any of the forms that models write: [7], [1, 2], 【3】.
FOREIGN_CITATION = re.compile(r"[\[【［]{1,2}\s{0,4}(\d[\d\s,;–-]{0,40})[\]】］]{1,2}")

SECTIONS = (("subject", "", "About the user"), ("thread", "fact", "Facts"), ("thread", "issue", "Open issues"),
            ("thread", "decision", "Decisions"), ("thread", "finding", "Findings"))  # fmt: skip
MARKS = {"user": "", "operator": "corrected", "assistant": "from an answer", "source": "read"}
SAID_1 = {"user": "said", "operator": "corrected", "assistant": "from an answer,", "source": "read"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """An entry's words, as the memory block shows them."""

    key: str
    value: str
    day: str
    said_by: str
    source: int = 0


# How a receipt refers to an entry: about, number, attempt, correction, kind, said_by, key.
EntryRef = tuple[str, int, int, int, str, str, str]


def entry_ref(item: Item) -> EntryRef:
    return (item.about, item.number, item.attempt or 1, item.correction, item.entry_kind, item.said_by, item.key)


def change_ref(change: Change) -> EntryRef:
    """The reference of the entry that a change makes."""
    return (
        change.about, change.number, change.attempt, change.correction, change.kind, change.said_by, change.key,
    )  # fmt: skip


def entry_item(entry: Entry) -> Item:
    """How a receipt refers to an entry; its tokens are not counted yet."""
    return Item(
        kind="entry", about=entry.about, seq=entry.seq, attempt=entry.attempt if entry.attempt > 1 else 0,
        number=entry.number, correction=entry.correction, entry_kind=entry.kind, said_by=entry.said_by, key=entry.key,
    )  # fmt: skip


def block_place(entry: Entry) -> tuple[int, str]:
    """Where an entry stands in the memory block: its section, and in it the oldest day first. Entries of one day stay
    in the order of the state."""
    sections = [about == entry.about and kind in ("", entry.kind) for about, kind, _ in SECTIONS]
    return sections.index(True), entry.day


def entry_heading(entry: Entry, *, first: bool = True) -> str:
    """The line under which an entry stands: its month, in the section's first one after the section's name."""
    section, day = block_place(entry)
    return _month_heading(SECTIONS[section][2] if first or not day else "", day)


def _month_heading(section: str, day: str) -> str:
    return ", ".join(part for part in (section, day[:MONTH]) if part) + ":"


def noted(entry: Entry) -> Noted:
    return Noted(key=entry.key, value=entry.value, day=entry.day, said_by=entry.said_by, source=entry.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The stored rows that a receipt refers to. What is missing was forgotten and reads so."""

    question: str
    instructions: str
    turns: Mapping[tuple[int, int], Turn] = field(default_factory=dict)
    entries: Mapping[EntryRef, Noted] = field(default_factory=dict)
    names: Mapping[int, SourceName] = field(default_factory=dict)
    tool_messages: Mapping[int, tuple[Message, ...]] = field(default_factory=dict)
    elsewhere: Mapping[tuple[str, int, int], Turn] = field(default_factory=dict)  # of other threads, by its name too
    tokens: re.Pattern[str] = CONTROL_TOKENS  # those that the rendering knows
    schema: str = ""  # what was declared, in a delta step


def render(receipt: Receipt, material: Material) -> tuple[Message, ...]:
    """The messages of an answer's call, byte for byte what was or will be sent."""
    if receipt.rendering < 4:
        material = replace(material, tokens=FIRST_TOKENS)
    tokens = material.tokens
    shown = [item for item in receipt.items if item.included]
    messages: list[Message] = []
    if any(item.kind == "instructions" for item in shown) and material.instructions:
        messages.append(Message(role="system", content=material.instructions))
    for item in shown:
        if item.kind == "turn":
            messages += turn_messages(material.turns.get((item.seq, item.attempt)), item, tokens)
    block = memory_block(receipt, material)
    question = clean(material.question, tokens)
    messages.append(Message(role="user", content=f"{block}\n\n{question}" if block else question))
    for item in shown:
        if item.kind == "tool call":
            gone = (Message(role="assistant", content=forgotten_mark(item.forgotten)),) if item.forgotten else ()
            messages += material.tool_messages.get(item.index, gone)
    return tuple(messages)


def forgotten_mark(day: str) -> str:
    """What stands in place of something that was forgotten."""
    return f"[forgotten on {day}]" if day else FORGOTTEN


def turn_messages(turn: Turn | None, item: Item, tokens: re.Pattern[str] = CONTROL_TOKENS) -> list[Message]:
    """One turn as the window sends it: the question, a caller's own tool messages, the answer."""
    if turn is None or turn.forgotten:
        mark = forgotten_mark((turn.forgotten if turn else "") or item.forgotten)
        return [Message(role="user", content=mark), Message(role="assistant", content=mark)]
    exchanges = turn.exchanges if item.form != "without tools" else ()
    return [
        Message(role="user", content=clean(turn.question, tokens)),
        *(_exchange(message, tokens) for message in exchanges),
        Message(role="assistant", content=answer_text(turn, short=item.form == "short", tokens=tokens)),
    ]


def answer_text(turn: Turn, *, short: bool = False, tokens: re.Pattern[str] = CONTROL_TOKENS) -> str:
    """An answer with its [n] and nothing added but how it ended. How it is shortened depends on the answer alone: a
    measure that learns would cut the same answer in another place one day."""
    if turn.status == "failed":
        return NO_ANSWER
    answer = clean_answer(turn.answer, tokens).strip()
    if short:
        answer = shorten(answer, MEASURE.count)
    if turn.status == "partial":
        return f"{answer}\n{STOPPED}" if answer else STOPPED
    return answer or NO_ANSWER


def _exchange(message: Message, tokens: re.Pattern[str]) -> Message:
    # Arguments are the model's own JSON: they travel in a field of their own and stay as they were.
    return Message(role=message.role, content=clean(message.content, tokens), tool_calls=message.tool_calls,
                   tool_call_id=message.tool_call_id)  # fmt: skip


def memory_block(receipt: Receipt, material: Material) -> str:
    """The fenced block before the question; "" when there is nothing to say. Each entry is one line, under the month in
    which it was said and with the day."""
    shown = [item for item in receipt.items if item.included]
    lines: list[str] = []
    for about, kind, heading in SECTIONS:
        items = [item for item in shown
                 if item.kind == "entry" and item.about == about and kind in ("", item.entry_kind)]  # fmt: skip
        if receipt.rendering == 1:
            lines += _entry_lines_1(heading, items, material)
        else:
            lines += _entry_lines(heading, items, material, again=receipt.rendering == 2)
    for item in shown:
        if item.kind in ("keys", "not shown", "not noted"):
            lines.append(note_line(item, look_back=receipt.look_back))
    recalled = [item for item in shown if item.kind == "recalled"]
    lines += recalled_lines(recalled, material) if receipt.rendering > 1 else _recalled_lines_1(recalled, material)
    sources = [source_line(item, material) for item in shown if item.kind == "source"]
    lines += ["Sources that may be cited again:", *sources] if sources else []
    if not lines:
        if not forges_block(material.question, material.tokens):
            return ""
        lines.append("Nothing is noted yet.")
    return "\n".join([f"<memory {receipt.memory_id}>", *lines, f"</memory {receipt.memory_id}>"])


def forges_block(question: str, tokens: re.Pattern[str] = CONTROL_TOKENS) -> bool:
    """Whether the question begins like a memory block. Then there is always a real one before it."""
    return clean(question, tokens).lstrip().startswith("<memory")


def _entry_lines(section: str, items: Sequence[Item], material: Material, *, again: bool) -> list[str]:
    """A section's entries under their months, as the items come. `again`: each month names the section, not the first
    alone. What was forgotten has no day."""
    lines: list[str] = []
    month: str | None = None
    for item in items:
        noted = material.entries.get(entry_ref(item))
        known = noted is not None and not item.forgotten
        day = noted.day[:MONTH] if noted and known else ""
        if month is None or (known and day != month):
            lines.append(_month_heading(section if again or not lines or not day else "", day))
            month = day
        lines.append(entry_line(item, material))
    return lines


def entry_line(item: Item, material: Material) -> str:
    """`- 03 home.city: York`, said on the third of the month above it. What is not the user's own word, and in the
    user's section what is not a fact, says so: `- 03 home.city (corrected): York`. A finding names its source."""
    noted = material.entries.get(entry_ref(item))
    if noted is None or item.forgotten:
        return _forgotten_entry(item)
    day = noted.day[MONTH + 1 :]
    cite = f" [{noted.source}]" if noted.source else ""
    kind = item.entry_kind if item.about == "subject" and item.entry_kind != "fact" else ""
    marks = ", ".join(mark for mark in (kind, "" if cite else MARKS[noted.said_by]) if mark)
    name = f"{day} {noted.key}".lstrip() + (f" ({marks})" if marks else "")
    return f"- {name}: {one_line(noted.value, tokens=material.tokens)}{cite}"


def _forgotten_entry(item: Item) -> str:
    return f"- {item.key}: {FORGOTTEN}" if item.key else f"- {forgotten_mark(item.forgotten)}"


def note_line(item: Item, *, look_back: bool) -> str:
    if item.kind == "keys":
        gone = (forgotten_mark(item.forgotten),) if item.forgotten else ()
        return "Keys not shown: " + ", ".join((*item.keys, *gone))
    if item.kind == "not noted":
        many = any(mark in item.text for mark in ("-", ",", "and"))
        return f"Turns {item.text} were not noted." if many else f"Turn {item.text} was not noted."
    which = f"Turns 1-{item.end} are" if item.end > 1 else "Turn 1 is"
    finds = "; look_back finds their words" if look_back else ""
    return f"{which} not shown; what was noted from them stands above{finds}."


def recalled_lines(items: Sequence[Item], material: Material) -> list[str]:
    """Recalled passages under the days on which they were said, as the items come (other conversations first)."""
    lines: list[str] = []
    headed: str | None = None
    for item in items:
        turn = recalled_turn(item, material)
        heading = day_heading(turn.day if turn else "", elsewhere=bool(item.thread))
        if heading != headed and heading:
            lines.append(heading)
        headed = heading
        lines.append(recalled_line(item, material))
    return [RECALLED, *lines] if lines else []


def day_heading(day: str, *, elsewhere: bool) -> str:
    """What stands above the passages of one day; "" for a day that is not known any more."""
    if elsewhere:
        return f"Another conversation, {day}:" if day else "Another conversation:"
    return f"{day}:" if day else ""


def recalled_line(item: Item, material: Material) -> str:
    """`#12 user: the words`: turn 12 of the conversation under whose heading it stands."""
    turn = recalled_turn(item, material)
    if turn is None or turn.forgotten:
        return f"#{item.seq}: {forgotten_mark((turn.forgotten if turn else '') or item.forgotten)}"
    by = "user" if item.part == "question" else "assistant"
    text = turn.question if item.part == "question" else turn.answer
    text = text[item.start : item.end]
    text = one_line(inert(text) if item.thread else text, PASSAGE_LIMIT, material.tokens)
    return f"#{item.seq} {by}: {text}{_replaced(item)}"


def recalled_turn(item: Item, material: Material) -> Turn | None:
    """The turn that a recalled passage is of, None if it is not there any more."""
    if item.thread:
        return material.elsewhere.get((item.thread, item.seq, item.attempt))
    return material.turns.get((item.seq, item.attempt))


def inert(text: str) -> str:
    """`text` of another conversation: its numbers in brackets are sources there and nothing here, so they stand in
    round ones."""
    return FOREIGN_CITATION.sub(lambda match: f"({match[1]})", text)


def _replaced(item: Item) -> str:
    if item.replaced_at == ELSEWHERE:
        return " (replaced in another conversation)"
    return f" (replaced at turn {item.replaced_at})" if item.replaced_at else ""


def _entry_lines_1(section: str, items: Sequence[Item], material: Material) -> list[str]:
    lines: list[str] = [f"{section}:"] if items else []
    for item in items:
        noted = material.entries.get(entry_ref(item))
        if noted is None or item.forgotten:
            lines.append(_forgotten_entry(item))
            continue
        cite = f" [{noted.source}]" if noted.source else ""
        # A subject's entries of all kinds share one section, so what is not a fact says what it is.
        kind = f"{item.entry_kind}, " if item.about == "subject" and item.entry_kind != "fact" else ""
        value = one_line(noted.value, tokens=FIRST_TOKENS)
        lines.append(f"- {noted.key}: {value}{cite} ({kind}{SAID_1[noted.said_by]} {noted.day})")
    return lines


def _recalled_lines_1(items: Sequence[Item], material: Material) -> list[str]:
    lines: list[str] = []
    for item in items:
        turn = material.turns.get((item.seq, item.attempt))
        by = "user" if item.part == "question" else "assistant"
        if turn is None or turn.forgotten:
            lines.append(f"- turn {item.seq}: {FORGOTTEN}")
            continue
        text = turn.question if item.part == "question" else turn.answer
        shown = one_line(text[item.start : item.end], PASSAGE_LIMIT, FIRST_TOKENS)
        lines.append(f"- turn {item.seq}, {turn.day}, {by}: {shown}{_replaced(item)}")
    return [RECALLED, *lines] if lines else []


def source_item(name: SourceName) -> Item:
    """How a receipt refers to a source; its tokens are not counted yet."""
    return Item(kind="source", n=name.n, text=one_line(f"{name.title} ({name.host})", TITLE_LIMIT))


def source_line(item: Item, material: Material) -> str:
    # The name is the one that was shown: the row has the latest, and a page may have been renamed since.
    if item.forgotten or item.n not in material.names:
        return f"- [{item.n}] {forgotten_mark(item.forgotten)}"
    return f"- [{item.n}] {item.text}"


def tool_messages(records: Sequence[ToolRecord]) -> dict[int, tuple[Message, ...]]:
    """By record index: the result, preceded by the model's message when it is the first of the calls asked for."""
    messages: dict[int, tuple[Message, ...]] = {}
    for at, record in enumerate(records):
        result = Message(role="tool", content=record.result, tool_call_id=record.id)
        if at and records[at - 1].call == record.call:
            messages[record.index] = (result,)
            continue
        together = [other for other in records if other.call == record.call]
        calls = tuple(ToolCall(id=other.id, name=other.name, arguments=other.arguments) for other in together)
        messages[record.index] = (Message(role="assistant", content=record.said, tool_calls=calls), result)
    return messages


def whole_exchanges(messages: Sequence[Message]) -> bool:
    """Whether every tool call has exactly one result, after it and before the next call, and no result is alone."""
    waiting: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            return False
        ids = [call.id for call in message.tool_calls]
        if len(set(ids)) != len(ids):
            return False
        waiting = set(ids)
    return not waiting
