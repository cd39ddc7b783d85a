"""When a passage may be quoted as the answer, and what a follow-up searches for."""

import pytest

from lumina.agent.evidence import evidence, follow_up_query, is_follow_up
from lumina.agent.ports import Hit


def hit(score: float, coverage: float) -> Hit:
    return Hit(
        locator="doc:a", url="", title="", host="documents", depth="page", stored="x", start=0, end=1,
        score=score, coverage=coverage,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hits", "verdict"),
    [
        ([], "thin"),
        ([hit(4.0, 0.89)], "thin"),
        ([hit(4.0, 1.0)], "direct"),
        ([hit(4.0, 0.9), hit(3.0, 0.5)], "direct"),
        ([hit(4.0, 1.0), hit(3.9, 1.0)], "several"),
        ([hit(4.0, 0.6), hit(3.0, 0.5)], "thin"),
        ([hit(4.0, 0.6), hit(3.9, 1.0)], "several"),
        ([hit(4.0, 0.6), hit(3.9, 0.6), hit(3.8, 0.6), hit(3.7, 1.0)], "thin"),
    ],
)
def test_only_a_covering_and_leading_passage_is_direct(hits: list[Hit], verdict: str):
    assert evidence(hits) == verdict


BEFORE = ["What does functools.lru_cache do?"]


@pytest.mark.parametrize(
    "question",
    [
        "can I clear it?", "and for appending?", "what about the other way round?", "Why?", "And in descending order?",
        "can I get dictionaries instead?", "what if one of them fails?", "ok, how do I upgrade one?", "und die Größe?",
        "wie lösche ich das?", "et pour les dictionnaires ?", "¿y en orden inverso?", "а в обратном порядке?",
        "那怎么清除呢？", "can I limit the size?",
    ],
)  # fmt: skip
def test_a_question_that_leans_on_the_one_before_is_a_follow_up(question: str):
    assert is_follow_up(question, BEFORE)


@pytest.mark.parametrize(
    "question",
    [
        "What is a decorator?", "How do I run a subprocess and capture its output?", "How do I sort a list by key?",
        "What does os.path.join do?", "Which call tells me whether a path is really there?", "Was ist ein Tupel?",
        "How do I make a temporary directory that is deleted afterwards?", "os.path.join", "",
        "¿Qué es un decorador?", "O que é um decorador?", "装饰器是什么？",
        "Android and iOS: which versions are supported?",
    ],
)  # fmt: skip
def test_a_question_that_says_what_it_is_about_is_none(question: str):
    assert not is_follow_up(question, BEFORE)


def test_nothing_is_a_follow_up_without_a_question_before():
    assert not is_follow_up("and for appending?", [])


def test_a_follow_up_searches_with_the_words_it_leans_on():
    assert follow_up_query("can I clear it?", BEFORE) == "clear functools.lru_cache"
    assert follow_up_query("What is a decorator?", BEFORE) == "What is a decorator?"


def test_a_chain_of_follow_ups_goes_back_to_the_question_that_stands_alone():
    asked = ["How do I copy a tree?", "How do I open a file in binary mode?", "and for appending?"]
    assert follow_up_query("and both?", asked) == "appending open file binary mode"


def test_a_follow_up_never_becomes_an_empty_query():
    assert follow_up_query("why?", ["and?"]) == "why?"
