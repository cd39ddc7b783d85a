"""Recall with a store: fetches what the pure rules of `recall` need, in bounded portions.

One query per word of the question, the newest passages only, then at most three hundred passages by weight: the work
does not grow with the thread. Other threads of the same subject are read only when the question points at them
("last time", "in our previous conversation") or the caller says so: the newest twenty, in the same bounded portions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lumina.memory import recall
from lumina.memory.context import Recollection
from lumina.memory.meaning import Meaning
from lumina.memory.recall import ASSISTANT, Speakers
from lumina.memory.reference import points_elsewhere
from lumina.memory.replaced import replaced_values
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage, WordMatches
from lumina.memory.turns import Turn
from lumina.memory.visible_text import clean, clean_answer

RecallMode = Literal["when pointed", "always small", "off"]
RECALL_OFF = "Recall is off: only the last turns and what was noted are sent."
DEFAULT_SHARE = 2000  # tokens that recall may take, when the caller does not say

OTHER_THREADS = 20  # the newest ones
OTHER_CAP = 100  # passages a word in each of them
PER_THREAD = 30  # candidates in each of them
LAST = 1 << 20  # beyond every seq
OTHER_BITS = 40  # ids of other threads' passages are told apart above these

NEAREST_READ = 2  # one candidate in so many is taken for its vector


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the stores' indexes gave."""

    matches: WordMatches
    ids: list[int]  # candidates in this thread
    elsewhere: list[StoredPassage] = field(default_factory=list)


async def recollect(
    store: Store,
    scope: ThreadScope,
    question: str,
    *,
    before: int,
    window: Sequence[Turn],
    state: State,
    profile: State,
    share: int = DEFAULT_SHARE,
    mode: RecallMode = "when pointed",
    meaning: Meaning | None = None,
    other_threads: bool = False,
    may_leave: bool = True,
    speakers: Speakers = ASSISTANT,
) -> Recollection:
    """What recall finds for `question` among the turns with seq < before, and why it fired or did not.

    `share`: tokens that recall may take of the budget. `mode`: recall only when the question points back, a small
    recall always, or none. `meaning`: the thread's vectors, if an embedder is set. `other_threads`: the subject's other
    threads are searched for every question; else only when it asks for them, and never without `may_leave` (a
    temporary thread). `speakers`: their names, when two people talk.
    """
    if mode == "off":
        return Recollection(reason=RECALL_OFF)
    leaves = may_leave and (other_threads or points_elsewhere(question))
    if before <= 1 and not leaves:
        return Recollection()
    most = recall.candidates_for(share)
    found = await _find(store, scope, question, before=before, most=most, leaves=leaves)
    entries = (*profile.current(), *state.current())
    known: dict[str, Any] = {
        "before": before,
        "window": [f"{turn.question}\n{turn.answer}" for turn in window],
        "state": "\n".join(f"{entry.key.replace('.', ' ')}: {entry.value}" for entry in entries),
        "matches": found.matches,
    }
    seen = [*await store.passages(scope, found.ids), *found.elsewhere]
    pointing = recall.gate(question, passages=seen, **known)
    small = mode == "always small"
    if not pointing.fire and not small:
        return Recollection(reason=pointing.reason)
    here, similar, told = await _read(store, scope, found, question, before=before, most=most, meaning=meaning)
    recalled = recall.decide(
        question, passages=[*here, *found.elsewhere], pointing=pointing, always_small=small, similar=similar,
        speakers=speakers, **known,
    )  # fmt: skip
    recalled = replace(recalled, picks=recall.worth_sending(recalled))
    return await _recollection(store, scope, recalled, f"{recalled.reason} {told}".rstrip(), state, profile, share)


async def look_back(
    store: Store,
    scope: ThreadScope,
    query: str,
    *,
    before: int,
    state: State,
    profile: State | None = None,
    share: int = DEFAULT_SHARE,
    meaning: Meaning | None = None,
    speakers: Speakers = ASSISTANT,
) -> Recollection:
    """What a model finds that asks for it: the same without the gate, in this thread only."""
    if before <= 1:
        return Recollection(reason="Every earlier turn is sent word for word.")
    most = recall.candidates_for(share)
    found = await _find(store, scope, query, before=before, most=most, leaves=False)
    passages, similar, told = await _read(store, scope, found, query, before=before, most=most, meaning=meaning)
    recalled = recall.decide(
        query, before=before, window=(), state="", matches=found.matches, always_small=True, similar=similar,
        speakers=speakers, passages=passages,
    )  # fmt: skip
    recalled = replace(recalled, fire=True, extent="full")
    reason = f"The model asked. {told}".rstrip()
    return await _recollection(store, scope, recalled, reason, state, profile or State(about="subject"), share)


