"""Agents on the vendors' real clients, which ask scripted providers on loopback."""

from collections.abc import AsyncIterator, Callable

import pytest
from pydantic_ai.models import override_allow_model_requests

from lumina.agent.search_agent import SearchAgent
from lumina.stores.in_memory import InMemoryStore
from lumina.wiring import find_model, note_taker
from support.providers import Provider


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore()


@pytest.fixture
async def agent_on(make_agent) -> AsyncIterator[Callable[..., SearchAgent]]:
    """`agent_on(provider, tools="auto", **limits)`: an agent whose model is the provider's. Nothing is noted, or by
    the same model."""
    models = []

    def make(provider: Provider, *, tools: str = "auto", model_notes: bool = False, **options) -> SearchAgent:
        told = provider.environment()
        url = told.get("LUMINA_MODEL_URL") or told["OLLAMA_HOST"]
        models.append(find_model(provider.name(), url=url, key="sk-of-this-test", tools=tools))  # type: ignore[arg-type]
        if model_notes:
            options["notes"] = note_taker(models[-1])
        return make_agent(models[-1], **{"first_pause": 0, **options})

    with override_allow_model_requests(True):
        yield make
        for model in models:
            await model.aclose()
