"""What comes late, after a forget, loses what is gone: receipts of contexts, and events of a thread's log.

A context may have been built, or a change been noted, a moment before a forget; its account is written a moment after.
A store asks here what of it may still be written. `Remains` is what is left to compare with.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from lumina.memory.change import About, Change, load_changes
from lumina.memory.errors import StoreError
from lumina.memory.forgotten_receipts import Touched, blank_receipts
from lumina.memory.receipt import Receipt
from lumina.memory.redaction import forgotten_event, read_log, write_event
from lumina.memory.removal import HeldReceipt, TurnKey
from lumina.memory.rendering import EntryRef, change_ref, entry_ref
from lumina.memory.state import State
from lumina.memory.store import StoredReceipt

REFERS = ("turn", "recalled", "turn noted")


class Remains(Protocol):
    """What is left of a thread and its subject, for a store to answer from its rows."""

    def forgotten_turns(self, seqs: Collection[int]) -> Mapping[TurnKey, str]:
        """Those that were forgotten, with the day."""
        ...

    def deltas_of(self, *, seqs: Collection[int] = (), numbers: Collection[int] = ()) -> Sequence[str]:
        """Stored changes of the thread's turns `seqs`, and of the subject's turns `numbers`, as JSON."""
        ...

    def snapshots(self) -> Sequence[tuple[About, str]]:
        """The bodies of the thread's state and of the profile."""
        ...


def late_receipt(thread: str, stored: StoredReceipt, remains: Remains, day: str) -> str:
    """The body of a receipt without what was forgotten since its context was built."""
    try:
        receipt = Receipt.from_json(stored.body)
    except StoreError:
        return stored.body
    lost = remains.forgotten_turns({item.seq for item in receipt.items if item.kind in REFERS} | {stored.seq})
    numbers = {item.number for item in receipt.items if item.kind == "entry"}
    said = _refs(remains.deltas_of(numbers=numbers)) if numbers else set()
    names = {key for item in receipt.items for key in (*item.keys, *([item.key] if item.kind == "refused" else ()))}
    entries = {ref for item in receipt.items if item.kind == "entry" and (ref := entry_ref(item)) not in said}
    row = HeldReceipt(
        thread=thread,
        seq=stored.seq,
        attempt=stored.attempt,
        call=stored.call,
        purpose=stored.purpose,
        body=stored.body,
    )
    turns = {(thread, key) for key in lost}
    gone = names - _noted(remains.snapshots()) if entries else set()
    touched = Touched(day=day, turns=turns, lost=turns, entries=entries, keys=gone)
    return next((changed.body for changed in blank_receipts([row], touched)), stored.body)


def late_events(bodies: Sequence[str], remains: Remains) -> list[str]:
    """Events of the thread's log without those about turns and changes that were forgotten since."""
    events = dict(read_log(enumerate(bodies)))
    seqs = {turn for event in events.values() if isinstance(turn := event.get("turn"), int)}
    lost = {seq: day for (seq, _), day in remains.forgotten_turns(seqs).items()}
    changed = {event["turn"] for event in events.values() if event.get("kind") == "state.changed" and "turn" in event}
    said = {(change.seq, change.key) for change in _changes(remains.deltas_of(seqs=changed))} if changed else set()
    told: list[str] = []
    for at, body in enumerate(bodies):
        event = events.get(at, {})
        seq, thread = event.get("turn"), str(event.get("thread", ""))
        gone = event.get("kind") == "state.changed" and (seq, event.get("key")) not in said
        if isinstance(seq, int) and (seq in lost or gone):
            told.append(write_event(forgotten_event(thread, seq, lost.get(seq, ""))))
        else:
            told.append(body)
    return told


def _noted(bodies: Sequence[tuple[About, str]]) -> set[str]:
    """The keys that something is noted under."""
    noted: set[str] = set()
    for about, body in bodies:
        with suppress(StoreError):  # it is folded anew; until then nothing counts as noted
            noted |= {change.key for change in State.from_json(body, about).held.values() if not change.forgotten}
    return noted


def _changes(bodies: Sequence[str]) -> list[Change]:
    return [change for body in bodies for change in load_changes(body) if not change.forgotten]


def _refs(bodies: Sequence[str]) -> set[EntryRef]:
    return {change_ref(change) for change in _changes(bodies)}
