"""Showing again what a model saw: the rows that a receipt refers to, rendered by the code that rendered them first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from lumina.memory.change import Change, load_changes
from lumina.memory.delta import Refused, delta_request
from lumina.memory.errors import NotFound, StoreError
from lumina.memory.receipt import NOWHERE, Item, Receipt, digest
from lumina.memory.rendering import (
    FORGOTTEN,
    RENDERING,
    EntryRef,
    Material,
    Noted,
    change_ref,
    entry_ref,
    forgotten_mark,
    recalled_turn,
    render,
    tool_messages,
)
from lumina.memory.schema import Schema
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredReceipt
from lumina.memory.turns import Message, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One model call of a turn as it was: `same` says whether rendering it again gave the very bytes that were sent.

    `forgotten` counts parts that were forgotten since; then there is nothing to compare with and `same` is None. So it
    is where the receipt says that no model was asked (`skipped`): there are no messages then.
    """

    seq: int
    attempt: int
    call: int
    receipt: Receipt
    items: tuple[Item, ...]  # of the whole call, those of its base included
    messages: tuple[Message, ...]
    same: bool | None
    forgotten: int


async def show_turn(store: Store, scope: ThreadScope, seq: int, attempt: int) -> list[Shown]:
    """Every model call of the turn, in order. NotFound when no receipt was kept for it."""
    rows = await store.receipts(scope, seq, attempt)
    if not rows:
        raise NotFound(
            f"Turn {seq} of thread {scope.thread} has no receipt: no model was asked, or there is no such turn."
        )
    return [await show_call(store, scope, row, rows) for row in rows]


async def show_call(store: Store, scope: ThreadScope, row: StoredReceipt, rows: list[StoredReceipt]) -> Shown:
    receipt = Receipt.from_json(row.body)
    if receipt.rendering > RENDERING:
        raise StoreError(
            f"This context was rendered by a newer version (rendering {receipt.rendering}, known here {RENDERING}). "
            "Upgrade Lumina to show it; nothing was changed."
        )
    turn = (await store.turns(scope, [(row.seq, row.attempt)])).get((row.seq, row.attempt))
    if turn is None:
        raise NotFound(f"Turn {row.seq} of thread {scope.thread} cannot be read.")
    if turn.forgotten:
        mark = forgotten_mark(turn.forgotten)
        turn = replace(turn, question=mark, answer=mark)
    whole = receipt
    if receipt.base:
        base = next((Receipt.from_json(other.body) for other in rows if other.call == receipt.base), None)
        if base is None:
            raise StoreError(
                f"Call {row.call} of turn {row.seq} goes on from call {receipt.base}, whose receipt is not there. The "
                "turn itself is not affected."
            )
        whole = base.model_copy(update={"items": (*base.items, *receipt.items)})
    changes = await _changes(store, scope, whole)
    material = await material_of(store, scope, whole, turn, changes)
    if row.purpose == "delta":
        messages = () if receipt.skipped else _delta_messages(whole, material, turn, changes)
    else:
        messages = render(whole, material)
    forgotten = sum(1 for item in whole.items if item.included and _is_forgotten(item, material))
    same = digest(messages) == receipt.sent if receipt.sent and not forgotten else None
    return Shown(
        seq=row.seq, attempt=row.attempt, call=row.call, receipt=receipt, items=whole.items, messages=messages,
        same=same, forgotten=forgotten,
    )  # fmt: skip


async def recalled_elsewhere(store: Store, scope: ThreadScope, receipt: Receipt) -> list[str]:
    """The words of other threads that a context was given."""
    items = [item for item in receipt.items if item.included and item.thread]
    turns = await turns_elsewhere(store, scope, ((item.thread, item.seq, item.attempt) for item in items))
    said = [(turns.get((item.thread, item.seq, item.attempt)), item) for item in items]
    return [
        (turn.question if item.part == "question" else turn.answer)[item.start : item.end]
        for turn, item in said
        if turn
    ]


