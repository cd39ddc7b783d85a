"""What the second schema has on PostgreSQL only: vectors that the database compares itself, and no samples of texts.

Where the extension pgvector is installed, or can be by this user, the column holds its type, with no fixed number of
dimensions, because another embedder has others. Everywhere else it holds bytes, as on SQLite, and works the same.

ANALYZE keeps values of columns as samples in a table of the server, where a forget does not reach. No query looks a
text up by its value alone, so the planner needs none of them.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import OperationalError, ProgrammingError

TEXTS = {
    "threads": ("title",),
    "turns": ("client_id", "reason", "question", "answer", "exchanges", "cited", "followups", "usage"),
    "tool_calls": ("id", "name", "arguments", "result", "said"),
    "texts": ("digest", "text"),
    "sources": ("locator", "url", "title", "host", "digest"),
    "citations": ("digest", "passage", "missing"),
    "delta_jobs": ("answer", "reason"),
    "deltas": ("changes",),
    "states": ("body",),
    "profiles": ("body",),
    "receipts": ("body",),
    "events": ("body",),
    "vectors": ("vector",),
    "turn_words": ("word",),
    "documents": ("locator", "url", "title", "digest", "text"),
    "document_passages": ("heading",),
    "document_words": ("form", "postings"),
}
COMPUTED = {"ix_sources_tenant_subject_thread_md5_locator": 4, "ix_documents_tenant_subject_md5_locator": 3}

INSTALLED = sa.text(
    "SELECT nspname, has_schema_privilege(pg_namespace.oid, 'USAGE') FROM pg_extension "
    "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
)
AVAILABLE = sa.text("SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')")


def for_postgresql() -> None:
    schema = _schema(op.get_bind())
    if schema:
        name = op.get_bind().dialect.identifier_preparer.quote_identifier(schema)
        op.execute(f"ALTER TABLE vectors ALTER COLUMN vector TYPE {name}.vector USING NULL")  # no row is in it yet
    for table, columns in TEXTS.items():
        op.execute(f"ALTER TABLE {table} {', '.join(f'ALTER COLUMN {name} SET STATISTICS 0' for name in columns)}")
    for index, column in COMPUTED.items():
        op.execute(f"ALTER INDEX {index} ALTER COLUMN {column} SET STATISTICS 0")


def _schema(connection: sa.Connection) -> str:
    """Where the extension is, once it is there; "" where it cannot be used."""
    installed = connection.execute(INSTALLED).one_or_none()
    if installed is None and connection.execute(AVAILABLE).scalar_one():
        try:
            with connection.begin_nested():
                connection.execute(sa.text("CREATE EXTENSION vector SCHEMA lumina"))
        except (ProgrammingError, OperationalError) as refused:  # this user may not, or a file of it is missing
            if refused.connection_invalidated:
                raise
        installed = connection.execute(INSTALLED).one_or_none()
    return installed[0] if installed is not None and installed[1] else ""
