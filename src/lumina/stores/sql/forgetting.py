"""Carries out a forget: what a rule took out goes from every table, and one row in the audit says that it happened.

Children go before their parents, as the foreign keys ask. Nothing is only marked as gone: what a row held is
overwritten or the row is deleted, and `secure_delete` overwrites what SQLite frees.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, exists, insert, or_, select, update

from lumina.memory.removal import Audited, HeldDelta, MaskedTurn, NewAudit, Removal, Rule, TurnKey
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.words import content_words
from lumina.stores import rows
from lumina.stores.schema import (
    audit as audits,
)
from lumina.stores.schema import (
    citations,
    delta_jobs,
    deltas,
    document_passages,
    document_words,
    documents,
    events,
    owners,
    passages,
    profiles,
    receipts,
    sources,
    states,
    subjects,
    texts,
    threads,
    tool_calls,
    turn_sources,
    turns,
    usage,
    vectors,
)
from lumina.stores.sql import auditing, recall, removing
from lumina.stores.sql.held import HeldRows
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread, of_turn

EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of no text
OF_TURN = (citations, turn_sources, tool_calls, usage)

AUDIT = select(audits).where(*of_subject(audits)).order_by(audits.c.number)
HANDLE = select(threads.c.handle).where(*of_thread(threads))
OF_ONE = select(passages).where(
    *of_thread(passages), passages.c.seq == bindparam("in_seq"), passages.c.attempt == bindparam("in_attempt")
)
CITED = or_(
    exists().where(*(sources.c[name] == texts.c[name] for name in ("tenant", "subject", "digest"))),
    exists().where(*(citations.c[name] == texts.c[name] for name in ("tenant", "subject", "digest"))),
)
UNCITED = select(texts.c.digest).where(*of_subject(texts), ~CITED)
DROP_TEXT = delete(texts).where(*of_subject(texts), texts.c.digest == bindparam("in_digest"))


def forget(connection: Connection, scope: SubjectScope, rule: Rule, new: NewAudit) -> Removal | None:
    removal = rule(HeldRows(connection, scope))
    if removal is None:
        return None
    last = auditing.last_number(connection, scope)  # a whole subject's audit goes with it
    if removal.whole:
        _drop_subject(connection, scope, removal.threads)
    else:
        _carry_out(connection, scope, removal)
    auditing.add(connection, scope, new, last + 1, json.dumps(dict(removal.detail)))
    return removal


def audit(connection: Connection, scope: SubjectScope) -> list[Audited]:
    return [
        Audited(
            number=row.number if isinstance(row.number, int) else 0, thread=rows.shown(row, "thread"),
            action=rows.shown(row, "action"), by=rows.shown(row, "by"), at=rows.shown(row, "at"),
            detail=rows.shown(row, "detail"),
        )
        for row in connection.execute(AUDIT, inside(scope))
    ]  # fmt: skip


def _carry_out(connection: Connection, scope: SubjectScope, removal: Removal) -> None:
    for thread, key in removal.turns:
        _blank_turn(connection, scope.thread(thread), key, removal.day)
    for turn in removal.masked:
        _mask_turn(connection, scope.thread(turn.thread), turn)
    for thread, key, record in removal.calls:
        on = update(tool_calls).where(*of_turn(tool_calls), tool_calls.c.place == bindparam("in_place"))
        values = {"arguments": record.arguments, "result": record.result, "said": record.said}
        connection.execute(on.values(**values), {**inside(scope.thread(thread), *key), "in_place": record.index})
    for thread, key, number, body in removal.events:
        on = update(events).where(*of_turn(events), events.c.number == bindparam("in_number"))
        connection.execute(on.values(body=body), {**inside(scope.thread(thread), *key), "in_number": number})
    for thread in removal.jobs:
        said = update(delta_jobs).where(*of_thread(delta_jobs)).values(answer="", reason="")
        connection.execute(said, inside(scope.thread(thread)))
    for receipt in removal.receipts:
        on = update(receipts).where(*of_turn(receipts), receipts.c.call == bindparam("in_call"))
        where = inside(scope.thread(receipt.thread), receipt.seq, receipt.attempt)
        connection.execute(on.values(body=receipt.body), {**where, "in_call": receipt.call})
    for thread, n in removal.sources:
        _blank_source(connection, scope.thread(thread), n)
    for thread in removal.titles:
        connection.execute(update(threads).where(*of_thread(threads)).values(title=""), inside(scope.thread(thread)))
    for thread in removal.threads:
        _drop_thread(connection, scope.thread(thread))
    for delta in removal.deltas:
        _put_delta(connection, scope.thread(delta.thread), delta)
    for thread, body in removal.states:
        _swap(connection, states, of_thread(states), inside(scope.thread(thread)), body)
    if removal.profile is not None:
        _swap(connection, profiles, of_subject(profiles), inside(scope), removal.profile)
    if removal.texts is not None:
        uncited = connection.execute(UNCITED, inside(scope)).scalars().all()
        _each(
            connection, DROP_TEXT, ({**inside(scope), "in_digest": one} for one in uncited if one not in removal.texts)
        )


def _each(connection: Connection, statement: Any, values: Iterable[dict[str, Any]]) -> None:
    if listed := list(values):
        connection.execute(statement, listed)


def _blank_turn(connection: Connection, scope: ThreadScope, key: TurnKey, day: str) -> None:
    where = inside(scope, *key)
    _drop_words(connection, scope, where)
    at = [passages.c.seq == bindparam("in_seq"), passages.c.attempt == bindparam("in_attempt")]
    connection.execute(delete(passages).where(*of_thread(passages), *at), where)
    for table in (*OF_TURN, events):
        connection.execute(delete(table).where(*of_turn(table)), where)
    job = update(delta_jobs).where(*of_turn(delta_jobs))
    connection.execute(job.where(delta_jobs.c.status != "applied").values(status="set aside"), where)
    connection.execute(job.values(answer="", reason="", tries=0), where)
    gone = {"question": "", "answer": "", "reason": "", "exchanges": "[]", "cited": "[]", "followups": "[]"}
    on = update(turns).where(*of_turn(turns))
    connection.execute(on.values(**gone, usage="{}", searched="not needed", forgotten=day), where)


def _mask_turn(connection: Connection, scope: ThreadScope, turn: MaskedTurn) -> None:
    where = inside(scope, *turn.key)
    words = {"question": turn.question, "answer": turn.answer, "exchanges": rows.messages_json(turn.exchanges)}
    on = update(turns).where(*of_turn(turns))
    connection.execute(on.values(**words, followups=rows.to_json(turn.followups)), where)
    for place, one in enumerate(turn.citations):
        here = update(citations).where(*of_turn(citations), citations.c.place == bindparam("in_place"))
        connection.execute(here.values(missing=rows.to_json(one.missing)), {**where, "in_place": place})
    found = connection.execute(OF_ONE, where).all()
    texts = {"question": turn.question, "answer": turn.answer}
    again = [(row.id, content_words(texts[row.part][row.start : row.end])) for row in found]
    recall.index_again(connection, connection.execute(HANDLE, inside(scope)).scalar_one(), again)
    embedded = delete(vectors).where(*of_thread(vectors), vectors.c.id == bindparam("in_id"))
    _each(connection, embedded, ({**inside(scope), "in_id": id} for id, _ in again))


def _drop_words(connection: Connection, scope: ThreadScope, where: dict[str, Any]) -> None:
    """Takes passages out of the index of words and of embeddings."""
    ids = [row.id for row in connection.execute(OF_ONE, where)]
    handle = connection.execute(HANDLE, inside(scope)).scalar()
    if handle is not None:
        recall.unindex(connection, handle, ids)
    embedded = delete(vectors).where(*of_thread(vectors), vectors.c.id == bindparam("in_id"))
    _each(connection, embedded, ({**inside(scope), "in_id": id} for id in ids))


def _blank_source(connection: Connection, scope: ThreadScope, n: int) -> None:
    subject = scope.of_subject
    if not connection.execute(
        select(exists().where(*of_subject(texts), texts.c.digest == EMPTY_DIGEST)), inside(subject)
    ).scalar():
        connection.execute(insert(texts), {**columns(subject), "digest": EMPTY_DIGEST, "text": ""})
    gone = {"locator": f"forgotten:{n}", "url": "", "title": "", "host": "", "digest": EMPTY_DIGEST}
    on = update(sources).where(*of_thread(sources), sources.c.n == bindparam("in_n"))
    connection.execute(on.values(**gone), {**inside(scope), "in_n": n})


def _put_delta(connection: Connection, scope: ThreadScope, delta: HeldDelta) -> None:
    where = {**inside(scope, delta.seq, delta.attempt), "in_correction": delta.correction}
    held = [*of_turn(deltas), deltas.c.correction == bindparam("in_correction")]
    if not connection.execute(update(deltas).where(*held).values(changes=delta.changes), where).rowcount:
        row = {"correction": delta.correction, "number": delta.number, "changes": delta.changes}
        connection.execute(insert(deltas), {**columns(scope, delta.seq, delta.attempt), **row})


def _swap(connection: Connection, table: Table, held: Sequence[Any], where: dict[str, Any], body: str) -> None:
    """Writes a snapshot anew, a damaged one, too; whoever read the older version loses the race."""
    row = connection.execute(select(table.c.version).where(*held), where).one_or_none()
    if row is not None:
        version = row.version + 1 if isinstance(row.version, int) else 1_000_000
        connection.execute(update(table).where(*held).values(version=version, body=body), where)


def _drop_thread(connection: Connection, scope: ThreadScope) -> None:
    handle = connection.execute(HANDLE, inside(scope)).scalar()
    if handle is not None:
        recall.unindex_thread(connection, handle)
    for statement in removing.DELETES:
        connection.execute(statement, inside(scope))


def _drop_subject(connection: Connection, scope: SubjectScope, names: Iterable[str]) -> None:
    for name in names:
        _drop_thread(connection, scope.thread(name))
    mine = select(documents.c.id).where(*of_subject(documents))
    for id in connection.execute(mine, inside(scope)).scalars().all():
        connection.execute(delete(document_words).where(document_words.c.document == id))
    for table in (document_passages, documents, owners, texts, profiles, subjects, audits):
        connection.execute(delete(table).where(*of_subject(table)), inside(scope))
