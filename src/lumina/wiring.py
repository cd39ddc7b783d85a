"""Settings in, a ready agent out: the only place that picks adapters.

    async with await open_agent(database="lumina.db") as agent:            # extractive model, local documents
        scope = ThreadScope(tenant="local", subject="me", thread="main")
        run = await agent.ask(scope, "What does functools.lru_cache keep?")
        async for event in run.events():                                   # to turn.finished
            print(event.kind)
        await run.notes()                                                  # waits up to 2 s for the after-turn notes

What can be done with it (`lumina.agent.search_agent.SearchAgent`, `lumina.agent.run.Run`):

    run = await agent.ask(scope, question, client_id="", budget=8000)      # the question is stored when this returns
    run = await agent.ask(scope, question, instead_of=3)                   # in the place of turn 3 and what came after
    run = await agent.regenerate(scope, 3)                                 # the same question again
    run.seq, run.attempt, run.new                                          # new is False for a known client id
    run.events(after=0)          async iterator; stored events, then live ones, to the terminal event
    run.stop()                   not async; the turn ends as partial ("stopped") and keeps its text
    await run.ended()            the stored Turn, when its end is committed
    await run.notes(wait=2.0)    memory.noting.Noting | None
    agent.follow(scope, seq, attempt, after=0)                             # any turn, running or ended
    agent.thread_events(scope, after=0)                                    # the thread's own log; never ends
    await agent.thread(scope)    memory.thread.Thread on the agent's store: show(), state(), profile() ...
    await agent.threads(scope.of_subject)                                  # list[ThreadInfo], the one asked last first
    agent.model_name; agent.store; await agent.noted(); await agent.close()   # noted: nothing is being noted any more

A command that answers nothing needs no agent and no model library: `open_threads(...)` gives `thread` and `threads`
on a store alone. Heavy modules are imported inside the functions.
"""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

from lumina.memory.errors import UsageError
from lumina.memory.looking_back import RecallMode
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import ModelUse, Store
from lumina.memory.thread import Clock, Thread, utc_now
from lumina.memory.turns import ThreadInfo

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from lumina.adapters.documents.library import Library
    from lumina.adapters.models.without_tools import ToolManner
    from lumina.adapters.net.doors import Doors
    from lumina.adapters.pages.reader import WebPageReader
    from lumina.agent.desk import Limits
    from lumina.agent.ports import DocumentStore, NoteTaker, SearchProvider
    from lumina.agent.search_agent import SearchAgent
    from lumina.memory.change import About
    from lumina.memory.embedding import Embedder
    from lumina.memory.forgotten import Forgotten
    from lumina.memory.schema import Schema

DEFAULT_MODEL = "extractive"
DEFAULT_SEARCH = "docs"
SEARCHES = ("docs", "searxng", "tavily", "brave", "exa", "ddgs")
NO_EMBEDDER = "none"
NO_MODEL = "Quoted from your documents; no model is set"
NO_MODEL_WEB = "Quoted from the sources that were found; no model is set"


