"""A thread's name in a path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.memory.errors import NotFound
from lumina.server.ids import PLAIN, thread_id, thread_name

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200).filter(str.strip)


@given(NAMES)
def test_every_name_has_one_id_that_a_path_can_carry_and_comes_back(name: str) -> None:
    id = thread_id(name)
    assert set(id) <= set("~-_.") | set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    assert thread_name(id) == name


@given(NAMES, NAMES)
def test_two_names_never_have_the_same_id(one: str, other: str) -> None:
    assert (thread_id(one) == thread_id(other)) == (one == other)


@pytest.mark.parametrize("id", ["..", ".", "~", "~..", "~YQ", "~YQ==", "a/b", "~/w", "~" + "A" * 3, " ", "%2e"])
def test_an_id_that_was_not_made_here_names_nothing(id: str) -> None:
    """`~YQ` stands for `a`, whose id is `a`: one conversation has one address."""
    with pytest.raises(NotFound):
        thread_name(id)


def test_what_people_call_conversations_stays_readable() -> None:
    for name in ("main", "2026-12-01-bcdf", "ticket-4", "a.b_c"):
        assert PLAIN.fullmatch(name)
        assert thread_id(name) == name
