"""Nothing that a terminal obeys comes from outside (CASES O4)."""

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.cli.screen import cells, columns, complain, cut, flat, safe

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SPECIAL = "\x1b\x07\x08\r\x9b\x9d\u202e\u2066\u200f\ufeff\ud800\u2028\x7f\n\t]0;[31m"
ANYTHING = st.text(st.one_of(st.characters(), st.sampled_from(SPECIAL), st.characters(categories=["Cs"])))


@given(ANYTHING)
def test_safe_text_holds_no_control_character_no_direction_override_and_no_half_of_a_pair(text: str) -> None:
    shown = safe(text)
    assert not CONTROL.search(shown)
    assert not BIDI.search(shown)
    shown.encode()
    assert safe(shown) == shown


@given(ANYTHING)
def test_a_name_stays_on_one_line(text: str) -> None:
    assert len(flat(text).splitlines()) <= 1


@pytest.mark.parametrize(
    "text", ["tab\tand\nline", "👩‍👩‍👧", "日本語 天気", "שלום", "مرحبا", "Cafe\u0301", "a\u200cb", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
)
def test_ordinary_text_of_any_script_is_left_as_it_is(text: str) -> None:
    assert safe(text) == text


@given(ANYTHING)
def test_an_error_cannot_begin_a_second_line_at_the_left(text: str) -> None:
    said = io.StringIO()
    before, sys.stderr = sys.stderr, said
    try:
        complain(text)
    finally:
        sys.stderr = before
    first, *more = said.getvalue().removesuffix("\n").split("\n")
    assert first.startswith("lumina: ")
    assert all(line.startswith("  ") for line in more)


@given(st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING), max_size=4), st.integers(min_value=4, max_value=60))
def test_a_row_of_a_table_is_one_line_and_fits(rows: list[tuple[str, str, str]], limit: int) -> None:
    lines = columns(rows, limit=limit)
    assert len(lines) == len(rows)
    assert all("\n" not in line and cells(line) <= limit for line in lines)


def test_wide_characters_count_as_two_columns() -> None:
    assert columns([("日本", "x"), ("abcd", "y")], limit=0) == ["日本  x", "abcd  y"]
    assert cut("日本語テキスト", 7) == "日本語…"