async def open_agent(
    *,
    database: str | os.PathLike[str] | None = None,
    model: "str | Model" = DEFAULT_MODEL,
    search: "str | SearchProvider | Sequence[SearchProvider]" = DEFAULT_SEARCH,
    notes: "NoteTaker | None" = None,
    memory: bool = True,
    zone: str = "UTC",
    clock: Clock = utc_now,
    limits: "Limits | None" = None,
    embedder: "str | Embedder" = NO_EMBEDDER,
    embedder_url: str = "",
    schema: "Schema | str | os.PathLike[str] | None" = None,
    recall: RecallMode = "when pointed",
    prompts: str | os.PathLike[str] | None = None,
    model_url: str = "",
    model_key: str = "",
    model_tools: "ToolManner" = "auto",
    searxng_url: str = "",
    web_allow: str = "",
    cite: str = "any",
) -> "SearchAgent":
    """An agent on the database (a SQLite file; None keeps everything in memory).

    `model`: `extractive`, a name such as `openai:gpt-5` (UsageError when unknown, or when its extra or key is
    missing), or a pydantic-ai Model. `model_url`, `model_key`, `model_tools`: as the settings say. `search`: a
    chain such as `docs,searxng` (see `find_searches`), or providers of your own; with one that searches the web, its
    pages can be read, and what of your own network with `web_allow`. `cite`: `any`, or `pages` (what a search only
    gave an excerpt of is not cited). `notes`: who answers the delta step; by default the extractive one for the
    extractive model, else the model. `memory=False`: nothing is noted.
    `embedder`: `none`, `minilm`, `minilm:FOLDER`, `openai:MODEL` (at `embedder_url`), or one of your own.
    `schema`: declared keys and what must never be stored, or the path of the TOML file that says so.
    `recall`: when earlier turns are fetched, as `open_thread` has it. `prompts`: the folder with prompts that take the
    place of Lumina's (UsageError for one that cannot be used).
    """
    from lumina.agent.desk import Desk, Limits
    from lumina.agent.prompts import own_prompts
    from lumina.agent.search_agent import SearchAgent
    from lumina.stores.opening import open_store

    chosen, declared = find_model(model, url=model_url, key=model_key, tools=model_tools), find_schema(schema)
    vectors = find_embedder(embedder, embedder_url)
    doors = open_doors(web_allow)
    own = own_prompts(Path(prompts) if prompts is not None else None)
    store = await open_store(database)
    try:
        providers = find_searches(search, store, doors, searxng_url=searxng_url)
        reader = page_reader(doors) if isinstance(search, str) and search != DEFAULT_SEARCH else None
        closing = [
            getattr(chosen, "aclose", None) if isinstance(model, str) else None,
            reader.aclose if reader else None,
            doors.aclose,
        ]
        desk = Desk(
            store=store,
            model=chosen,
            search=providers[0],
            then=providers[1:],
            pages=reader,
            snippets_count=cite != "pages",
            notes=notes or note_taker(chosen),
            notice=(NO_MODEL_WEB if reader else NO_MODEL) if chosen.model_name == DEFAULT_MODEL else "",
            limits=limits or Limits(),
            embedder=vectors,
            prompts=own,
            closing=tuple(filter(None, closing)),
        )
        return SearchAgent(desk, zone=zone, clock=clock, memory=memory, schema=declared, recall=recall)
    except BaseException:
        await store.close()
        raise


def find_model(model: "str | Model", *, url: str = "", key: str = "", tools: "ToolManner" = "auto") -> "Model":
    """The model that a name stands for. UsageError when it is unknown, or when what it needs is not there. A vendor's
    model is asked through a client that goes to its address alone, and has `aclose`."""
    if not isinstance(model, str):
        return model
    if model == DEFAULT_MODEL:
        from lumina.adapters.extractive.model import ExtractiveModel

        return ExtractiveModel()
    from lumina.adapters.models.names import named

    found = named(model, url=url, key=key)
    from lumina.adapters.models.reached import ReachedModel, hooks
    from lumina.adapters.models.vendors import vendor_model
    from lumina.adapters.models.without_tools import with_manner
    from lumina.adapters.net.client import configured_client

    client = configured_client(found.url, hooks=hooks(found.url))
    return with_manner(ReachedModel(vendor_model(found, client), named=found, client=client), tools)


def note_taker(model: "Model") -> "NoteTaker":
    """Who answers the delta step beside `model`."""
    if model.model_name == DEFAULT_MODEL:
        from lumina.adapters.extractive.notes import ExtractiveNotes

        return ExtractiveNotes()
    from lumina.agent.model_notes import ModelNotes

    return ModelNotes(model)


def price_of(use: ModelUse) -> Decimal | None:
    """What a model call cost, in US dollars; None when its price is not known."""
    from lumina.adapters import prices

    return prices.price_of(use)


def find_schema(schema: "Schema | str | os.PathLike[str] | None") -> "Schema | None":
    """The schema in a file, or the one given. UsageError for a file that cannot be read as one."""
    if schema is None or schema == "":
        return None
    from lumina.memory.schema import Schema

    return schema if isinstance(schema, Schema) else Schema.from_toml(schema)


