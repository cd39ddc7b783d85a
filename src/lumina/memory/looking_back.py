"""Recall with a store: fetches what the pure rules of `recall` need, in bounded portions.

One query per word of the question, the newest passages only, then at most a hundred passages by weight: the work does
not grow with the thread.
"""

from collections.abc import Sequence

from lumina.memory import recall
from lumina.memory.context import Recollection
from lumina.memory.delta import changes_from_json
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Change, State
from lumina.memory.store import Store, StoredPassage
from lumina.memory.turns import Turn

MATCH_CAP = 400  # passages a word; a word that stands in more points nowhere


async def recollect(
    store: Store, scope: ThreadScope, question: str, *, before: int, window: Sequence[Turn], state: State, profile: State
) -> Recollection:
    """What recall finds for `question` among the turns with seq < before, and why it fired or did not."""
    if before <= 1:
        return Recollection()
    asked = recall.query_words(question)
    matches = await store.matches(scope, asked, before=before, cap=MATCH_CAP)
    passages = await store.passages(scope, recall.candidates(matches))
    known = [f"{entry.key.replace('.', ' ')} {entry.value}" for entry in (*profile.current(), *state.current())]
    recalled = recall.decide(question, [f"{turn.question}\n{turn.answer}" for turn in window], known, matches, passages)
    picks = tuple(pick.passage for pick in recalled.picks) if recalled.fire else ()
    keys = list(dict.fromkeys((passage.seq, passage.attempt) for passage in picks))
    turns = await store.turns(scope, keys) if keys else {}
    return Recollection(
        fired=recalled.fire,
        reason=recalled.reason,
        passages=picks,
        turns=turns,
        replaced=await replaced_values(store, scope, picks, state),
    )


async def replaced_values(
    store: Store, scope: ThreadScope, passages: Sequence[StoredPassage], state: State
) -> dict[int, int]:
    """Passage id -> seq of the turn that replaced a value which the passage's words had set."""
    if not passages:
        return {}
    deltas = await store.deltas(scope, sorted({passage.seq for passage in passages}))
    changes = [change for delta in deltas for change in changes_from_json(delta)]
    marked: dict[int, int] = {}
    for passage in passages:
        for change in changes:
            now = state.register(change)
            if _quotes(change, passage) and now is not None and now.value != change.value and now.seq > change.seq:
                marked[passage.id] = now.seq
    return marked


def _quotes(change: Change, passage: StoredPassage) -> bool:
    quote = change.quote
    return (
        quote is not None
        and (quote.seq, quote.attempt, quote.part) == (passage.seq, passage.attempt, passage.part)
        and quote.start < passage.end
        and passage.start < quote.end
    )
