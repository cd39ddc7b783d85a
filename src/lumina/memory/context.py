"""What will be sent, decided once.

Instructions, the window, one memory block and the question. Each gets its share of the budget; what does not fit gives
way in a fixed order: recalled passages first, then entries beyond their share, then turns, the oldest first, the turn
before the question last. Instructions and question always fit, or the turn is refused with the reason. Every decision
is an item of the receipt; the text comes from `lumina.memory.rendering`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from lumina.memory.budget import MESSAGE_OVERHEAD, Counter, Shares
from lumina.memory.errors import DoesNotFit
from lumina.memory.recall import SMALL_SHARE, Extent, Pick, pick_within
from lumina.memory.receipt import Item, Receipt, digest
from lumina.memory.rendering import (
    RENDERING,
    Material,
    block_place,
    day_heading,
    entry_heading,
    entry_item,
    entry_line,
    entry_ref,
    forges_block,
    note_line,
    noted,
    recalled_line,
    render,
    source_item,
    source_line,
    turn_messages,
    whole_exchanges,
)
from lumina.memory.state import Entry, State
from lumina.memory.store import StoredPassage
from lumina.memory.turns import Message, RecentTurns, SourceName, Turn
from lumina.memory.vendor_forms import anthropic_messages, openai_messages
from lumina.memory.visible_text import clean
from lumina.memory.window import Window, choose_window, ranges
from lumina.memory.words import content_words

KEPT_WHOLE = 2  # the newest turns, whose long answers are not shortened
LEFT_OUT_LISTED = 20  # passages that did not fit, in the receipt
KEYS_LISTED = 40  # names of entries that did not fit
NOTES_ROOM = 100  # tokens kept from older turns, so that what is not sent can be named
BLOCK_OVERHEAD = 40  # tokens of the memory block's tags and headings


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What recall found: whether it fired and why; the passages best first; how much of its share they may take."""

    fired: bool = False
    reason: str = "No turn is older than the window."
    picks: tuple[Pick, ...] = ()
    extent: Extent = "none"
    turns: Mapping[tuple[int, int], Turn] = field(default_factory=dict)
    elsewhere: Mapping[tuple[str, int, int], Turn] = field(default_factory=dict)  # of the subject's other threads
    # passage id -> seq of the turn that replaced its value, ELSEWHERE if it is a turn of another thread
    replaced: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that a context is decided from. `names` are the sources that the recent and recalled turns cite."""

    question: str
    instructions: str
    instructions_digest: str
    recent: RecentTurns
    state: State
    profile: State
    memory_id: str
    day: str
    budget: int
    counter: Counter
    model: str = ""
    recalled: Recollection = field(default_factory=Recollection)
    names: Mapping[int, SourceName] = field(default_factory=dict)
    unnoted: Sequence[int] = ()  # seqs older than the newest turns whose delta was never applied
    look_back: bool = False
    declared: Callable[[str], object] = lambda _: None  # whether a key is declared: such entries come first


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Context:
    """What will be sent, and the account of it. `openai()` and `anthropic()` give it in the vendors' forms."""

    question: str
    messages: tuple[Message, ...]
    receipt: Receipt
    window_start: int
    instead_of: int = 0  # the seq that is asked again, if one is

    def __repr__(self) -> str:
        budget = f"{self.tokens} of {self.receipt.budget} tokens"
        return f"<Context of {len(self.messages)} messages, {budget}, word for word from turn {self.window_start}>"

    @property
    def tokens(self) -> int:
        return sum(self.receipt.tokens.values())

    def openai(self) -> list[dict[str, Any]]:
        """The messages of an OpenAI chat completion request."""
        return openai_messages(self.messages)

    def anthropic(self) -> dict[str, Any]:
        """`system` and `messages` of an Anthropic request."""
        return anthropic_messages(self.messages)


