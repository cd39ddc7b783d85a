"""Passages start at headings and definitions, and their offsets are exact."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.adapters.documents.document_text import Document, TextBuilder
from lumina.adapters.documents.passages import BEFORE_DEFINITION, FULL, MAX_CODE_POINTS, MAX_GAP, cut
from lumina.adapters.documents.readers import read_document
from lumina.memory.words import forms


def document(*blocks: tuple[str, str, int], title: str = "Manual") -> Document:
    builder = TextBuilder()
    for kind, text, level in blocks:
        builder.add(kind, text, level=level)  # type: ignore[arg-type]
    made = builder.finish(title)
    assert isinstance(made, Document)
    return made


def bodies(made: Document) -> list[str]:
    return [made.text[span.start : span.end] for span in cut(made)]


def prose(word: str, times: int) -> str:
    return " ".join([word] * times)


def test_a_passage_starts_at_each_heading_and_keeps_the_path_above_it_outside_its_body():
    made = document(
        ("heading", "Manual", 1), ("text", "Intro.", 0),
        ("heading", "Parts", 2), ("heading", "Wheel", 3), ("text", "Round.", 0),
        ("heading", "Care", 2), ("text", "Oil it.", 0),
    )  # fmt: skip
    assert [(span.heading, made.text[span.start : span.end]) for span in cut(made)] == [
        ("", "Intro."),
        ("Parts > Wheel", "Round."),
        ("Care", "Oil it."),
    ]


def test_a_definition_starts_a_passage_only_once_enough_words_are_held():
    few = document(("text", "short", 0), ("definition", "spin(n)", 1), ("text", "turns", 1))
    assert bodies(few) == ["short\n\nspin(n)\n\nturns"]
    many = document(("text", prose("long", BEFORE_DEFINITION), 0), ("definition", "spin(n)", 1), ("text", "turns", 1))
    assert bodies(many)[1] == "spin(n)\n\nturns"


def test_a_long_definition_is_named_above_every_passage_that_belongs_to_it_and_no_longer():
    made = document(
        ("definition", "class Wheel(size)", 1),
        ("definition", "spin(n)", 2),
        ("text", prose("alpha", 110), 2),
        ("text", prose("beta", 110), 2),
        ("text", prose("gamma", 110), 1),
        ("text", prose("delta", 110), 0),
    )
    assert [span.heading for span in cut(made)] == ["class Wheel", "class Wheel > spin", "class Wheel", ""]


def test_long_blocks_are_cut_at_sentences():
    sentence = prose("word", 40) + ". "
    parts = bodies(document(("text", sentence * 10, 0)))
    assert len(parts) > 2
    assert all(part.endswith(".") for part in parts)
    assert " ".join(parts).split() == (sentence * 10).split()


def test_code_is_cut_between_lines():
    parts = bodies(document(("code", "\n".join(f"call_{n}(a, b, c)" for n in range(100)), 0)))
    assert len(parts) > 2
    assert "\n".join(parts).split("\n") == [f"call_{n}(a, b, c)" for n in range(100)]


def test_text_without_spaces_is_cut_too():
    parts = bodies(document(("text", "天気予報" * 2_000, 0)))
    assert "".join(parts) == "天気予報" * 2_000
    assert max(map(len, parts)) <= MAX_CODE_POINTS


def test_one_endless_word_and_marks_alone_make_no_endless_passage():
    assert max(map(len, bodies(document(("text", "x" * 1_000_000, 0))))) <= MAX_CODE_POINTS
    assert max(map(len, bodies(document(("text", "words " + "!" * 1_000_000, 0))))) <= MAX_CODE_POINTS


def test_an_endless_word_is_not_indexed():
    assert all(len(form) <= 64 for span in cut(document(("text", "a " + "x" * 100_000, 0))) for form in span.words)


def test_a_document_of_headings_alone_is_one_passage():
    assert bodies(document(("heading", "One", 1), ("heading", "Two", 1))) == ["One\n\nTwo"]


def test_a_pdf_page_stands_in_the_path():
    builder = TextBuilder()
    builder.page("page 1")
    builder.add("text", prose("alpha", 120))
    builder.page("page 2")
    builder.add("text", prose("beta", 120))
    made = builder.finish("Book")
    assert isinstance(made, Document)
    assert [span.heading for span in cut(made)] == ["page 1", "page 2"]


def test_the_last_heading_and_the_body_are_what_a_passage_is_found_by():
    made = document(("heading", "Manual", 1), ("heading", "Caring parts", 2), ("text", "Oil it.", 0))
    assert cut(made)[0].words == ("care", "part", "oil", "it")


BLOCKS = st.tuples(
    st.sampled_from(["heading", "definition", "text", "code"]),
    st.text(alphabet=st.sampled_from("ab .\n(“天気é-"), max_size=400),
    st.integers(0, 3),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=12))
def test_passages_are_in_order_apart_and_hold_every_word_outside_the_headings(blocks):
    builder = TextBuilder()
    for kind, text, level in blocks:
        builder.add(kind, text * 5, level=level)
    made = builder.finish("Manual")
    if not isinstance(made, Document):
        return
    spans, at = cut(made), 0
    for span in spans:
        assert at <= span.start < span.end <= len(made.text)
        assert span.end - span.start <= MAX_CODE_POINTS + MAX_GAP
        at = span.end
    outside = [made.text[b.start : b.end] for b in made.blocks if b.kind != "heading"]
    if any(forms(text) for text in outside):
        held = {letter for span in spans for letter in made.text[span.start : span.end] if letter.isalnum()}
        assert held >= {letter for text in outside for letter in text if letter.isalnum()}
        assert max(len(forms(made.text[span.start : span.end])) for span in spans) <= 2 * FULL


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_the_same_file_always_gives_the_same_passages(name: str):
    data = ("# One\n\n" + "word. " * 500).encode()
    first, second = read_document(name, data), read_document(name, data)
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert cut(first) == cut(second)
