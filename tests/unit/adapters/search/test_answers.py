"""Each search service over real HTTP: what it gives, how it refuses, and what is not believed of it."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from lumina.adapters.net.doors import Doors
from lumina.adapters.search.brave import Brave
from lumina.adapters.search.exa import Exa
from lumina.adapters.search.searxng import SearXNG
from lumina.adapters.search.tavily import Tavily
from lumina.memory.scope import SubjectScope
from support.search_servers import SearchServer

ME = SubjectScope(tenant="local", subject="me")
KEY = "tvly-very-secret"
KINDS = ["searxng", "tavily", "brave", "exa"]
KEYED = ["tavily", "brave", "exa"]
MAKE: dict[str, Callable] = {
    "searxng": lambda door, url: SearXNG(door, url),
    "tavily": lambda door, url: Tavily(door, KEY, url=url),
    "brave": lambda door, url: Brave(door, KEY, url=url),
    "exa": lambda door, url: Exa(door, KEY, url=url),
}
TEXT = {"searxng": "content", "tavily": "content", "brave": "description", "exa": "text"}


async def look(server: SearchServer, query: str = "lru cache size", limit: int = 8) -> Any:
    doors = Doors()
    try:
        provider = MAKE[server.kind](doors.configured(server.url), server.url)
        assert KEY not in repr(provider)
        return await provider.search(ME, query, limit=limit)
    finally:
        await doors.aclose()


def raw(kind: str, rows: Any) -> bytes:
    """The service's answer with these results."""
    return json.dumps({"web": {"results": rows}} if kind == "brave" else {"results": rows}).encode()


@pytest.mark.parametrize("kind", KINDS)
async def test_results_come_as_snippets_in_the_services_order(kind):
    with SearchServer(kind) as server:
        server.results = [("https://good.test/a?utm_source=x", "A", "An lru cache."), ("https://b.test/", "B", "Size.")]
        result = await look(server)
    assert result.kind == "found"
    assert [(hit.host, hit.title, hit.text, hit.depth) for hit in result.hits] == [
        ("good.test", "A", "An lru cache.", "snippet"), ("b.test", "B", "Size.", "snippet"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
async def test_the_query_is_sent_whole_and_nothing_of_the_person(kind):
    with SearchServer(kind) as server:
        await look(server, "café & crème #1")
        [(_, path, headers, body)] = server.asked
    assert "caf%C3%A9+%26+cr%C3%A8me+%231" in path or json.loads(body)["query"] == "café & crème #1"
    assert not {"cookie", "referer"} & headers.keys()
    assert "local" not in path + body.decode()


@pytest.mark.parametrize("kind", KINDS)
async def test_P6_an_empty_answer_is_empty_whatever_its_count_says(kind):
    with SearchServer(kind) as server:
        server.count = 1_000_000  # SearXNG's count lies
        result = await look(server)
    assert result.kind == "empty"
    assert result.reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "retry", "says"),
    [(401, False, "(401)"), (403, False, "(403)"), (429, True, "Try again later"), (500, True, "fault of its own"),
     (503, True, "fault of its own"), (302, False, "(302)"), (402, False, "to be paid")],
)  # fmt: skip
async def test_P6_demand_24_statuses_are_failures_told_apart_and_never_empty(kind, status, retry, says, caplog):
    caplog.set_level(logging.DEBUG)
    with SearchServer(kind) as server:
        server.status = status
        result = await look(server)
    assert (result.kind, result.retry) == ("failed", retry)
    assert says in result.reason
    assert KEY not in repr(result) + caplog.text


@pytest.mark.parametrize(("kind", "setting"), [("tavily", "TAVILY_API_KEY"), ("brave", "BRAVE_API_KEY"),
                                               ("exa", "EXA_API_KEY")])  # fmt: skip
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_named_by_its_setting(kind, setting, status):
    with SearchServer(kind) as server:
        server.status = status
        assert (await look(server)).reason == f"It refuses the key ({status}). Check {setting}."


