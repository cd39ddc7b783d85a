"""The word index of turns: SQLite's FTS5, told exactly what a word is.

The words come folded from `lumina.memory.words`, so the tokenizer must neither split nor fold them. FTS5's `ascii`
tokenizer takes every character beyond ASCII as part of a token; a form with anything in it that the tokenizer would
change (a space or sign out of NFKC, a capital) or shorten is indexed by its digest instead. So one form is one token,
in any script, and equal tokens are equal forms.

A row's number is its address: thread, turn, place. FTS5 keeps the rows of a word in the order of their numbers and
jumps to a range of them, so a search reads the asked thread's newest rows and nothing else: neither other tenants'
turns nor the thread's own length add to its cost, and no other thread can be reached by any word. No score is asked
of FTS5, whose statistics would count everybody's rows.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, bindparam, func, insert, select, text

from lumina.memory.errors import NotFound
from lumina.memory.scope import ThreadScope
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.turns import IndexedPassage
from lumina.memory.words import content_words
from lumina.stores.checks import PARTS
from lumina.stores.passage_ids import PLACE_BITS, SEQ_BITS, passage_id
from lumina.stores.schema import passages
from lumina.stores.sql.keys import columns, inside, of_thread, thread_row

LONGEST = 100  # code points of a form that is indexed as it stands; FTS5 would cut a token at 32 KiB
AT_ONCE = 50  # words asked for in one statement


def token(form: str) -> str:
    """How a folded word stands in the index."""
    plain = form.isalnum() and len(form) <= LONGEST and not any("A" <= letter <= "Z" for letter in form)
    return form if plain else "_" + hashlib.sha256(form.encode("utf-8")).hexdigest()


def _address(handle: int, passage: int) -> int:
    return handle << PLACE_BITS + SEQ_BITS | passage


INDEX = text("INSERT INTO turn_words (rowid, words) VALUES (:row, :words)")
TAKE_OUT = text("DELETE FROM turn_words WHERE rowid >= :first AND rowid < :end")
MEND = text("INSERT INTO turn_words (turn_words) VALUES ('rebuild')")  # from the words that the table itself keeps
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
    connection.execute(
        INDEX,
        [
            {"row": _address(handle, id), "words": " ".join(map(token, one.words))}
            for id, one in zip(ids, found, strict=True)
        ],
    )


@lru_cache(maxsize=AT_ONCE)
def _newest(count: int) -> TextClause:
    """For each of `count` words the newest rows of a range, as one JSON list: a row for each would cost more to fetch
    than to find."""
    one = (
        "SELECT {n} AS word, json_group_array(found) AS found FROM (SELECT rowid AS found FROM turn_words "
        "WHERE turn_words MATCH :word{n} AND rowid >= :first AND rowid < :end ORDER BY rowid DESC LIMIT :cap)"
    )
    return text(" UNION ALL ".join(one.format(n=n) for n in range(count)))


def matches(connection: Connection, scope: ThreadScope, words: Sequence[str], before: int, cap: int) -> WordMatches:
    asked = list(dict.fromkeys(words))
    ids: dict[str, tuple[int, ...]] = dict.fromkeys(asked, ())
    try:
        thread = thread_row(connection, scope)
    except NotFound:
        return WordMatches(ids=ids, turns=0)
    end = min(max(before, 0), 1 << SEQ_BITS)
    base = _address(thread.handle, 0)
    for at in range(0, len(asked), AT_ONCE):
        some = asked[at : at + AT_ONCE]
        values = {f"word{n}": f'"{token(word)}"' for n, word in enumerate(some)}
        values |= {"first": base, "end": base + (end << PLACE_BITS), "cap": max(cap, 0)}
        for word, found in connection.execute(_newest(len(some)), values):
            ids[some[word]] = tuple(sorted((row - base for row in json.loads(found)), reverse=True))
    return WordMatches(ids=ids, turns=thread.turns)


def mend(connection: Connection) -> None:
    connection.execute(MEND)


def reindex(connection: Connection, scope: ThreadScope, after: int, limit: int) -> int:
    """The index's rows of the passages after `after`, written anew. Those of superseded turns have none that is asked
    for, and stay without."""
    thread = thread_row(connection, scope)
    ids = [id for (id,) in connection.execute(NEXT_IDS, {**inside(scope), "after": after, "most": max(limit, 0)})]
    last = ids[-1] if ids else (1 << PLACE_BITS + SEQ_BITS) - 1
    reach = {"first": _address(thread.handle, after + 1), "end": _address(thread.handle, last + 1)}
    connection.execute(TAKE_OUT, reach)
    rows = [
        {"row": _address(thread.handle, one.id), "words": " ".join(map(token, content_words(one.text)))}
        for one in read_passages(connection, scope, ids)
    ]
    if rows:
        connection.execute(INDEX, rows)
    return ids[-1] if ids else -1


# The asked passages that are there and, for each, passages of live turns on both sides: short walks along the key.
PASSAGES = text("""
    WITH wanted AS (
        SELECT id FROM passages WHERE tenant = :in_tenant AND subject = :in_subject AND thread = :in_thread
        AND id IN (SELECT value FROM json_each(:ids))
    ), near AS (
        SELECT id FROM wanted
        UNION
        SELECT one.id FROM wanted JOIN passages AS one
        ON one.tenant = :in_tenant AND one.subject = :in_subject AND one.thread = :in_thread AND one.id IN (
            SELECT older.id FROM passages AS older JOIN turns USING (tenant, subject, thread, seq, attempt)
            WHERE older.tenant = :in_tenant AND older.subject = :in_subject AND older.thread = :in_thread
            AND turns.superseded <> 1 AND older.id < wanted.id ORDER BY older.id DESC LIMIT :around
        )
        UNION
        SELECT one.id FROM wanted JOIN passages AS one
        ON one.tenant = :in_tenant AND one.subject = :in_subject AND one.thread = :in_thread AND one.id IN (
            SELECT newer.id FROM passages AS newer JOIN turns USING (tenant, subject, thread, seq, attempt)
            WHERE newer.tenant = :in_tenant AND newer.subject = :in_subject AND newer.thread = :in_thread
            AND turns.superseded <> 1 AND newer.id > wanted.id ORDER BY newer.id LIMIT :around
        )
    )
    SELECT near.id, one.seq, one.attempt, one.part, one.start, one."end", turns.day,
        substr(CASE one.part WHEN 'question' THEN turns.question ELSE turns.answer END,
            one.start + 1, one."end" - one.start) AS text
    FROM near CROSS JOIN passages AS one
    ON one.tenant = :in_tenant AND one.subject = :in_subject AND one.thread = :in_thread AND one.id = near.id
    JOIN turns USING (tenant, subject, thread, seq, attempt)
    WHERE turns.superseded <> 1
""")


def read_passages(
    connection: Connection, scope: ThreadScope, ids: Sequence[int], around: int = 0
) -> list[StoredPassage]:
    wanted = sorted({id for id in ids if 0 <= id < 1 << PLACE_BITS + SEQ_BITS})
    values = {**inside(scope), "ids": json.dumps(wanted), "around": max(around, 0)}
    found: list[StoredPassage] = []
    for row in connection.execute(PASSAGES, values).all() if wanted else ():
        id, seq, attempt, part, start, end, day, words = row
        # A passage of a damaged turn is not there for recall; the turn itself is shown as unreadable.
        if isinstance(words, str) and isinstance(day, str) and part in PARTS and start <= end:
            found.append(
                StoredPassage(id=id, seq=seq, attempt=attempt, part=part, start=start, end=end, day=day, text=words)
            )
    # "question" stands before "answer".
    return sorted(found, key=lambda one: (one.seq, one.part != "question", one.start, one.attempt))
