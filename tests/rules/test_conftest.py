"""The rules that tests/conftest.py puts on every test hold: small tests, run by a pytest of their own, show it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SMALL_TESTS = """
import os
import socket

import pydantic_ai.models
import pytest


def test_skips():
    pytest.skip("no database here")


def test_connects_beyond_loopback():
    socket.socket().connect(("192.0.2.1", 80))


def test_looks_up_a_name():
    socket.getaddrinfo("lumina.example", 80)


def test_swallows_the_refusal():
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9))
    except BaseException:
        pass


def test_stays_on_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
        server.accept()[0].close()


def test_calls_a_model():
    pydantic_ai.models.check_allow_model_requests()


def test_has_settings_of_its_own():
    assert "LUMINA_MODEL" not in os.environ and "OPENAI_API_KEY" not in os.environ
    assert os.path.isdir(os.environ["LUMINA_HOME"])
"""
SKIPS_ITSELF = "import pytest\n\npytest.importorskip('lumina_has_no_such_module')\n"


def run(folder: Path, *, ci: bool) -> str:
    folder.joinpath("conftest.py").write_text(CONFTEST.read_text())
    folder.joinpath("test_small.py").write_text(SMALL_TESTS)
    folder.joinpath("test_skips_itself.py").write_text(SKIPS_ITSELF)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LUMINA_")}
    environment |= {"LUMINA_MODEL": "anything", "OPENAI_API_KEY": "anything"} | ({"LUMINA_CI": "1"} if ci else {})
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=short", "-o", "addopts="]
    command += ["--continue-on-collection-errors", str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("at_home"), ci=False)


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("in_ci"), ci=True)


def test_a_skip_is_a_skip_on_a_persons_machine(at_home: str) -> None:
    assert "2 skipped" in at_home, at_home


def test_a_skip_is_a_failure_in_ci(in_ci: str) -> None:
    assert "FAILED test_small.py::test_skips" in in_ci, in_ci
    assert "no database here" in in_ci


def test_a_file_that_skips_itself_is_a_failure_in_ci(in_ci: str) -> None:
    assert "ERROR test_skips_itself.py" in in_ci, in_ci
    assert "lumina_has_no_such_module" in in_ci


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("test_connects_beyond_loopback", "socket.connect '192.0.2.1'"),
        ("test_looks_up_a_name", "socket.getaddrinfo 'lumina.example'"),
        ("test_swallows_the_refusal", "socket.sendto '192.0.2.1'"),
        ("test_calls_a_model", "ALLOW_MODEL_REQUESTS"),
    ],
)
def test_reaching_for_the_outside_world_fails_a_test(at_home: str, name: str, reason: str) -> None:
    assert f"FAILED test_small.py::{name}" in at_home or f"ERROR test_small.py::{name}" in at_home, at_home
    assert reason in at_home


def test_loopback_stays_open(at_home: str) -> None:
    assert "PASSED test_small.py::test_stays_on_loopback" in at_home, at_home


def test_a_persons_settings_and_keys_do_not_reach_a_test(at_home: str) -> None:
    assert "PASSED test_small.py::test_has_settings_of_its_own" in at_home, at_home
