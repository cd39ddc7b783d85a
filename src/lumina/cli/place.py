"""Where a command works: settings, the database, and which conversation is meant.

In one-person use there is one tenant and one subject, and neither is mentioned.
"""

import secrets
from dataclasses import dataclass

from lumina.memory.errors import NotFound
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.settings import Settings, load

ME = SubjectScope(tenant="local", subject="me")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The settings, with the folder made."""

    settings: Settings

    @property
    def database(self) -> str:
        return str(self.settings.database_path)


def place() -> Place:
    """Reads the settings. UsageError for one that cannot be used."""
    return Place(settings=load())


def new_thread(today: str) -> ThreadScope:
    """A new conversation's scope: a day and four letters, short enough to type."""
    letters = "".join(secrets.choice("bcdfghjkmnpqrstvwxyz") for _ in range(4))
    return ME.thread(f"{today}-{letters}")


async def last_thread(store: Store) -> ThreadScope:
    """The conversation that was asked last. NotFound when there is none."""
    found = await store.threads(ME, limit=1)
    if not found:
        raise NotFound('There is no conversation yet. Begin one: lumina ask "..."')
    return ME.thread(found[0].thread)


async def chosen_thread(store: Store, name: str, *, go_on: bool, today: str) -> ThreadScope:
    """The named conversation, the last one, or a new one."""
    if name:
        return ME.thread(name)
    return await last_thread(store) if go_on else new_thread(today)


async def known_thread(store: Store, name: str) -> ThreadScope:
    """The named conversation or the last one. NotFound, with a hint, when there is none of that name."""
    if not name:
        return await last_thread(store)
    scope = ME.thread(name)
    try:
        await store.thread_info(scope)
    except NotFound:
        raise NotFound(f"There is no conversation {name!r}. `lumina threads` lists yours.") from None
    return scope
