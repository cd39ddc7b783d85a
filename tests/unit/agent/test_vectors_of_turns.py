"""The agent's turns get their vectors after the answer, and an agent is opened with an embedder by name."""

import pytest

from lumina.memory.errors import UsageError
from lumina.testing import HashedWords
from lumina.wiring import find_embedder, open_agent


async def test_an_answered_turn_has_vectors_once_the_agent_is_closed(tmp_path, scope, library) -> None:
    embedder = HashedWords()
    async with await open_agent(database=tmp_path / "a.db", search=library, embedder=embedder) as agent:
        run = await agent.ask(scope, "How many results does the cache keep?")
        await run.ended()
        await agent.noted()
        counts = await agent.store.embedders(scope)
    assert list(counts) == [embedder.name]
    assert counts[embedder.name] >= 2


async def test_an_embedder_that_fails_leaves_the_answer_whole(tmp_path, scope, library) -> None:
    embedder = HashedWords()
    embedder.fails = "down"
    async with await open_agent(database=tmp_path / "a.db", search=library, embedder=embedder) as agent:
        turn = await (await agent.ask(scope, "How many results does the cache keep?")).ended()
        await agent.noted()
        assert turn.status == "complete"
        assert list(await agent.store.embedders(scope)) == [""]


def test_an_embedder_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    own = HashedWords()
    assert find_embedder("none") is None
    assert find_embedder(own) is own
    for name, address, made in (
        ("minilm", "", "minilm-l6-v2-int8/384"),
        ("openai:text-embedding-3-small", "", "openai:text-embedding-3-small/1536"),
        ("openai:text-embedding-3-large/256", "", "openai:text-embedding-3-large/256"),
        ("openai:org/model/768", "http://localhost:1/v1", "openai:org/model/768"),
    ):
        found = find_embedder(name, address)
        assert found is not None
        assert found.name == made
    for wrong in ("openai:", "word2vec", ""):
        with pytest.raises(UsageError, match="not an embedder"):
            find_embedder(wrong)
