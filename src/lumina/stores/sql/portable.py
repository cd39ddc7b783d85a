"""What SQLite and PostgreSQL say differently, as expressions that are right on both.

INSERT ... ON CONFLICT is written alike on both, and SQLAlchemy's construct for PostgreSQL compiles on SQLite as well
(not the other way round), so it is the one that stores use.
"""

from typing import Any

from sqlalchemy import Boolean, Connection
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["is_whole", "on_sqlite", "same_text", "upsert"]


def on_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


class is_whole(FunctionElement[bool]):
    """Whether a column of whole numbers holds one: SQLite keeps whatever another hand has written there."""

    type = Boolean()
    inherit_cache = True


@compiles(is_whole)
def _is_whole(element: Any, compiler: Any, **named: Any) -> str:
    return "true"


@compiles(is_whole, "sqlite")
def _is_whole_on_sqlite(element: Any, compiler: Any, **named: Any) -> str:
    return f"typeof({compiler.process(element.clauses, **named)}) = 'integer'"


class same_text(FunctionElement[bool]):
    """`same_text(column, value)`: equality with a text of any length that is indexed: by itself on SQLite, on
    PostgreSQL, whose indexes hold short values only, by its MD5. The whole is always compared."""

    type = Boolean()
    inherit_cache = True


@compiles(same_text)
def _same_text(element: Any, compiler: Any, **named: Any) -> str:
    column, value = (compiler.process(one, **named) for one in element.clauses)
    return f"{column} = {value} AND md5({column}) = md5({value})"


@compiles(same_text, "sqlite")
def _same_text_on_sqlite(element: Any, compiler: Any, **named: Any) -> str:
    column, value = (compiler.process(one, **named) for one in element.clauses)
    return f"{column} = {value}"
