"""What holds for every test: no outside world, no silent skip, and the code under test is the code in the tree.

- A socket reaches loopback or nothing. The guard is an audit hook, so that it sits below every client library; what
  was refused fails the test even if the code under test swallowed the error.
- A model of pydantic-ai refuses to be called, as soon as it is loaded. A test that serves one on loopback says so with
  `override_allow_model_requests`.
- Under LUMINA_CI=1 a skip is a failure.
- Settings and keys of the person who runs the tests do not reach them; LUMINA_HOME is a folder of this run.
"""

import ipaddress
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
refused: list[str] = []

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
