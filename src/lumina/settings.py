"""Settings: what a person can choose without touching code.

Environment first (`LUMINA_MODEL`), then `lumina.toml` in LUMINA_HOME (`model = "..."`), then the default. A value that
cannot be used, or a key that nobody knows, is a UsageError that names the setting, the value, where it was found and
what is allowed. Nothing is written here; the folder is made by who first keeps something in it.

Importing this module costs about 0.3 s (pydantic-settings), so whoever needs it imports it late.
"""

import difflib
import os
import tomllib
import zoneinfo
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from lumina.memory.errors import UsageError

FILE = "lumina.toml"
NAMES = {"schema_file": "schema"}  # fields that cannot bear their setting's name: pydantic has a method called so
SECRETS = {"model_key"}  # their values stand in no message
SQLITE = "sqlite:///"
POSTGRESQL = ("postgresql://", "postgres://", "postgresql+psycopg://")


class Settings(BaseSettings):
    """All settings, checked. `load` makes one; a test may make one from keywords."""

    model_config = SettingsConfigDict(env_prefix="LUMINA_", env_ignore_empty=True, extra="forbid", frozen=True)

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("lumina", appauthor=False)),
        description="The data folder: the database, and lumina.toml.",
        json_schema_extra={"allowed": "a folder", "default": "the platform's folder for a user's data"},
    )
    database_url: str = Field(
        default="",
        description="Where threads and documents are kept.",
        json_schema_extra={
            "allowed": f"{SQLITE}PATH, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE (extra `postgres`)",
            "default": "the SQLite file lumina.db in LUMINA_HOME",
        },
    )
    model: str = Field(
        default="extractive",
        description="Who answers. `extractive` quotes sentences from what was found and needs no key and no network.",
        json_schema_extra={
            "allowed": "extractive; ollama:MODEL (on this machine); openai:MODEL, anthropic:MODEL, google:MODEL with"
            " the vendor's key, and what is sent then leaves the machine. `lumina models` says what is ready"
        },
    )
    model_url: str = Field(
        default="",
        description="Where the model is asked: the base address of a server that speaks as the vendor of LUMINA_MODEL"
        " does, for openai:MODEL up to and with its version.",
        json_schema_extra={
            "allowed": "http:// or https://...",
            "default": "OLLAMA_HOST, OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else the vendor's own address; for ollama"
            " `http://127.0.0.1:11434`",
        },
    )
    model_key: SecretStr = Field(
        default=SecretStr(""),
        description="The key of the model's vendor. It is shown and logged nowhere.",
        json_schema_extra={
            "allowed": "a key",
            "default": "OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY (or GEMINI_API_KEY), OLLAMA_API_KEY",
        },
    )
    model_tools: Literal["auto", "tools", "json", "fixed"] = Field(
        default="auto",
        description="How the model asks for a search. `tools`: by tool calls. `json`: by an answer in JSON that a"
        " schema constrains, for small models. `fixed`: not at all; one search is made for it before it answers."
        " `auto`: `tools`, and `fixed` once the model's server says that it has none.",
        json_schema_extra={"allowed": "auto, tools, json, fixed"},
    )
    search: str = Field(
        default="docs",
        description="Where to look: names separated by commas; the next is asked when one fails or is empty.",
        json_schema_extra={
            "allowed": "docs (local documents), ddgs (the web, no key, extra `web`), searxng (LUMINA_SEARXNG_URL),"
            " tavily, brave, exa (with TAVILY_API_KEY, BRAVE_API_KEY or BRAVE_SEARCH_API_KEY, EXA_API_KEY)"
        },
    )
    searxng_url: str = Field(
        default="",
        description="The address of your SearXNG, for `searxng` in LUMINA_SEARCH.",
        json_schema_extra={"allowed": "http:// or https://...", "default": "none"},
    )
    cite: Literal["any", "pages"] = Field(
        default="any",
        description="What may be cited. `pages`: not what a search gave only an excerpt of; the page must be read.",
        json_schema_extra={"allowed": "any, pages"},
    )
    web_allow: str = Field(
        default="",
        description=(
            "What of your own network may be read as a web page, beside public addresses. Any page may then lead Lumina"
            " there, so name hosts rather than networks."
        ),
        json_schema_extra={
            "allowed": "hosts (`wiki.lan`), hosts with a port (`wiki.lan:8090`), IP addresses and networks"
            " (`10.1.2.0/24`), separated by commas",
            "default": "none: public addresses only",
        },
    )
    embedder: str = Field(
        default="none",
        description="Who makes vectors, so that recall finds by meaning too. `none`: by words alone.",
        json_schema_extra={
            "allowed": "none; minilm (on this machine, with the extra `vectors`) or minilm:FOLDER with model.onnx and"
            " tokenizer.json; openai:MODEL or openai:MODEL/DIMENSIONS (passages of turns leave the machine)"
        },
    )
    embedder_url: str = Field(
        default="",
        description="The address of the embeddings endpoint for `openai:MODEL`, up to and with its version.",
        json_schema_extra={"allowed": "http:// or https://...", "default": "`https://api.openai.com/v1`"},
    )
    memory: Literal["on", "off"] = Field(
        default="on",
        description=(
            "Whether anything is remembered from turn to turn. `off`: each question stands alone; no earlier turn and "
            "nothing that was noted is read for it, and nothing is noted. The turn itself is kept and can be shown."
        ),
        json_schema_extra={"allowed": "on, off"},
    )
    schema_file: str = Field(
        default="",
        validation_alias=AliasChoices("LUMINA_SCHEMA", "schema"),
        description="A file that declares which keys are noted, and what must never be stored (TOML or JSON).",
        json_schema_extra={
            "allowed": "the path of a file, from LUMINA_HOME if it is relative",
            "default": "none: every key is taken as it comes",
        },
    )
    recall: Literal["when pointed", "always small", "off"] = Field(
        default="when pointed",
        description=(
            "When passages of turns older than the last ones are sent: when the question points at them; also a few "
            "for every question, which suits open personal chat; or never."
        ),
        json_schema_extra={"allowed": "when pointed, always small, off"},
    )
    timezone: str = Field(
        default="",
        description="The time zone in which days are told.",
        json_schema_extra={
            "allowed": "an IANA name such as Europe/Berlin, or UTC",
            "default": "the machine's time zone",
        },
    )

    @field_validator("home")
    @classmethod
    def _home(cls, value: Path) -> Path:
        home = value.expanduser().absolute()
        if home.exists() and not home.is_dir():
            raise ValueError("it is a file")
        return home

    @field_validator("database_url")
    @classmethod
    def _database_url(cls, value: str) -> str:
        if value and not any(value.startswith(kind) and len(value) > len(kind) for kind in (SQLITE, *POSTGRESQL)):
            raise ValueError("not a database that this version can open")
        return value

    @field_validator("search")
    @classmethod
    def _search(cls, value: str) -> str:
        names = [name.strip() for name in value.split(",")]
        if not all(names):
            raise ValueError("a name is missing beside a comma")
        return ",".join(names)

    @field_validator("web_allow")
    @classmethod
    def _web_allow(cls, value: str) -> str:
        if value:
            from lumina.adapters.net.reach import Allowed

            try:
                Allowed.of(value)
            except UsageError as error:
                raise ValueError(str(error).rstrip(".")) from None
        return value

    @field_validator("embedder")
    @classmethod
    def _embedder(cls, value: str) -> str:
        kind, colon, rest = value.strip().partition(":")
        if kind not in ("none", "minilm", "openai") or (kind == "openai") > bool(rest) or (kind == "none" and colon):
            raise ValueError("not an embedder")
        return value.strip()

    @field_validator("embedder_url", "model_url")
    @classmethod
    def _address(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("not an address")
        return value

    @field_validator("timezone")
    @classmethod
    def _timezone(cls, value: str) -> str:
        if value and not is_zone(value):
            raise ValueError("not a known time zone")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over what was read from the file, which `load` hands in as keywords."""
        return env_settings, init_settings

    @property
    def database(self) -> Path | str:
        """Where threads are kept: a SQLite file (a relative path in the URL counts from LUMINA_HOME), or a URL."""
        if self.database_url.startswith(POSTGRESQL):
            return self.database_url
        return self.home / self.database_url.removeprefix(SQLITE) if self.database_url else self.home / "lumina.db"

    @property
    def schema_path(self) -> Path | None:
        """The file with the declared schema, if there is one."""
        return self.home / Path(self.schema_file).expanduser() if self.schema_file else None

    @property
    def search_chain(self) -> tuple[str, ...]:
        return tuple(self.search.split(","))

    @property
    def zone(self) -> str:
        """An IANA name: the one set, else the machine's, else UTC."""
        return self.timezone or machine_zone()


def load() -> Settings:
    """The settings of this process. Raises UsageError."""
    home = os.environ.get("LUMINA_HOME") or platformdirs.user_data_dir("lumina", appauthor=False)
    path = Path(home).expanduser().absolute() / FILE
    found = _read(path)
    try:
        return Settings(**found)
    except ValidationError as error:
        raise UsageError("\n".join(_explain(detail, found, path) for detail in error.errors())) from None


def refused(setting: str, value: object, *, where: str = "", why: str = "", allowed: str = "") -> UsageError:
    """The error for a setting that cannot be used; for whoever can check a value only later, such as wiring."""
    allowed = allowed or _told(setting.removeprefix("LUMINA_").lower(), "allowed")
    reason = f": {why}" if why else ""
    place = f" (from {where})" if where else ""
    return UsageError(
        f"{setting} is {_without_password(value)!r}{place}, which cannot be used{reason}. Allowed: {allowed}."
    )


def _without_password(value: object) -> object:
    """A URL may hold one between the scheme and the last @."""
    if not isinstance(value, str):
        return value
    scheme, found, rest = value.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}:***@{host}" if found and at and ":" in user else value


