"""An answer that arrives in pieces reads as if it had come at once, wrapped between words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.cli.flow import Flow, words_of, wrapped
from lumina.cli.screen import cells, safe

TEXT = st.text(st.sampled_from("abcdefgh ijk \n\t日本語.[1]"), max_size=200)


def written(capsys: pytest.CaptureFixture[str], pieces: list[str], width: int) -> str:
    capsys.readouterr()
    flow = Flow(width)
    for piece in pieces:
        flow.write(piece)
    flow.end()
    return capsys.readouterr().out


@pytest.fixture
def flowed(capsys: pytest.CaptureFixture[str]):
    return lambda pieces, width: written(capsys, pieces, width)


def test_lines_are_broken_between_words(flowed) -> None:
    assert flowed(["The last tur", "ns are sent word ", "for word [1]."], 16) == (
        "The last turns\nare sent word\nfor word [1].\n"
    )


def test_text_without_spaces_is_broken_between_its_characters(flowed) -> None:
    assert flowed(["天気は晴れです。"], 8) == "天気は晴\nれです。\n"


def test_a_word_longer_than_the_line_is_not_held_back_for_ever(flowed) -> None:
    assert flowed(["x ", "a" * 25, " end"], 10) == "x\n" + "a" * 25 + " end\n"


def test_in_a_pipe_the_text_is_as_it_is_and_ends_its_last_line(flowed) -> None:
    text = "code:\n    " + "x" * 300 + "\n\nend"
    assert flowed([text], 0) == text + "\n"
    assert flowed([text + "\n"], 0) == text + "\n"
    assert flowed([], 0) == ""


def test_any_split_reads_the_same_and_no_word_is_lost(flowed) -> None:
    @given(TEXT, st.integers(min_value=2, max_value=30), st.integers(min_value=1, max_value=5))
    def check(text: str, width: int, size: int) -> None:
        whole = flowed([text], width)
        assert flowed([text[at : at + size] for at in range(0, len(text), size)], width) == whole
        assert whole.split() == text.split() or "".join(whole.split()) == "".join(text.split())
        assert whole.count("\n") >= text.rstrip().count("\n")

    check()


@given(st.text("abc def 日本\x1b\n", max_size=80), st.integers(min_value=8, max_value=40))
def test_styled_words_fit_the_line(text: str, width: int) -> None:
    lines = wrapped(words_of(text), width=width, indent="  ")
    assert " ".join(lines).split() == safe(text).split()
    assert all(cells(line) <= width or " " not in line.strip() for line in lines)
