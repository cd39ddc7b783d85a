"""One change that code accepted: what was said about a key, by whom, in which turn, with which quote.

A change is built whole or not at all: what its voice may not do cannot be written down (promise 6). A person sets,
retracts, opens, resolves and decides; an answer decides and opens; a source makes findings.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from lumina.memory.errors import StoreError, UsageError
from lumina.memory.evidence import CONTROLS, same
from lumina.memory.keys import is_key
from lumina.memory.turns import Part

Operation = Literal["set", "retract", "open", "resolve", "decide"]
Kind = Literal["fact", "issue", "decision", "finding"]
About = Literal["thread", "subject"]
SaidBy = Literal["user", "operator", "assistant", "source"]
Lane = Literal["person", "answer", "source"]
Register = tuple[Kind, Lane, str]

LANES: dict[SaidBy, Lane] = {"user": "person", "operator": "person", "assistant": "answer", "source": "source"}
OP_KINDS: dict[Operation, tuple[Kind, ...]] = {
    "set": ("fact", "finding"),
    "open": ("issue",),
    "resolve": ("issue",),
    "decide": ("decision",),
    "retract": ("fact", "decision", "finding"),
}
MAX_VALUE = 500  # code points


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A stretch of a turn: offsets into its question or answer (code points, end exclusive). The text stays there."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    seq: int
    attempt: int
    part: Part
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One operation that code accepted. Raises UsageError when its voice may not do that (promise 6).

    `retract` takes back whatever fact, decision or finding has the key; its `kind` only tells which was meant.
    `quote` is the evidence; `offer` is set on a confirmation: the words of the answer before that it accepts.
    One that is `forgotten` has neither value nor quote and ends what came before it in its own kind and lane, nothing
    else.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)
    op: Operation
    kind: Kind
    key: str
    said_by: SaidBy
    seq: int
    attempt: int
    day: str  # the day it was said, ISO 8601
    value: str = ""
    about: About = "thread"
    number: int = 0  # of the turn, among all turns of the subject: the order of the profile
    correction: int = 0  # 0: the turn's own delta; corrections after the turn count from 1
    position: int = 0  # within its delta
    thread: str = ""  # where it was said, if it is about the subject; offsets point into that thread
    quote: Quote | None = None
    offer: Quote | None = None
    source: int = 0  # number of the source, on a finding
    by: str = ""  # who corrected
    why: str = ""
    forgotten: bool = False  # stands where something was forgotten: older values of its register do not come back

    def __post_init__(self) -> None:
        if complaint := _complaint(self):
            raise UsageError(f"The change of {self.key!r} cannot be: {complaint}.")

    @property
    def lane(self) -> Lane:
        return LANES[self.said_by]

    @property
    def ends(self) -> bool:
        """It takes something back instead of saying something."""
        return self.op in ("retract", "resolve")

    @property
    def registers(self) -> tuple[Register, ...]:
        kinds = OP_KINDS["retract"] if self.op == "retract" and not self.forgotten else (self.kind,)
        return tuple((kind, self.lane, self.key) for kind in kinds)

    @property
    def turn(self) -> tuple[int, int, int]:
        """Its turn's place in the fold. A correction comes right after its turn, whatever that turn's attempt."""
        place = self.seq if self.about == "thread" else self.number
        return (place, 1, self.correction) if self.correction else (place, 0, self.attempt)

    @property
    def order(self) -> tuple[tuple[int, int, int], int]:
        return self.turn, self.position

    def later_than(self, other: "Change") -> bool:
        """A total order: two changes that claim one place are told apart by their content, alike everywhere."""
        return self.order > other.order if self.order != other.order else dump(self) > dump(other)

    def says_same(self, other: "Change") -> bool:
        """Both end something, or both say one value, give or take case and typography."""
        return self.ends == other.ends and same(self.value, other.value)


DEFAULTS = tuple((each.name, each.default) for each in fields(Change))  # MISSING where there is none
QUOTE_FIELDS = tuple(each.name for each in fields(Quote))


def dump(change: Change) -> str:
    """Canonical JSON, ASCII only; fields at their defaults are left out."""
    kept: dict[str, object] = {}
    for name, default in DEFAULTS:
        value = getattr(change, name)
        if isinstance(value, Quote):
            kept[name] = {part: getattr(value, part) for part in QUOTE_FIELDS}
        elif value != default:
            kept[name] = value
    return CANONICAL.encode(kept)


def dump_changes(changes: Iterable[Change]) -> str:
    """Changes as they are stored with a delta: a JSON array, ASCII only, in the order given."""
    return f"[{','.join(map(dump, changes))}]"


def load_changes(body: str) -> tuple[Change, ...]:
    """StoreError if `body` is not what `dump_changes` wrote."""
    try:
        return CHANGES.validate_json(body)
    except (ValidationError, UsageError) as error:
        raise StoreError(f"A stored delta cannot be read and was left as it is: {reason_of(error)}") from None


def reason_of(error: ValidationError | UsageError) -> str:
    """The first thing that is wrong, without the data it is wrong in."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}."


def _complaint(change: Change) -> str:
    """Why such a change must not be, or ""."""
    if not is_key(change.key):
        return "its key is not a dotted lower-case path"
    if change.kind not in OP_KINDS[change.op]:
        return f"a {change.op} is not for a {change.kind}"
    if change.ends == bool(change.value) or len(change.value) > MAX_VALUE:
        return f"a {change.op} has {'no' if change.ends else f'a value of 1 to {MAX_VALUE} characters'} value"
    if any(map(CONTROLS.search, (change.value, change.by, change.why))):
        return "it holds a control character"
    if change.forgotten:
        told = change.quote or change.offer or change.by or change.why or change.source
        return "what was forgotten ends something and tells nothing" if told or not change.ends else ""
    if (change.said_by == "operator") != (change.correction > 0) or (change.said_by == "operator") != bool(change.by):
        return "a correction is an operator's, counts from 1 and says by whom; nothing else does"
    if change.said_by == "user" and (
        change.quote is None or change.quote.part != "question" or change.kind == "finding"
    ):
        return "what a user says is quoted from a question and is not a finding"
    if change.said_by in ("assistant", "source") and (change.about != "thread" or change.quote is None):
        return "what an answer or a source says is quoted and stays in the thread"
    if change.said_by == "assistant" and change.op not in ("open", "decide"):
        return "an answer can decide and open, nothing else"
    if (change.said_by == "source") != (change.source > 0) or (change.said_by == "source") != (
        change.op == "set" and change.kind == "finding"
    ):
        return "a finding, and nothing else, is said by a source with a number"
    return ""


CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
CHANGES = TypeAdapter(tuple[Change, ...])
