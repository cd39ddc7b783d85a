"""The word index on PostgreSQL: a plain table of (thread, word, passage), the key of which is the index.

A word's rows of one thread lie together in the key, in the order of the passages. The newest of them are a short walk
back along it: neither other tenants' turns nor the thread's own length add to its cost, and no other thread can be
reached by any word. PostgreSQL's own text search would fold the words once more, and its ranking and statistics would
count everybody's rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Text, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.stores.sql.keys import inside
from lumina.stores.sql.long_words import LONGEST, digest


def _list(name: str, of: Any = BigInteger) -> Any:
    return bindparam(name, type_=ARRAY(of))


INDEX = text("""
    INSERT INTO turn_words (thread, word, passage)
    SELECT :handle, word, passage FROM unnest(:words, :passages) AS given (word, passage)
""").bindparams(_list("words", Text), _list("passages"))
TAKE_OUT = text("DELETE FROM turn_words WHERE thread = :handle AND passage = ANY (:ids)").bindparams(_list("ids"))
TAKE_OUT_BETWEEN = text("DELETE FROM turn_words WHERE thread = :handle AND passage >= :first AND passage < :end")
NEWEST = text("""
    SELECT place, ARRAY(
        SELECT passage FROM turn_words WHERE thread = :handle AND turn_words.word = asked.word AND passage < :end
        ORDER BY passage DESC LIMIT :cap
    ) AS found FROM unnest(:words) WITH ORDINALITY AS asked (word, place)
""").bindparams(_list("words", Text))
# The asked passages that are there and, for each, passages of live turns on both sides: short walks along the key.
PASSAGES = text("""
    WITH wanted AS (
        SELECT id FROM passages WHERE tenant = :in_tenant AND subject = :in_subject AND thread = :in_thread
        AND id = ANY (:ids)
    ), near AS (
        SELECT id FROM wanted
        UNION
        SELECT one.id FROM wanted CROSS JOIN LATERAL (
            SELECT older.id FROM passages AS older JOIN turns USING (tenant, subject, thread, seq, attempt)
            WHERE older.tenant = :in_tenant AND older.subject = :in_subject AND older.thread = :in_thread
            AND turns.superseded <> 1 AND older.id < wanted.id ORDER BY older.id DESC LIMIT :around
        ) AS one
        UNION
        SELECT one.id FROM wanted CROSS JOIN LATERAL (
            SELECT newer.id FROM passages AS newer JOIN turns USING (tenant, subject, thread, seq, attempt)
            WHERE newer.tenant = :in_tenant AND newer.subject = :in_subject AND newer.thread = :in_thread
            AND turns.superseded <> 1 AND newer.id > wanted.id ORDER BY newer.id LIMIT :around
        ) AS one
    )
    SELECT near.id, one.seq, one.attempt, one.part, one.start, one."end", turns.day,
        substr(CASE one.part WHEN 'question' THEN turns.question ELSE turns.answer END,
            least(greatest(one.start, 0), 2000000000)::int + 1,
            least(greatest(one."end" - one.start, 0), 2000000000)::int) AS text
    FROM near JOIN passages AS one
    ON one.tenant = :in_tenant AND one.subject = :in_subject AND one.thread = :in_thread AND one.id = near.id
    JOIN turns USING (tenant, subject, thread, seq, attempt)
    WHERE turns.superseded <> 1
""").bindparams(_list("ids"))
ADD_WORDS = text("""
    INSERT INTO document_words (owner, form, document, postings)
    SELECT * FROM unnest(:owners, :forms, :documents, :postings)
""").bindparams(_list("owners"), _list("forms", Text), _list("documents"), _list("postings", BYTEA))
# Bodies are cut out of the text by the database, so that a long document is not fetched for the sake of a paragraph.
HITS = text("""
    SELECT one.document, one.ordinal, one.start, one."end", one.heading, documents.locator, documents.url,
        documents.title, substr(documents.text, least(greatest(one.start, 0), 2000000000)::int + 1,
            least(greatest(one."end" - one.start, 0), 2000000000)::int) AS body
    FROM unnest(:documents, :ordinals) WITH ORDINALITY AS place (document, ordinal, place)
    JOIN document_passages AS one ON one.tenant = :in_tenant AND one.subject IN ('', :in_subject)
        AND one.document = place.document AND one.ordinal = place.ordinal
    JOIN documents ON documents.tenant = one.tenant AND documents.subject = one.subject
        AND documents.id = one.document
    ORDER BY place.place
""").bindparams(_list("documents"), _list("ordinals"))


def form(word: str) -> str:
    return word if len(word) <= LONGEST else digest(word)


def add_turn(connection: Connection, handle: int, words: Sequence[tuple[int, Sequence[str]]]) -> None:
    rows = [(form(word), id) for id, forms in words for word in dict.fromkeys(forms)]
    if rows:
        given, passages = zip(*rows, strict=True)
        connection.execute(INDEX, {"handle": handle, "words": list(given), "passages": list(passages)})


def take_out(connection: Connection, handle: int, ids: Sequence[int]) -> None:
    connection.execute(TAKE_OUT, {"handle": handle, "ids": list(ids)})


def take_out_between(connection: Connection, handle: int, first: int, end: int) -> None:
    connection.execute(TAKE_OUT_BETWEEN, {"handle": handle, "first": first, "end": end})


def mend(connection: Connection) -> None:
    """A plain table has nothing to be mended from; its rows are written anew, thread by thread."""


def newest(connection: Connection, handle: int, words: Sequence[str], end: int, cap: int) -> dict[str, Sequence[int]]:
    values = {"handle": handle, "words": [form(word) for word in words], "end": end, "cap": cap}
    rows: Any = connection.execute(NEWEST, values)
    found: dict[int, Sequence[int]] = dict(rows.all())
    return {word: found[place] for place, word in enumerate(words, 1) if place in found}


def around(connection: Connection, scope: ThreadScope, ids: Sequence[int], around: int) -> Iterable[Any]:
    return connection.execute(PASSAGES, {**inside(scope), "ids": list(ids), "around": around}).all()


def add_documents(connection: Connection, words: Sequence[tuple[int, str, int, bytes]]) -> None:
    names = ("owners", "forms", "documents", "postings")
    connection.execute(ADD_WORDS, dict(zip(names, map(list, zip(*sorted(words), strict=True)), strict=True)))


def hits(connection: Connection, scope: SubjectScope, places: Sequence[tuple[int, int]]) -> Iterable[Any]:
    documents, ordinals = zip(*places, strict=True)
    return connection.execute(HITS, {**inside(scope), "documents": list(documents), "ordinals": list(ordinals)})