def build_context(inputs: Inputs) -> Context:
    """Decides, renders and signs. Raises DoesNotFit when instructions and question alone exceed the budget."""
    window = choose_window(inputs.recent.turns)
    material = _material(inputs, window)
    room = _Room(inputs)
    turns = _turn_items(inputs, window, room)
    entries = _entry_items(inputs, material, room)
    with room.held_back(NOTES_ROOM):
        turns = [*_older_turns(inputs, window, turns, room), *turns]
    sent = {(item.seq, item.attempt) for item in turns if item.included}
    notes = _note_items(inputs, window, sent, room)
    sources = _source_items(inputs, material, sent, (), room)
    recalled = _recalled_items(inputs, material, sent, room)
    again = {(item.seq, item.attempt) for item in recalled if item.included and not item.thread}
    sources = sorted([*sources, *_source_items(inputs, material, again, sources, room)], key=lambda item: item.n)
    receipt = Receipt(
        rendering=RENDERING,
        model=inputs.model,
        counter=inputs.counter.name,
        budget=inputs.budget,
        day=inputs.day,
        memory_id=inputs.memory_id,
        window_start=window.start,
        window_reason=window.reason,
        look_back=inputs.look_back and any(item.kind == "not shown" for item in notes),
        recall_fired=inputs.recalled.fired,
        recall_reason=inputs.recalled.reason,
        citable=tuple(item.n for item in sources if item.included),
        items=(*room.fixed, *turns, *entries, *notes, *recalled, *sources),
    )
    messages = render(receipt, material)
    receipt = receipt.model_copy(update={"sent": digest(messages)})
    return Context(question=inputs.question, messages=messages, receipt=receipt, window_start=window.start)


class _Room:
    """What is left of the budget while parts are placed. `fixed` are the items that must be in."""

    def __init__(self, inputs: Inputs) -> None:
        count = inputs.counter.count
        self.shares = Shares(total=inputs.budget)
        self.fixed: list[Item] = []
        if inputs.instructions:
            tokens = count(inputs.instructions) + MESSAGE_OVERHEAD
            self.fixed.append(Item(kind="instructions", digest=inputs.instructions_digest, tokens=tokens))
        asked = count(clean(inputs.question)) + MESSAGE_OVERHEAD
        asked += BLOCK_OVERHEAD if forges_block(inputs.question) else 0
        self.fixed.append(Item(kind="question", tokens=asked))
        need = sum(item.tokens for item in self.fixed)
        if need > inputs.budget:
            raise DoesNotFit(
                f"Instructions and question need {need} tokens and the budget is {inputs.budget}. "
                "Nothing was sent. Shorten the question or give a larger budget.",
                need=need,
                budget=inputs.budget,
            )
        self.left = inputs.budget - need
        self._block_paid = False

    def take(self, tokens: int) -> bool:
        if tokens > self.left:
            return False
        self.left -= tokens
        return True

    @contextmanager
    def held_back(self, tokens: int) -> Iterator[None]:
        """Keeps up to `tokens` from what is placed inside."""
        kept = min(tokens, self.left)
        self.left -= kept
        yield
        self.left += kept

    def take_line(self, tokens: int) -> bool:
        """A line of the memory block; the first one also pays for the tags and headings."""
        if self._block_paid:
            return self.take(tokens)
        self._block_paid = self.take(tokens + BLOCK_OVERHEAD)
        return self._block_paid


def _material(inputs: Inputs, window: Window) -> Material:
    turns = {(turn.seq, turn.attempt): turn for turn in window.turns}
    entries = [*inputs.profile.current(), *inputs.state.current()]
    return Material(
        question=inputs.question,
        instructions=inputs.instructions,
        turns={**inputs.recalled.turns, **turns},
        entries={entry_ref(entry_item(entry)): noted(entry) for entry in entries},
        names=inputs.names,
        elsewhere=inputs.recalled.elsewhere,
    )


def _turn_tokens(turn: Turn, item: Item, counter: Counter) -> int:
    return sum(
        counter.count(m.content) + sum(counter.count(c.name + c.arguments) for c in m.tool_calls) + MESSAGE_OVERHEAD
        for m in turn_messages(turn, item)
    )


def _turn_item(turn: Turn, inputs: Inputs, *, short: bool) -> Item:
    item = Item(kind="turn", seq=turn.seq, attempt=turn.attempt, form="short" if short else "whole")
    if turn.exchanges and not whole_exchanges(turn.exchanges):
        item = item.model_copy(update={"form": "without tools", "reason": "its tool calls and results do not match"})
    return item.model_copy(update={"tokens": _turn_tokens(turn, item, inputs.counter)})


def _turn_items(inputs: Inputs, window: Window, room: _Room) -> list[Item]:
    """The last turn, which gives way last of all; shortened when it does not fit whole."""
    if not window.turns:
        return []
    last = window.turns[-1]
    for short in (False, True):
        item = _turn_item(last, inputs, short=short)
        if room.take(item.tokens):
            return [item if not short else item.model_copy(update={"reason": "shortened to fit the budget"})]
    return [item.model_copy(update={"included": False, "reason": "does not fit the budget"})]