async def material_of(
    store: Store, scope: ThreadScope, receipt: Receipt, turn: Turn, changes: Mapping[EntryRef, Change]
) -> Material:
    """The rows that the receipt refers to, by reference and nothing more."""
    keys = {(item.seq, item.attempt) for item in receipt.items if item.kind in ("turn", "recalled") and not item.thread}
    numbers = sorted({item.n for item in receipt.items if item.kind == "source"})
    records = await store.tool_calls(scope, turn.seq, turn.attempt)
    return Material(
        question=turn.question,
        instructions=await _text(store, scope, receipt, "instructions"),
        schema=await _text(store, scope, receipt, "schema"),
        turns=await store.turns(scope, sorted(keys)) if keys else {},
        entries={ref: _noted(change) for ref, change in changes.items()},
        names={name.n: name for name in await store.source_names(scope, numbers)} if numbers else {},
        tool_messages=tool_messages(records),
        elsewhere=await turns_elsewhere(
            store, scope, ((item.thread, item.seq, item.attempt) for item in receipt.items)
        ),
    )


async def _text(store: Store, scope: ThreadScope, receipt: Receipt, kind: Literal["instructions", "schema"]) -> str:
    """The text that an item names. One that only a thread which was forgotten still named is gone with it."""
    named = next((item.digest for item in receipt.items if item.kind == kind), "")
    try:
        return await store.text(scope.of_subject, named) if named else ""
    except NotFound:
        return FORGOTTEN


async def turns_elsewhere(
    store: Store, scope: ThreadScope, keys: Iterable[tuple[str, int, int]]
) -> dict[tuple[str, int, int], Turn]:
    """Turns of the subject's other threads by (thread, seq, attempt); keys of none that is here are passed over."""
    wanted: dict[str, set[tuple[int, int]]] = {}
    for thread, seq, attempt in keys:
        if thread not in ("", NOWHERE):
            wanted.setdefault(thread, set()).add((seq, attempt))
    found: dict[tuple[str, int, int], Turn] = {}
    for thread, pairs in sorted(wanted.items()):
        rows = await store.turns(replace(scope, thread=thread), sorted(pairs))
        found |= {(thread, *pair): turn for pair, turn in rows.items()}
    return found


async def _changes(store: Store, scope: ThreadScope, receipt: Receipt) -> dict[EntryRef, Change]:
    """The changes that the receipt's entries stand for."""
    items = [item for item in receipt.items if item.kind == "entry"]
    seqs = sorted({item.seq for item in items if item.about == "thread"})
    numbers = sorted({item.number for item in items if item.about == "subject"})
    deltas = [
        *(await store.deltas(scope, seqs) if seqs else ()),
        *(await store.subject_deltas(scope.of_subject, numbers) if numbers else ()),
    ]
    wanted = {entry_ref(item) for item in items}
    changes = [change for delta in deltas for change in load_changes(delta.changes)]
    return {ref: change for change in changes if (ref := change_ref(change)) in wanted}


def _delta_messages(
    receipt: Receipt, material: Material, turn: Turn, changes: Mapping[EntryRef, Change]
) -> tuple[Message, ...]:
    """What the delta step was sent: the same question, about the same entries."""
    before = next(((item.seq, item.attempt) for item in receipt.items if item.kind == "turn"), None)
    refused = [
        Refused(op=item.said_by, key=item.key, reason=item.text or forgotten_mark(item.forgotten))
        for item in receipt.items
        if item.kind == "refused"
    ]
    first = receipt.rendering < 3  # what stands under "instructions" was the schema then
    declared = material.instructions if first else material.schema
    return delta_request(
        turn,
        state=State().merge(changes.values())[0],
        profile=State(about="subject").merge(changes.values())[0],
        previous=material.turns.get(before) if before else None,
        read_sources=turn.read_sources,
        title_wanted=receipt.title_wanted,
        refused=refused,
        schema=Schema.from_json(declared) if declared not in ("", FORGOTTEN) else None,
        system="" if first else material.instructions,
        layout="turn first" if first else "notes first",
        fence="angle brackets" if receipt.rendering < 4 else "all that is obeyed",
    ).messages


def _noted(change: Change) -> Noted:
    return Noted(key=change.key, value=change.value, day=change.day, said_by=change.said_by, source=change.source)


def _is_forgotten(item: Item, material: Material) -> bool:
    if item.forgotten:
        return True
    if item.kind in ("turn", "recalled"):
        turn = recalled_turn(item, material)
        return turn is None or bool(turn.forgotten)
    if item.kind in ("instructions", "schema"):
        return (material.instructions if item.kind == "instructions" else material.schema) == FORGOTTEN
    return item.kind == "entry" and entry_ref(item) not in material.entries
