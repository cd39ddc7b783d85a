"""What wiring makes for the web: doors and a reader of pages, closed with the agent."""

import dataclasses

import pytest

from lumina.agent.ports import Unread
from lumina.agent.search_agent import SearchAgent
from lumina.memory.errors import ProviderError, UsageError
from lumina.wiring import open_agent, open_doors, page_reader


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
