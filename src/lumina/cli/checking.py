"""What `lumina models` lists and `lumina doctor` checks. Each check stands alone: one that fails hides no other."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal

from lumina.cli.place import ME, settings
from lumina.cli.screen import flat, say
from lumina.cli.working import Worker, complete
from lumina.memory.errors import LuminaError
from lumina.settings import Settings
from lumina.wiring import DEFAULT_MODEL, find_embedder, find_model, find_searches, open_doors, open_threads

SECONDS = 60.0  # for one check: a large local model is loaded first
ASK = "Answer with the one word: ready"
BUILT_IN = "quotes sentences from your documents; needs no key and no network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`off`: not set, and nothing is wrong. `said` is for people: what was found, or what to do."""

    name: str
    state: Literal["ok", "failed", "off"]
    said: str


def list_models(*, as_json: bool) -> int:
    """Prints what can be named here. Returns the exit code."""
    from lumina.adapters.models.readiness import Readiness, all_ready
    from lumina.adapters.net.doors import Doors

    chosen = settings()

    async def look(_: Worker) -> list[Readiness]:
        doors = Doors()
        try:
            return await all_ready(
                door=doors.configured, model=chosen.model, url=chosen.model_url,
                key=chosen.model_key.get_secret_value(),
            )  # fmt: skip
        finally:
            await doors.aclose()

    found = complete(look)
    if as_json:
        say(json.dumps({"vendor": "", "ready": True, "said": BUILT_IN, "models": [DEFAULT_MODEL], "example": ""}))
        for row in found:
            say(json.dumps(asdict(row)))
        return 0
    say(f"{DEFAULT_MODEL}  {BUILT_IN}")
    for row in found:
        name = f"{row.vendor}:..." if row.models or not row.example else row.example
        say(f"{name}  {'ready' if row.ready else 'not ready'}: {flat(row.said)}", "" if row.ready else "dim")
        for model in row.models:
            say(f"  {flat(model)}")
    say(f"Set now: {flat(chosen.model)}. Another one: lumina ask --model NAME, or LUMINA_MODEL.", "dim")
    return 0


def check_all(model: str, *, as_json: bool) -> int:
    """Prints a line for each check. Returns the exit code: 1 when one failed."""
    chosen = settings()
    name = model or chosen.model
    checks: list[tuple[str, Callable[[], Awaitable[Check]]]] = [
        ("settings", lambda: _settings(chosen)),
        ("database", lambda: _database(chosen)),
        ("search", lambda: _search(chosen)),
        ("model", lambda: _model(chosen, name)),
        ("embedder", lambda: _embedder(chosen)),
    ]
    failed = False

    async def one(what: str, check: Callable[[], Awaitable[Check]]) -> Check:
        try:
            async with asyncio.timeout(SECONDS):
                return await check()
        except TimeoutError:
            return Check(name=what, state="failed", said=f"No answer within {SECONDS:g} seconds. Try again.")
        except LuminaError as error:
            return Check(name=what, state="failed", said=str(error))
        except OSError as error:
            return Check(name=what, state="failed", said=f"{error.strerror or type(error).__name__}.")

    with Worker() as worker:
        for what, check in checks:
            done = worker.do(one(what, check))
            failed = failed or done.state == "failed"
            if as_json:
                say(json.dumps(asdict(done)))
            else:
                style = {"ok": "", "failed": "red", "off": "dim"}[done.state]
                say(f"{done.state:<7} {done.name}: {flat(done.said)}", style)
    return 1 if failed else 0


async def _settings(chosen: Settings) -> Check:
    file = chosen.home / "lumina.toml"
    found = f"{file} and the environment" if file.exists() else "the environment; there is no lumina.toml"
    return Check(name="settings", state="ok", said=f"From {found}. Data in {chosen.home}.")


async def _database(chosen: Settings) -> Check:
    async with await open_threads(chosen.database, zone=chosen.zone, schema=chosen.schema_path) as threads:
        count = len(await threads.threads(ME, limit=1000))
    where = "PostgreSQL" if isinstance(chosen.database, str) else str(chosen.database)
    return Check(name="database", state="ok", said=f"{where}: {count} conversation{'' if count == 1 else 's'}.")


async def _search(chosen: Settings) -> Check:
    doors = open_doors(chosen.web_allow)
    try:
        async with await open_threads(chosen.database, zone=chosen.zone) as threads:
            chain = find_searches(chosen.search, threads.store, doors, searxng_url=chosen.searxng_url)
            endings = [await provider.search(ME, "how does Lumina remember", limit=1) for provider in chain]
    finally:
        await doors.aclose()
    told = [
        f"{each.provider} found something."
        if each.kind == "found"
        else f"{each.provider}: {each.reason}."
        if each.kind == "failed"
        else f"{each.provider} was searched; nothing stands there about the question that is asked as a check."
        for each in endings
    ]
    state = "failed" if any(each.kind == "failed" for each in endings) else "ok"
    return Check(name="search", state=state, said=" ".join(told))


async def _model(chosen: Settings, name: str) -> Check:
    if name == DEFAULT_MODEL:
        return Check(name="model", state="ok", said=f"{DEFAULT_MODEL}: {BUILT_IN}. `lumina models` lists others.")
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters

    from lumina.agent.model_errors import explain

    model = find_model(
        name, url=chosen.model_url, key=chosen.model_key.get_secret_value(), tools=chosen.model_tools
    )  # fmt: skip
    try:
        asked = ModelRequest(parts=[UserPromptPart(ASK)])
        response = await model.request([asked], None, ModelRequestParameters())
    except LuminaError:
        raise
    except Exception as error:
        return Check(name="model", state="failed", said=explain(error, name))
    finally:
        if close := getattr(model, "aclose", None):
            await close()
    tokens = f" ({response.usage.input_tokens} tokens in, {response.usage.output_tokens} out)"
    return Check(name="model", state="ok", said=f"{name} answers{tokens}.{await _tools(chosen, name)}")


async def _tools(chosen: Settings, name: str) -> str:
    """What is known of the model's tools, for Ollama's."""
    from lumina.adapters.models.names import named
    from lumina.adapters.models.readiness import has_tools
    from lumina.adapters.net.doors import configured_door

    found = named(name, url=chosen.model_url, key=chosen.model_key.get_secret_value(), environment=os.environ)
    if found.vendor != "ollama" or chosen.model_tools != "auto":
        return ""
    door = configured_door(found.url)
    told = await has_tools(found.url, found.model, door)
    await door.aclose()
    return (
        " It has no tools: one search is made for it before it answers (LUMINA_MODEL_TOOLS)." if told is False else ""
    )


async def _embedder(chosen: Settings) -> Check:
    embedder = find_embedder(chosen.embedder, chosen.embedder_url)
    if embedder is None:
        return Check(name="embedder", state="off", said="None is set: recall finds by words alone.")
    [vector] = await embedder.embed(["ready"], kind="passage")
    return Check(name="embedder", state="ok", said=f"{embedder.name}: {len(vector)} dimensions.")
