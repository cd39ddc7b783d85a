"""Which recalled passages hold a value that was replaced since.

A passage is what somebody once said; the state is what stands. Where a passage holds the very words from which an entry
was taken, or repeats its value, and something newer stands now, the passage says so beside it, so that nobody reads an
old value as the current one. It counts whether the entry is the thread's or the profile's, and whether the value stood
in the question, in the answer, or in an offer that the question accepted.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lumina.memory.change import Change, Quote, load_changes
from lumina.memory.evidence import folded, verbatim
from lumina.memory.rendering import ELSEWHERE
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import AppliedDelta, Store, StoredPassage

NEWEST = 1000  # deltas that changed something; values replaced before them are known where a passage at hand set them
SHORTEST_REPEATED = 3  # code points of a value that is looked for where it was not set: less could be anything
Place = tuple[str, int, int, str]  # thread, seq, attempt, part


async def replaced_values(
    store: Store, scope: ThreadScope, passages: Sequence[StoredPassage], state: State, profile: State
) -> dict[int, int]:
    """Passage id -> seq of the turn that replaced a value which the passage's words had set or repeat; ELSEWHERE when
    that turn is another thread's than the passage. Of several the newest counts."""
    replaced: dict[Place, list[tuple[Quote, int]]] = defaultdict(list)
    repeated: dict[int, int] = {}
    for thread in dict.fromkeys(passage.thread for passage in passages):
        where = replace(scope, thread=thread) if thread else scope
        # What stands in another thread's own state is not known here; what stands in the profile is.
        states = (profile,) if thread else (state, profile)
        here = [passage for passage in passages if passage.thread == thread]
        old: dict[str, int] = {}
        for change, now in _overtaken(await _changes(store, where, here), states):
            at = now.seq if change.about == "thread" or now.thread == where.thread else ELSEWHERE
            old[change.value] = at if at == ELSEWHERE else max(at, old.get(change.value, at))
            for quote in (change.quote, change.offer):
                if quote:
                    replaced[thread, quote.seq, quote.attempt, quote.part].append((quote, at))
        repeated |= _repeated(here, old, states)
    quoted = {
        passage.id: seq
        for passage in passages
        for quote, seq in replaced[passage.thread, passage.seq, passage.attempt, passage.part]
        if quote.start < passage.end and passage.start < quote.end
    }
    return repeated | quoted


async def _changes(store: Store, scope: ThreadScope, passages: Sequence[StoredPassage]) -> list[Change]:
    """What the turns of the passages had changed, and what was changed in the thread of late."""
    deltas: dict[tuple[int, int, int], AppliedDelta] = {}
    for delta in (
        *await store.deltas(scope, newest=NEWEST),
        *await store.deltas(scope, sorted({passage.seq for passage in passages})),
    ):
        deltas[delta.seq, delta.attempt, delta.correction] = delta
    return [change for delta in deltas.values() for change in load_changes(delta.changes)]


def _overtaken(changes: Iterable[Change], states: Sequence[State]) -> Iterable[tuple[Change, Change]]:
    """Changes with what has taken their place."""
    for change in changes:
        for state in states:
            if state.about == change.about and not change.ends and (now := state.replaced_by(change)):
                yield change, now


def _repeated(passages: Sequence[StoredPassage], old: Mapping[str, int], states: Sequence[State]) -> dict[int, int]:
    """The passages that hold an old value, said before it was replaced. A value that stands under any key now is not
    old."""
    standing = {folded(entry.value) for state in states for entry in state.current()}
    values = [(value, folded(value), seq) for value, seq in old.items() if len(value) >= SHORTEST_REPEATED]
    values = [(value, plain, seq) for value, plain, seq in values if plain not in standing]
    found: dict[int, int] = {}
    for passage in passages if values else ():
        text = folded(passage.text)
        held = [
            seq
            for value, plain, seq in values
            if (seq == ELSEWHERE or passage.seq < seq) and plain in text and verbatim(value, passage.text)
        ]
        if held:
            found[passage.id] = max(held)
    return found
