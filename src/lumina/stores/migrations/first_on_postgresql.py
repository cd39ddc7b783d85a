"""What the first schema has on PostgreSQL only: the word index of turns, and locators of any length.

PostgreSQL's indexes hold no value of more than 2,704 bytes, and a locator may be longer: there it is unique by its MD5.
Of two locators that were made to collide the second is refused; nothing is mixed up, because the whole is compared as
well.
"""

import sqlalchemy as sa
from alembic import op

TEXT = sa.Text(collation="C")
WHOLE = sa.BigInteger()


def for_postgresql() -> None:
    op.create_table(
        "turn_words",
        sa.Column("thread", WHOLE, autoincrement=False, nullable=False),
        sa.Column("word", TEXT, nullable=False),
        sa.Column("passage", WHOLE, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("thread", "word", "passage", name=op.f("pk_turn_words")),
    )
    for table, key in (("sources", ("tenant", "subject", "thread")), ("documents", ("tenant", "subject"))):
        op.drop_constraint(f"uq_{table}_{'_'.join(key)}_locator", table, type_="unique")
        unique = [*key, sa.func.md5(sa.column("locator"))]
        op.create_index(f"ix_{table}_{'_'.join(key)}_md5_locator", table, unique, unique=True)
