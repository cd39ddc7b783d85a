"""The search without a key: what the package gives or raises becomes one of the three endings."""

import sys

import pytest

from lumina.adapters.search.ddgs import DDGS
from lumina.memory.errors import UsageError
from lumina.memory.scope import SubjectScope

ME = SubjectScope(tenant="local", subject="me")


async def look(ask):
    return await DDGS(ask).search(ME, "lru cache", limit=3)


def raising(error):
    def ask(query, limit):
        raise error

    return ask


async def test_rows_become_hits_and_hostile_ones_are_left_out():
    rows = [
        {"href": "javascript:alert(1)", "title": "x", "body": "x"}, {"href": None}, 7,
        {"href": "https://good.test/a", "title": "A", "body": "An lru\u202e cache."},
        {"href": "https://good.test/a#again", "title": "A", "body": "Again."},
    ]  # fmt: skip
    result = await look(lambda query, limit: rows)
    assert [(hit.url, hit.title, hit.depth) for hit in result.hits] == [("https://good.test/a", "A", "snippet")]
    assert "\u202e" not in result.hits[0].text


async def test_the_query_and_the_limit_are_all_that_it_is_given():
    given = []
    await look(lambda *asked: given.append(asked) or [])
    assert given == [("lru cache", 3)]


@pytest.mark.parametrize("rows", [[], None, "text", 7])
async def test_P6_nothing_is_empty(rows):
    assert (await look(lambda query, limit: rows)).kind == "empty"


async def test_P6_demand_24_each_way_to_fail_is_told_and_only_no_results_is_empty():
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    assert (await look(raising(DDGSException("No results found.")))).kind == "empty"
    for error, says in (
        (RatelimitException("202 http://secret.test"), "no more searches for now"),
        (TimeoutException("operation timed out"), "in time"),
        (DDGSException("ConnectError: dns error"), "No search engine could be asked"),
        (ValueError("http://secret.test"), "No search engine could be asked"),
        (RecursionError(), "No search engine could be asked"),
    ):
        result = await look(raising(error))
        assert (result.kind, result.retry) == ("failed", True)
        assert says in result.reason
        assert "secret" not in result.reason


class Engine:
    """An engine of the package, without its network."""

    name = provider = "double"

    def __init__(self, *found):
        self.found = found

    def search(self, query, **more):
        from ddgs.results import TextResult

        rows = [TextResult() for _ in self.found]
        for row, (href, title, body) in zip(rows, self.found, strict=True):
            row.href, row.title, row.body = href, title, body
        return rows


@pytest.mark.parametrize(
    ("found", "kind"), [([("https://good.test/a", "Lru", "An lru cache.")], "found"), ([], "empty")]
)
async def test_the_installed_package_has_what_is_used_of_it(monkeypatch, found, kind):
    from ddgs.ddgs import DDGS as Package

    made = []
    monkeypatch.setattr(Package, "_get_engines", lambda self, *asked: made.append(self) or [Engine(*found)])
    result = await DDGS().search(ME, "lru cache", limit=3)
    assert result.kind == kind
    assert made[0]._timeout == 8
    if result.kind == "found":
        assert [(hit.url, hit.title, hit.text) for hit in result.hits] == found


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ddgs", None)
    with pytest.raises(UsageError, match=r"pip install 'lumina-search\[web\]'"):
        DDGS()
