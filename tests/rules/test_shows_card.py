"""The check itself: it finds a card number however it is grouped, and no hash by chance."""

import pytest

from support.cards import shows_card

CARD = "4111 1111 1111 1111"


@pytest.mark.parametrize(
    "text", [CARD, "x4111111111111111x", "4111-1111-1111-1111", "...1111 1111", "ends in 41111111"]
)
def test_a_number_is_found_whole_in_part_and_grouped_in_any_way(text):
    assert shows_card(text, CARD)


@pytest.mark.parametrize("text", ["", "2026-12-01T10:00:00.111123", "a 1111 b", "digest 3f1111ab"])
def test_what_a_hash_or_a_time_may_hold_is_no_card(text):
    assert not shows_card(text, CARD)
