"""Each citation belongs to one sentence, and that sentence's offsets are those of the answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.agent.citations import Cited, cite
from lumina.agent.cited_sentences import cited_sentences


def found(answer: str, language: str = "en") -> list[tuple[str, tuple[int, ...]]]:
    return [(answer[s.start : s.end], s.numbers) for s in cited_sentences(answer, language=language)]


CASES = {
    "One thing [1]. Another.": [("One thing [1].", (1,))],
    "One thing. [1] Another [2].": [("One thing.", (1,)), ("Another [2].", (2,))],
    "One thing.[1][2] Another.": [("One thing.", (1, 2))],
    "One thing. [1]Another.": [("One thing.", (1,))],
    "One [2] thing [1], really [2].": [("One [2] thing [1], really [2].", (2, 1))],
    "Dr. Smith left at 5 p.m. with it [1]. He did.": [("Dr. Smith left at 5 p.m. with it [1].", (1,))],
    "😀 One. Two 😀 [1].": [("Two 😀 [1].", (1,))],
    "[1] Opening. Next.": [("Opening.", (1,))],
    "First. Last.\n[1]\nNext.": [("Last.", (1,))],
    "First.\n\n[1]": [("First.", (1,))],
    "- First [1]\n- Second. More [2]\n1. Third\n": [("First", (1,)), ("More", (2,))],
    "- [1] First": [("First", (1,))],
    "- [x] Done [1]": [("Done", (1,))],
    "## Heading [1]\nText [2].": [("Heading", (1,)), ("Text [2].", (2,))],
    "> Quoted [1].": [("Quoted [1].", (1,))],
    "| Rome | 2.8 million [1] | 1285 |": [("| Rome | 2.8 million [1] | 1285 |", (1,))],
    "| Rome | 2.8 million [1] | 1285 [2] |": [("2.8 million", (1,)), ("1285", (2,))],
    "In [2024] `a[1]` and [#1](https://example.org).": [],
    "Nothing.": [],
    "[1]": [],
    "": [],
}


@pytest.mark.parametrize(("answer", "expected"), CASES.items())
def test_a_citation_belongs_to_its_sentence(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert found(answer) == expected


def test_japanese_sentences_end_at_their_own_stop() -> None:
    assert found("今日は晴れ。明日は雨[1]。", "ja") == [("明日は雨[1]。", (1,))]


def test_the_claim_is_the_sentence_without_its_markers() -> None:
    assert cited_sentences("So it is [1], and so [2][3] it stays [1].")[0].claim == "So it is, and so it stays."


def test_citations_of_the_stream_are_taken_as_they_are() -> None:
    answer, pieces = cite("In [2024] it was so [7]. And [1] so.", {1, 2024}, given={1, 2024})
    cited = [piece for piece in pieces if isinstance(piece, Cited)]
    assert [(s.numbers, s.claim) for s in cited_sentences(answer, cited)] == [
        ((2024,), "In it was so."),
        ((1,), "And so."),
    ]


PARTS = st.sampled_from(["[1]", "[2]", " ", "Word", " word", ". ", ".", "\n", "\n\n", "- ", "|", "# ", "é", "😀", "? "])


@given(st.lists(PARTS, max_size=40).map("".join))
@settings(max_examples=100, deadline=None)
def test_every_citation_of_any_answer_lands_in_a_sentence_that_is_in_the_answer(text: str) -> None:
    answer, pieces = cite(text, {1, 2})
    cited = [piece for piece in pieces if isinstance(piece, Cited)]
    sentences = cited_sentences(answer, cited)
    assert {n for s in sentences for n in s.numbers} <= {piece.n for piece in cited}
    assert all(0 <= s.start < s.end <= len(answer) and answer[s.start : s.end].strip() for s in sentences)
    for s in sentences:
        bare = answer[s.start : s.end].replace("[1]", "").replace("[2]", "")
        assert "".join(bare.split()) == "".join(s.claim.split())