def find_searches(
    search: "str | SearchProvider | Sequence[SearchProvider]", store: Store, doors: "Doors", *, searxng_url: str = ""
) -> "tuple[SearchProvider, ...]":
    """The chain that `search` names, in its order: `docs` (local documents), `searxng` (at `searxng_url`), `tavily`,
    `brave`, `exa` (each with its key in the environment), `ddgs` (no key, extra `web`). UsageError for an unknown
    name, or when what one needs is not there."""
    if isinstance(search, str):
        names = dict.fromkeys(name.strip() for name in search.split(","))
        return tuple(_searcher(name, store, doors, searxng_url, alone=len(names) == 1) for name in names)
    return tuple(search) if isinstance(search, Sequence) else (search,)


def _searcher(name: str, store: Store, doors: "Doors", searxng_url: str, *, alone: bool) -> "SearchProvider":
    match name:
        case "docs":
            from lumina.adapters.documents.search import DocumentSearch

            # Lumina's stores keep documents too. Its own documentation would hide the web that is asked next.
            return DocumentSearch(cast("DocumentStore", store), own=alone)
        case "searxng":
            from lumina.adapters.search.searxng import SearXNG

            if not searxng_url:
                raise UsageError("The search `searxng` needs LUMINA_SEARXNG_URL, the address of your instance.")
            return SearXNG(doors.configured(searxng_url), searxng_url)
        case "tavily":
            from lumina.adapters.search import tavily

            return tavily.Tavily(doors.configured(tavily.ADDRESS), _search_key(name, tavily.KEY))
        case "brave":
            from lumina.adapters.search import brave

            return brave.Brave(doors.configured(brave.ADDRESS), _search_key(name, brave.KEY, brave.OTHER_KEY))
        case "exa":
            from lumina.adapters.search import exa

            return exa.Exa(doors.configured(exa.ADDRESS), _search_key(name, exa.KEY))
        case "ddgs":
            from lumina.adapters.search.ddgs import DDGS

            return DDGS()
        case _:
            raise UsageError(f"{name!r} is not a search provider. There are: {', '.join(SEARCHES)}.")


def _search_key(name: str, *settings: str) -> str:
    """The key in the first of `settings` that is set. What no header can carry is refused here, where its name is known
    and it is not shown."""
    for setting in settings:
        if key := os.environ.get(setting, "").strip():
            if key.isascii() and key.isprintable() and " " not in key:
                return key
            raise UsageError(f"{setting} holds characters that no key has. Set it again, without quotes or spaces.")
    raise UsageError(f"The search `{name}` needs a key: set {settings[0]} in the environment.")


def find_embedder(embedder: "str | Embedder", url: str = "") -> "Embedder | None":
    """The embedder that a name stands for; None for `none`. UsageError when it is unknown, or when what it needs (an
    extra, a file, a key) is not there."""
    if not isinstance(embedder, str):
        return embedder
    kind, _, rest = embedder.partition(":")
    if embedder == NO_EMBEDDER:
        return None
    if kind == "minilm":
        from lumina.adapters.embedders.minilm import MiniLM

        return MiniLM(weights=rest or None)
    if kind == "openai" and rest:
        try:
            from lumina.adapters.embedders.openai_compatible import OPENAI, OpenAICompatible
            from lumina.adapters.net.doors import configured_door
        except ImportError as error:
            raise UsageError(
                f"The embedder {embedder} needs a package that is not installed ({error.name}): "
                "pip install 'lumina-search[app]'."
            ) from error
        model, slash, width = rest.rpartition("/")
        if not (slash and width.isascii() and width.isdigit() and len(width) < 6):
            model, width = rest, "0"  # a model's name may have a slash in it
        return OpenAICompatible(
            door=configured_door(url or OPENAI), model=model, width=int(width), url=url or OPENAI,
            key=os.environ.get("OPENAI_API_KEY", ""),
        )  # fmt: skip
    raise UsageError(f"{embedder!r} is not an embedder. There are: none, minilm, minilm:FOLDER, openai:MODEL.")