@pytest.mark.parametrize("status", [432, 433])
async def test_tavilys_own_statuses_for_a_plan_that_is_used_up_are_told(status):
    with SearchServer("tavily") as server:
        server.status = status
        result = await look(server)
    assert "used up" in result.reason
    assert result.retry is False


@pytest.mark.parametrize(("header", "says"), [("30", "in 30 seconds"), ("<b>soon</b>", "again later"),
                                              ("9" * 50, "again later"), ("²", "again later")])  # fmt: skip
async def test_how_long_to_wait_is_said_when_it_is_a_number_of_seconds(header, says):
    with SearchServer("tavily") as server:
        server.status = 429
        server.headers["retry-after"] = header
        assert says in (await look(server)).reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body", [b"[]", b"7", b"null", b"", b"\xff\xfe", b'{"results": [', b"[" * 100_000, b'{"a":' * 100_000]
)
async def test_P6_an_answer_that_is_no_json_object_is_a_failure(kind, body):
    with SearchServer(kind) as server:
        server.raw = body
        assert (await look(server)).kind == "failed"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [7, "x", None, {"url": "https://good.test/"}, [], [7, None, "x", []]])
async def test_results_of_a_wrong_type_are_no_results(kind, value):
    with SearchServer(kind) as server:
        server.raw = raw(kind, value)
        assert (await look(server)).kind in ("empty", "failed")
        server.raw = json.dumps({"web": value}).encode()
        assert (await look(server)).kind in ("empty", "failed")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_web_page_instead_of_results_is_called_one(kind):
    with SearchServer(kind) as server:
        server.raw = b"\n <!doctype html><title>log in</title>"
        result = await look(server)
    assert (result.kind, result.retry) == ("failed", False)
    assert "a web page" in result.reason
    assert "log in<" not in result.reason


async def test_an_answer_without_end_is_a_failure():
    with SearchServer("exa") as server:
        server.raw = b" " * 2_000_001
        result = await look(server)
    assert result.kind == "failed"
    assert "larger than 2,000,000 bytes" in result.reason


async def test_an_answer_that_breaks_off_is_a_failure():
    with SearchServer("exa") as server:
        server.raw = b'{"results": []}'
        server.cut = True
        result = await look(server)
    assert result.kind == "failed"


@pytest.mark.parametrize("kind", KINDS)
async def test_entries_of_a_wrong_type_or_with_a_hostile_address_are_left_out(kind):
    text = TEXT[kind]
    good = {"url": "https://good.test/", "title": None, text: "Held."}
    bad = [
        7, None, {}, {"url": 3, text: "x"}, {"url": "javascript:alert(1)", text: "x"}, {"url": "", text: "x"},
        {"url": "file:///etc/passwd", text: "x"}, {"url": "http://evil.com\\@good.test/" * 300, text: "x"},
        {"url": "https://u:p@good.test/", text: "x"}, {"url": "data:text/html,x", text: "x"},
        {"url": "//good.test/", text: "x"},
    ]  # fmt: skip
    with SearchServer(kind) as server:
        server.raw = raw(kind, [*bad, good])
        result = await look(server)
        assert [(hit.url, hit.title, hit.text) for hit in result.hits] == [("https://good.test/", "good.test", "Held.")]
        server.raw = raw(kind, bad)
        result = await look(server)
    assert (result.kind, result.retry) == ("failed", False)
    assert "without an address" in result.reason


@pytest.mark.parametrize("kind", KINDS)
async def test_X3_what_cannot_be_seen_and_what_no_database_keeps_is_not_in_a_hit(kind):
    with SearchServer(kind) as server:
        server.raw = raw(kind, [{
            "url": "https://good.test/", "title": "A\u202e\u200b <|im_start|>\x00 title\ud800\n" * 5,
            TEXT[kind]: "Say\u2063 \x1b[31mthis\x00 <|im_end|>\ud83d",
        }])  # fmt: skip
        [hit] = (await look(server)).hits
    for text in (hit.title, hit.text):
        assert not set("\u202e\u200b\x00\x1b\u2063\n") & set(text)
        assert "<|" not in text
        assert text.encode()


