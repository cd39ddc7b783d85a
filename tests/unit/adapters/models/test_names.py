"""Names of models: what they need, where they are asked, and what is said when something is missing."""

import pytest

from lumina.adapters.models.names import VENDORS, Known, named
from lumina.memory.errors import UsageError
from lumina.wiring import find_model, open_agent


@pytest.mark.parametrize(
    ("name", "environment", "url", "key", "keyed_by"),
    [
        ("openai:gpt-5", {"OPENAI_API_KEY": " k "}, "https://api.openai.com/v1", "k", "OPENAI_API_KEY"),
        ("openai:gpt-5", {"OPENAI_BASE_URL": "http://box:8000/v1/"}, "http://box:8000/v1", "", "OPENAI_API_KEY"),
        ("google:gemini-2.5-flash", {"GEMINI_API_KEY": "g"}, "https://generativelanguage.googleapis.com", "g",
         "GEMINI_API_KEY"),
        ("ollama:llama3.2:1b", {}, "http://127.0.0.1:11434", "", "OLLAMA_API_KEY"),
        ("ollama:qwen3", {"OLLAMA_HOST": "box"}, "http://box:11434", "", "OLLAMA_API_KEY"),
        ("ollama:qwen3", {"OLLAMA_HOST": "0.0.0.0:5000"}, "http://127.0.0.1:5000", "", "OLLAMA_API_KEY"),
        ("ollama:qwen3", {"OLLAMA_HOST": "https://box/v1"}, "https://box:443", "", "OLLAMA_API_KEY"),
        ("ollama:qwen3", {"OLLAMA_HOST": "[::1]:11434"}, "http://[::1]:11434", "", "OLLAMA_API_KEY"),
    ],
)  # fmt: skip
def test_a_name_stands_for_a_vendor_an_address_and_a_key(name, environment, url, key, keyed_by) -> None:
    found = named(name, environment=environment)
    assert (found.name, found.url, found.key, found.keyed_by) == (name, url, key, keyed_by)


def test_what_lumina_is_told_wins_over_the_vendors_variables() -> None:
    found = named(
        "openai:m", url="http://a/v1", key="mine", environment={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "x"}
    )
    assert (found.url, found.key, found.keyed_by) == ("http://a/v1", "mine", "LUMINA_MODEL_KEY")
    assert "mine" not in repr(found)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("gpt-5", {}, "provider:name"),
        ("openai:", {}, "openai:gpt-5"),
        ("groq:llama", {}, "write openai:llama and set LUMINA_MODEL_URL"),
        ("openai:gpt-5", {}, "Set OPENAI_API_KEY"),
        ("anthropic:claude", {}, "Set ANTHROPIC_API_KEY"),
        ("google:gemini", {}, "Set GOOGLE_API_KEY"),
        ("openai:m", {"url": "box:8000"}, "LUMINA_MODEL_URL or OPENAI_BASE_URL"),
        ("openai:m", {"url": "http://user:secret@box/v1"}, "A key does not belong in it"),
        ("ollama:m", {"url": "http://box:99999"}, "OLLAMA_HOST"),
    ],
)
def test_what_cannot_be_used_says_what_to_set(name, options, said) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        named(name, environment={}, **options)
    assert "secret" not in str(caught.value)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Known(vendor="anthropic", package="no_such_package", extra="anthropic", keys=("K",), url="https://x")
    monkeypatch.setitem(VENDORS, "anthropic", absent)
    with pytest.raises(UsageError, match=r"pip install 'lumina-search\[anthropic\]'"):
        named("anthropic:claude", environment={"K": "k"})


async def test_a_model_of_ollamas_called_extractive_is_not_the_built_in_one() -> None:
    async with await open_agent(model="ollama:extractive") as agent:
        assert agent.desk.notice == ""
        assert agent.model_name == "ollama:extractive"


async def test_a_client_is_bound_to_the_address_of_its_model() -> None:
    model = find_model("openai:m", url="http://127.0.0.1:1/v1")
    client = model.wrapped._client  # type: ignore[attr-defined]
    with pytest.raises(Exception, match=r"Only http://127\.0\.0\.1:1 is asked"):
        await client.get("http://127.0.0.1:2/v1/models")
    await model.aclose()  # type: ignore[attr-defined]
