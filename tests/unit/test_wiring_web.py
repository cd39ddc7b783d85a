"""What wiring makes for the web: doors and a reader of pages, closed with the agent."""

import dataclasses

import pytest

from lumina.agent.ports import Unread
from lumina.agent.search_agent import SearchAgent
from lumina.memory.errors import ProviderError, UsageError
from lumina.memory.scope import SubjectScope
from lumina.stores.in_memory import InMemoryStore
from lumina.wiring import NO_MODEL, NO_MODEL_WEB, find_searches, open_agent, open_doors, page_reader


async def test_an_agent_closes_what_its_desk_names_and_then_its_store() -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("doors")

    agent = await open_agent()
    await SearchAgent(dataclasses.replace(agent.desk, closing=(close,))).close()
    assert closed == ["doors"]


async def test_a_store_is_closed_though_something_before_it_was_not(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    async def close() -> None:
        raise OSError

    async def close_store() -> None:
        closed.append("store")

    agent = await open_agent()
    monkeypatch.setattr(agent.store, "close", close_store)
    with pytest.raises(OSError):  # noqa: PT011
        await SearchAgent(dataclasses.replace(agent.desk, closing=(close,))).close()
    assert closed == ["store"]


async def test_the_web_is_public_addresses_and_what_the_setting_allows() -> None:
    doors = open_doors("127.0.0.1:9")
    reader = page_reader(doors)
    inner = await reader.read("http://127.0.0.1/")
    assert isinstance(inner, Unread)
    assert "not a public one" in inner.reason
    with pytest.raises(ProviderError, match="could not be reached"):  # allowed; nobody is there
        await doors.web.send("GET", "http://127.0.0.1:9/")
    with pytest.raises(UsageError, match="is no host"):
        open_doors("http://127.0.0.1")
    await reader.aclose()
    await doors.aclose()


async def providers(names: str, **more: str) -> list[object]:
    doors = open_doors()
    try:
        return list(find_searches(names, InMemoryStore(), doors, **more))
    finally:
        await doors.aclose()


async def test_a_chain_is_made_in_its_order_each_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY"):
        monkeypatch.setenv(key, "a-very-secret-key")
    made = await providers("docs, ddgs,searxng,tavily,brave,exa,docs", searxng_url="http://127.0.0.1:9")
    assert [each.name for each in made] == ["documents", "ddgs", "searxng", "tavily", "brave", "exa"]  # type: ignore[attr-defined]
    assert "very-secret" not in repr(made)


async def test_braves_key_may_have_the_name_that_other_programs_give_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "key")
    assert len(await providers("brave")) == 1


@pytest.mark.parametrize("key", ["secret key", "secrét", "secret\r\nhost: evil.test", "secret\x7f"])
async def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, key) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", key)
    with pytest.raises(UsageError, match="TAVILY_API_KEY holds characters") as refused:
        await providers("tavily")
    assert "secr" not in str(refused.value)


@pytest.mark.parametrize("key", ["", "  "])
async def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("EXA_API_KEY", key)
    with pytest.raises(UsageError, match="set EXA_API_KEY"):
        await providers("exa")


async def test_lumina_own_documentation_answers_only_where_the_web_is_not_asked() -> None:
    me = SubjectScope(tenant="local", subject="me")
    [alone] = await providers("docs")
    beside, _ = await providers("docs,searxng", searxng_url="http://127.0.0.1:9")
    query = "How does Lumina remember?"
    assert (await alone.search(me, query, limit=3)).provider == "lumina-documentation"  # type: ignore[attr-defined]
    empty = await beside.search(me, query, limit=3)  # type: ignore[attr-defined]
    assert (empty.kind, empty.reason) == ("empty", "no documents have been added")


@pytest.mark.parametrize(("search", "reads"), [("docs", False), ("docs,searxng", True), ("searxng", True)])
async def test_pages_are_read_and_the_notice_is_the_webs_where_the_web_is_searched(search: str, reads: bool) -> None:
    async with await open_agent(search=search, searxng_url="http://127.0.0.1:9", cite="pages") as agent:
        assert (agent.desk.pages is not None) == reads
        assert agent.desk.notice == (NO_MODEL_WEB if reads else NO_MODEL)
        assert agent.desk.snippets_count is False
