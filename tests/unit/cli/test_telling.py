"""What a person reads while a turn searches and reads pages."""

import pytest

from lumina.agent.events import PageRead, SearchFinished, SearchStarted
from lumina.cli.telling import Teller, page_line, search_line

PLACE = {"thread": "t", "turn": 1}


def searched(provider: str, outcome: str, reason: str = "", hits: int = 0) -> SearchFinished:
    return SearchFinished.model_validate(
        {**PLACE, "query": "q", "provider": provider, "outcome": outcome, "reason": reason, "hits": hits}
    )


def page(outcome: str = "failed", reason: str = "", host: str = "good.test") -> PageRead:
    return PageRead.model_validate(
        {**PLACE, "n": 1, "characters": 0, "outcome": outcome, "host": host, "reason": reason}
    )


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (searched("documents", "found", hits=1), "found 1 passage in your documents"),
        (searched("tavily", "found", hits=8), "found 8 results in Tavily"),
        (searched("ddgs", "empty", "Nothing."), "found nothing in public search engines: Nothing."),
        (searched("searxng", "failed", "It refuses."), "the search in SearXNG failed: It refuses."),
        (searched("brave", "refused", "It carries “York”."), "the search was not made: It carries “York”."),
        (searched("own-thing", "failed", "No\x1b[31m."), "the search in own-thing failed: No\ufffd[31m."),
    ],
)
def test_P6_how_a_search_ended_is_told_with_the_providers_name_and_reason(event, line):
    assert search_line(event) == line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (page("read"), "reading good.test [1]"),
        (page("read", host=""), "reading more of [1]"),
        (page(reason="there is no such page (404)"), "good.test could not be read: there is no such page (404)"),
        (page(reason="good.test was not asked: inner."), "could not be read: good.test was not asked: inner."),
        (page("refused", "Only ...", host=""), "a page was not opened: Only ..."),
    ],
)
def test_how_reading_a_page_ended_is_told_and_names_its_host_once(event, line):
    assert page_line(event) == line


def test_a_query_is_told_once_however_many_providers_are_asked_and_a_reason_too(capsys):
    teller = Teller()
    for provider in ("docs", "searxng"):
        teller.tell(SearchStarted.model_validate({**PLACE, "query": "q", "provider": provider}))
    for host in ("good.test", "other.test"):
        teller.tell(page(reason="reading it needs a package", host=host))
    assert capsys.readouterr().err.splitlines() == [
        "searching: q", "good.test could not be read: reading it needs a package",
        "other.test could not be read for the same reason",
    ]  # fmt: skip
