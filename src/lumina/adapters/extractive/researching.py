"""What is looked up before an answer is made: more than one search, and pages behind excerpts.

A search of the web gives excerpts; the sentence that answers is more often on the page. So the first results that are
pages are read, as far as reading is offered. Where a plan is wanted, it is made by code: the question itself, its
parts, its telling words.
"""

import json
import re
from collections.abc import Sequence

from lumina.adapters.extractive.tool_results import Outcome, Passage, Results, read_results
from lumina.memory.words import content_words

LOCAL = "documents"  # the host of what is no page of the web
PAGES, PAGES_RESEARCHED = 2, 4  # pages read for a question
QUERIES = 3
PARTS = re.compile(r"\s(?:and|or|versus|vs\.?|compared (?:to|with)|und|oder|et|ou|y|o)\s|[;?!,]\s", re.IGNORECASE)
LEAST_WORDS = 2  # of a part that can stand alone


def planned(question: str) -> list[str]:
    """At most `QUERIES` queries: the question, its parts where it has several, its content words."""
    found = [question, *parts_of(question)]
    words = content_words(question)
    telling = [word for word in re.findall(r"\w+", question) if set(content_words(word)) & set(words)]
    found.append(" ".join(telling))
    return list(dict.fromkeys(query for query in found if query.strip()))[:QUERIES]


def parts_of(question: str) -> list[str]:
    """The parts of a question that has several, those that can stand alone."""
    parts = [part.strip(" .?!,;") for part in PARTS.split(question)]
    return [part for part in parts if len(content_words(part)) >= LEAST_WORDS] if len(parts) > 1 else []


def pages_to_read(results: Sequence[Results], read: Sequence[int], most: int) -> int:
    """The number of the next page worth reading, best first; 0 when there is none, or enough were read."""
    if len(read) >= most:
        return 0
    places = [(at, one.source) for found in results for at, one in enumerate(found.passages) if one.host != LOCAL]
    return next((source for _, source in sorted(places, key=lambda place: place[0]) if source not in read), 0)


def number_of(arguments: str) -> int:
    """The number of the page that a call of read_page named; 0 for none."""
    try:
        body = json.loads(arguments)
    except ValueError:
        return 0
    n = body.get("n") if isinstance(body, dict) else 0
    return n if isinstance(n, int) else 0


def together(searches: Sequence[str], pages: Sequence[str]) -> Results:
    """All that was found and read in a turn as one result: pages in the place of the excerpts that led to them."""
    read = [read_results(text) for text in (*pages, *searches)]
    whole = {passage.source for found in read[: len(pages)] for passage in found.passages}
    passages: list[Passage] = []
    for at, found in enumerate(read):
        new = [one for one in found.passages if at < len(pages) or one.source not in whole]
        passages += [passage for passage in new if passage not in passages]
    if passages:
        return Results(outcome="found", passages=tuple(passages))
    without: list[Outcome] = [found.outcome for found in read if found.outcome != "found"]
    return Results(outcome="failed" if "failed" in without else without[0] if without else "empty")
