"""Recall with a store: fetches what the pure rules of `recall` need, in bounded portions.

One query per word of the question, the newest passages only, then at most a hundred passages by weight: the work does
not grow with the thread.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from lumina.memory import recall
from lumina.memory.change import Quote, load_changes
from lumina.memory.context import Recollection
from lumina.memory.evidence import folded, verbatim
from lumina.memory.meaning import NOTHING, Meaning
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage
from lumina.memory.turns import Turn

CONSIDERED = 80  # passages, best first, that are weighed against recall's share of the budget
SHORTEST_REPEATED = 3  # code points of a replaced value that is looked for where it was not set


async def recollect(
    store: Store,
    scope: ThreadScope,
    question: str,
    *,
    before: int,
    window: Sequence[Turn],
    state: State,
    profile: State,
    meaning: Meaning | None = None,
) -> Recollection:
    """What recall finds for `question` among the turns with seq < before, and why it fired or did not."""
    if before <= 1:
        return Recollection()
    asked = recall.query_words(question)
    matches = await store.matches(scope, asked, before=before, cap=recall.MATCH_CAP)
    ids = recall.candidates(matches)
    entries = (*profile.current(), *state.current())
    known = {
        "before": before,
        "window": [f"{turn.question}\n{turn.answer}" for turn in window],
        "state": "\n".join(f"{entry.key.replace('.', ' ')}: {entry.value}" for entry in entries),
        "matches": matches,
    }
    pointing = recall.gate(question, passages=await store.passages(scope, ids), **known)
    if not pointing.fire:
        return Recollection(reason=pointing.reason)
    near = await meaning.near(question, before=before) if meaning else NOTHING
    passages = await store.passages(scope, [*ids, *near.similar], around=recall.AROUND)
    similar = await meaning.similar(near, passages) if meaning else {}
    recalled = recall.decide(question, passages=passages, pointing=pointing, similar=similar, **known)
    return await _recollection(store, scope, recalled, f"{recalled.reason} {near.told}".rstrip(), state)


async def look_back(
    store: Store, scope: ThreadScope, query: str, *, before: int, state: State, meaning: Meaning | None = None
) -> Recollection:
    """What a model finds that asks for it: the same without the gate."""
    if before <= 1:
        return Recollection(reason="Every earlier turn is sent word for word.")
    matches = await store.matches(scope, recall.query_words(query), before=before, cap=recall.MATCH_CAP)
    near = await meaning.near(query, before=before) if meaning else NOTHING
    ids = [*recall.candidates(matches), *near.similar]
    passages = await store.passages(scope, ids, around=recall.AROUND)
    similar = await meaning.similar(near, passages) if meaning else {}
    recalled = recall.decide(
        query, before=before, window=(), state="", matches=matches, passages=passages, always_small=True,
        similar=similar,
    )  # fmt: skip
    return await _recollection(store, scope, recalled, f"The model asked. {near.told}".rstrip(), state)


async def _recollection(
    store: Store, scope: ThreadScope, recalled: recall.Recalled, reason: str, state: State
) -> Recollection:
    picks = recalled.picks[:CONSIDERED]
    keys = list(dict.fromkeys((pick.passage.seq, pick.passage.attempt) for pick in picks))
    return Recollection(
        fired=True,
        reason=reason,
        picks=picks,
        extent="full",
        turns=await store.turns(scope, keys) if keys else {},
        replaced=await replaced_values(store, scope, [pick.passage for pick in picks], state),
    )


async def replaced_values(
    store: Store, scope: ThreadScope, passages: Sequence[StoredPassage], state: State
) -> dict[int, int]:
    """Passage id -> seq of the turn that replaced a value which stands in the passage: its words had set it, or they
    repeat it. Of repeated values those are known that a passage at hand had set."""
    if not passages:
        return {}
    deltas = await store.deltas(scope, sorted({passage.seq for passage in passages}))
    replaced: dict[tuple[int, int, str], list[tuple[Quote, int]]] = defaultdict(list)
    old: dict[str, int] = {}
    for change in (change for delta in deltas for change in load_changes(delta.changes)):
        if now := state.replaced_by(change):
            old[change.value] = max(now.seq, old.get(change.value, 0))
            if change.quote:
                replaced[change.quote.seq, change.quote.attempt, change.quote.part].append((change.quote, now.seq))
    repeated = _repeated(passages, old, state)
    quoted = {
        passage.id: seq
        for passage in passages
        for quote, seq in replaced[passage.seq, passage.attempt, passage.part]
        if quote.start < passage.end and passage.start < quote.end
    }
    return {**repeated, **quoted}


def _repeated(passages: Sequence[StoredPassage], old: Mapping[str, int], state: State) -> dict[int, int]:
    """The passages that hold an old value, said before it was replaced. A value that stands under any key now is not
    old, and one of a character or two could be anything."""
    standing = {folded(entry.value) for entry in state.current()}
    values = [(value, folded(value), seq) for value, seq in old.items() if len(value) >= SHORTEST_REPEATED]
    values = [(value, plain, seq) for value, plain, seq in values if plain not in standing]
    found: dict[int, int] = {}
    for passage in passages if values else ():
        text = folded(passage.text)
        held = [
            seq for value, plain, seq in values if passage.seq < seq and plain in text and verbatim(value, passage.text)
        ]
        if held:
            found[passage.id] = max(held)
    return found
