"""Documents of a tenant, and of one subject, with the word index that finds their passages."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, tuple_, update

from lumina.agent.ports import DocumentInfo, NewDocument, PassageMatches, StoredPassage
from lumina.memory.errors import NotFound, StoreError
from lumina.memory.scope import SubjectScope
from lumina.stores import ranking, rows
from lumina.stores.checks import check_document
from lumina.stores.schema import document_passages, document_words, documents, owners
from lumina.stores.sql.threads import next_number

AT_ONCE = 500
TENANTS = ""  # the subject of documents that belong to the tenant; no subject's id is empty


def _readable(table: Any) -> Any:
    """The tenant's own and the subject's own."""
    return (table.c.tenant == bindparam("in_tenant")) & or_(
        table.c.subject == TENANTS, table.c.subject == bindparam("in_subject")
    )


def _reader(scope: SubjectScope) -> dict[str, Any]:
    return {"in_tenant": scope.tenant, "in_subject": scope.subject}


INFO = (
    select(
        *(documents.c[name] for name in ("id", "subject", "locator", "url", "title", "digest", "passages", "added_at"))
    )
    .where(_readable(documents))
    .order_by(documents.c.locator, documents.c.id)
)
UNDER = INFO.where(func.substr(documents.c.locator, 1, bindparam("length")) == bindparam("under"))
TEXT = select(documents.c.text).where(_readable(documents), documents.c.id == bindparam("in_id"))
OWNERS = select(owners).where(_readable(owners))
OWN = (owners.c.tenant == bindparam("in_tenant")) & (owners.c.subject == bindparam("in_owner"))
OWNER = select(owners).where(OWN)
COUNT = (
    update(owners)
    .where(OWN)
    .values(passages=owners.c.passages + bindparam("more_passages"), words=owners.c.words + bindparam("more_words"))
)
KNOWN = select(documents.c.id, documents.c.subject, documents.c.passages, documents.c.words).where(
    documents.c.tenant == bindparam("in_tenant"),
    documents.c.subject == bindparam("in_owner"),
    documents.c.locator == bindparam("in_locator"),
)
GOING = select(documents.c.id, documents.c.subject, documents.c.passages, documents.c.words).where(
    _readable(documents), documents.c.id.in_(bindparam("ids", expanding=True))
)
DROP_WORDS = delete(document_words).where(document_words.c.document == bindparam("in_id"))
DROP_PASSAGES = delete(document_passages).where(
    document_passages.c.tenant == bindparam("in_tenant"),
    document_passages.c.subject == bindparam("in_owner"),
    document_passages.c.document == bindparam("in_id"),
)
DROP = delete(documents).where(
    documents.c.tenant == bindparam("in_tenant"),
    documents.c.subject == bindparam("in_owner"),
    documents.c.id == bindparam("in_id"),
)
POSTINGS = select(document_words.c.form, document_words.c.document, document_words.c.postings).where(
    document_words.c.owner.in_(bindparam("owners", expanding=True)),
    document_words.c.form.in_(bindparam("forms", expanding=True)),
)
TEXTS = select(documents).where(_readable(documents), documents.c.id.in_(bindparam("ids", expanding=True)))
PASSAGES = select(document_passages).where(
    _readable(document_passages),
    tuple_(document_passages.c.document, document_passages.c.ordinal).in_(bindparam("places", expanding=True)),
)
ADD, ADD_PASSAGES, ADD_WORDS = insert(documents), insert(document_passages), insert(document_words)


def put(connection: Connection, scope: SubjectScope, new: Sequence[NewDocument], own: bool) -> None:
    for document in new:
        check_document(document)
    key = {"tenant": scope.tenant, "subject": scope.subject if own else TENANTS}
    held = {"in_tenant": key["tenant"], "in_owner": key["subject"]}
    owner = connection.execute(OWNER, held).one_or_none()
    handle = owner.handle if owner is not None else next_number(connection, "owner")
    if owner is None:
        connection.execute(insert(owners), {**key, "handle": handle, "passages": 0, "words": 0})
    now = datetime.now(UTC).isoformat()
    for document in new:
        known = connection.execute(KNOWN, {**held, "in_locator": document.locator}).one_or_none()
        if known is not None:
            _drop(connection, scope, known)
        # A document that is replaced keeps its id: it stays the same source in every thread that has read it.
        id = known.id if known is not None else next_number(connection, "document")
        words = sum(len(passage.words) for passage in document.passages)
        count = len(document.passages)
        connection.execute(
            ADD,
            {
                **key,
                "id": id,
                "locator": document.locator,
                "url": document.url,
                "title": document.title,
                "digest": document.digest,
                "passages": count,
                "words": words,
                "size": document.size,
                "added_at": now,
                "text": document.text,
            },
        )
        if document.passages:
            _add_passages(connection, key, handle, id, document)
        connection.execute(COUNT, {**held, "more_passages": count, "more_words": words})


def _add_passages(connection: Connection, key: dict[str, Any], handle: int, id: int, document: NewDocument) -> None:
    connection.execute(
        ADD_PASSAGES,
        [
            {**key, "document": id, "ordinal": n, "start": one.start, "end": one.end, "heading": one.heading}
            for n, one in enumerate(document.passages)
        ],
    )
    index = ranking.index(document.passages)
    if index:
        connection.execute(
            ADD_WORDS,
            [
                {"owner": handle, "form": form, "document": id, "postings": ranking.pack(index[form])}
                for form in sorted(index)
            ],
        )


def _drop(connection: Connection, scope: SubjectScope, known: Any) -> None:
    place = {"in_tenant": scope.tenant, "in_owner": known.subject, "in_id": known.id}
    connection.execute(DROP_WORDS, {"in_id": known.id})
    connection.execute(DROP_PASSAGES, place)
    connection.execute(DROP, place)
    held = {"in_tenant": scope.tenant, "in_owner": known.subject}
    connection.execute(COUNT, {**held, "more_passages": -known.passages, "more_words": -known.words})


def remove(connection: Connection, scope: SubjectScope, ids: Sequence[int]) -> int:
    going: list[Any] = []
    wanted = sorted(set(ids))
    for at in range(0, len(wanted), AT_ONCE):
        going += connection.execute(GOING, {**_reader(scope), "ids": wanted[at : at + AT_ONCE]}).all()
    for known in going:
        _drop(connection, scope, known)
    return len(going)


def listed(connection: Connection, scope: SubjectScope, under: str) -> list[DocumentInfo]:
    found = connection.execute(
        UNDER if under else INFO, {**_reader(scope), "under": under, "length": len(under)} if under else _reader(scope)
    )
    return [rows.readable(f"document {row.id}", _info, row) for row in found]


def _info(row: Any) -> DocumentInfo:
    return DocumentInfo(
        id=rows.whole(row, "id", 1),
        locator=rows.text(row, "locator"),
        url=rows.text(row, "url"),
        title=rows.text(row, "title"),
        digest=rows.text(row, "digest"),
        passages=rows.whole(row, "passages"),
        added_at=rows.text(row, "added_at"),
        own=row.subject != TENANTS,
    )


def text(connection: Connection, scope: SubjectScope, document: int) -> str:
    row = connection.execute(TEXT, {**_reader(scope), "in_id": document}).one_or_none()
    if row is None:
        raise NotFound(f"There is no document {document} here.")
    return rows.readable(f"document {document}", lambda row: rows.text(row, "text"), row)


def find(connection: Connection, scope: SubjectScope, words: Sequence[str], limit: int) -> PassageMatches:
    asked = list(dict.fromkeys(words))
    mine = connection.execute(OWNERS, _reader(scope)).all()
    passages = sum(owner.passages for owner in mine)
    found: dict[str, list[tuple[int, bytes]]] = {word: [] for word in asked}
    for at in range(0, len(asked) if mine else 0, AT_ONCE):
        which = {"owners": [owner.handle for owner in mine], "forms": asked[at : at + AT_ONCE]}
        for form, document, packed in connection.execute(POSTINGS, which):
            found[form].append((document, packed))
    try:
        # In the order of documents, so that every store adds up the same numbers in the same order.
        postings = {
            word: [(document, ranking.unpack(packed)) for document, packed in sorted(held)]
            for word, held in found.items()
        }
    except (ValueError, TypeError):
        raise StoreError(
            "The word index of the documents is damaged. Remove the documents and add them again."
        ) from None
    total = sum(owner.words for owner in mine)
    ranked = ranking.rank(words, postings, passages=passages, total_words=total, limit=max(limit, 0))
    hits = _hits(connection, scope, ranked.best)
    return PassageMatches(hits=hits, frequency=ranked.frequency, passages=passages)


def _hits(connection: Connection, scope: SubjectScope, best: Sequence[tuple[int, int]]) -> tuple[StoredPassage, ...]:
    if not best:
        return ()
    texts: dict[int, Any] = {}
    places: dict[tuple[int, int], Any] = {}
    ids = sorted({document for document, _ in best})
    for at in range(0, len(ids), AT_ONCE):
        for row in connection.execute(TEXTS, {**_reader(scope), "ids": ids[at : at + AT_ONCE]}):
            texts[row.id] = row
    for at in range(0, len(best), AT_ONCE):
        for row in connection.execute(PASSAGES, {**_reader(scope), "places": list(best[at : at + AT_ONCE])}):
            places[row.document, row.ordinal] = row
    return tuple(
        rows.readable(f"document {key[0]}", lambda row, n=n, key=key: _hit(row, places[key], n), texts[key[0]])
        for n, key in enumerate(best)
    )


def _hit(document: Any, place: Any, n: int) -> StoredPassage:
    start, end = rows.whole(place, "start"), rows.whole(place, "end")
    return StoredPassage(
        document=document.id,
        locator=rows.text(document, "locator"),
        url=rows.text(document, "url"),
        title=rows.text(document, "title"),
        ordinal=place.ordinal,
        start=start,
        end=end,
        heading=rows.text(place, "heading"),
        body=rows.text(document, "text")[start:end],
        rank=n,
    )
