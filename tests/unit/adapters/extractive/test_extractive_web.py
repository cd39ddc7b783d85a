"""What the built-in answerer makes of the web: pages before excerpts, the parts of a question, documents beside it."""

import json

from lumina.adapters.extractive import composing
from lumina.adapters.extractive.researching import parts_of, planned, together
from lumina.adapters.extractive.tool_results import Results, read_results

KEEPS = "The tinbox cache keeps up to 4711 results."
HOLDS = "The largest box holds 300 megabytes."


def row(source: int, text: str, covers: float = 0.0, host: str = "good.test") -> dict:
    return {"source": source, "title": f"Page {source}", "host": host, "covers": covers, "score": covers, "text": text}


def search(*rows: dict) -> str:
    return json.dumps({"outcome": "found", "results": rows})


def results(*rows: dict) -> Results:
    return read_results(search(*rows))


def test_a_page_takes_the_place_of_its_excerpt_and_what_was_found_first_stays_first():
    found = together([search(row(1, "An excerpt."), row(2, "Two.")), search(row(3, "Three."))],
                     [json.dumps(row(1, KEEPS))])  # fmt: skip
    assert [(one.source, one.text) for one in found.passages] == [(1, KEEPS), (2, "Two."), (3, "Three.")]


def test_P6_a_failed_search_beside_an_empty_one_has_failed():
    empty, failed = json.dumps({"outcome": "empty"}), json.dumps({"outcome": "failed"})
    assert together([empty, failed], []).outcome == "failed"
    assert together([empty, empty], []).outcome == "empty"


def test_a_number_answers_how_many_though_the_page_does_not_say_many():
    told = composing.answer("How many results does the tinbox cache keep?", results(row(1, "Other."), row(2, KEEPS)),
                            "en")  # fmt: skip
    assert told == f"{KEEPS} [2]"


def test_a_page_of_the_web_answers_where_documents_hardly_hold_the_question():
    found = results(row(1, "My own notes on boxes.", 0.2, "documents"), row(2, KEEPS))
    assert composing.answer("How many results does the tinbox cache keep?", found, "en") == f"{KEEPS} [2]"


def test_the_parts_of_a_question_are_answered_one_by_one_only_when_each_has_a_page():
    question = "How many results does the tinbox cache keep and how large is the largest box?"
    parts = parts_of(question)
    assert planned(question)[:3] == [question, *parts]
    both, one = results(row(1, KEEPS), row(2, HOLDS)), results(row(1, KEEPS), row(2, "Other."))
    assert composing.answer(question, both, "en", parts=parts) == f"{KEEPS} [1]\n\n{HOLDS} [2]"
    assert composing.answer(question, both, "en").startswith("I found no direct answer")
    assert composing.answer(question, one, "en", parts=parts).startswith("I found no direct answer")


def test_a_question_without_parts_has_none():
    assert parts_of("What is bread and butter?") == []
