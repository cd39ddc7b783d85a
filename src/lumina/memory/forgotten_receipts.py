"""Receipts of contexts that showed what is forgotten: they still say what was decided, and nothing of what it said.

An item that shows something forgotten is marked with the day; names, texts and keys go from it. The hash of what was
sent goes with them, in every call of the turn that builds on it: it would tell who guesses the words that they were
right. Everything else stays, so that the rest can still be shown as it was sent.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from lumina.memory.errors import StoreError
from lumina.memory.receipt import NOWHERE, Item, Receipt
from lumina.memory.removal import HeldReceipt, TurnKey
from lumina.memory.rendering import EntryRef, entry_ref

GONE_KEY = {"key": "", "said_by": "", "entry_kind": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What is forgotten, as receipts refer to it. `turns` have lost words (`lost` of them all); `keys` are names that
    nothing is noted under any more."""

    day: str
    turns: Collection[tuple[str, TurnKey]] = ()
    lost: Collection[tuple[str, TurnKey]] = ()
    entries: Collection[EntryRef] = ()
    keys: Collection[str] = ()
    sources: Collection[tuple[str, int]] = ()
    calls: Collection[tuple[str, TurnKey, int]] = ()
    threads: Collection[str] = field(default=())  # those that go whole: their receipts go with them


def blank_receipts(rows: Iterable[HeldReceipt], touched: Touched) -> list[HeldReceipt]:
    """Those of `rows` that change, as they are to be stored."""
    of_turn: dict[tuple[str, int, int], list[HeldReceipt]] = defaultdict(list)
    for row in rows:
        if row.thread not in touched.threads:
            of_turn[row.thread, row.seq, row.attempt].append(row)
    needles = _needles(touched)
    changed: list[HeldReceipt] = []
    for (thread, seq, attempt), calls in of_turn.items():
        own = (thread, (seq, attempt)) in touched.turns
        wanted = needles[thread] | needles[""]
        if own or any(needle in row.body for row in calls for needle in wanted):
            changed += _blank_turn(calls, touched, own)
    return changed


def _needles(touched: Touched) -> dict[str, set[str]]:
    """Words that a receipt must hold to be worth reading, by thread; "" for any. A long thread has thousands."""
    found: dict[str, set[str]] = defaultdict(set)
    for thread, (seq, _) in touched.turns:
        found[thread].add(f'"seq": {seq}')
        found[""].add(f'"thread": {json.dumps(thread, ensure_ascii=False)}')  # recalled in another thread
    for thread, n in touched.sources:
        found[thread].add(f'"n": {n}')
    found[""] |= {f'"{key}"' for key in (*touched.keys, *(ref[5] for ref in touched.entries))}
    for thread, _, _ in touched.calls:
        found[thread].add('"tool call"')
    return found


def _blank_turn(rows: list[HeldReceipt], touched: Touched, own: bool) -> list[HeldReceipt]:
    """The calls of one turn. A later call was sent what its base was, so it loses its hash with it."""
    changed: list[HeldReceipt] = []
    unsigned: set[int] = set()
    for row in sorted(rows, key=lambda row: row.call):
        try:
            receipt = Receipt.from_json(row.body)
        except StoreError:
            if own:  # nobody can tell what it holds
                bare = Receipt(rendering=1, purpose="delta" if row.purpose == "delta" else "answer", call=row.call)
                changed.append(replace(row, body=bare.to_json()))
            continue
        items = tuple(_blank(item, row, touched, own) for item in receipt.items)
        if items == receipt.items and not own and receipt.base not in unsigned:
            continue
        unsigned.add(row.call)
        told = {"items": items, "sent": "", "recall_reason": "" if own else receipt.recall_reason}
        body = receipt.model_copy(update=told).to_json()
        if body != row.body:
            changed.append(replace(row, body=body))
    return changed


def _blank(item: Item, row: HeldReceipt, touched: Touched, own: bool) -> Item:
    lost: dict[str, object] | None = None
    match item.kind:
        case "turn" | "recalled" | "turn noted":
            lost = {} if (item.thread or row.thread, (item.seq, item.attempt)) in touched.turns else None
            if lost is not None and item.thread in touched.threads:
                lost = {"thread": NOWHERE}  # another thread may be given its name one day
        case "question":
            lost = {} if own else None
        case "entry":
            lost = dict(GONE_KEY) if entry_ref(item) in touched.entries else None
        case "keys":
            left = tuple(key for key in item.keys if key not in touched.keys)
            lost = {"keys": left} if left != item.keys else None
        case "source":
            lost = {"text": ""} if (row.thread, item.n) in touched.sources else None
        case "refused":
            names = item.key in touched.keys or any(key in item.text for key in touched.keys)
            whole = (row.thread, (row.seq, row.attempt)) in touched.lost
            lost = {"key": "", "text": ""} if names or whole or own else None
        case "tool call":
            at = (row.thread, (row.seq, row.attempt))
            lost = {} if at in touched.lost or (*at, item.index) in touched.calls else None
        case _:
            pass
    return item if lost is None else item.model_copy(update={**lost, "forgotten": touched.day})
