"""`lumina models` and `lumina doctor` against a server on loopback."""

import json

import pytest
from pydantic_ai.models import override_allow_model_requests

from support.providers import Provider, Refuse

KEYS = ("OLLAMA_HOST", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch):
    """Sets variables for the command; nothing of the person who runs the tests, and no Ollama of theirs."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")

    def tell(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return tell


@pytest.fixture(autouse=True)
def _asked():
    with override_allow_model_requests(True):
        yield


def rows(out: str) -> dict[str, dict]:
    return {row["vendor"]: row for row in map(json.loads, out.splitlines())}


def test_models_says_what_is_ready_and_what_is_missing(lumina, told) -> None:
    with Provider(form="ollama", models=["qwen3:8b", "gemma2:2b"]) as provider:
        told(**provider.environment(), ANTHROPIC_API_KEY="sk-never-shown")
        done = lumina("models")
        found = rows(lumina("models", "--json").out)
    assert done.code == 0
    assert "ollama:qwen3:8b" in done.out
    assert f"ready: at {provider.url}" in done.out
    assert "not ready: needs a key: set OPENAI_API_KEY" in done.out
    assert "sk-never-shown" not in done.out + done.err
    assert found["ollama"]["models"] == ["ollama:gemma2:2b", "ollama:qwen3:8b"]
    assert (found["anthropic"]["ready"], found["openai"]["ready"]) == (True, False)
    assert [asked.path for asked in provider.looked] == ["/api/tags"] * 2


def test_models_asks_a_server_that_speaks_as_openai_does(lumina, told) -> None:
    with Provider(models=["local-7b"]) as provider:
        told(LUMINA_MODEL="openai:local-7b", LUMINA_MODEL_URL=f"{provider.url}/v1", LUMINA_MODEL_KEY="sk-mine")
        found = rows(lumina("models", "--json").out)
    assert found["openai"]["models"] == ["openai:local-7b"]
    assert provider.looked[0].headers["authorization"] == "Bearer sk-mine"


def test_models_names_an_ollama_that_is_not_there(lumina) -> None:
    done = lumina("models")
    assert done.code == 0
    assert "start it: ollama serve" in done.out


def test_doctor_asks_each_part_and_says_ok(lumina, told) -> None:
    with Provider(form="ollama", note="ready", tokens=(9, 1)) as provider:
        told(**provider.environment(), LUMINA_MODEL="ollama:scripted")
        done = lumina("doctor", "--json")
    checks = {row["name"]: row for row in map(json.loads, done.out.splitlines())}
    assert done.code == 0
    assert {name: row["state"] for name, row in checks.items()} == {
        "settings": "ok", "database": "ok", "search": "ok", "model": "ok", "embedder": "off",
    }  # fmt: skip
    assert checks["model"]["said"] == "ollama:scripted answers (9 tokens in, 1 out)."


def test_doctor_says_that_a_model_has_no_tools(lumina, told) -> None:
    with Provider(form="ollama", note="ready", capabilities=["completion"]) as provider:
        told(**provider.environment())
        done = lumina("doctor", "--model", "ollama:scripted")
    assert "It has no tools" in done.out


@pytest.mark.parametrize(
    ("reason", "said"), [("key", "Set OPENAI_API_KEY (or LUMINA_MODEL_KEY)"), ("no model", "check the name")]
)
def test_doctor_fails_with_what_to_do_and_goes_on(lumina, told, reason, said) -> None:
    with Provider(note=Refuse(reason)) as provider:
        told(**provider.environment(), LUMINA_MODEL="openai:scripted", LUMINA_EMBEDDER="openai:text-embedding-3-small",
             LUMINA_EMBEDDER_URL=f"{provider.url}/none")  # fmt: skip
        done = lumina("doctor")
    assert done.code == 1
    [line] = [line for line in done.out.splitlines() if line.startswith("failed  model")]
    assert said in line
    assert "failed  embedder" in done.out
    assert "sk-of-this-test" not in done.out + done.err


def test_doctor_names_a_model_that_cannot_be_had(lumina) -> None:
    done = lumina("doctor", "--model", "openai:gpt-5")
    assert done.code == 1
    assert "failed  model: The model openai:gpt-5 needs a key. Set OPENAI_API_KEY" in done.out
