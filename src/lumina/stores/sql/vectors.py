"""Vectors of passages: kept, read, compared.

One vector a passage, by one embedder; another embedder's takes its place only when it is put. Only passages of live
turns count, so every statement goes through `passages` and `turns`. A comparison reads the thread's own rows, newest
first and at most `nearness.SCANNED`, as a stream: what it holds at once does not grow with the thread. Where PostgreSQL
has the extension pgvector, the column is of its type and the database compares (`lumina.stores.sql.pgvector`).
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, type_coerce
from sqlalchemy.types import NullType

from lumina.memory.embedding import Vector
from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import StoredPassage, VectorEnds
from lumina.stores import checks, nearness
from lumina.stores.passage_ids import PLACE_BITS, SEQ_BITS
from lumina.stores.schema import THREAD, TURN, passages, threads, turns, vectors
from lumina.stores.sql import pgvector, recall
from lumina.stores.sql.keys import columns, inside, of_subject, of_thread

AT_ONCE = 500  # ids in one statement
ALL_IDS = 1 << PLACE_BITS + SEQ_BITS

OF_TURN = and_(*(passages.c[name] == turns.c[name] for name in TURN))
OF_PASSAGE = and_(*(passages.c[name] == vectors.c[name] for name in (*THREAD, "id")))
LIVE = turns.c.superseded != 1
THESE = bindparam("ids", expanding=True)
STORED = type_coerce(vectors.c.vector, NullType())  # a damaged one is passed over, not made into bytes of any kind
PERHAPS_WITH = passages.join(turns, OF_TURN).join(vectors, OF_PASSAGE, isouter=True)

# Their rows stay as they are until the vectors are in: a forget that runs beside this comes before or after, whole.
LOCK = (
    select(passages.c.id)
    .select_from(passages.join(turns, OF_TURN))
    .where(*of_thread(passages), LIVE, passages.c.id.in_(THESE))
    .order_by(passages.c.id)
    .with_for_update()
)
DROP = delete(vectors).where(*of_thread(vectors), vectors.c.id.in_(THESE))
ADD = insert(vectors)
READ = (
    select(vectors.c.id, STORED)
    .select_from(passages.join(turns, OF_TURN).join(vectors, OF_PASSAGE))
    .where(*of_thread(vectors), LIVE, vectors.c.embedder == bindparam("by"), vectors.c.id.in_(THESE))
)
# Of live turns or not: to ask that of every row would cost ten times as much as the comparison itself.
STREAM = (
    select(vectors.c.id, STORED)
    .where(*of_thread(vectors), vectors.c.embedder == bindparam("by"), vectors.c.id < bindparam("end"))
    .order_by(vectors.c.id.desc())
    .limit(nearness.SCANNED)
    .execution_options(stream_results=True, yield_per=nearness.BLOCK)
)
ALIVE = (
    select(passages.c.id)
    .select_from(passages.join(turns, OF_TURN))
    .where(*of_thread(passages), LIVE, passages.c.id.in_(THESE))
)
ENDS = (
    select(vectors.c.id, vectors.c.embedder)
    .select_from(vectors.join(passages, OF_PASSAGE).join(turns, OF_TURN))
    .where(*of_thread(vectors), LIVE)
    .limit(1)
)
OLDEST, NEWEST = ENDS.order_by(vectors.c.id), ENDS.order_by(vectors.c.id.desc())
BARE = (
    select(passages.c.id)
    .select_from(PERHAPS_WITH)
    .where(*of_thread(passages), LIVE, passages.c.id > bindparam("after"))
    .order_by(passages.c.id)
    .limit(bindparam("most"))
)
WITHOUT_ANY = BARE.where(vectors.c.id.is_(None))
WITHOUT = BARE.where(vectors.c.embedder.is_distinct_from(bindparam("by")))
COUNTED = (
    select(vectors.c.embedder, func.count()).select_from(PERHAPS_WITH).where(LIVE).group_by(vectors.c.embedder)
)  # fmt: skip
THREADS = (
    select(threads.c.subject, threads.c.thread)
    .where(threads.c.tenant == bindparam("in_tenant"))
    .order_by(threads.c.subject, threads.c.thread)
)


def put(
    connection: Connection, scope: ThreadScope, embedder: str, given: Mapping[int, Vector], texts: Mapping[int, str]
) -> int:
    checks.check_text("embedder", embedder)
    packed = {id: nearness.pack(vector) for id, vector in sorted(given.items()) if 0 <= id < ALL_IDS}
    schema = pgvector.schema_of(connection)
    add = pgvector.adding(schema) if schema else ADD
    kept = 0
    for some in _portions(list(packed)):
        there = [id for (id,) in connection.execute(LOCK, {**inside(scope), "ids": some})]
        if texts:
            now = {one.id: one.text for one in recall.read_passages(connection, scope, there)}
            there = [id for id in there if id not in texts or now.get(id) == texts[id]]
        if there:
            connection.execute(DROP, {**inside(scope), "ids": there})
            values = {id: {"given": pgvector.written(given[id])} if schema else {"vector": packed[id]} for id in there}
            rows = [{**columns(scope), "id": id, "embedder": embedder, **values[id]} for id in there]
            connection.execute(add, rows)
        kept += len(there)
    return kept


def read(connection: Connection, scope: ThreadScope, ids: Sequence[int], embedder: str) -> dict[int, Vector]:
    schema = pgvector.schema_of(connection)
    statement = READ.with_only_columns(vectors.c.id, pgvector.sent(schema)) if schema else READ
    unpack = pgvector.unpack if schema else nearness.unpack
    found: dict[int, Vector] = {}
    for some in _portions(sorted({id for id in ids if 0 <= id < ALL_IDS})):
        for id, stored in connection.execute(statement, {**inside(scope), "ids": some, "by": embedder}):
            vector = unpack(stored)
            if vector is not None:
                found[id] = vector
    return found


def nearest(
    connection: Connection, scope: ThreadScope, vector: Vector, embedder: str, before: int, limit: int
) -> list[tuple[int, float]]:
    end = min(max(before, 0), 1 << SEQ_BITS) << PLACE_BITS
    values = {**inside(scope), "by": embedder, "end": end}
    schema = pgvector.schema_of(connection)
    wanted = max(limit, 0)
    while True:
        if schema:
            found = pgvector.nearest(connection, schema, values, vector, wanted)
        else:
            found = nearness.nearest(connection.execute(STREAM, values).partitions(), vector, wanted)
        alive = _alive(connection, scope, [id for id, _ in found])
        live = [(id, cosine) for id, cosine in found if id in alive]
        if len(live) >= limit or len(found) < wanted:
            return live[: max(limit, 0)]
        wanted *= 4


def _alive(connection: Connection, scope: ThreadScope, ids: list[int]) -> set[int]:
    portions = _portions(ids)
    return {id for some in portions for (id,) in connection.execute(ALIVE, {**inside(scope), "ids": some})}


def without(connection: Connection, scope: ThreadScope, embedder: str, after: int, limit: int) -> list[StoredPassage]:
    statement = WITHOUT if embedder else WITHOUT_ANY
    values = {**inside(scope), "most": limit, **({"by": embedder} if embedder else {})}
    while limit > 0:
        ids = [id for (id,) in connection.execute(statement, {**values, "after": after})]
        found = recall.read_passages(connection, scope, ids)
        if found or len(ids) < limit:
            return sorted(found, key=lambda one: one.id)
        after = ids[-1]  # a run of damaged ones ends nothing
    return []


def ends(connection: Connection, scope: ThreadScope) -> VectorEnds:
    first = connection.execute(OLDEST, inside(scope)).one_or_none()
    last = connection.execute(NEWEST, inside(scope)).one_or_none()
    if first is None or last is None:
        return VectorEnds()
    return VectorEnds(first=str(first.embedder), last=str(last.embedder), last_id=last.id)


def embedders(connection: Connection, scope: TenantScope | SubjectScope | ThreadScope) -> dict[str, int]:
    if isinstance(scope, ThreadScope):
        held, values = of_thread(passages), inside(scope)
    elif isinstance(scope, SubjectScope):
        held, values = of_subject(passages), inside(scope)
    else:
        held, values = [passages.c.tenant == bindparam("in_tenant")], {"in_tenant": scope.tenant}
    found = connection.execute(COUNTED.where(*held), values)
    return {by or "": count for by, count in found if by is None or isinstance(by, str)}


def tenant_threads(connection: Connection, scope: TenantScope) -> list[ThreadScope]:
    found = connection.execute(THREADS, {"in_tenant": scope.tenant})
    return [ThreadScope(tenant=scope.tenant, subject=subject, thread=thread) for subject, thread in found]


def _portions(ids: list[int]) -> list[list[int]]:
    return [ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE)]
