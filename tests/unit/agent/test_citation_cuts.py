"""The same answer however the stream is cut, nothing held for long, and work that grows with the text alone."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lumina.agent import citations
from lumina.agent.citation_pieces import Cited, Piece, Text
from lumina.agent.citations import CitationStream

CITABLE = frozenset({1, 2, 3, 12})


def joined(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def streamed(text: str, cuts: list[int]) -> list[Piece]:
    stream = CitationStream(CITABLE)
    pieces: list[Piece] = []
    for start, end in pairwise([0, *cuts, len(text)]):
        pieces += stream.feed(text[start:end])
    return pieces + stream.close()


MARKS = "[]【】［］()1920`~,:-.^†>*\\a\u200b \n词"
GROUPS = [
    "2024",
    "``",
    "```",
    "~~~",
    "[1]",
    "[9]",
    "[[9]",
    "[1](",
    "](",
    "\\[",
    "http:",
    "source",
    "\\sqrt",
    "- ",
    "   ",
    "    ",
    "\t",
    "$",
    "\\(",
    "\\]",
    "](https://x)",
    ": ",
    "[#9]",
    "[a b]",
    "Plain words, and enough of them to be read in one go. ",
]
FRAGMENTS = st.sampled_from([*MARKS, *GROUPS])
TEXTS = st.lists(FRAGMENTS, max_size=40).map("".join)


@given(st.data(), TEXTS)
@settings(max_examples=100, deadline=None)
def test_demand_8_every_way_of_cutting_the_stream_gives_the_same_answer(data: st.DataObject, text: str) -> None:
    whole = streamed(text, [])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=len(text))))
    for way in (cuts, list(range(1, len(text)))):
        pieces = streamed(text, way)
        assert joined(pieces) == joined(whole)
        assert [p for p in pieces if p.kind != "text"] == [p for p in whole if p.kind != "text"]
    for piece in whole:
        if isinstance(piece, Cited):
            assert joined(whole).startswith(f"[{piece.n}]", piece.position)


@given(st.lists(FRAGMENTS.filter(lambda part: not set(part) & set("`~\\h0")), max_size=40).map("".join))
@settings(max_examples=100, deadline=None)
def test_x4_no_arrangement_of_brackets_lets_a_forged_marker_through(text: str) -> None:
    """Indented lines are code, which passes as it stands."""
    text = re.sub(r"(?m)^ +", "", text)
    for pieces in (streamed(text, []), streamed(text, list(range(1, len(text))))):
        shown = re.sub(r"\]\([^\s]*\)", "", joined(pieces))
        assert {int(digits) for digits in re.findall(r"\[(\d{1,3})\]", shown)} <= CITABLE


DEFINING = [
    "[1]",
    "[9]",
    "[^1]",
    "[[1]]",
    "[ 1 ]",
    "[1\n]",
    "【1】",
    "\\[1\\]",
    "(https://x.example)",
    ":",
    ": ",
    "[src]",
]
DEFINING += ["[]", "[src]: https://x.example\n", "\n[1]: https://x.example\n", "\n", "\n\n", "\r", "> ", "- ", "1. "]
DEFINING += ["   ", "word", "*", "]"]


@given(st.lists(st.sampled_from(DEFINING), max_size=30).map("".join))
@settings(max_examples=100, deadline=None)
def test_demand_12_rendered_as_markdown_no_number_is_a_link(text: str) -> None:
    """Whatever a model defines or links, a number that looks like a citation leads to its source alone."""
    shown = MarkdownIt("commonmark").render(joined(streamed(text, [])))
    assert not re.search(r"<a [^>]*>\s*\[?\d{1,3}\]?\s*</a>", shown)


@given(TEXTS, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_the_stream_never_holds_back_more_than_a_marker_or_a_span(text: str, size: int) -> None:
    stream = CitationStream(CITABLE)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
        assert len(stream._buffer) <= 400


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "[[[[1",
        "[[1],",
        "`a[",
        "`",
        " ",
        "\\",
        "[1]",
        " [9]",
        "```\na\n",
        "](a",
        "~~~x",
        "[1-9",
        "(",
        "\u200b",
    ],
)
@pytest.mark.parametrize("size", [3, 1_000_000])
def test_the_work_grows_with_the_text_and_no_faster(unit: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at(length: int) -> int:
        """Code points that the stream's readers were handed, in all."""
        total = 0

        def counted(mode):
            def run(self):
                nonlocal total
                total += 1 + min(len(self._buffer) - self._at, 400)
                return mode(self)

            return run

        with monkeypatch.context() as patch:
            for name in ("_prose", "_span", "_fence", "_info", "_target"):
                patch.setattr(CitationStream, name, counted(getattr(citations.CitationStream, name)))
            stream = CitationStream(CITABLE)
            text = unit * (length // len(unit))
            for at in range(0, len(text), size):
                stream.feed(text[at : at + size])
            stream.close()
        return total

    assert looked_at(4000) <= 3 * 2 * looked_at(2000)
