"""Brings a database up to date, inside the transaction that it is given: all of it or nothing.

The caller holds the write lock. Whoever opens the same new file meanwhile waits for it and then finds no work left.
"""

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from lumina.stores.schema import metadata


def upgrade(connection: Connection, to: str = "head") -> None:
    """To the newest revision, or to an older one (for tests of what older versions have left)."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)

    def steps(revision: object, context: object) -> list[RevisionStep]:
        return script._upgrade_revs(to, revision)  # type: ignore[arg-type, return-value]

    with EnvironmentContext(config, script, fn=steps) as environment:
        environment.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
        environment.run_migrations()