def _older_turns(inputs: Inputs, window: Window, last: list[Item], room: _Room) -> list[Item]:
    """The turns before the last one, newest first into the room, so that what stays is one unbroken run."""
    items: list[Item] = []
    full = bool(last) and not last[0].included
    for at, turn in enumerate(reversed(window.turns[:-1]), start=2):
        item = _turn_item(turn, inputs, short=at > KEPT_WHOLE)
        full = full or not room.take(item.tokens)
        if full:
            why = "does not fit the budget" + ("" if turn.settled else "; it is not settled")
            item = item.model_copy(update={"included": False, "reason": why})
        items.append(item)
    return items[::-1]


def _entry_items(inputs: Inputs, material: Material, room: _Room) -> list[Item]:
    """Entries of profile and state within their share, in the order of the block; the others' names in one line. A
    heading is counted with the worthiest entry under it."""
    asked = set(content_words(inputs.question))
    entries = sorted((*inputs.profile.current(), *inputs.state.current()), key=block_place)
    limit = min(room.shares.state, room.left)
    chosen: dict[int, Item] = {}
    headed: set[str] = set()
    sections: set[int] = set()
    left_out: list[str] = []
    for place in sorted(range(len(entries)), key=lambda at: _claim(entries[at], asked, inputs)):
        item, (section, _) = entry_item(entries[place]), block_place(entries[place])
        month = entry_heading(entries[place])
        heading = "" if month in headed else entry_heading(entries[place], first=section not in sections) + "\n"
        tokens = inputs.counter.count(entry_line(item, material) + "\n") + 1
        tokens += inputs.counter.count(heading) + 1 if heading else 0
        if tokens <= limit and room.take_line(tokens):
            limit -= tokens
            headed.add(month)
            sections.add(section)
            chosen[place] = item.model_copy(update={"tokens": tokens})
        else:
            why = "beyond the state's share of the budget"
            chosen[place] = item.model_copy(update={"tokens": tokens, "included": False, "reason": why})
            left_out.append(entries[place].key)
    items = [chosen[place] for place in sorted(chosen)]
    if left_out:
        keys = Item(kind="keys", keys=tuple(left_out[:KEYS_LISTED]))
        tokens = inputs.counter.count(note_line(keys, look_back=False) + "\n") + 1
        fits = room.take_line(tokens)
        why = "" if fits else "does not fit the budget"
        items.append(keys.model_copy(update={"tokens": tokens, "included": fits, "reason": why}))
    return items


def _claim(entry: Entry, asked: set[str], inputs: Inputs) -> tuple[int, int, int]:
    """Open issues, decisions, declared keys, entries that share a word with the question, then the newest."""
    rank = {"issue": 0, "decision": 1}.get(entry.kind, 4)
    if rank == 4 and inputs.declared(entry.key):
        rank = 2
    if rank == 4 and asked.intersection(content_words(f"{entry.key.replace('.', ' ')} {entry.value}")):
        rank = 3
    return (rank, -entry.number, -entry.correction)


def _note_items(inputs: Inputs, window: Window, sent: set[tuple[int, int]], room: _Room) -> list[Item]:
    """That older turns exist, and which of them left nothing behind."""
    newest = inputs.recent.turns[-1].seq if inputs.recent.turns else 0
    first = min((seq for seq, _ in sent), default=newest + 1)
    if first <= 1:
        return []
    gone = [turn.seq for turn in inputs.recent.turns
            if turn.seq < first and turn.delta not in ("none", "applied") and not turn.forgotten]  # fmt: skip
    # The last live one: what was superseded in between is not spoken of.
    before = [row.seq for row in (*inputs.recent.turns, *inputs.recent.unreadable) if row.seq < first]
    candidates = [Item(kind="not shown", end=max(before, default=first - 1))]
    if unnoted := sorted({*gone, *(seq for seq in inputs.unnoted if seq < first)}):
        candidates.append(Item(kind="not noted", text=ranges(unnoted)))
    items: list[Item] = []
    for item in candidates:
        tokens = inputs.counter.count(note_line(item, look_back=inputs.look_back) + "\n") + 1
        fits = room.take_line(tokens)
        why = "" if fits else "does not fit the budget"
        items.append(item.model_copy(update={"tokens": tokens, "included": fits, "reason": why}))
    return items


