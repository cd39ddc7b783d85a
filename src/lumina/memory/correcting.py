"""A person's corrections: deltas of their own, right after the turn that they follow.

A correction outlives its turn's attempt (regenerate, edit) and is replaced only by what a later question says, or by
another correction. Two at once get two numbers: whoever comes second finds the number taken, or the state changed, and
goes again.
"""

import json
from datetime import UTC, datetime
from typing import Literal

from lumina.memory.change import About, Operation, dump_changes
from lumina.memory.delta import KIND_OF, correct
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.keys import normal_key
from lumina.memory.noting import MAX_RACES, Loaded, load_profile, load_state
from lumina.memory.removal import NewAudit
from lumina.memory.schema import NOTHING_DECLARED, Schema
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Outcome, State
from lumina.memory.store import AppliedDelta, Store, VersionConflict
from lumina.memory.turns import Turn

CHANGES = ("new", "replaces", "closes")  # outcomes that a person would call a change


async def correct_state(
    store: Store, scope: ThreadScope, op: Operation, key: str, value: str, *, by: str, why: str, now: datetime,
    about: About | Literal[""], after: int, schema: Schema = NOTHING_DECLARED,
) -> tuple[Outcome, ...]:  # fmt: skip
    """Stores the correction after turn `after` (0: the last that has ended) and says what it did to the state. With it
    go a row in the audit (who and when, and of which turn; never what) and events of the thread's log. `now` is in the
    asker's zone.

    `about` is where the key belongs; "" means where it stands, else as the schema says, else the thread. UsageError
    for what cannot be, with nothing changed.
    """
    if op not in KIND_OF:
        raise UsageError(f"{op!r} is no operation. There are: {', '.join(KIND_OF)}.")
    if about not in ("", "thread", "subject"):
        raise UsageError(f"about is {about!r}; it can be thread or subject.")
    if not isinstance(by, str) or not by.strip():
        raise UsageError("A correction says by whom it is made. Nothing was changed.")
    temporary = (await store.thread_info(scope)).temporary
    day, at = now.date().isoformat(), now.astimezone(UTC).isoformat()
    for _ in range(MAX_RACES):
        turn = await _turn(store, scope, after)
        held = await load_state(store, scope)
        held_profile = Loaded(version=0, state=State(about="subject"))
        if not temporary:  # such a thread reads no profile
            held_profile = await load_profile(store, scope.of_subject)
        earlier = await store.deltas(scope, [turn.seq])
        change = correct(
            op, key, value, turn=turn, by=by, why=why, day=day, thread=scope.thread, schema=schema,
            correction=1 + max((delta.correction for delta in earlier), default=0),
            about=about or _place(op, key, held.state, held_profile.state, schema),
        )  # fmt: skip
        belongs = schema.about(change.key, change.kind)
        if belongs and belongs != change.about and not change.ends:
            raise UsageError(f"{change.key} belongs to the {belongs}, as it was declared. Nothing was changed.")
        if temporary and change.about == "subject":
            raise UsageError(
                f"{change.key} would be kept about the subject, and a temporary thread keeps nothing there. Nothing "
                "was changed; correct it in the thread alone, or in a thread that is kept."
            )
        state, outcomes = held.state.merge([change])
        profile, more = held_profile.state.merge([change])
        delta = AppliedDelta(
            seq=turn.seq, attempt=turn.attempt, correction=change.correction, number=turn.number,
            changes=dump_changes([change]),
        )  # fmt: skip
        done = (*outcomes, *more)
        audit = NewAudit(
            action="correct", by=by, at=at, thread=scope.thread, detail=json.dumps({"turn": turn.seq})
        )  # fmt: skip
        told = [_event(outcome, scope) for outcome in done if outcome.kind in CHANGES]
        new_profile = held_profile.next(profile) if more else None
        try:
            if await store.apply_delta(scope, delta, held.next(state), new_profile, audit=audit, events=told):
                return done
        except VersionConflict:
            continue
    raise StoreError(f"The correction lost {MAX_RACES} races for the state; nothing was changed. Try again.")


def _event(outcome: Outcome, scope: ThreadScope) -> str:
    """The event of the thread's log that says what changed (`lumina.agent.events.StateChanged`)."""
    change = outcome.change
    return json.dumps({
        "seq": 0, "thread": scope.thread, "turn": change.seq, "kind": "state.changed", "op": change.op,
        "key": change.key, "about": change.about, "old": outcome.old or None,
        "new": None if change.ends else change.value, "quote": "", "said_by": change.said_by,
    }, separators=(",", ":"))  # fmt: skip


async def _turn(store: Store, scope: ThreadScope, after: int) -> Turn:
    if isinstance(after, bool) or not isinstance(after, int) or after < 0:
        raise UsageError(f"after is the number of a turn, not {after!r}. Nothing was changed.")
    recent = await store.recent_turns(scope, limit=1, before=after + 1 if after else 0)
    turn = recent.turns[-1] if recent.turns else None
    if turn is None and not after:
        raise UsageError(
            "A correction stands right after a turn, and this thread has none that has ended yet. Nothing was changed; "
            "correct it after the first answer, or in another thread of the same subject."
        )
    if turn is None or (after and turn.seq != after):
        raise NotFound(f"This thread has no turn {after} that has ended and can be read. Nothing was changed.")
    return turn


def _place(op: Operation, key: str, state: State, profile: State, schema: Schema) -> About:
    """Where a key is that nobody gave a place for."""
    path, kind = normal_key(key) or key, KIND_OF[op]
    here, there = state.get(path), profile.get(path)
    if op in ("retract", "resolve") and bool(here) != bool(there):
        return "thread" if here else "subject"
    if declared := schema.about(path, kind):
        return declared
    return "subject" if there and not here else "thread"
