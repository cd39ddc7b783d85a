"""Folding anew from the deltas: as if turns had never been, and to check or mend what is stored.

A stored state is a copy of what its deltas fold to. Nothing here trusts the copy.
"""

from dataclasses import dataclass
from typing import Literal

from lumina.memory.change import load_changes
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State, fold
from lumina.memory.store import DAMAGED, DROPPED, AppliedDelta, Snapshot, Store

# same: byte for byte. dropped: taken away by a turn that was asked again, and folded anew when it is read next.
Found = Literal["same", "dropped", "differs", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is stored of a thread's state and of its subject's profile, compared with the fold of the deltas."""

    state: Found
    profile: Found

    @property
    def sound(self) -> bool:
        return {self.state, self.profile} <= {"same", "dropped"}


async def before(store: Store, scope: ThreadScope, seq: int) -> tuple[State, State]:
    """State and profile as if turn `seq` and all after it had never been. A person's corrections stay."""

    def stays(delta: AppliedDelta) -> bool:
        return delta.correction > 0 or delta.thread != scope.thread or delta.seq < seq

    return (
        _folded([delta for delta in await store.deltas(scope) if stays(delta)]),
        _folded_profile([delta for delta in await store.subject_deltas(scope.of_subject) if stays(delta)]),
    )


async def compare(store: Store, scope: ThreadScope) -> Compared:
    """Whether the stored snapshots are what the deltas fold to, byte for byte (CASES D4)."""
    subject = scope.of_subject
    return Compared(
        state=_found(await store.state(scope), _folded(await store.deltas(scope))),
        profile=_found(await store.profile(subject), _folded_profile(await store.subject_deltas(subject))),
    )


async def rebuild(store: Store, scope: ThreadScope) -> Compared:
    """Folds anew what differs or is damaged and stores it over what is there; returns what was found. Raises
    VersionConflict when somebody writes at that moment."""
    found, subject = await compare(store, scope), scope.of_subject
    if found.state != "same":
        known = await store.state(scope)
        await store.put_state(scope, _next(known, _folded(await store.deltas(scope))))
    if found.profile != "same":
        known = await store.profile(subject)
        await store.put_profile(subject, _next(known, _folded_profile(await store.subject_deltas(subject))))
    return found


def _next(known: Snapshot, state: State) -> Snapshot:
    return Snapshot(version=known.version + 1, body=state.to_json())


def _folded(deltas: list[AppliedDelta]) -> State:
    return fold(load_changes(delta.changes) for delta in deltas)


def _folded_profile(deltas: list[AppliedDelta]) -> State:
    return fold((load_changes(delta.changes) for delta in deltas), about="subject")


def _found(stored: Snapshot, state: State) -> Found:
    if stored.body == DROPPED:
        return "dropped"
    if stored.body == DAMAGED:
        return "damaged"
    # Before the first delta nothing is stored.
    return "same" if stored.body == (state.to_json() if stored.version or state.held else "") else "differs"