def open_doors(web_allow: str = "") -> "Doors":
    """The ways out of one agent: `.web` for pages, `.configured(origin)` for one place, `.client(base_url)` for a
    vendor's SDK. `web_allow` as LUMINA_WEB_ALLOW. Close them with the agent: `aclose` in Desk.closing."""
    from lumina.adapters.net.doors import Doors
    from lumina.adapters.net.reach import Allowed

    return Doors(allowed=Allowed.of(web_allow))


def page_reader(doors: "Doors") -> "WebPageReader":
    """Who reads pages of the web for an agent. To be closed as well."""
    from lumina.adapters.pages.reader import WebPageReader

    return WebPageReader(doors.web)


class Threads:
    """Threads without an agent: to read, to show, to list. Close it when done."""

    def __init__(self, store: Store, *, zone: str, clock: Clock, schema: "Schema | None" = None) -> None:
        self.store = store
        self._schema = schema
        self._zone = zone
        self._clock = clock

    async def __aenter__(self) -> "Threads":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.store.close()

    async def thread(self, scope: ThreadScope) -> Thread:
        """The thread. NotFound when there is none: nothing is made here."""
        info = await self.store.thread_info(scope)
        return Thread(store=self.store, scope=scope, info=info, zone=self._zone, clock=self._clock,
                      schema=self._schema)  # fmt: skip

    async def threads(self, scope: SubjectScope, *, limit: int = 50) -> list[ThreadInfo]:
        """The subject's threads, the one asked last first."""
        return await self.store.threads(scope, limit=limit, now=self._clock())

    async def forget_entry(
        self, scope: ThreadScope, key: str, *, about: "About" = "thread", by: str = "", preview: bool = False
    ) -> "Forgotten":
        """Forgets what was noted under `key`: see `lumina.memory.forgotten`. `preview` only says what would go."""
        from lumina.memory.forgotten import forget_entry

        return await forget_entry(self.store, scope, key, about=about, by=by, now=self._now(), preview=preview)

    async def forget_turn(self, scope: ThreadScope, seq: int, *, by: str = "", preview: bool = False) -> "Forgotten":
        """Forgets a turn with all its attempts."""
        from lumina.memory.forgotten import forget_turn

        return await forget_turn(self.store, scope, seq, by=by, now=self._now(), preview=preview)

    async def forget_thread(self, scope: ThreadScope, *, by: str = "", preview: bool = False) -> "Forgotten":
        """Forgets a thread, and what its turns put into the profile. A missing one is no error."""
        from lumina.memory.forgotten import forget_thread

        return await forget_thread(self.store, scope, by=by, now=self._now(), preview=preview)

    async def forget_subject(self, scope: SubjectScope, *, by: str = "", preview: bool = False) -> "Forgotten":
        """Forgets everything of a subject. One row of the audit stays."""
        from lumina.memory.forgotten import forget_subject

        return await forget_subject(self.store, scope, by=by, now=self._now(), preview=preview)

    def _now(self) -> datetime:
        return self._clock().astimezone(ZoneInfo(self._zone))


async def open_threads(
    database: str | os.PathLike[str] | None = None, *, zone: str = "UTC", clock: Clock = utc_now,
    schema: "Schema | str | os.PathLike[str] | None" = None,
) -> Threads:  # fmt: skip
    """The threads of a database, for a command that asks no model."""
    from lumina.stores.opening import open_store

    declared = find_schema(schema)
    return Threads(await open_store(database), zone=zone, clock=clock, schema=declared)


@asynccontextmanager
async def open_library(database: str | os.PathLike[str] | None = None) -> AsyncIterator["Library"]:
    """The documents of a database, for the commands that add, list and remove them."""
    from lumina.adapters.documents.library import Library
    from lumina.stores.opening import open_store

    store = await open_store(database)
    try:
        yield Library(cast("DocumentStore", store))
    finally:
        await store.close()
