"""The first schema: threads and all that belongs to them, documents, and the word index of turns.

The word index is what each database does best: FTS5 on SQLite, whose tokenizer neither folds nor splits because words
come folded from lumina.memory.words; a table of (thread, word, passage) on PostgreSQL.
"""

import secrets

import sqlalchemy as sa
from alembic import op

from lumina.stores.migrations.first_on_postgresql import for_postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TURN_WORDS = (
    "CREATE VIRTUAL TABLE turn_words USING fts5("
    "words, detail = none, columnsize = 0, tokenize = \"ascii tokenchars '_'\")"
)


def upgrade() -> None:
    op.create_table(
        "counters",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("last", WHOLE, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "meta",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "owners",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("handle", WHOLE, autoincrement=False, nullable=False),
        sa.Column("passages", WHOLE, autoincrement=False, nullable=False),
        sa.Column("words", WHOLE, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_owners")),
        sa.UniqueConstraint("handle", name=op.f("uq_owners_handle")),
    )
    op.create_table(
        "subjects",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_subjects")),
    )
    op.create_table(
        "texts",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("text", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", "digest", name=op.f("pk_texts")),
    )
    op.create_table(
        "documents",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("id", WHOLE, autoincrement=False, nullable=False),
        sa.Column("locator", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("passages", WHOLE, autoincrement=False, nullable=False),
        sa.Column("words", WHOLE, autoincrement=False, nullable=False),
        sa.Column("size", WHOLE, autoincrement=False, nullable=False),
        sa.Column("added_at", TEXT, nullable=False),
        sa.Column("text", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject"], ["owners.tenant", "owners.subject"], name=op.f("fk_documents_owners")
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "id", name=op.f("pk_documents")),
        sa.UniqueConstraint("id", name=op.f("uq_documents_id")),
        sa.UniqueConstraint("tenant", "subject", "locator", name=op.f("uq_documents_tenant_subject_locator")),
    )
    op.create_table(
        "profiles",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("version", WHOLE, autoincrement=False, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject"], ["subjects.tenant", "subjects.subject"], name=op.f("fk_profiles_subjects")
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_profiles")),
    )
    op.create_table(
        "threads",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("handle", WHOLE, autoincrement=False, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("deltas", WHOLE, autoincrement=False, nullable=False),
        sa.Column("turns", WHOLE, autoincrement=False, nullable=False),
        sa.Column("sources", WHOLE, autoincrement=False, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("running", WHOLE, autoincrement=False, nullable=False),
        sa.Column("running_attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("asked_at", TEXT, nullable=False),
        sa.CheckConstraint("deltas in (0, 1)", name=op.f("ck_threads_deltas")),
        sa.ForeignKeyConstraint(
            ["tenant", "subject"], ["subjects.tenant", "subjects.subject"], name=op.f("fk_threads_subjects")
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", name=op.f("pk_threads")),
        sa.UniqueConstraint("handle", name=op.f("uq_threads_handle")),
    )
    op.create_index(op.f("ix_threads_tenant_subject_number"), "threads", ["tenant", "subject", "number"], unique=False)
    op.create_table(
        "document_passages",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("document", WHOLE, autoincrement=False, nullable=False),
        sa.Column("ordinal", WHOLE, autoincrement=False, nullable=False),
        sa.Column("start", WHOLE, autoincrement=False, nullable=False),
        sa.Column("end", WHOLE, autoincrement=False, nullable=False),
        sa.Column("heading", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "document"],
            ["documents.tenant", "documents.subject", "documents.id"],
            name=op.f("fk_document_passages_documents"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "document", "ordinal", name=op.f("pk_document_passages")),
    )
    op.create_table(
        "document_words",
        sa.Column("owner", WHOLE, autoincrement=False, nullable=False),
        sa.Column("form", TEXT, nullable=False),
        sa.Column("document", WHOLE, autoincrement=False, nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["document"], ["documents.id"], name=op.f("fk_document_words_documents")),
        sa.PrimaryKeyConstraint("owner", "form", "document", name=op.f("pk_document_words")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_document_words_document"), "document_words", ["document"], unique=False)
    op.create_table(
        "events",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_events_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "number", name=op.f("pk_events")),
    )
    op.create_table(
        "sources",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("n", WHOLE, autoincrement=False, nullable=False),
        sa.Column("locator", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("host", TEXT, nullable=False),
        sa.Column("depth", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "digest"],
            ["texts.tenant", "texts.subject", "texts.digest"],
            name=op.f("fk_sources_texts"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_sources_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "n", name=op.f("pk_sources")),
        sa.UniqueConstraint(
            "tenant", "subject", "thread", "locator", name=op.f("uq_sources_tenant_subject_thread_locator")
        ),
    )
    op.create_table(
        "states",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("version", WHOLE, autoincrement=False, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_states_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", name=op.f("pk_states")),
    )
    op.create_table(
        "turns",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("client_id", TEXT, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("searched", TEXT, nullable=False),
        sa.Column("asked_at", TEXT, nullable=False),
        sa.Column("zone", TEXT, nullable=False),
        sa.Column("day", TEXT, nullable=False),
        sa.Column("superseded", WHOLE, autoincrement=False, nullable=False),
        sa.Column("window_start", WHOLE, autoincrement=False, nullable=False),
        sa.Column("forgotten", TEXT, nullable=False),
        sa.Column("cited", TEXT, nullable=False),
        sa.Column("followups", TEXT, nullable=False),
        sa.Column("usage", TEXT, nullable=False),
        sa.Column("question", TEXT, nullable=False),
        sa.Column("answer", TEXT, nullable=False),
        sa.Column("exchanges", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_turns_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "tenant", "subject", "thread", "client_id", name=op.f("uq_turns_tenant_subject_thread_client_id")
        ),
    )
    op.create_table(
        "citations",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("place", WHOLE, autoincrement=False, nullable=False),
        sa.Column("n", WHOLE, autoincrement=False, nullable=False),
        sa.Column("position", WHOLE, autoincrement=False, nullable=False),
        sa.Column("sentence_start", WHOLE, autoincrement=False, nullable=False),
        sa.Column("sentence_end", WHOLE, autoincrement=False, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("passage", TEXT, nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("checkable", WHOLE, autoincrement=False, nullable=False),
        sa.Column("missing", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_citations_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "place", name=op.f("pk_citations")),
    )
    op.create_table(
        "delta_jobs",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("answer", TEXT, nullable=False),
        sa.Column("tries", WHOLE, autoincrement=False, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_delta_jobs_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", name=op.f("pk_delta_jobs")),
    )
    op.create_index(
        op.f("ix_delta_jobs_tenant_subject_thread_status_seq"),
        "delta_jobs",
        ["tenant", "subject", "thread", "status", "seq"],
        unique=False,
    )
    op.create_table(
        "deltas",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("correction", WHOLE, autoincrement=False, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("changes", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_deltas_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "correction", name=op.f("pk_deltas")),
    )
    op.create_index(
        op.f("ix_deltas_tenant_subject_number_correction"),
        "deltas",
        ["tenant", "subject", "number", "correction"],
        unique=False,
    )
    op.create_table(
        "passages",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("part", TEXT, nullable=False),
        sa.Column("start", WHOLE, autoincrement=False, nullable=False),
        sa.Column("end", WHOLE, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_passages_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "id", name=op.f("pk_passages")),
    )
    op.create_table(
        "receipts",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("call", WHOLE, autoincrement=False, nullable=False),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_receipts_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "call", name=op.f("pk_receipts")),
    )
    op.create_table(
        "tool_calls",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("place", WHOLE, autoincrement=False, nullable=False),
        sa.Column("call", WHOLE, autoincrement=False, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("arguments", TEXT, nullable=False),
        sa.Column("result", TEXT, nullable=False),
        sa.Column("said", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_tool_calls_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "place", name=op.f("pk_tool_calls")),
    )
    op.create_table(
        "turn_sources",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("seq", WHOLE, autoincrement=False, nullable=False),
        sa.Column("attempt", WHOLE, autoincrement=False, nullable=False),
        sa.Column("n", WHOLE, autoincrement=False, nullable=False),
        sa.Column("place", WHOLE, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "n"],
            ["sources.tenant", "sources.subject", "sources.thread", "sources.n"],
            name=op.f("fk_turn_sources_sources"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_turn_sources_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "n", name=op.f("pk_turn_sources")),
    )
    names = sa.table("counters", sa.column("name", TEXT), sa.column("last", WHOLE))
    op.bulk_insert(names, [{"name": name, "last": 0} for name in ("thread", "owner", "document")])
    meta = sa.table("meta", sa.column("name", TEXT), sa.column("value", sa.LargeBinary))
    op.bulk_insert(meta, [{"name": "secret", "value": secrets.token_bytes(32)}])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(TURN_WORDS)
    else:
        for_postgresql()
