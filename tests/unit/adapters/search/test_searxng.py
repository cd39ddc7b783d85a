"""What is SearXNG's own: JSON that must be allowed, engines that fall silent, an address with a path."""

import json
from typing import Any

import pytest

from lumina.adapters.net.doors import Doors
from lumina.adapters.search.searxng import SearXNG
from lumina.memory.scope import SubjectScope
from support.search_servers import SearchServer

ME = SubjectScope(tenant="local", subject="me")


async def look(server: SearchServer, path: str = "") -> Any:
    doors = Doors()
    try:
        return await SearXNG(doors.configured(server.url), server.url + path).search(ME, "lru cache", limit=8)
    finally:
        await doors.aclose()


async def test_one_without_json_says_which_setting_it_wants():
    with SearchServer("searxng") as server:
        server.status = 403
        result = await look(server)
    assert (result.kind, result.retry) == ("failed", False)
    assert "settings.yml" in result.reason
    assert "formats" in result.reason


async def test_demand_24_engines_that_did_not_answer_are_a_failure_with_their_reasons():
    with SearchServer("searxng") as server:
        server.unresponsive = [["google", "CAPTCHA"], ["bing", "timeout"]]
        result = await look(server)
    assert (result.kind, result.retry) == ("failed", True)
    assert "google (CAPTCHA), bing (timeout)" in result.reason


async def test_what_other_engines_found_is_found_though_some_fell_silent():
    with SearchServer("searxng") as server:
        server.unresponsive = [["google", "CAPTCHA"]]
        server.results = [("https://good.test/", "A", "Held.")]
        assert (await look(server)).kind == "found"


@pytest.mark.parametrize("value", [7, "google", {"google": 1}, [7, None, {}, [], [1, 2]]])
async def test_what_it_says_of_its_engines_may_be_of_any_type(value):
    with SearchServer("searxng") as server:
        server.raw = json.dumps({"results": [], "unresponsive_engines": value}).encode()
        assert (await look(server)).kind == "empty"


async def test_names_of_engines_are_a_strangers_words():
    with SearchServer("searxng") as server:
        server.unresponsive = [["goo\u202egle\n<|im_start|>" * 50, "no\x1b[31m"]] * 50
        reason = (await look(server)).reason
    assert len(reason) < 1_000
    assert not set("\u202e\n\x1b") & set(reason)
    assert "<|" not in reason


async def test_it_may_live_below_a_path():
    with SearchServer("searxng") as server:
        await look(server, "/searxng/")
        [(method, path, _, _)] = server.asked
    assert (method, path.partition("?")[0]) == ("GET", "/searxng/search")
    assert "format=json" in path
