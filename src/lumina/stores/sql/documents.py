"""Documents of a tenant, and of one subject, with the word index that finds their passages."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, update

from lumina.agent.ports import DocumentInfo, NewDocument, PassageMatches, StoredPassage
from lumina.memory.errors import NotFound, StoreError
from lumina.memory.scope import SubjectScope
from lumina.stores import ranking, rows
from lumina.stores.checks import MOST, check_document
from lumina.stores.schema import document_passages, document_words, documents, owners
from lumina.stores.sql.portable import same_text
from lumina.stores.sql.threads import next_number
from lumina.stores.sql.word_index import index_of

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
# Held by whoever changes the documents of an owner, on PostgreSQL; on SQLite the whole transaction is.
HOLD_OWNER = OWNER.with_for_update(key_share=True)
HOLD_OWNERS = OWNERS.order_by(owners.c.subject).with_for_update(key_share=True)
COUNT = (
    update(owners)
    .where(OWN)
    .values(passages=owners.c.passages + bindparam("more_passages"), words=owners.c.words + bindparam("more_words"))
)
KNOWN = select(documents.c.id, documents.c.subject, documents.c.passages, documents.c.words).where(
    documents.c.tenant == bindparam("in_tenant"),
    documents.c.subject == bindparam("in_owner"),
    same_text(documents.c.locator, bindparam("in_locator", type_=documents.c.locator.type)),
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
ADD, ADD_PASSAGES = insert(documents), insert(document_passages)


def put(connection: Connection, scope: SubjectScope, new: Sequence[NewDocument], own: bool) -> None:
    for document in new:
        check_document(document)
    key = {"tenant": scope.tenant, "subject": scope.subject if own else TENANTS}
    held = {"in_tenant": key["tenant"], "in_owner": key["subject"]}
    owner = connection.execute(HOLD_OWNER, held).one_or_none()
    handle = owner.handle if owner is not None else next_number(connection, "owner")
    if owner is None:
        connection.execute(insert(owners), {**key, "handle": handle, "passages": 0, "words": 0})
    now = datetime.now(UTC).isoformat()
    words: list[tuple[int, str, int, bytes]] = []
    index = index_of(connection)
    for document in {document.locator: document for document in new}.values():
        known = connection.execute(KNOWN, {**held, "in_locator": document.locator}).one_or_none()
        if known is not None:
            _drop(connection, scope, known)
        # A document that is replaced keeps its id: it stays the same source in every thread that has read it.
        id = known.id if known is not None else next_number(connection, "document")
        connection.execute(ADD, {**key, "id": id, "added_at": now, **_row(document)})
        if document.passages:
            connection.execute(
                ADD_PASSAGES,
                [
                    {**key, "document": id, "ordinal": n, "start": one.start, "end": one.end, "heading": one.heading}
                    for n, one in enumerate(document.passages)
                ],
            )
        words += [(handle, index.form(form), id, packed) for form, packed in ranking.index(document.passages).items()]
        more = {"more_passages": len(document.passages), "more_words": _words(document)}
        connection.execute(COUNT, {**held, **more})
    if words:
        index.add_documents(connection, words)


def _row(document: NewDocument) -> dict[str, Any]:
    return {
        "locator": document.locator,
        "url": document.url,
        "title": document.title,
        "digest": document.digest,
        "passages": len(document.passages),
        "words": _words(document),
        "size": document.size,
        "text": document.text,
    }


def _words(document: NewDocument) -> int:
    return sum(len(passage.words) for passage in document.passages)


def _drop(connection: Connection, scope: SubjectScope, known: Any) -> None:
    place = {"in_tenant": scope.tenant, "in_owner": known.subject, "in_id": known.id}
    connection.execute(DROP_WORDS, {"in_id": known.id})
    connection.execute(DROP_PASSAGES, place)
    connection.execute(DROP, place)
    held = {"in_tenant": scope.tenant, "in_owner": known.subject}
    connection.execute(COUNT, {**held, "more_passages": -_number(known.passages), "more_words": -_number(known.words)})


def _number(stored: Any) -> int:
    # A damaged count leaves the sums a little off, which only the ranking feels.
    return stored if isinstance(stored, int) and 0 <= stored <= MOST else 0


def remove(connection: Connection, scope: SubjectScope, ids: Sequence[int]) -> int:
    going: list[Any] = []
    connection.execute(HOLD_OWNERS, _reader(scope))
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
    return [_info(row) for row in found]


def _info(row: Any) -> DocumentInfo:
    # A damaged document is listed with the others, so that it can be removed by its number or read again from its file.
    return DocumentInfo(
        id=_number(row.id),
        locator=rows.shown(row, "locator"),
        url=rows.shown(row, "url"),
        title=rows.shown(row, "title"),
        digest=rows.shown(row, "digest"),
        passages=_number(row.passages),
        added_at=rows.shown(row, "added_at"),
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
    passages = sum(_number(owner.passages) for owner in mine)
    found: dict[str, list[tuple[int, bytes]]] = {word: [] for word in asked}
    index = index_of(connection)
    word_of = {index.form(word): word for word in asked}
    forms = list(word_of)
    for at in range(0, len(forms) if mine else 0, AT_ONCE):
        which = {"owners": [owner.handle for owner in mine], "forms": forms[at : at + AT_ONCE]}
        for form, document, packed in connection.execute(POSTINGS, which):
            found[word_of[form]].append((document, packed))
    total = sum(_number(owner.words) for owner in mine)
    try:
        # In the order of documents, so that every store adds up the same numbers in the same order.
        postings = {word: sorted(held) for word, held in found.items()}
        ranked = ranking.rank(words, postings, passages=passages, total_words=total, limit=limit)
    except (ValueError, TypeError):
        raise StoreError(
            "The word index of the documents is damaged. Remove the documents and add them again."
        ) from None
    hits: list[StoredPassage] = []
    unreadable = ""
    for row in index.hits(connection, scope, ranked.best) if ranked.best else ():
        try:
            hits.append(_hit(row, len(hits)))
        except rows.Damaged as damage:
            unreadable = f"document {row.document}: {damage}"
    if unreadable and not hits:
        raise StoreError(f"What was found cannot be read ({unreadable}). Remove that document and add it again.")
    return PassageMatches(hits=tuple(hits), frequency=ranked.frequency, passages=passages)


def _hit(row: Any, n: int) -> StoredPassage:
    return StoredPassage(
        document=rows.whole(row, "document", 1),
        locator=rows.text(row, "locator"),
        url=rows.text(row, "url"),
        title=rows.text(row, "title"),
        ordinal=rows.whole(row, "ordinal"),
        start=rows.whole(row, "start"),
        end=rows.whole(row, "end"),
        heading=rows.text(row, "heading"),
        body=rows.text(row, "body"),
        rank=n,
    )
