"""Which recalled passages hold a value that was replaced since.

A passage is what somebody once said; the state is what stands. Where a passage holds the very words from which an entry
was taken, and something newer stands now, the passage says so beside it, so that nobody reads an old value as the
current one. It counts whether the entry is the thread's or the profile's, and whether the value stood in the question,
in the answer, or in an offer that the question accepted.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lumina.memory.change import Change, Quote, load_changes
from lumina.memory.rendering import ELSEWHERE
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage

Place = tuple[str, int, int, str]  # thread, seq, attempt, part


async def replaced_values(
    store: Store, scope: ThreadScope, passages: Sequence[StoredPassage], state: State, profile: State
) -> dict[int, int]:
    """Passage id -> seq of the turn that replaced a value which the passage's words had set; ELSEWHERE when that turn
    is another thread's than the passage. Of several the newest counts."""
    replaced: dict[Place, list[tuple[Quote, int]]] = defaultdict(list)
    for thread in dict.fromkeys(passage.thread for passage in passages):
        where = replace(scope, thread=thread) if thread else scope
        # What stands in another thread's own state is not known here; what stands in the profile is.
        states = (profile,) if thread else (state, profile)
        seqs = sorted({passage.seq for passage in passages if passage.thread == thread})
        deltas = await store.deltas(where, seqs)
        changes = [change for delta in deltas for change in load_changes(delta.changes)]
        for change, now in _overtaken(changes, states):
            at = now.seq if change.about == "thread" or now.thread == where.thread else ELSEWHERE
            for quote in (change.quote, change.offer):
                if quote:
                    replaced[thread, quote.seq, quote.attempt, quote.part].append((quote, at))
    return {
        passage.id: seq
        for passage in passages
        for quote, seq in replaced[passage.thread, passage.seq, passage.attempt, passage.part]
        if quote.start < passage.end and passage.start < quote.end
    }


def _overtaken(changes: Iterable[Change], states: Sequence[State]) -> Iterable[tuple[Change, Change]]:
    """Changes with what has taken their place."""
    for change in changes:
        for state in states:
            if state.about == change.about and not change.ends and (now := state.replaced_by(change)):
                yield change, now