def _recalled_items(inputs: Inputs, material: Material, sent: set[tuple[int, int]], room: _Room) -> list[Item]:
    """Recalled passages within their share: the worthiest chosen, shown oldest first under the days they were said.
    The heading of a day is counted with the first passage under it."""
    share = room.shares.recall if inputs.recalled.extent == "full" else int(room.shares.recall * SMALL_SHARE)
    limit = min(share, room.left - BLOCK_OVERHEAD)
    picks = inputs.recalled.picks
    items = {pick.passage.id: _recalled_item(pick.passage, inputs, material) for pick in picks}
    fresh = [pick for pick in picks if pick.passage.thread or (pick.passage.seq, pick.passage.attempt) not in sent]

    @cache
    def heading(elsewhere: bool, day: str) -> int:
        return inputs.counter.count(day_heading(day, elsewhere=elsewhere) + "\n") + 1

    def heading_of(passage: StoredPassage) -> int:
        return heading(bool(passage.thread), passage.day)

    chosen = pick_within(fresh, limit, lambda passage: items[passage.id].tokens, heading_of)
    included: list[Item] = []
    headed: set[tuple[str, str]] = set()
    for passage in (pick.passage for pick in chosen):
        item, day = items.pop(passage.id), (passage.thread, passage.day)
        item = item.model_copy(update={"tokens": item.tokens + (0 if day in headed else heading_of(passage))})
        if room.take_line(item.tokens):
            headed.add(day)
            included.append(item)
        else:
            items[passage.id] = item
    return [*included, *_left_out(items, sent)]


def _left_out(items: Mapping[int, Item], sent: set[tuple[int, int]]) -> list[Item]:
    """The best of those that are not sent, by score, for the receipt."""
    left: list[Item] = []
    for item in list(items.values())[:LEFT_OUT_LISTED]:
        shown = not item.thread and (item.seq, item.attempt) in sent
        why = "its turn is sent word for word" if shown else "beyond recall's share of the budget"
        left.append(item.model_copy(update={"included": False, "reason": why}))
    return left


def _recalled_item(passage: StoredPassage, inputs: Inputs, material: Material) -> Item:
    item = Item(
        kind="recalled", seq=passage.seq, attempt=passage.attempt, part=passage.part, start=passage.start,
        end=passage.end, replaced_at=inputs.recalled.replaced.get(passage.id, 0), thread=passage.thread,
    )  # fmt: skip
    tokens = inputs.counter.count(recalled_line(item, material) + "\n") + 1
    return item.model_copy(update={"tokens": tokens})


def _source_items(
    inputs: Inputs, material: Material, shown: set[tuple[int, int]], listed: Sequence[Item], room: _Room
) -> list[Item]:
    """Sources that the shown turns cite and that are not `listed` yet, the newest turn's first into their share."""
    turns: Iterable[Turn] = [*inputs.recent.turns, *inputs.recalled.turns.values()]
    newest_first = sorted((t for t in turns if (t.seq, t.attempt) in shown), key=lambda t: -t.seq)
    known = {item.n for item in listed}
    limit = min(room.shares.sources - sum(item.tokens for item in listed if item.included), room.left)
    items: list[Item] = []
    for n in dict.fromkeys(n for turn in newest_first for n in turn.cited if n in inputs.names and n not in known):
        item = source_item(inputs.names[n])
        tokens = inputs.counter.count(source_line(item, material) + "\n") + 1
        fits = tokens <= limit and room.take_line(tokens)
        limit -= tokens if fits else 0
        why = "" if fits else "beyond the sources' share of the budget"
        items.append(item.model_copy(update={"tokens": tokens, "included": fits, "reason": why}))
    return items


def continued(
    context: Context, call: int, items: Sequence[Item], messages: Sequence[Message], citable: Iterable[int]
) -> Context:
    """The context of a later call of the tool loop: what call 1 was sent, and the tool calls since."""
    everything = (*context.messages, *messages)
    receipt = context.receipt.model_copy(
        update={
            "call": call,
            "base": 1,
            "items": tuple(items),
            "citable": tuple(sorted(set(citable))),
            "sent": digest(everything),
        }
    )
    return replace(context, messages=everything, receipt=receipt)
