"""What a model's name means: `vendor:model`, the key and the address that go with it.

Pure: nothing is imported, asked or opened here. A name that cannot be used is a UsageError that says what to set. A key
is held in a field without a repr, and stands in no message.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal
from urllib.parse import urlsplit

from lumina.memory.errors import UsageError

Vendor = Literal["openai", "anthropic", "google", "ollama"]
OLLAMA_PORT = 11434  # where Ollama listens unless it is told otherwise
KEY, URL = "LUMINA_MODEL_KEY", "LUMINA_MODEL_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A vendor: the package that speaks to it, the extra that brings the package, and the variables of its key."""

    vendor: Vendor
    package: str
    extra: str
    keys: tuple[str, ...]
    url: str
    address: str = ""  # the variable that the vendor's own tools read an address from
    example: str = ""

    @property
    def installed(self) -> bool:
        try:
            return find_spec(self.package) is not None
        except ModuleNotFoundError:  # the parent of a dotted name
            return False


VENDORS: dict[str, Known] = {
    "ollama": Known(
        vendor="ollama", package="openai", extra="app", keys=("OLLAMA_API_KEY",), url=f"http://127.0.0.1:{OLLAMA_PORT}",
        address="OLLAMA_HOST", example="ollama:qwen3",
    ),
    "openai": Known(
        vendor="openai", package="openai", extra="app", keys=("OPENAI_API_KEY",), url="https://api.openai.com/v1",
        address="OPENAI_BASE_URL", example="openai:gpt-5",
    ),
    "anthropic": Known(
        vendor="anthropic", package="anthropic", extra="anthropic", keys=("ANTHROPIC_API_KEY",),
        url="https://api.anthropic.com", address="ANTHROPIC_BASE_URL", example="anthropic:claude-sonnet-4-5",
    ),
    "google": Known(
        vendor="google", package="google.genai", extra="google", keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        url="https://generativelanguage.googleapis.com", example="google:gemini-2.5-flash",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A model that can be made. `url` is the address that its vendor's client takes; `own_url` says that somebody has
    set it. `keyed_by` is the setting that the key came from, or the one to set."""

    vendor: Vendor
    model: str
    url: str
    own_url: bool
    keyed_by: str
    key: str = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"


def named(name: str, *, url: str = "", key: str = "", environment: Mapping[str, str] = os.environ) -> Named:
    """What `name` stands for. `url` and `key` are LUMINA_MODEL_URL and LUMINA_MODEL_KEY, which win over the vendor's
    own variables. UsageError for an unknown vendor, a missing package, address or key."""
    known, model = known_of(name)
    if not known.installed:
        raise UsageError(
            f"The model {name} needs a package that is not installed: pip install 'lumina-search[{known.extra}]'."
        )
    own = url or (environment.get(known.address, "") if known.address else "")
    address = address_of(known, own)
    found, keyed_by = key_of(known, key=key, environment=environment)
    if not found and known.vendor != "ollama" and not (known.vendor == "openai" and own):
        raise UsageError(
            f"The model {name} needs a key. Set {known.keys[0]} in the environment, or {KEY}. Nothing was asked."
        )
    return Named(vendor=known.vendor, model=model, url=address, own_url=bool(own), keyed_by=keyed_by, key=found)


def known_of(name: str) -> tuple[Known, str]:
    """The vendor and its model. UsageError for what is no name."""
    vendor, colon, model = name.strip().partition(":")
    known = VENDORS.get(vendor)
    if not colon or not model.strip():
        example = known.example if known else "openai:gpt-5"
        raise UsageError(
            f"{name!r} is not a model. Write extractive, or provider:name, for example {example}. "
            "`lumina models` lists what can be named here."
        )
    if known is None:
        raise UsageError(
            f"{name!r} is not a model that can be used here: there is no provider {vendor!r}. There are: extractive, "
            f"{', '.join(VENDORS)}. For any other one that speaks as OpenAI does, write openai:{model} and set {URL}."
        )
    return known, model.strip()


def key_of(known: Known, *, key: str = "", environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The key, or "", and the setting that it comes from or should be put in."""
    if key:
        return key, KEY
    found = next((variable for variable in known.keys if environment.get(variable, "").strip()), "")
    return (environment[found].strip(), found) if found else ("", known.keys[0])


def address_of(known: Known, own: str) -> str:
    """The base address: the one that was set, made whole, or the vendor's. UsageError for what is no address."""
    if not own:
        return known.url
    text = own.strip().rstrip("/")
    if known.vendor == "ollama" and "://" not in text:  # OLLAMA_HOST is often a bare host, or host and port
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError:
        port, host, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(
            f"The address of the model ({URL}{f' or {known.address}' if known.address else ''}) cannot be used. Give "
            "http:// or https://, a host and a path, for example http://127.0.0.1:8000/v1. A key does not belong in it."
        )
    if known.vendor != "ollama":
        return text
    host = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - what a server listens on; a client asks itself
    host = f"[{host}]" if ":" in host else host
    port = port or (OLLAMA_PORT if parts.scheme == "http" else 443)
    return f"{parts.scheme}://{host}:{port}{parts.path.removesuffix('/v1').rstrip('/')}"
