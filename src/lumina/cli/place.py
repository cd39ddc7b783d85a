"""Where a command works: settings, the database, and which conversation is meant.

In one-person use there is one tenant and one subject, and neither is mentioned.
"""

from typing import TYPE_CHECKING

from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.scope import SubjectScope, ThreadScope, check_id
from lumina.memory.store import Store
from lumina.memory.thread import utc_now
from lumina.memory.turns import ThreadInfo
from lumina.settings import Settings, load
from lumina.wiring import Threads, open_agent, open_threads

if TYPE_CHECKING:
    from lumina.agent.search_agent import SearchAgent

ME = SubjectScope(tenant="local", subject="me")


def settings() -> Settings:
    """The settings of this process. UsageError for one that cannot be used."""
    return load()


async def agent_at(chosen: Settings, model: str = "") -> "SearchAgent":
    """The agent that the settings describe; `model` is another one for this command."""
    return await open_agent(
        database=chosen.database, model=model or chosen.model, search=chosen.search,
        memory=chosen.memory == "on", zone=chosen.zone, embedder=chosen.embedder, embedder_url=chosen.embedder_url,
        schema=chosen.schema_path, recall=chosen.recall, prompts=chosen.home / "prompts",
        model_url=chosen.model_url, model_key=chosen.model_key.get_secret_value(), model_tools=chosen.model_tools,
        searxng_url=chosen.searxng_url, web_allow=chosen.web_allow, cite=chosen.cite,
    )  # fmt: skip


async def threads_at(chosen: Settings) -> Threads:
    """The conversations, for a command that asks no model."""
    return await open_threads(chosen.database, zone=chosen.zone, schema=chosen.schema_path)


def check_name(name: str, go_on: bool) -> None:
    """UsageError for a conversation's name that cannot be one, before anything heavy is loaded."""
    if name and go_on:
        raise UsageError("Give --thread NAME or --continue (which means the last conversation), not both.")
    if name:
        check_id("--thread", name)


def check_temporary(temporary: bool, go_on: bool) -> None:
    """UsageError where a temporary conversation could only be one that is there already."""
    if temporary and go_on:
        raise UsageError("--temporary begins a new conversation; --continue goes on with one. Give one of them.")


async def last_thread(store: Store) -> ThreadScope:
    """The conversation that was asked last. NotFound when there is none."""
    found = await store.threads(ME, limit=1, now=utc_now())
    if not found:
        raise NotFound('There is no conversation yet. Begin one: lumina ask "..."')
    return ME.thread(found[0].thread)


async def chosen_thread(store: Store, name: str, *, go_on: bool, today: str) -> ThreadScope:
    """The named conversation, the last one, or a new one."""
    if name:
        return ME.thread(name)
    return await last_thread(store) if go_on else ME.new_thread(today, letters=4)


async def known_thread(store: Store, name: str) -> tuple[ThreadScope, ThreadInfo]:
    """The named conversation or the last one. NotFound, with a hint, when there is none of that name. Temporary ones
    whose day is over are gone by then."""
    await store.threads(ME, limit=1, now=utc_now())
    scope = ME.thread(name) if name else await last_thread(store)
    try:
        return scope, await settled(store, await store.thread_info(scope))
    except NotFound:
        raise NotFound(f"There is no conversation {name!r}. `lumina threads` lists yours.") from None


async def settled(store: Store, info: ThreadInfo) -> ThreadInfo:
    """The conversation after a turn whose process is gone was ended as interrupted."""
    if not info.running:
        return info
    try:
        return await store.open_thread(ME.thread(info.thread), deltas=info.deltas)
    except StoreError:  # what is damaged can be read all the same
        return info
