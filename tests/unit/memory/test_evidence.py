"""Evidence: quotes are found whatever the typography, whole, and with offsets into the original text."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.evidence import HEAD, TAIL, Passage, Shown, folded, normalised, same, sentences, verbatim


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("I live in Berlin", "live in Berlin", "live in Berlin"),
        ("I  live\n\tin Berlin", "live in Berlin", "live\n\tin Berlin"),
        ("it’s “fine” – really", 'it\'s "fine" - really', "it’s “fine” – really"),
        ("it is fine", '"it is fine"', "it is fine"),
        ("ICH WOHNE IN DER STRASSE", "straße", "STRASSE"),
        ("cafe\u0301 au lait", "café", "cafe\u0301"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("今日は天気がいい", "天気", "天気"),
        ("know no one", "no", "no"),
        ("I use C++ daily", "C++", "C++"),
        ("🙂 hello 🙂", "hello", "hello"),
    ],
)
def test_a_quote_is_found_where_it_stands(text: str, quote: str, found: str):
    span = Passage(text).find(quote)
    assert span is not None
    assert text[span.start : span.end] == found


@pytest.mark.parametrize(
    ("text", "quote"), [("I know", "no"), ("party", "art"), ("a", ""), ("...", "..."), ("", "a"), ("35", "3")]
)
def test_a_part_of_a_word_or_a_mark_is_no_quote(text: str, quote: str):
    assert Passage(text).find(quote) is None


@settings(max_examples=100, deadline=None)
@given(
    before=st.text(max_size=20),
    words=st.text(alphabet="aé\u0301ß한天'’ -–", min_size=1, max_size=12),
    after=st.text(max_size=20),
)
def test_offsets_point_at_words_equal_to_the_quote(before: str, words: str, after: str):
    text = f"{before} {words} {after}"
    span = Passage(text).find(unicodedata.normalize("NFD", words))
    if span is not None:
        assert same(text[span.start : span.end], words) or same(text[span.start : span.end], words.strip("\"'’ "))


def test_offsets_into_a_long_text_count_from_its_beginning():
    text = "the start " + "x " * (HEAD + TAIL) + "the very end"
    span = Shown(text).find("very end")
    assert span is not None
    assert text[span.start : span.end] == "very end"
    assert len(Shown(text).pieces) == 2


def test_sentences_keep_the_citations_that_follow_them():
    text = 'It has 3.5 GB. [1] It is "fast".[2][3] Is it? 速い。はい\nEnd'
    assert [text[span.start : span.end] for span in sentences(text)] == [
        "It has 3.5 GB. [1]",
        ' It is "fast".[2][3]',
        " Is it?",
        " 速い。",
        "はい\n",
        "End",
    ]


@pytest.mark.parametrize("piece", ["a ", "\u0301", ".", "[1] ", "1.", "1 ", "“", "\u0f71\u0f74", "天", "\n"])
def test_time_grows_with_the_length_of_the_text_and_not_with_its_square(piece: str):
    """CASES N6: eight times the text, where quadratic work takes sixty-four times as long."""

    def seconds(characters: int) -> float:
        text = piece * (characters // len(piece))
        start = time.process_time()
        Passage(text).find("quote a")
        sentences(text)
        normalised("2026-03-05", text, "2026-11-30")
        normalised("1200", text, "2026-11-30")
        verbatim("a a a b", text)
        return time.process_time() - start

    seconds(1000)
    assert min(seconds(100_000) for _ in range(2)) < 40 * max(min(seconds(12_500) for _ in range(3)), 0.02)


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_text_in_ascii_folds_as_any_other_text(text: str):
    accent = "\u00e9"  # makes the whole text take the long way
    assert folded(f"{accent} {text} {accent}") == f"{accent} {folded(text)} {accent}".replace("  ", " ")
