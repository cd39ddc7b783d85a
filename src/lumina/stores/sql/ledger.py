"""What was read: texts by what they are, sources by number, tool calls by place."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Connection, bindparam, func, insert, select, update

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.turns import NewSource, Source, SourceName, ToolRecord
from lumina.stores import rows
from lumina.stores.checks import check_source, check_text, check_tool_record
from lumina.stores.schema import SUBJECT, TURN, sources, texts, threads, tool_calls, turn_sources
from lumina.stores.sql.fence import still_mine
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread, of_turn, thread_row, turn_number
from lumina.stores.sql.portable import same_text, upsert

KEEP_TEXT = upsert(texts).on_conflict_do_nothing(index_elements=[*SUBJECT, "digest"])
TEXT = select(texts.c.text).where(*of_subject(texts), texts.c.digest == bindparam("digest"))
BY_LOCATOR = select(sources).where(
    *of_thread(sources), same_text(sources.c.locator, bindparam("in_locator", type_=sources.c.locator.type))
)
ADD_SOURCE = insert(sources)
READ_AGAIN = (
    update(sources)
    .where(*of_thread(sources), sources.c.n == bindparam("in_n"))
    .values({name: bindparam(f"new_{name}") for name in ("url", "title", "host", "depth", "digest")})
)
LAST_SOURCE = update(threads).where(*of_thread(threads)).values(sources=bindparam("new_sources"))
SOURCES = select(sources).where(*of_thread(sources)).order_by(sources.c.n)
SOME_SOURCES = SOURCES.where(sources.c.n.in_(bindparam("numbers", expanding=True)))
NAMES = (
    select(sources.c.n, sources.c.title, sources.c.host)
    .where(*of_thread(sources), sources.c.n.in_(bindparam("numbers", expanding=True)))
    .order_by(sources.c.n)
)
READ_SO_FAR = select(func.count()).select_from(turn_sources).where(*of_turn(turn_sources))
NOTE_READ = upsert(turn_sources).on_conflict_do_nothing(index_elements=[*TURN, "n"])
ADD_CALL = insert(tool_calls)
CALLS = select(tool_calls).where(*of_turn(tool_calls)).order_by(tool_calls.c.place)
CALL = CALLS.where(tool_calls.c.place == bindparam("in_place"))


def put_text(connection: Connection, scope: SubjectScope, text: str) -> str:
    check_text("text", text)
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    connection.execute(KEEP_TEXT, {**columns(scope), "digest": digest, "text": text})
    return digest


def text(connection: Connection, scope: SubjectScope, digest: str) -> str:
    row = connection.execute(TEXT, {**inside(scope), "digest": digest}).one_or_none()
    if row is None:
        raise NotFound(f"There is no stored text {digest!r} here.")
    return rows.readable(f"text {digest}", lambda row: rows.text(row, "text"), row)


def register(connection: Connection, scope: ThreadScope, seq: int, attempt: int, new: NewSource, mine: str) -> Source:
    check_source(new)
    turn_number(connection, scope, seq, attempt)
    still_mine(connection, scope, seq, attempt, mine)
    digest = put_text(connection, scope.of_subject, new.text)
    seen = {"url": new.url, "title": new.title, "host": new.host, "depth": new.depth, "digest": digest}
    row = connection.execute(BY_LOCATOR, {**inside(scope), "in_locator": new.locator}).one_or_none()
    if row is None:
        n = thread_row(connection, scope).sources + 1
        connection.execute(ADD_SOURCE, {**columns(scope), "n": n, "locator": new.locator, **seen})
        connection.execute(LAST_SOURCE, {**inside(scope), "new_sources": n})
    else:
        n = rows.readable("source", lambda row: rows.whole(row, "n", 1), row)
        if new.depth == "snippet" and row.depth == "page":  # an excerpt never takes the place of the page
            note_read(connection, scope, seq, attempt, n)
            return rows.readable(f"source {n}", rows.source, row)
        new_values = {f"new_{name}": value for name, value in seen.items()}
        connection.execute(READ_AGAIN, {**inside(scope), "in_n": n, **new_values})
    note_read(connection, scope, seq, attempt, n)
    return Source(n=n, locator=new.locator, url=new.url, title=new.title, host=new.host, depth=new.depth, digest=digest)


def note_read(connection: Connection, scope: ThreadScope, seq: int, attempt: int, n: int) -> None:
    place = connection.execute(READ_SO_FAR, inside(scope, seq, attempt)).scalar_one()
    connection.execute(NOTE_READ, {**columns(scope, seq, attempt), "n": n, "place": place})


def read_sources(connection: Connection, scope: ThreadScope, numbers: Sequence[int] | None) -> list[Source]:
    if numbers is None:
        found = connection.execute(SOURCES, inside(scope)).all()
    else:
        found = connection.execute(SOME_SOURCES, {**inside(scope), "numbers": list(set(numbers))}).all()
    return [rows.readable(f"source {row.n}", rows.source, row) for row in found]


def source_names(connection: Connection, scope: ThreadScope, numbers: Sequence[int]) -> list[SourceName]:
    found: list[SourceName] = []
    for row in connection.execute(NAMES, {**inside(scope), "numbers": list(set(numbers))}):
        with suppress(rows.Damaged):  # what cannot be named is not offered for citing; the thread goes on
            found.append(rows.source_name(row))
    return found


def add_tool_call(
    connection: Connection, scope: ThreadScope, seq: int, attempt: int, record: ToolRecord, mine: str
) -> None:
    check_tool_record(record)
    turn_number(connection, scope, seq, attempt)
    still_mine(connection, scope, seq, attempt, mine)
    known = connection.execute(CALL, {**inside(scope, seq, attempt), "in_place": record.index}).one_or_none()
    if known is not None:
        if rows.readable(f"tool call {record.index}", rows.tool_record, known) != record:
            raise UsageError(
                f"Tool call {record.index} of turn {seq} is already stored with other content. Nothing was changed; "
                "give every call of a turn its own index."
            )
        return
    call = {"place": record.index, "call": record.call, "id": record.id, "name": record.name}
    values = {**columns(scope, seq, attempt), **call, "arguments": record.arguments}
    values |= {"result": record.result, "said": record.said}
    connection.execute(ADD_CALL, values)


def read_tool_calls(connection: Connection, scope: ThreadScope, seq: int, attempt: int) -> list[ToolRecord]:
    found = connection.execute(CALLS, inside(scope, seq, attempt)).all()
    return [rows.readable(f"tool call of turn {seq}", rows.tool_record, row) for row in found]
