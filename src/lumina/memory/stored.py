"""What a store hands over and takes in besides turns: jobs, deltas, snapshots, receipts, passages.

Plain values, the same for every store (`lumina.memory.store`).
"""

from dataclasses import dataclass
from typing import Literal

from lumina.memory.errors import StoreError
from lumina.memory.turns import DeltaStatus, Part

CallPurpose = Literal["answer", "delta"]


class VersionConflict(StoreError):
    """Somebody else changed the state since it was read. Nothing was written: read it and fold again."""


DAMAGED = "null"  # no state is this: it is folded anew
DROPPED = '"dropped"'  # nor this: what was folded no longer holds, because turns were superseded


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A folded state as stored. `version` counts writes, 0 when there is none; `body` is JSON, DAMAGED where what is
    stored cannot be read, DROPPED where it was taken away until somebody folds again."""

    version: int = 0
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaJob:
    """The work of asking for one turn's delta."""

    seq: int
    attempt: int
    status: DeltaStatus
    answer: str  # what the model said, when answered
    tries: int
    reason: str  # of the last failure, or why it was set aside


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedDelta:
    """Changes that code accepted, as stored. `correction` is 0 for a turn's own delta; a person's corrections after
    turn `seq` count from 1. `number` is the turn's place among all turns of the subject (order of the profile).
    """

    seq: int
    attempt: int
    correction: int
    number: int
    changes: str  # JSON array, see memory.delta
    thread: str = ""  # set by the store when it reads


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """The account of one model call of a turn. `call` counts from 1 within the turn, the delta step included."""

    seq: int
    attempt: int
    call: int
    purpose: CallPurpose
    body: str  # JSON, see memory.receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """What one model call of a turn took, in tokens as the provider reported them; 0 where it reported nothing.

    `purpose` is a word: answer, note. `model` is who was paid, as `provider:model`; `day` is that of the call, in UTC.
    `input` holds what was `cached` (read from the provider's cache) and `cache_written`, `output` what was
    `reasoning`. A store sets `number`, which counts from 1 within the turn, and `subject` and `thread`.
    """

    seq: int
    attempt: int
    purpose: str
    model: str
    day: str
    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0
    number: int = 0
    subject: str = ""
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordMatches:
    """Which passages hold each asked word: ids newest first, at most `cap` a word. `turns`: turns in the thread."""

    ids: dict[str, tuple[int, ...]]
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A passage of an earlier turn with its text. `thread` is "" in the thread that is asked, and set by who reads
    another one's."""

    id: int
    seq: int
    attempt: int
    part: Part
    start: int
    end: int
    day: str
    text: str
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorEnds:
    """Who made the vectors of the oldest and of the newest passage that has one, and the id of the newest; of live
    turns. "" and -1 where there are none."""

    first: str = ""
    last: str = ""
    last_id: int = -1
