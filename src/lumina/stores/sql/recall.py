"""Passages of turns: indexed by their words, found by them, and read with their neighbours."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from lumina.memory.errors import NotFound
from lumina.memory.scope import ThreadScope
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.turns import IndexedPassage
from lumina.memory.words import content_words
from lumina.stores.checks import PARTS
from lumina.stores.passage_ids import PLACE_BITS, SEQ_BITS, passage_id
from lumina.stores.schema import passages
from lumina.stores.sql.keys import columns, inside, of_thread, thread_row
from lumina.stores.sql.word_index import index_of

ALL = 1 << PLACE_BITS + SEQ_BITS  # beyond every passage of a thread
ADD = insert(passages)
NEXT_IDS = (
    select(passages.c.id)
    .where(*of_thread(passages), passages.c.id > bindparam("after"))
    .order_by(passages.c.id)
    .limit(bindparam("most"))
)
LAST_ID = select(func.max(passages.c.id)).where(
    *of_thread(passages), passages.c.id >= bindparam("first"), passages.c.id < bindparam("end")
)


def index_passages(
    connection: Connection, scope: ThreadScope, handle: int, seq: int, attempt: int, found: Iterable[IndexedPassage]
) -> None:
    found = sorted(found, key=lambda one: (one.part != "question", one.start))  # ids go up as the thread is read
    if not found:
        return
    key = columns(scope)
    # An earlier attempt of the same turn has taken the first places.
    base = passage_id(seq, 0)
    last: Any = connection.execute(LAST_ID, {**inside(scope), "first": base, "end": base + (1 << PLACE_BITS)}).scalar()
    first = 0 if last is None else last - base + 1
    ids = [passage_id(seq, first + place) for place in range(len(found))]
    connection.execute(
        ADD,
        [
            {**key, "id": id, "seq": seq, "attempt": attempt, "part": one.part, "start": one.start, "end": one.end}
            for id, one in zip(ids, found, strict=True)
        ],
    )
    index_of(connection).add_turn(connection, handle, [(id, one.words) for id, one in zip(ids, found, strict=True)])


def unindex(connection: Connection, handle: int, found: Iterable[int]) -> None:
    """Takes passages out of the word index; the passages themselves stay."""
    if ids := list(found):
        index_of(connection).take_out(connection, handle, ids)


def unindex_thread(connection: Connection, handle: int) -> None:
    """Takes all of a thread's passages out of the word index."""
    index_of(connection).take_out_between(connection, handle, 0, ALL)


def index_again(connection: Connection, handle: int, words: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Replaces the words of passages, given by id."""
    unindex(connection, handle, [id for id, _ in words])
    if words:
        index_of(connection).add_turn(connection, handle, words)


def matches(connection: Connection, scope: ThreadScope, words: Sequence[str], before: int, cap: int) -> WordMatches:
    asked = list(dict.fromkeys(words))
    ids: dict[str, tuple[int, ...]] = dict.fromkeys(asked, ())
    try:
        thread = thread_row(connection, scope)
    except NotFound:
        return WordMatches(ids=ids, turns=0)
    end = min(max(before, 0), 1 << SEQ_BITS) << PLACE_BITS
    for word, found in index_of(connection).newest(connection, thread.handle, asked, end, max(cap, 0)).items():
        ids[word] = tuple(sorted(found, reverse=True))
    return WordMatches(ids=ids, turns=thread.turns)


def mend(connection: Connection) -> None:
    index_of(connection).mend(connection)


def reindex(connection: Connection, scope: ThreadScope, after: int, limit: int) -> int:
    """The index's rows of the passages after `after`, written anew. Those of superseded turns have none that is asked
    for, and stay without."""
    thread = thread_row(connection, scope)
    ids = [id for (id,) in connection.execute(NEXT_IDS, {**inside(scope), "after": after, "most": max(limit, 0)})]
    index_of(connection).take_out_between(connection, thread.handle, after + 1, ids[-1] + 1 if ids else ALL)
    rows = [(one.id, content_words(one.text)) for one in read_passages(connection, scope, ids)]
    if rows:
        index_of(connection).add_turn(connection, thread.handle, rows)
    return ids[-1] if ids else -1


def read_passages(
    connection: Connection, scope: ThreadScope, ids: Sequence[int], around: int = 0
) -> list[StoredPassage]:
    wanted = sorted({id for id in ids if 0 <= id < 1 << PLACE_BITS + SEQ_BITS})
    found: list[StoredPassage] = []
    for row in index_of(connection).around(connection, scope, wanted, max(around, 0)) if wanted else ():
        id, seq, attempt, part, start, end, day, words = row
        # A passage of a damaged turn is not there for recall; the turn itself is shown as unreadable.
        if isinstance(words, str) and isinstance(day, str) and part in PARTS and start <= end:
            found.append(
                StoredPassage(id=id, seq=seq, attempt=attempt, part=part, start=start, end=end, day=day, text=words)
            )
    # "question" stands before "answer".
    return sorted(found, key=lambda one: (one.seq, one.part != "question", one.start, one.attempt))
