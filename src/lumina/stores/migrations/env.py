"""Alembic's entry for developers (`alembic revision --autogenerate`); the program itself uses `upgrade`."""

from alembic import context
from sqlalchemy import create_engine

from lumina.stores.schema import metadata

with create_engine(context.config.get_main_option("sqlalchemy.url") or "sqlite://").begin() as connection:
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()
