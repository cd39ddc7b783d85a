"""Settings in, a ready agent out."""

import subprocess
import sys

import pytest

from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import ThreadScope
from lumina.memory.words import forms
from lumina.testing import ScriptedModel
from lumina.wiring import NO_MODEL, find_model, open_agent, open_threads

SCOPE = ThreadScope(tenant="local", subject="me", thread="main")
TEXT = "The cache keeps up to 128 results. When it is full, the least recently used result is dropped."


def document() -> NewDocument:
    span = PassageSpan(start=0, end=len(TEXT), heading="Caches", words=tuple(forms(f"Caches {TEXT}")))
    return NewDocument(
        locator="doc:cache", url="file:///cache", title="Caches", digest="1", text=TEXT, passages=(span,)
    )


async def test_with_nothing_set_the_built_in_model_answers_from_local_documents(tmp_path):
    async with await open_agent(database=tmp_path / "lumina.db") as agent:
        await agent.store.put_documents(SCOPE.of_subject, [document()])  # type: ignore[attr-defined]
        run = await agent.ask(SCOPE, "Which result is dropped when the cache is full?")
        events = [event async for event in run.events()]
        turn = await run.ended()
        await run.notes()
    assert turn.status == "complete"
    assert "the least recently used result is dropped" in turn.answer
    assert turn.cited == (1,)
    assert [event.text for event in events if event.kind == "notice"] == [NO_MODEL]
    async with await open_threads(tmp_path / "lumina.db") as threads:
        [info] = await threads.threads(SCOPE.of_subject)
        assert info.turns == 1
        shown = await (await threads.thread(SCOPE)).show()
        assert all(call.same for call in shown)
        with pytest.raises(NotFound):
            await threads.thread(ThreadScope(tenant="local", subject="me", thread="nowhere"))


async def test_a_model_that_was_set_says_no_notice_and_takes_its_own_notes():
    model = ScriptedModel(["Hello.", '{"ops": [], "title": "Greeting"}'])
    async with await open_agent(model=model) as agent:
        run = await agent.ask(SCOPE, "Hello?")
        assert "notice" not in [event.kind async for event in run.events()]
        noting = await run.notes(wait=30)
    assert noting is not None
    assert noting.title == "Greeting"
    assert agent.model_name == "scripted"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-5", "provider:name"),
        ("nosuch:model", "nosuch:model"),
        ("", "provider:name"),
        ("openai:gpt-5", "openai:gpt-5"),
    ],
)
def test_a_model_that_cannot_be_had_is_a_usage_error_with_its_name(name, said):
    with pytest.raises(UsageError, match=said):
        find_model(name)


async def test_an_unknown_search_is_a_usage_error():
    with pytest.raises(UsageError, match="docs"):
        await open_agent(search="altavista")


def test_importing_the_wiring_loads_nothing_heavy():
    heavy = ("pydantic_ai", "sqlalchemy", "lxml", "openai", "lumina.agent.turn")
    code = f"import sys, lumina.wiring; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
