"""The history of a key in sentences for people: what was said, by whom, on which day, and what became of it.

Everything is read from the deltas; the words that a value rests on are read from the turns, where they stand.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lumina.memory.change import About, Change, Kind, Quote, SaidBy, load_changes
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Entry, Row, State, history
from lumina.memory.store import AppliedDelta, Store
from lumina.memory.turns import Turn

Turns = dict[tuple[str, int, int], Turn]  # by thread, seq, attempt
ENDED = {"set": "replaced", "decide": "replaced", "open": "replaced", "retract": "taken back", "resolve": "resolved"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One value of a key, from when it was said until it ended. `str()` gives the sentence.

    `quote` and `offer` are words; "" where there are none (a correction) or where they were forgotten. `times` is how
    often it was said, `turns` by which turns. In a profile `thread` is where it was said and `until` counts in
    `until_thread`.
    """

    key: str
    kind: Kind
    about: About
    value: str
    said_by: SaidBy
    by: str
    why: str
    source: int
    day: str
    seq: int
    thread: str
    quote: str
    offer: str
    turns: tuple[int, ...]
    current: bool
    until: int
    until_thread: str
    ended: str  # replaced, taken back, resolved, or "" while nothing ended it
    ended_by: str
    ended_why: str
    ended_value: str
    ended_day: str

    @property
    def times(self) -> int:
        return len(self.turns)

    def __str__(self) -> str:
        return f"{self._said()}{self._end()}"

    def _said(self) -> str:
        kind = "" if self.kind == "fact" else f"{self.kind}, "
        text = f"{self.value} ({kind}{_voice(self.said_by, self.by, self.source)} on {self.day}, {self._at()}"
        text += f': "{self.quote}"' if self.quote else ""
        text += f', accepting "{self.offer}"' if self.offer else ""
        text += f"; {self.why}" if self.why else ""
        again = ", ".join(str(seq) for seq in self.turns[1:])
        return text + (f"; again in turn {again})" if again else ")")

    def _at(self) -> str:
        after = "after " if self.said_by == "operator" else ""
        return f"{after}turn {self.seq}" + (f" of {self.thread}" if self.thread else "")

    def _end(self) -> str:
        if not self.ended:
            return ", which stands." if self.current else ", which does not stand: a person's word goes before it."
        where = f" of {self.until_thread}" if self.until_thread else ""
        by = f" by {self.ended_value}" if self.ended_value else ""
        why = f" ({self.ended_why})" if self.ended_why else ""
        who = "" if not self.ended_by else f", corrected by {self.ended_by}," if by else f" by {self.ended_by}"
        return f", {self.ended} at turn {self.until}{where}{by}{who} on {self.ended_day}{why}."


def _voice(said_by: SaidBy, by: str, source: int) -> str:
    return {
        "user": "said",
        "operator": f"corrected by {by}",
        "assistant": "from an answer",
        "source": f"read in source [{source}]",
    }[said_by]


async def tell_history(
    store: Store, scope: ThreadScope, deltas: Iterable[AppliedDelta], key: str, about: About
) -> list[Told]:
    """Every value that `key` ever had in `deltas`, by kind, oldest first."""
    rows = history([load_changes(delta.changes) for delta in deltas], key, about=about)
    rows = [row for row in rows if not row.began.ends]
    turns = await turns_of(store, scope, [row.began for row in rows])
    return [_told(row, scope, turns) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """An entry with the words that it rests on, and those of the offer that it accepts; "" where there are none."""

    entry: Entry
    quote: str
    offer: str


async def tell_entries(store: Store, scope: ThreadScope, states: Iterable[State]) -> list[Quoted]:
    """What stands in `states`, in their order, with its words."""
    states = list(states)
    turns = await turns_of(store, scope, [change for state in states for change in state.held.values()])
    return [
        Quoted(
            entry=entry,
            quote=words_of(entry.quote, entry.thread or scope.thread, turns),
            offer=words_of(entry.offer, entry.thread or scope.thread, turns),
        )
        for state in states
        for entry in state.current()
    ]


async def turns_of(store: Store, scope: ThreadScope, changes: Iterable[Change]) -> Turns:
    """The turns whose words `changes` quote. Those of other threads of the subject are read in their own scope."""
    wanted: dict[str, set[tuple[int, int]]] = {}
    for change in changes:
        for quote in filter(None, (change.quote, change.offer)):
            wanted.setdefault(change.thread or scope.thread, set()).add((quote.seq, quote.attempt))
    found: Turns = {}
    for thread, keys in wanted.items():
        turns = await store.turns(scope.of_subject.thread(thread), sorted(keys))
        found |= {(thread, *key): turn for key, turn in turns.items()}
    return found


def words_of(quote: Quote | None, thread: str, turns: Turns) -> str:
    """The words that `quote` points at, on one line."""
    turn = turns.get((thread, quote.seq, quote.attempt)) if quote else None
    if quote is None or turn is None or turn.forgotten:
        return ""
    text = turn.question if quote.part == "question" else turn.answer
    return " ".join(text[quote.start : quote.end].split())


def _told(row: Row, scope: ThreadScope, turns: Turns) -> Told:
    began, ended = row.began, row.ended
    thread = began.thread or scope.thread
    return Told(
        key=began.key, kind=began.kind, about=began.about, value=began.value, said_by=began.said_by, by=began.by,
        why=began.why, source=began.source, day=began.day, seq=began.seq, thread=began.thread,
        quote=words_of(began.quote, thread, turns), offer=words_of(began.offer, thread, turns),
        turns=tuple(change.seq for change in row.evidence), current=row.current, until=row.until,
        until_thread=ended.thread if ended else "", ended=ENDED[ended.op] if ended else "",
        ended_by=ended.by if ended else "", ended_why=ended.why if ended else "",
        ended_value=ended.value if ended else "", ended_day=ended.day if ended else "",
    )  # fmt: skip