async def _find(store: Store, scope: ThreadScope, question: str, *, before: int, most: int, leaves: bool) -> _Found:
    asked = recall.query_words(question)
    matches = await store.matches(scope, asked, before=before, cap=recall.MATCH_CAP)
    found = _Found(matches=matches, ids=recall.candidates(matches, most))
    if leaves:
        matches, passages = await _elsewhere(store, scope, asked, matches)
        found = replace(found, matches=matches, elsewhere=passages)
    return found


async def _read(
    store: Store, scope: ThreadScope, found: _Found, question: str, *, before: int, most: int, meaning: Meaning | None
) -> tuple[list[StoredPassage], dict[int, float], str]:
    """The passages to be weighed, with the cosines of those that have a vector, and why there may be none."""
    if meaning is None:
        return await store.passages(scope, found.ids, around=recall.AROUND), {}, ""
    near = await meaning.near(question, before=before, limit=most // NEAREST_READ)
    passages = await store.passages(scope, sorted({*found.ids, *near.similar}), around=recall.AROUND)
    return passages, await meaning.similar(near, passages), near.told


async def _elsewhere(
    store: Store, scope: ThreadScope, asked: Sequence[str], here: WordMatches
) -> tuple[WordMatches, list[StoredPassage]]:
    """The index's word for this thread and the subject's newest others together, and the others' passages. Ids of the
    others are raised, so that no two are the same."""
    ids = {word: list(found) for word, found in here.ids.items()}
    passages: list[StoredPassage] = []
    turns = here.turns
    infos = await store.threads(scope.of_subject, limit=OTHER_THREADS + 1)
    # A temporary thread is read by no other.
    names = [info.thread for info in infos if info.thread != scope.thread and not info.temporary]
    for place, name in enumerate(names[:OTHER_THREADS], start=1):
        there = replace(scope, thread=name)
        matches = await store.matches(there, asked, before=LAST, cap=OTHER_CAP)
        turns += matches.turns
        raised = place << OTHER_BITS
        for word, found in matches.ids.items():
            ids[word] += [raised + id for id in found]
        chosen = recall.candidates(matches, PER_THREAD)
        if chosen:
            read = await store.passages(there, chosen, around=recall.AROUND)
            passages += [replace(passage, id=raised + passage.id, thread=name) for passage in read]
    merged = {word: tuple(sorted(found, reverse=True)) for word, found in ids.items()}
    return WordMatches(ids=merged, turns=turns), passages


async def _recollection(
    store: Store,
    scope: ThreadScope,
    recalled: recall.Recalled,
    reason: str,
    state: State,
    profile: State,
    share: int,
) -> Recollection:
    picks = recall.considered(recalled.picks, share)
    passages = [pick.passage for pick in picks]
    turns: dict[tuple[str, int, int], Turn] = {}
    for thread in dict.fromkeys(passage.thread for passage in passages):
        keys = dict.fromkeys((one.seq, one.attempt) for one in passages if one.thread == thread)
        rows = await store.turns(replace(scope, thread=thread) if thread else scope, list(keys))
        turns |= {(thread, *key): turn for key, turn in rows.items()}
    picks = tuple(pick for pick in picks if _is_spoken(pick.passage, turns))
    passages = [pick.passage for pick in picks]
    return Recollection(
        fired=recalled.fire,
        reason=reason,
        picks=picks,
        extent=recalled.extent,
        turns={(seq, attempt): turn for (thread, seq, attempt), turn in turns.items() if not thread},
        elsewhere={key: turn for key, turn in turns.items() if key[0]},
        replaced=await replaced_values(store, scope, passages, state, profile),
    )


def _is_spoken(passage: StoredPassage, turns: Mapping[tuple[str, int, int], Turn]) -> bool:
    """Whether a passage lies outside the reasoning that an answer may hold, which goes to no model again."""
    turn = turns.get((passage.thread, passage.seq, passage.attempt))
    if passage.part == "question" or turn is None or "think" not in turn.answer.lower():
        return True
    return passage.text in turn.answer and clean(passage.text).strip() in clean_answer(turn.answer)
