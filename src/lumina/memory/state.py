"""What stands now, and how it came to stand: the fold of the deltas.

A state keeps one register for each kind, lane and key, and in it the last change in the order of turns, whether that
change said something or took it back. Which change is last does not depend on which came first through the door, so
deltas can be merged in any order and any number of times, and a late one needs no second fold: it takes its place, or
finds it taken by a newer turn. What no change names stays as it is.

There are three lanes, because not everybody may overwrite everything (promise 6): `person` (the user's questions, an
operator's corrections), `answer` (what the assistant decided or left open), `source` (findings). Once a person has
spoken on a key, an answer has no say on it. A finding is a kind of its own and stands beside what a person said; a
person's retraction takes the findings of earlier turns with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from lumina.memory.change import About, Change, Kind, Lane, Quote, Register, SaidBy, dump, reason_of
from lumina.memory.errors import StoreError, UsageError
from lumina.memory.evidence import same

OutcomeKind = Literal["new", "replaces", "repeats", "late", "closes", "nothing to retract", "hidden"]

KINDS: tuple[Kind, ...] = ("fact", "issue", "decision", "finding")
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value that stands. Fields as in Change."""

    kind: Kind
    key: str
    value: str
    about: About
    said_by: SaidBy
    day: str
    seq: int
    attempt: int
    correction: int
    number: int
    thread: str
    quote: Quote | None
    offer: Quote | None
    source: int
    by: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a change did to the state it was merged into. `old` is the value that stood before, if one did.

    late: an older turn's, what stands is newer. hidden: an answer's, on a key on which a person has spoken.
    closes: a retract or resolve ended `old`; nothing to retract: there was nothing to end, and it is remembered.
    """

    change: Change
    kind: OutcomeKind
    old: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stretch of a key's history: what `began` said, until `ended`. `evidence`: began and all that repeated it.

    A retracted or resolved stretch is a row too; its `began` ends something and has no value.
    """

    began: Change
    ended: Change | None
    evidence: tuple[Change, ...]
    current: bool  # it is what State.current shows

    @property
    def value(self) -> str:
        return self.began.value

    @property
    def seq(self) -> int:
        return self.began.seq

    @property
    def until(self) -> int:
        """The seq of the turn that ended it, 0 while nothing has. In a profile it counts in `ended.thread`."""
        return self.ended.seq if self.ended else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What stands in a thread, or in a subject's profile. It takes only changes that are about that."""

    about: About = "thread"
    held: Mapping[Register, Change] = field(default_factory=dict)

    def merge(self, changes: Iterable[Change]) -> tuple["State", list[Outcome]]:
        """The state with `changes` in their places, and what each of those about it did, in the order given."""
        held = dict(self.held)
        outcomes: list[Outcome] = []
        for change in changes:
            if change.about == self.about:
                outcomes.append(_outcome(held, change))
                _put(held, change)
        return State(about=self.about, held=held), outcomes

    def current(self) -> tuple[Entry, ...]:
        """All that stands, by kind (facts, issues, decisions, findings), then by key."""
        names = sorted({(KINDS.index(kind), key) for kind, _, key in self.held})
        standing = (_standing(self.held, KINDS[kind], key) for kind, key in names)
        return tuple(_entry(change) for change in standing if change)

    def get(self, key: str, kind: Kind | None = None) -> Entry | None:
        """What stands under `key`; the first in the order of `current` when several kinds have it."""
        for each in (kind,) if kind else KINDS:
            if change := _standing(self.held, each, key):
                return _entry(change)
        return None

    def keys(self) -> frozenset[str]:
        """Every key that was ever named, those of retracted and resolved entries too."""
        return frozenset(key for _, _, key in self.held)

    def replaced_by(self, change: Change) -> Change | None:
        """The last change that took the place of `change` with another value or an end, None while it stands."""
        for lane in ("person", change.lane):
            now = self.held.get((change.kind, lane, change.key))
            newer = now and (now.later_than(change) if lane == change.lane else now.turn > change.turn)
            if now and newer and not now.says_same(change):
                return now
        return None

    def to_json(self) -> str:
        """Canonical: equal states give equal bytes, ASCII only. As long as there are keys, not turns."""
        texts = sorted({(change.key, change.kind, dump(change)) for change in self.held.values()})
        return f'{{"about":"{self.about}","changes":[{",".join(text for _, _, text in texts)}],"format":{FORMAT}}}'

    @classmethod
    def from_json(cls, body: str, about: About = "thread") -> "State":
        """The state of a snapshot; "" is the empty one. StoreError if it cannot be read, or is not about `about`."""
        if not body:
            return cls(about=about)
        try:
            stored = SNAPSHOT.validate_json(body)
        except (ValidationError, UsageError) as error:
            raise StoreError(f"A stored state cannot be read and was left as it is: {reason_of(error)}") from None
        if {stored.about, *(change.about for change in stored.changes)} != {about}:
            raise StoreError(f"A stored state is not about the {about}, as it should be. It was left as it is.")
        return cls(about=about).merge(stored.changes)[0]


