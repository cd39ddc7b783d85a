"""Consent: only words of assent, in a sentence that does not ask, make an offer a person's own."""

import pytest

from lumina.memory.consent import assents, goes_on, only_assents
from lumina.memory.evidence import Span


def whole(text: str) -> bool:
    return assents(text, Span(0, len(text)))


YES = """yes|Yes, do that.|OK.|let’s go with it|the second one|d'accord|sí, claro|да, давай|好的|はい、お願いします
नहीं, हाँ|نعم""".replace("\n", "|").split("|")
NO = """no|Tell me about Rome.|please explain the first law|yes?|ok, what about the bus?|Ist das gut?|你好|yesterday
the okapi|go on|What is that""".replace("\n", "|").split("|")


@pytest.mark.parametrize("words", YES)
def test_words_of_assent_accept(words: str):
    assert whole(words)


@pytest.mark.parametrize("words", NO)
def test_other_words_do_not(words: str):
    assert not whole(words)


def test_only_the_quoted_sentence_counts():
    text = "Yes. And what about the bus?"
    assert assents(text, Span(0, 3))
    assert not assents(text, Span(5, 8))


@pytest.mark.parametrize(
    ("words", "on"), [("still broken", True), ("it works now", False), ("всё работает", False), ("还在报错", True)]
)
def test_still_means_that_it_goes_on(words: str, on: bool):
    assert goes_on(words) is on


@pytest.mark.parametrize(
    "words",
    ["はい、お願いします", "はい、それでお願いします。", "sim, pode fazer", "Sim, pode fazer isso.", "sim, por favor",
     "oui, vas-y", "ja, bitte", "sí, por favor", "yes, please", "好的，可以"],
)  # fmt: skip
def test_a_polite_assent_still_only_agrees(words: str):
    assert only_assents(words)


@pytest.mark.parametrize(
    "words", ["はい、東京でお願いします", "sim, pode fazer em Lisboa", "yes, the blue one", "por favor", "bitte"]
)
def test_an_assent_that_names_something_says_more_than_yes(words: str):
    assert not only_assents(words)
