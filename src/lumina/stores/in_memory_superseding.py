"""The in-memory twin of `lumina.stores.sql.superseding`."""

from dataclasses import replace

from lumina.memory.store import DROPPED, Snapshot
from lumina.stores.checks import no_place
from lumina.stores.in_memory_kept import KeptSubject, KeptThread
from lumina.stores.passage_ids import passage_id


def make_room(subject: KeptSubject, thread: KeptThread, seq: int) -> tuple[int, int]:
    """Supersedes turn `seq` and all after it. Returns the next attempt of `seq`, and its number."""
    attempts = [kept for (at, _), kept in thread.turns.items() if at == seq]
    if not any(not kept.page.superseded and not kept.turn.forgotten for kept in attempts):
        raise no_place(seq)
    gone = {key for key, kept in thread.turns.items() if key[0] >= seq and not kept.page.superseded}
    for key in gone:
        kept = thread.turns[key]
        kept.page = replace(kept.page, superseded=True)
    first = passage_id(seq, 0)
    thread.passage_ids = [id for id in thread.passage_ids if id < first]
    thread.words = {word: [id for id in ids if id < first] for word, ids in thread.words.items()}
    thread.state = _dropped(thread.state)
    if any(delta.correction == 0 and (delta.seq, delta.attempt) in gone for delta in thread.deltas.values()):
        subject.profile = _dropped(subject.profile)
    return max(kept.turn.attempt for kept in attempts) + 1, attempts[0].turn.number


def _dropped(known: Snapshot) -> Snapshot:
    return Snapshot(version=known.version + 1, body=DROPPED)
