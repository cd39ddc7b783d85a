"""The first schema: threads and all that belongs to them, documents, and SQLite's word index of turns.

The word index exists on SQLite only. Its tokenizer neither folds nor splits, because words come folded from
lumina.memory.words.
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TURN_WORDS = (
    "CREATE VIRTUAL TABLE turn_words USING fts5("
    "words, detail = none, columnsize = 0, tokenize = \"ascii tokenchars '_'\")"
)


def upgrade() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "owners",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("handle", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("passages", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("words", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_owners")),
        sa.UniqueConstraint("handle", name=op.f("uq_owners_handle")),
    )
    op.create_table(
        "subjects",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_subjects")),
    )
    op.create_table(
        "texts",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", "digest", name=op.f("pk_texts")),
    )
    op.create_table(
        "documents",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("locator", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("passages", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("words", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("size", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("added_at", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject"], ["owners.tenant", "owners.subject"], name=op.f("fk_documents_owners")
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "id", name=op.f("pk_documents")),
        sa.UniqueConstraint("id", name=op.f("uq_documents_id")),
        sa.UniqueConstraint("tenant", "subject", "locator", name=op.f("uq_documents_tenant_subject_locator")),
    )
    op.create_table(
        "profiles",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject"], ["subjects.tenant", "subjects.subject"], name=op.f("fk_profiles_subjects")
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", name=op.f("pk_profiles")),
    )
    op.create_table(
        "threads",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("handle", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("deltas", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turns", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sources", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("running", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("running_attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Text(), nullable=False),
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
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("document", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("end", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "document"],
            ["documents.tenant", "documents.subject", "documents.id"],
            name=op.f("fk_document_passages_documents"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "document", "ordinal", name=op.f("pk_document_passages")),
    )
    op.create_table(
        "document_words",
        sa.Column("owner", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("document", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["document"], ["documents.id"], name=op.f("fk_document_words_documents")),
        sa.PrimaryKeyConstraint("owner", "form", "document", name=op.f("pk_document_words")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_document_words_document"), "document_words", ["document"], unique=False)
    op.create_table(
        "events",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_events_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "number", name=op.f("pk_events")),
    )
    op.create_table(
        "sources",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("locator", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("depth", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
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
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread"],
            ["threads.tenant", "threads.subject", "threads.thread"],
            name=op.f("fk_states_threads"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", name=op.f("pk_states")),
    )
    op.create_table(
        "turns",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("searched", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("superseded", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("window_start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("forgotten", sa.Text(), nullable=False),
        sa.Column("cited", sa.Text(), nullable=False),
        sa.Column("followups", sa.Text(), nullable=False),
        sa.Column("usage", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("exchanges", sa.Text(), nullable=False),
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
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sentence_start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sentence_end", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("passage", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("checkable", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("missing", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_citations_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "place", name=op.f("pk_citations")),
    )
    op.create_table(
        "delta_jobs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
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
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("correction", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
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
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("end", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_passages_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "id", name=op.f("pk_passages")),
    )
    op.create_table(
        "receipts",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("call", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_receipts_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "call", name=op.f("pk_receipts")),
    )
    op.create_table(
        "tool_calls",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("call", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_tool_calls_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "place", name=op.f("pk_tool_calls")),
    )
    op.create_table(
        "turn_sources",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
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
    names = sa.table("counters", sa.column("name", sa.Text), sa.column("last", sa.Integer))
    op.bulk_insert(names, [{"name": name, "last": 0} for name in ("thread", "owner", "document")])
    meta = sa.table("meta", sa.column("name", sa.Text), sa.column("value", sa.LargeBinary))
    op.bulk_insert(meta, [{"name": "secret", "value": secrets.token_bytes(32)}])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(TURN_WORDS)
