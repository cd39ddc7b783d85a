"""`lumina ask` on the web: the real command, a real search engine's format, real pages, and no model."""

import json
import os
from collections.abc import Iterator

import pytest

from support.page_server import PageServer, article
from support.search_servers import SearchServer

QUESTION = "How many results does the tinbox cache keep?"
BOTH = "How many results does the tinbox cache keep and how large is the largest box?"
KEEPS = "The tinbox cache keeps up to 4711 results before it drops the oldest."
HOLDS = "The largest box holds 300 megabytes, which is enough for most."
FILLING = "Tinbox is a small program that keeps things in boxes, and this page tells at some length how it does that."
PAGES = {
    "/cache": article("The tinbox cache", FILLING, KEEPS, "It is emptied with the command tinbox clear."),
    "/limits": article("Limits of tinbox", FILLING, HOLDS),
}


@pytest.fixture
def web() -> Iterator[PageServer]:
    with PageServer(PAGES) as server:
        yield server


@pytest.fixture
def engine(web) -> Iterator[SearchServer]:
    with SearchServer("searxng") as server:
        server.results = [
            (f"http://{web.place}/cache", "The tinbox cache", "A small program that keeps things in boxes."),
            (f"http://{web.place}/limits", "Limits of tinbox", "Other limits."),
            (f"http://{web.place}/gone", "Gone", "Nothing much about a tinbox cache is here."),
        ]
        yield server


@pytest.fixture
def told(web, engine) -> dict[str, str]:
    return {"LUMINA_SEARCH": "searxng", "LUMINA_SEARXNG_URL": engine.url, "LUMINA_WEB_ALLOW": web.place}


def events_of(done) -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def of(kind: str, events: list[dict]) -> list[dict]:
    return [event for event in events if event["kind"] == kind]


def test_a_question_is_searched_for_pages_are_read_and_the_answer_cites_a_passage_of_a_page(lumina, told, web) -> None:
    events = events_of(lumina("ask", "--json", "-t", "main", QUESTION, **told))
    [searched] = of("search.finished", events)
    assert (searched["provider"], searched["outcome"], searched["hits"]) == ("searxng", "found", 3)
    assert [(read["n"], read["outcome"]) for read in of("page.read", events)] == [(1, "read"), (2, "read")]
    assert ("/cache" in web.asked, "/robots.txt" in web.asked) == (True, True)
    depths = [(source["n"], source["depth"]) for source in of("source", events)]
    assert depths == [(1, "snippet"), (2, "snippet"), (3, "snippet"), (1, "page"), (2, "page")]
    text = "".join(event["text"] for event in of("text", events))
    assert text.startswith(f"{KEEPS} [1]")
    assert KEEPS in [citation["passage"] for citation in of("citation", events)]
    assert (events[-1]["status"], events[-1]["searched"]) == ("complete", "found")
    assert lumina("show", "main", "--verify", **told).returncode == 0


def test_a_person_sees_what_was_searched_read_and_quoted(lumina, told, web) -> None:
    done = lumina("ask", QUESTION, **told)
    said, beside = done.stdout.decode(), done.stderr.decode()
    assert f"{KEEPS} [1]" in said
    assert f"http://{web.place}/cache" in said
    assert beside.splitlines() == [
        f"searching: {QUESTION}", "found 3 results in SearXNG", f"reading {web.place} [1]", f"reading {web.place} [2]",
        "Quoted from the sources that were found; no model is set.",
    ]  # fmt: skip


def test_research_shows_its_plan_searches_several_times_and_reads_what_it_found(lumina, told, engine) -> None:
    done = lumina("ask", "--research", BOTH, **told)
    said, beside = done.stdout.decode(), done.stderr.decode()
    assert beside.startswith("looking for: ")
    assert beside.count("searching: ") == len(engine.asked) == 3
    assert "could not be read: there is no such page (404)" in beside
    assert f"{KEEPS} [1]" in said
    assert f"{HOLDS} [2]" in said


def test_P6_the_provider_that_fails_is_shown_with_its_reason_and_the_next_one_answers(lumina, told, engine) -> None:
    engine.status = 403
    done = lumina("ask", "How does Lumina remember?", **told | {"LUMINA_SEARCH": "searxng,docs"})
    assert b"the search in SearXNG failed: It refuses answers in JSON (403)." in done.stderr
    assert b"found nothing in your documents: no documents have been added" in done.stderr
    assert b"The search failed, so nothing new is cited." in done.stderr
    assert b"[1]" not in done.stdout
    engine.status = 200
    events = events_of(lumina("ask", "--json", QUESTION, **told | {"LUMINA_SEARCH": "docs,searxng"}))
    outcomes = [(event["provider"], event["outcome"]) for event in of("search.finished", events)]
    assert outcomes == [("documents", "empty"), ("searxng", "found")]
    assert of("citation", events)


def test_a_page_that_may_not_be_read_is_told_and_its_excerpt_is_marked_as_one(lumina, told, web) -> None:
    done = lumina("ask", QUESTION, **told | {"LUMINA_WEB_ALLOW": ""})
    assert f"could not be read: {web.place} was not asked: only the ports 80 and 443 are opened" in done.stderr.decode()
    assert b"only an excerpt of it was read" in done.stdout
    assert web.asked == []


def test_demand_4_with_pages_only_nothing_is_cited_that_was_not_read(lumina, told) -> None:
    events = events_of(lumina("ask", "--json", QUESTION, **told | {"LUMINA_WEB_ALLOW": "", "LUMINA_CITE": "pages"}))
    assert of("citation", events) == []
    assert of("citation.removed", events)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"LUMINA_SEARCH": "altavista"}, b"'altavista' is not a search provider. There are: docs, searxng, tavily"),
        ({"LUMINA_SEARCH": "docs,"}, b"a name is missing beside a comma"),
        ({"LUMINA_SEARCH": "tavily"}, b"needs a key: set TAVILY_API_KEY in the environment."),
        ({"LUMINA_SEARCH": "brave"}, b"needs a key: set BRAVE_API_KEY in the environment."),
        ({"LUMINA_SEARCH": "exa", "EXA_API_KEY": "secr\u00e9t-key"}, b"EXA_API_KEY holds characters that no key has."),
        ({"LUMINA_SEARXNG_URL": ""}, b"needs LUMINA_SEARXNG_URL, the address of your instance."),
        ({"LUMINA_SEARXNG_URL": "search.lan"}, b"search.lan"),
    ],
)
def test_a_search_that_cannot_be_set_up_is_a_usage_error_that_says_what_to_do(lumina, told, settings, says) -> None:
    done = lumina("ask", QUESTION, **told | settings)
    assert done.returncode == 2
    assert says in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"secr" not in done.stderr


def test_without_the_extra_web_one_line_says_that_pages_cannot_be_read(lumina, told, tmp_path) -> None:
    (tmp_path / "trafilatura.py").write_text("raise ImportError('absent', name='trafilatura')\n")
    (tmp_path / "ddgs.py").write_text("raise ImportError('absent', name='ddgs')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    done = lumina("ask", QUESTION, **told | {"PYTHONPATH": path})
    assert done.returncode == 0
    assert done.stderr.count(b"pip install 'lumina-search[web]'") == 1
    assert b"could not be read for the same reason" in done.stderr
    absent = lumina("ask", QUESTION, **told | {"PYTHONPATH": path, "LUMINA_SEARCH": "ddgs"})
    assert absent.returncode == 2
    assert b"pip install 'lumina-search[web]'" in absent.stderr
