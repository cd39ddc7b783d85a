"""The word index on SQLite: FTS5, told exactly what a word is.

The tokenizer must neither split nor fold words that come folded. FTS5's `ascii` tokenizer takes every character beyond
ASCII as part of a token; a form with anything in it that the tokenizer would change (a space or sign out of NFKC, a
capital) or shorten is indexed by its digest instead. So one form is one token, in any script, and equal tokens are
equal forms.

A row's number is its address: thread, turn, place. FTS5 keeps the rows of a word in the order of their numbers and
jumps to a range of them, so a search reads the asked thread's newest rows and nothing else: neither other tenants'
turns nor the thread's own length add to its cost, and no other thread can be reached by any word. No score is asked
of FTS5, whose statistics would count everybody's rows.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, text

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.stores.passage_ids import PLACE_BITS, SEQ_BITS
from lumina.stores.sql.keys import inside
from lumina.stores.sql.long_words import LONGEST, digest

AT_ONCE = 50  # words asked for in one statement
INDEX = text("INSERT INTO turn_words (rowid, words) VALUES (:row, :words)")
UNINDEX = text("DELETE FROM turn_words WHERE rowid = :row")
TAKE_OUT = text("DELETE FROM turn_words WHERE rowid >= :first AND rowid < :end")
MEND = text("INSERT INTO turn_words (turn_words) VALUES ('rebuild')")  # from the words that the table itself keeps
# Through the driver: a document has hundreds of words, and this is what indexing spends its time on.
ADD_WORDS = "INSERT INTO document_words (owner, form, document, postings) VALUES (?, ?, ?, ?)"


def token(form: str) -> str:
    """How a folded word stands in the index of turns."""
    plain = form.isalnum() and len(form) <= LONGEST and not any("A" <= letter <= "Z" for letter in form)
    return form if plain else digest(form)


def _address(handle: int, passage: int) -> int:
    return handle << PLACE_BITS + SEQ_BITS | passage


def add_turn(connection: Connection, handle: int, words: Sequence[tuple[int, Sequence[str]]]) -> None:
    connection.execute(
        INDEX, [{"row": _address(handle, id), "words": " ".join(map(token, forms))} for id, forms in words]
    )


def take_out(connection: Connection, handle: int, ids: Sequence[int]) -> None:
    connection.execute(UNINDEX, [{"row": _address(handle, id)} for id in ids])


def take_out_between(connection: Connection, handle: int, first: int, end: int) -> None:
    base = _address(handle, 0)
    connection.execute(TAKE_OUT, {"first": base + first, "end": base + end})


def mend(connection: Connection) -> None:
    connection.execute(MEND)


@lru_cache(maxsize=AT_ONCE)
def _newest(count: int) -> TextClause:
    """For each of `count` words the newest rows of a range, as one JSON list: a row for each would cost more to fetch
    than to find."""
    one = (
        "SELECT {n} AS word, json_group_array(found) AS found FROM (SELECT rowid AS found FROM turn_words "
        "WHERE turn_words MATCH :word{n} AND rowid >= :first AND rowid < :end ORDER BY rowid DESC LIMIT :cap)"
    )
    return text(" UNION ALL ".join(one.format(n=n) for n in range(count)))


def newest(connection: Connection, handle: int, words: Sequence[str], end: int, cap: int) -> dict[str, Sequence[int]]:
    base = _address(handle, 0)
    ids: dict[str, Sequence[int]] = {}
    for at in range(0, len(words), AT_ONCE):
        some = words[at : at + AT_ONCE]
        values: dict[str, Any] = {f"word{n}": f'"{token(word)}"' for n, word in enumerate(some)}
        values |= {"first": base, "end": base + end, "cap": cap}
        for row in connection.execute(_newest(len(some)), values):
            word: int = row.word
            ids[some[word]] = [found - base for found in json.loads(row.found)]
    return ids


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


def around(connection: Connection, scope: ThreadScope, ids: Sequence[int], around: int) -> Iterable[Any]:
    return connection.execute(PASSAGES, {**inside(scope), "ids": json.dumps(list(ids)), "around": around}).all()


def form(word: str) -> str:
    return word


def add_documents(connection: Connection, words: Sequence[tuple[int, str, int, bytes]]) -> None:
    # In the order of the index, so that its pages are visited once for all the documents.
    connection.exec_driver_sql(ADD_WORDS, sorted(words, key=lambda row: row[:3]))


# Bodies are cut out of the text by the database, so that a long document is not fetched for the sake of a paragraph.
HITS = text("""
    SELECT one.document, one.ordinal, one.start, one."end", one.heading, documents.locator, documents.url,
        documents.title, substr(documents.text, one.start + 1, one."end" - one.start) AS body
    FROM json_each(:places) AS place
    CROSS JOIN document_passages AS one ON one.tenant = :in_tenant AND one.subject IN ('', :in_subject)
        AND one.document = json_extract(place.value, '$[0]') AND one.ordinal = json_extract(place.value, '$[1]')
    CROSS JOIN documents ON documents.tenant = one.tenant AND documents.subject = one.subject
        AND documents.id = one.document
    ORDER BY place.key
""")


def hits(connection: Connection, scope: SubjectScope, places: Sequence[tuple[int, int]]) -> Iterable[Any]:
    return connection.execute(HITS, {**inside(scope), "places": json.dumps(places)})