def fold(deltas: Iterable[Iterable[Change]], *, about: About = "thread", as_of: int | None = None) -> State:
    """The state that `deltas` make, in whatever order they come.

    `as_of` takes only what was said up to that turn: a seq for a thread, the subject's number for a profile.
    """
    changes = (change for delta in deltas for change in delta)
    return State(about=about).merge(each for each in changes if as_of is None or each.turn[0] <= as_of)[0]


def history(deltas: Iterable[Iterable[Change]], key: str, *, about: About = "thread") -> list[Row]:
    """All that was ever said under `key`, by kind, oldest first. Only what stands is `current`."""
    changes = [change for delta in deltas for change in delta if change.key == key and change.about == about]
    state = fold([changes], about=about)
    ordered = sorted(set(changes), key=_said_first)
    return [
        Row(began=said[0], ended=ended, evidence=tuple(said), current=ended is None and standing in said)
        for kind in KINDS
        for standing in (_standing(state.held, kind, key),)
        for said, ended in _stretches(
            [change for change in ordered if kind in {name for name, _, _ in change.registers}]
        )
    ]


def _said_first(change: Change) -> tuple[tuple[int, int, int], bool, int, str]:
    """Within a turn the question comes before the answer."""
    return change.turn, change.lane != "person", change.position, dump(change)


def _put(held: dict[Register, Change], change: Change) -> None:
    for register in change.registers:
        there = held.get(register)
        if there is None or change.later_than(there):
            held[register] = change


def _standing(held: Mapping[Register, Change], kind: Kind, key: str) -> Change | None:
    """What is shown under a kind and key: promise 6 as far as it is about showing."""
    person = held.get((kind, "person", key))
    if kind == "finding":
        found = held.get((kind, "source", key))
        return None if found and (found.ends or (person and found.turn < person.turn)) else found
    if person and not person.forgotten:
        return None if person.ends else person
    answer = held.get((kind, "answer", key))
    # Of what was forgotten nothing comes back; what an answer says after it is news.
    return None if answer and (answer.ends or (person and answer.turn < person.turn)) else answer


def _outcome(held: Mapping[Register, Change], change: Change) -> Outcome:
    places = [held.get(register) for register in change.registers]
    if change in places:
        return Outcome(change=change, kind="repeats", old=change.value)
    if all(there is not None and there.later_than(change) for there in places):
        return Outcome(change=change, kind="late", old=next(there.value for there in places if there))
    if change.ends:
        standing = (_standing(held, kind, key) for kind, _, key in change.registers)
        old = next((each for each in standing if each and each.turn <= change.turn), None)
        return Outcome(change=change, kind="closes" if old else "nothing to retract", old=old.value if old else "")
    standing = _standing(held, change.kind, change.key)
    person = held.get((change.kind, "person", change.key))
    old = standing.value if standing else ""
    if person and change.lane == "answer" and not (person.forgotten and person.turn < change.turn):
        return Outcome(change=change, kind="hidden", old=old)
    if person and change.lane == "source" and change.turn < person.turn:
        return Outcome(change=change, kind="late", old=old)
    if not standing:
        return Outcome(change=change, kind="new")
    return Outcome(change=change, kind="repeats" if same(old, change.value) else "replaces", old=old)


def _stretches(ordered: list[Change]) -> list[tuple[list[Change], Change | None]]:
    """Changes of one kind and key as stretches of the same value, in the order they began."""
    stretches: list[tuple[list[Change], Change | None]] = []
    running: dict[Lane, int] = {}
    for change in ordered:
        mine = running.get(change.lane)
        last = stretches[mine][0][-1] if mine is not None else None
        if mine is not None and last and last.says_same(change):
            stretches[mine][0].append(change)
            continue
        if change.ends and not running:
            continue
        # What a person says ends what the other lanes said; the other way round there is no ending.
        for lane in tuple(running):
            if change.lane in ("person", lane):
                place = running.pop(lane)
                stretches[place] = (stretches[place][0], change)
        running[change.lane] = len(stretches)
        stretches.append(([change], None))
    return stretches


def _entry(change: Change) -> Entry:
    return Entry(**{each.name: getattr(change, each.name) for each in fields(Entry)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    format: Literal[1]
    about: About
    changes: tuple[Change, ...]


SNAPSHOT = TypeAdapter(_Snapshot)
