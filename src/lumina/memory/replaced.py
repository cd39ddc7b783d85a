"""Which recalled passages hold a value that was replaced since.

A passage is what somebody once said; the state is what stands. Where a passage holds the very words from which an entry
was taken, or repeats its value, and something newer stands now, the passage says so beside it, so that nobody reads an
old value as the current one. It counts whether the entry is the thread's or the profile's, and whether the value stood
in the question, in the answer, or in an offer that the question accepted.

A value that is repeated must be told from the same letters in another sense. "Oslo" alone says what it is, "2" does
not, and neither does a value that stands under another key now. Such a one is called replaced only where a word of its
key's name stands beside it ("2 seats", "a 4 star hotel").
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache

from lumina.memory.change import Change, Quote, load_changes
from lumina.memory.evidence import Passage, folded
from lumina.memory.rendering import ELSEWHERE
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage
from lumina.memory.words import content_words, forms

NEWEST = 1000  # deltas that changed something; values replaced before them are known where a passage at hand set them
TELLING = 3  # code points of a value that says by itself what it is
BESIDE = 3  # words between a value and a word of its key, at most, that make it the key's
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
        old: dict[tuple[str, str], int] = {}
        for change, now in _overtaken(await _changes(store, where, here), states):
            at = now.seq if change.about == "thread" or now.thread == where.thread else ELSEWHERE
            known = change.key, change.value
            old[known] = at if at == ELSEWHERE else max(at, old.get(known, at))
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
    """What was changed in the thread of late, and what the turns of the passages had changed before that."""
    deltas = list(await store.deltas(scope, newest=NEWEST))
    first = min(delta.seq for delta in deltas) if len(deltas) >= NEWEST else 0
    if older := sorted({passage.seq for passage in passages if passage.seq <= first}):
        known = {(delta.seq, delta.attempt, delta.correction) for delta in deltas}
        read = await store.deltas(scope, older)
        deltas += [delta for delta in read if (delta.seq, delta.attempt, delta.correction) not in known]
    return [change for delta in deltas for change in _read(delta.changes)]


@lru_cache(maxsize=4 * NEWEST)
def _read(changes: str) -> tuple[Change, ...]:
    """A delta never changes, and every recall of a thread reads the same ones."""
    return tuple(load_changes(changes))


def _overtaken(changes: Iterable[Change], states: Sequence[State]) -> Iterable[tuple[Change, Change]]:
    """Changes with what has taken their place."""
    for change in changes:
        for state in states:
            if state.about == change.about and not change.ends and (now := state.replaced_by(change)):
                yield change, now


def _repeated(
    passages: Sequence[StoredPassage], old: Mapping[tuple[str, str], int], states: Sequence[State]
) -> dict[int, int]:
    """The passages that hold an old value, said before it was replaced."""
    standing: dict[str, set[str]] = defaultdict(set)  # value -> the words of the keys under which it stands now
    for entry in (entry for state in states for entry in state.current()):
        standing[folded(entry.value)].update(_words_of(entry.key))
    values = [(key, value, folded(value), at) for (key, value), at in old.items() if value.strip()]
    found: dict[int, int] = {}
    for passage in passages if values else ():
        text = folded(passage.text)
        near = [
            (key, value, plain, at)
            for key, value, plain, at in values
            if plain in text and (at == ELSEWHERE or passage.seq < at)
        ]
        said = Passage(passage.text) if near else None
        held = [
            at
            for key, value, plain, at in near
            if said and said.find(value)
            if (len(value) >= TELLING and plain not in standing)
            or _is_named(key, value, passage.text, standing.get(plain, set()))
        ]
        if held:
            found[passage.id] = max(held)
    return found


def _is_named(key: str, value: str, text: str, others: Set[str]) -> bool:
    """Whether `value` stands in `text` with a word beside it that is of the last part of `key` and not of `others`, or,
    when all of that is, of the whole key."""
    wanted, said = forms(value), forms(text)
    passed_over = {*others, *wanted}
    name = _words_of(key.rpartition(".")[2]) - passed_over or _words_of(key) - passed_over
    places = [at for at in range(len(said)) if said[at : at + len(wanted)] == wanted] if wanted else []
    return any(
        not name.isdisjoint((*said[max(0, at - BESIDE) : at], *said[at + len(wanted) : at + len(wanted) + BESIDE]))
        for at in places
    )


def _words_of(key: str) -> set[str]:
    return set(content_words(key.replace("_", " ")))
