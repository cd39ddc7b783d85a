"""Noting what changed: asks for a turn's delta, takes the reply, lets code decide, folds it in.

A job is waiting until a model has answered, answered until code has applied it, applied or set aside for ever after. A
reply is kept before anything is made of it, so that a process that dies in between loses nothing and doubles nothing:
whoever opens the thread next applies what was answered.
"""

from dataclasses import dataclass

from lumina.memory.delta import (
    PROMPT,
    Refused,
    changes_to_json,
    check,
    delta_request,
    parse_note,
)
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Change, Outcome, State
from lumina.memory.store import AppliedDelta, DeltaJob, Snapshot, Store, VersionConflict
from lumina.memory.turns import Turn

MAX_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting:
    """What one turn's delta did: outcomes by change, refused operations with their reasons, and the reply's extras."""

    seq: int
    attempt: int
    outcomes: tuple[Outcome, ...]
    refused: tuple[Refused, ...]
    followups: tuple[str, ...] = ()
    title: str = ""
