"""Tokens by script."""

from hypothesis import given
from hypothesis import strategies as st

from lumina.memory.budget import ScriptCounter

count = ScriptCounter().count


def test_scripts_count_at_their_own_ratio() -> None:
    assert count("word " * 70) == 100
    assert count("天气" * 40) == 100
    assert count("привет" * 20) == 100
    assert count("12,34;" * 25) == 100


def test_long_runs_without_a_space_count_as_signs() -> None:
    assert count("a" * 300) == 200
    assert count("aGVsbG8gd29ybGQ" * 20) >= 200


def test_a_factor_scales_the_count_and_names_itself() -> None:
    assert ScriptCounter(factor=2.0).count("word " * 70) == 200
    assert ScriptCounter(factor=1.25).name == "by script x 1.25"


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_lines_together_never_need_more_than_each_plus_one(a: str, b: str) -> None:
    assert count(f"{a}\n{b}") <= count(a) + count(b) + 1
