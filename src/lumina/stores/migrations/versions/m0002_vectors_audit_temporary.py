"""Embeddings of passages, the audit, and threads that are deleted after a day."""

import sqlalchemy as sa
from alembic import op

from lumina.stores.migrations.vectors_on_postgresql import for_postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("by", TEXT, nullable=False),
        sa.Column("at", TEXT, nullable=False),
        sa.Column("detail", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", "number", name=op.f("pk_audit")),
    )
    op.create_table(
        "vectors",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("thread", TEXT, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("embedder", TEXT, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "id"],
            ["passages.tenant", "passages.subject", "passages.thread", "passages.id"],
            name=op.f("fk_vectors_passages"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "id", name=op.f("pk_vectors")),
    )
    op.add_column("threads", sa.Column("expires_at", TEXT, server_default="", nullable=False))
    if op.get_bind().dialect.name == "postgresql":
        for_postgresql()
