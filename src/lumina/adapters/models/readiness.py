"""What can be named here, and what is missing for it: looked up on this machine and at the servers that were set.

A vendor's own address is not asked for its models: that would need the key and say little. A local server is, briefly:
what it has is what can be named.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lumina.adapters.models.names import URL, VENDORS, Known, address_of, key_of
from lumina.agent.ports import Door
from lumina.memory.errors import ProviderError, UsageError
from lumina.memory.visible_text import one_line

SECONDS = 3.0  # for a list of models
MOST, LIMIT = 500, 2_000_000  # models that are listed; bytes that are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """`ready`: whether a model of this vendor can be asked now. `said`: where it is asked, or what to do first.
    `models`: full names that its server has, as far as it was asked."""

    vendor: str
    ready: bool
    said: str
    models: tuple[str, ...] = ()
    example: str = ""


async def readiness(
    known: Known, *, door: Callable[[str], Door], url: str = "", key: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Readiness:  # fmt: skip
    """`url` and `key`: LUMINA_MODEL_URL and LUMINA_MODEL_KEY, if they are meant for this vendor."""

    def missing(said: str) -> Readiness:
        return Readiness(vendor=known.vendor, ready=False, said=said, example=known.example)

    if not known.installed:
        return missing(f"needs a package: pip install 'lumina-search[{known.extra}]'")
    own = url or (environment.get(known.address, "") if known.address else "")
    try:
        address = address_of(known, own)
    except UsageError as error:
        return missing(one_line(str(error)))
    found, setting = key_of(known, key=key, environment=environment)
    if known.vendor == "ollama" or (known.vendor == "openai" and own):
        try:
            models = await served(known, address, found, door(address))
        except (ProviderError, UsageError) as error:
            start = "start it: ollama serve" if known.vendor == "ollama" else f"start it, or set {URL}"
            return missing(f"{one_line(str(error), 200).rstrip('.')}; {start}")
        if not models and known.vendor == "ollama":
            return missing(f"runs at {address} and has no model yet: ollama pull qwen3")
        return Readiness(
            vendor=known.vendor, ready=True, said=f"at {address}", example=known.example,
            models=tuple(f"{known.vendor}:{name}" for name in models),
        )  # fmt: skip
    if not found:
        return missing(f"needs a key: set {known.keys[0]}")
    return Readiness(
        vendor=known.vendor, ready=True, said=f"at {address}, with the key from {setting}", example=known.example
    )


async def served(known: Known, address: str, key: str, door: Door) -> list[str]:
    """The names of the models at a server, sorted. ProviderError when it cannot say."""
    where = f"{address}/api/tags" if known.vendor == "ollama" else f"{address}/models"
    headers = {"authorization": f"Bearer {key}"} if key else {}
    answer = await door.send("GET", where, headers=headers, limit=LIMIT, seconds=SECONDS)
    if answer.status != 200:
        said = "refused the key" if answer.status in (401, 403) else "gave no list of models"
        raise ProviderError(f"{address} {said} ({answer.status}).", provider=address, retry=False)
    body = read_json(answer.body)
    rows = body.get("models" if known.vendor == "ollama" else "data")
    field = "name" if known.vendor == "ollama" else "id"
    if not isinstance(rows, list):
        raise ProviderError(f"{address} gave no list of models.", provider=address, retry=False)
    names = [row.get(field) for row in rows if isinstance(row, dict)]
    return sorted({one_line(name, 200) for name in names if isinstance(name, str) and name.strip()})[:MOST]


async def has_tools(address: str, model: str, door: Door) -> bool | None:
    """Whether Ollama says that a model has tools; None when it does not say."""
    try:
        answer = await door.send(
            "POST", f"{address}/api/show", json={"model": model}, limit=LIMIT * 5, seconds=SECONDS
        )  # fmt: skip
    except ProviderError:
        return None
    told = read_json(answer.body).get("capabilities") if answer.status == 200 else None
    return "tools" in told if isinstance(told, list) else None


def read_json(body: bytes) -> dict[str, Any]:
    """The object, or nothing."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


async def all_ready(
    *, door: Callable[[str], Door], model: str, url: str = "", key: str = "",
    environment: Mapping[str, str] = os.environ,
) -> list[Readiness]:  # fmt: skip
    """Every vendor, in the order in which a person would try them. `model` is the one that is set: LUMINA_MODEL_URL and
    LUMINA_MODEL_KEY are meant for its vendor, or else for servers that speak as OpenAI does."""
    vendor = model.partition(":")[0]
    meant = vendor if vendor in VENDORS else "openai"
    return [
        await readiness(
            known,
            door=door,
            environment=environment,
            url=url if known.vendor == meant else "",
            key=key if known.vendor == meant else "",
        )
        for known in VENDORS.values()
    ]
