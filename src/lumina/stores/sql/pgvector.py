"""Vectors in PostgreSQL's extension pgvector: the database compares them, and no vector travels to be compared.

The extension stands in one schema of a database, which need not be on our search path, so its type and its operator are
named with it. Which schema that is, is found when the database is opened and goes with each connection as the execution
option SCHEMA; without it the column holds bytes (`lumina.stores.nearness`).

The scan is exact and over one thread. An index of pgvector is approximate, is for one number of dimensions, and filters
by thread only after it has ranked: it would lose passages of a small thread among those of all others.
"""

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, Select, Text, bindparam, case, cast, insert, select, type_coerce
from sqlalchemy.sql.elements import ColumnElement, quoted_name
from sqlalchemy.sql.functions import Function
from sqlalchemy.types import NullType, UserDefinedType

from lumina.memory.embedding import Vector
from lumina.memory.errors import UsageError
from lumina.stores import nearness
from lumina.stores.schema import vectors
from lumina.stores.sql.keys import of_thread

SCHEMA = "pgvector_schema"
MOST_DIMENSIONS = 16_000  # of the extension's type
HEADER = 4  # bytes before the numbers, as the extension sends a vector: its dimensions, and two unused


class _Embedding(UserDefinedType[str]):
    """The extension's type, by its full name."""

    cache_ok = True

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def get_col_spec(self, **named: Any) -> str:
        return f"{_quoted(self.schema)}.vector"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _call(schema: str, name: str, column: Any) -> Function[Any]:
    return Function(name, column, packagenames=(quoted_name(schema, True),))


def schema_of(connection: Connection) -> str:
    """Where the extension's type is, or "" where the column holds bytes."""
    return connection.get_execution_options().get(SCHEMA, "")


@cache
def adding(schema: str) -> Insert:
    """An insert of a vector, given as text in `given`."""
    return insert(vectors).values(vector=_given(schema))


@cache
def sent(schema: str) -> ColumnElement[Any]:
    """The column as bytes for `unpack`."""
    return _call(schema, "vector_send", type_coerce(vectors.c.vector, NullType()))


def _given(schema: str) -> ColumnElement[Any]:
    return cast(bindparam("given", type_=Text()), _Embedding(schema))


def written(vector: Sequence[float]) -> str:
    """A vector as text; each float32 comes back as the same one. UsageError when it is too long for the extension."""
    if len(vector) > MOST_DIMENSIONS:
        raise UsageError(
            f"pgvector keeps vectors of at most {MOST_DIMENSIONS} dimensions; this one has {len(vector)}. Nothing was "
            "stored; choose another embedder, or fewer dimensions."
        )
    return f"[{','.join(map(repr, array('f', vector)))}]"


def unpack(stored: Any) -> Vector | None:
    """The vector in what `sent` gives, or None for what cannot be one."""
    if not isinstance(stored, bytes) or len(stored) <= HEADER or len(stored) % 4:
        return None
    found = array("f")
    found.frombytes(stored[HEADER:])
    if sys.byteorder == "little":
        found.byteswap()
    return found


@cache
def _nearest(schema: str) -> Select[Any, Any]:
    newest = (
        select(vectors.c.id, type_coerce(vectors.c.vector, NullType()).label("vector"))
        .where(*of_thread(vectors), vectors.c.embedder == bindparam("by"), vectors.c.id < bindparam("end"))
        .order_by(vectors.c.id.desc())
        .limit(nearness.SCANNED)
        .subquery()
    )
    far = newest.c.vector.op(f"OPERATOR({_quoted(schema)}.<=>)")(_given(schema))
    comparable = _call(schema, "vector_dims", newest.c.vector) == bindparam("dimensions")
    distance = case((comparable, far)).label("distance")  # of others the operator would be an error
    return select(newest.c.id, distance).order_by(distance, newest.c.id.desc()).limit(bindparam("wanted"))


def nearest(
    connection: Connection, schema: str, values: Mapping[str, Any], vector: Sequence[float], limit: int
) -> list[tuple[int, float]]:
    """As `nearness.nearest`, over the vectors that `values` name (thread, `by`, `end`)."""
    if not 0 < len(vector) <= MOST_DIMENSIONS or not all(map(math.isfinite, vector)):
        return []
    asked = {**values, "given": written(vector), "dimensions": len(vector), "wanted": limit}
    found = connection.execute(_nearest(schema), asked)
    return [(id, 1.0 - distance) for id, distance in found if distance is not None and distance == distance]
