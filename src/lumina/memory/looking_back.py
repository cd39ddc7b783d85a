"""Recall with a store: fetches what the pure rules of `recall` need, in bounded portions.

One query per word of the question, the newest passages only, then at most a hundred passages by weight: the work does
not grow with the thread.
"""

from collections.abc import Sequence

from lumina.memory import recall
from lumina.memory.change import Change, load_changes
from lumina.memory.context import Recollection
from lumina.memory.ranking import Speakers, rank
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage
from lumina.memory.turns import Turn


async def recollect(
    store: Store,
    scope: ThreadScope,
    question: str,
    *,
    before: int,
    window: Sequence[Turn],
    state: State,
    profile: State,
) -> Recollection:
    """What recall finds for `question` among the turns with seq < before, and why it fired or did not."""
    if before <= 1:
        return Recollection()
    asked = recall.query_words(question)
    matches = await store.matches(scope, asked, before=before, cap=recall.MATCH_CAP)
    passages = await store.passages(scope, recall.candidates(matches), around=recall.AROUND)
    known = (f"{entry.key.replace('.', ' ')}: {entry.value}" for entry in (*profile.current(), *state.current()))
    recalled = recall.decide(
        question,
        before=before,
        window=[f"{turn.question}\n{turn.answer}" for turn in window],
        state="\n".join(known),
        matches=matches,
        passages=passages,
    )
    keys = list(dict.fromkeys((pick.passage.seq, pick.passage.attempt) for pick in recalled.picks))
    return Recollection(
        fired=recalled.fire,
        reason=recalled.reason,
        picks=recalled.picks,
        extent=recalled.extent,
        turns=await store.turns(scope, keys) if keys else {},
        replaced=await replaced_values(store, scope, [pick.passage for pick in recalled.picks], state),
    )


async def replaced_values(
    store: Store, scope: ThreadScope, passages: Sequence[StoredPassage], state: State
) -> dict[int, int]:
    """Passage id -> seq of the turn that replaced a value which the passage's words had set."""
    if not passages:
        return {}
    deltas = await store.deltas(scope, sorted({passage.seq for passage in passages}))
    changes = [change for delta in deltas for change in load_changes(delta.changes)]
    marked: dict[int, int] = {}
    for passage in passages:
        for change in changes:
            if _quotes(change, passage) and (now := state.replaced_by(change)):
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


async def look_back(store: Store, scope: ThreadScope, query: str, *, before: int, state: State) -> Recollection:
    """What a model finds that asks for it: recall without the gate, passages of turns with seq < before, best first."""
    if before <= 1:
        return Recollection(reason="every earlier turn is sent word for word")
    matches = await store.matches(scope, recall.query_words(query), before=before, cap=recall.MATCH_CAP)
    passages = await store.passages(scope, recall.candidates(matches), around=recall.AROUND)
    picks = rank(query, recall.rarity(matches), passages, Speakers())
    keys = list(dict.fromkeys((pick.passage.seq, pick.passage.attempt) for pick in picks))
    return Recollection(
        fired=True,
        reason="the model asked",
        picks=picks,
        extent="full",
        turns=await store.turns(scope, keys) if keys else {},
        replaced=await replaced_values(store, scope, [pick.passage for pick in picks], state),
    )
