"""What may leave in a query. The cases of a value: as said, in part, in other groupings, typed by the person."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.agent.query_guard import QueryGuard


def guard(*, profile=(), recalled=(), typed=(), shown=()):
    return QueryGuard(profile=profile, recalled=recalled, typed=typed, shown=shown)


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("York", "weather York tomorrow"),
        ("York", "weather YORK"),
        ("Acme GmbH, Hauptstr. 5", "Acme GmbH annual report"),
        ("4111 1111 1111 1111", "card 4111111111111111"),
        ("4111111111111111", "is 4111-1111-1111-1111 valid"),
        ("vegetarian", "vegetarian restaurants"),
        ("dark roast coffee", "best dark roast coffee"),
        ("ada@lovelace.test", "ada lovelace"),
        ("北京", "北京 天气"),
        ("Bob", "who is Bob"),
    ],
)
def test_i5_a_value_of_the_profile_is_carried(value, query):
    assert guard(profile=[value]).carries(query) == value


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("York", "weather tomorrow"),
        ("dark roast coffee", "coffee machine descaling"),
        ("yes", "yes or no questions"),
        ("the", "the weather"),
        ("12", "top 12 books"),
    ],
)
def test_an_ordinary_query_is_not_held_up(value, query):
    assert guard(profile=[value]).carries(query) == ""


def test_what_the_person_typed_may_be_searched():
    assert guard(profile=["York"], typed=["What is the weather in York?"]).carries("weather York") == ""
    assert guard(profile=["4111 1111"], typed=["is 41111111 a card?"]).carries("4111 1111 card") == ""


def test_an_answer_that_was_shown_does_not_free_a_value_of_the_profile():
    assert guard(profile=["York"], shown=["As you live in York ..."]).carries("weather York") == "York"


def test_of_recalled_text_names_and_numbers_are_guarded():
    recalled = ["My gardener is Olga Petrova, code 7731. The garden is large."]
    assert guard(recalled=recalled).carries("Petrova gardener") == "Petrova"
    assert guard(recalled=recalled).carries("what is 7731") == "7731"
    assert guard(recalled=recalled).carries("large garden design") == ""
    assert guard(recalled=recalled, shown=["Olga Petrova is your gardener."]).carries("Petrova") == ""


def test_what_is_recalled_later_is_guarded_from_then_on():
    held = guard()
    assert held.carries("Petrova") == ""
    held.recall(["My gardener is Olga Petrova."])
    assert held.carries("Petrova") == "Petrova"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_value_that_was_typed_is_never_held_back(value, query):
    assert guard(profile=[value], recalled=[value], typed=[value]).carries(query) == ""


def test_n6_its_time_grows_with_the_length_of_the_text_and_no_faster():
    def seconds(size):
        text = "a1 -B. " * size
        begin = time.process_time()
        guard(profile=[text], recalled=[text]).carries(text)
        return time.process_time() - begin

    seconds(1000)
    assert seconds(80_000) < 40 * max(seconds(10_000), 0.01)
