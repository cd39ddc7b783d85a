"""Keys: dotted lower-case paths, and when two of them are nearly the same."""

import pytest

from lumina.memory.keys import is_key, near_key, normal_key


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("home.city", "home.city"),
        (" Home City ", "home_city"),
        ("home-city", "home_city"),
        ("Home . City", "home.city"),
        ("a.b_2.c", "a.b_2.c"),
        ("", None),
        ("a..b", None),
        (".a", None),
        ("größe", None),
        ("a/b", None),
        ("a" * 101, None),
        ("a" * 10_000_000, None),
    ],
)
def test_a_key_is_made_of_what_was_written_where_that_is_plain(written: str, key: str | None):
    assert normal_key(written) == key
    assert key is None or is_key(key)


@pytest.mark.parametrize(
    ("key", "other", "near"),
    [
        ("home_city", "home.city", True),
        ("city.home", "home.city", True),
        ("order.items", "order.item", True),
        ("city", "home.city", True),
        ("user.address", "user.adress", True),
        ("user.colour", "user.color", True),
        ("home.city", "home.city", False),
        ("home.city", "work.city", False),
        ("option1", "option2", False),
        ("option1", "option12", False),
        ("cat.name", "car.name", False),
        ("name", "names_of_children", False),
    ],
)
def test_nearly_equal_keys_are_noticed(key: str, other: str, near: bool):
    assert near_key(key, [other]) == (other if near else None)
    assert near_key(other, [key]) == (key if near else None)


def test_a_key_that_exists_is_near_to_nothing():
    assert near_key("option_s", ["options", "option_s"]) is None