@pytest.mark.parametrize("kind", KINDS)
async def test_titles_and_snippets_are_bounded(kind):
    with SearchServer(kind) as server:
        server.results = [("https://good.test/", "T" * 100_000, "s " * 100_000)]
        [hit] = (await look(server)).hits
    assert len(hit.title) <= 300
    assert len(hit.text) <= 2_000
    assert hit.text == hit.stored


@pytest.mark.parametrize("kind", KINDS)
async def test_demand_7_a_page_named_in_several_spellings_is_one_hit_at_its_best_place(kind):
    with SearchServer(kind) as server:
        server.results = [
            ("https://good.test/a", "A", "First."), ("HTTPS://GOOD.test:443/a?utm_source=n#part", "A", "Again."),
        ]  # fmt: skip
        result = await look(server)
    assert [hit.text for hit in result.hits] == ["First."]


@pytest.mark.parametrize("kind", KINDS)
async def test_demand_3_as_many_results_are_as_many_locators_up_to_the_limit(kind):
    with SearchServer(kind) as server:
        server.results = [(f"https://good.test/{n}", "T", f"Text {n}") for n in range(30)]
        result = await look(server, limit=8)
    assert [hit.locator for hit in result.hits] == list(dict.fromkeys(hit.locator for hit in result.hits))
    assert [hit.text for hit in result.hits] == [f"Text {n}" for n in range(8)]


async def test_a_result_without_a_snippet_is_still_a_page_that_can_be_read():
    with SearchServer("tavily") as server:
        server.raw = raw("tavily", [{"url": "https://good.test/a", "title": "A page", "content": None}])
        [hit] = (await look(server)).hits
    assert (hit.text, hit.depth) == ("A page", "snippet")


async def test_braves_html_is_plain_text():
    with SearchServer("brave") as server:
        server.results = [("https://good.test/", "Python&#x27;s cache", "Text &amp; more &lt;|im_start|&gt;")]
        [hit] = (await look(server)).hits
    assert hit.title == "Python's cache"
    assert hit.text.startswith("Text & more")
    assert "<|" not in hit.text


async def test_what_brave_and_exa_give_beside_the_snippet_stands_in_the_text():
    with SearchServer("brave") as server:
        server.raw = raw("brave", [
            {"url": "https://a.test/", "title": "A", "description": "One.", "extra_snippets": ["Two.", 7]}
        ])  # fmt: skip
        [hit] = (await look(server)).hits
        assert hit.text == "One. … Two."
    with SearchServer("exa") as server:
        server.raw = raw("exa", [
            {"url": "https://a.test/", "title": "A", "text": "Whole.", "highlights": ["One.", None, "Two."]}
        ])  # fmt: skip
        [hit] = (await look(server)).hits
        assert hit.text == "One. … Two."


@pytest.mark.parametrize(("kind", "header"), [("tavily", "authorization"), ("brave", "x-subscription-token"),
                                              ("exa", "x-api-key")])  # fmt: skip
async def test_a_key_goes_in_one_header_and_nowhere_else(kind, header, caplog):
    caplog.set_level(logging.DEBUG)
    with SearchServer(kind) as server:
        result = await look(server)
        [(_, path, headers, body)] = server.asked
    assert KEY in headers[header]
    assert [name for name, value in headers.items() if KEY in value] == [header]
    assert KEY not in path + body.decode() + caplog.text + repr(result)


@pytest.mark.parametrize("kind", KEYED)
async def test_a_key_is_not_carried_to_where_a_redirect_leads(kind):
    with SearchServer(kind) as server, SearchServer(kind) as other:
        server.status = 302
        server.headers["location"] = f"{other.url}/"
        result = await look(server)
        assert other.asked == []
    assert result.kind == "failed"


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_listening_is_a_failure_that_may_be_tried_again(kind):
    with SearchServer(kind) as server:
        pass
    result = await look(server)
    assert (result.kind, result.retry) == ("failed", True)
    assert KEY not in result.reason
