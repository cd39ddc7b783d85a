"""Embeddings of passages, the audit, and threads that are deleted after a day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "subject", "number", name=op.f("pk_audit")),
    )
    op.create_table(
        "vectors",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "id"],
            ["passages.tenant", "passages.subject", "passages.thread", "passages.id"],
            name=op.f("fk_vectors_passages"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "id", name=op.f("pk_vectors")),
    )
    op.add_column("threads", sa.Column("expires_at", sa.Text(), server_default="", nullable=False))