def table() -> list[tuple[str, str, str, str]]:
    """(setting, what it means, allowed, default) of every setting, for people."""
    return [
        (
            f"LUMINA_{NAMES.get(name, name).upper()}",
            field.description or "",
            _told(name, "allowed"),
            _told(name, "default") or f"`{field.default}`",
        )
        for name, field in Settings.model_fields.items()
    ]


def is_zone(name: str) -> bool:
    """Whether days can be told in the zone `name`."""
    try:
        return name == "UTC" or bool(zoneinfo.ZoneInfo(name))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return False


def machine_zone() -> str:
    """The IANA name of the machine's time zone, or UTC where it does not tell."""
    said = os.environ.get("TZ", "").removeprefix(":")
    link = os.path.realpath("/etc/localtime").rpartition("/zoneinfo/")[2]
    return next((name for name in (said, link) if name and is_zone(name)), "UTC")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):  # a home that is a file is told as such by its own check
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read as settings: {error}. Nothing was changed; mend or remove it."
        ) from None
    known = [NAMES.get(name, name) for name in Settings.model_fields if name != "home"]
    for key in found:
        if key == "home":
            raise UsageError(
                f"{path} sets `home`, but it lies in that folder. Set LUMINA_HOME in the environment instead."
            )
        if key not in known:
            near = difflib.get_close_matches(key.lower().removeprefix("lumina_"), known, n=1)
            guess = f" Did you mean `{near[0]}`?" if near else ""
            raise UsageError(f"{path} sets `{key}`, which is no setting.{guess} Known: {', '.join(known)}.")
    return found


def _explain(detail: Any, found: dict[str, Any], path: Path) -> str:
    name = str(detail["loc"][0]).lower().removeprefix("lumina_")
    setting = f"LUMINA_{name.upper()}"
    inside = name in found and not os.environ.get(setting)
    why = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else ""
    value = "..." if name in SECRETS else detail["input"]
    return str(refused(setting, value, where=str(path) if inside else "the environment", why=why))


def _told(name: str, what: str) -> str:
    name = next((each for each, setting in NAMES.items() if setting == name), name)
    extra = Settings.model_fields[name].json_schema_extra
    return str(extra.get(what, "")) if isinstance(extra, dict) else ""
