"""What model calls took, in tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "usage",
        *(sa.Column(name, TEXT, nullable=False) for name in ("tenant", "subject", "thread")),
        *(sa.Column(name, WHOLE, autoincrement=False, nullable=False) for name in ("seq", "attempt", "number")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("purpose", "model", "day")),
        *(
            sa.Column(name, WHOLE, autoincrement=False, nullable=False)
            for name in ("input", "output", "cached", "cache_written", "reasoning")
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "subject", "thread", "seq", "attempt"],
            ["turns.tenant", "turns.subject", "turns.thread", "turns.seq", "turns.attempt"],
            name=op.f("fk_usage_turns"),
        ),
        sa.PrimaryKeyConstraint("tenant", "subject", "thread", "seq", "attempt", "number", name=op.f("pk_usage")),
    )
    op.create_index(op.f("ix_usage_tenant_subject_day"), "usage", ["tenant", "subject", "day"])
