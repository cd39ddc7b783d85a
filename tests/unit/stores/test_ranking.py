"""BM25 by hand, and the packing of its postings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.agent.ports import PassageSpan
from lumina.stores import ranking

FORMS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(tuple), min_size=1, max_size=30)


def spans(texts: list[tuple[str, ...]]) -> list[PassageSpan]:
    return [PassageSpan(start=0, end=1, heading="", words=words) for words in texts]


def by_hand(texts: list[tuple[str, ...]], asked: list[str], ordinal: int) -> float:
    """The score of a passage, from the formula and nothing else."""
    mean, words = max(sum(map(len, texts)) / len(texts), 1.0), texts[ordinal]
    score = 0.0
    for word in asked:
        holding, times = sum(word in other for other in texts), words.count(word)
        idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        score += idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words) / mean))
    return score


@given(FORMS)
def test_postings_come_back_as_they_were(texts: list[tuple[str, ...]]) -> None:
    for form, packed in ranking.index(spans(texts)).items():
        counted = [(n, len(words), words.count(form)) for n, words in enumerate(texts) if form in words]
        assert list(ranking.unpack(packed)) == counted
        assert len(packed) == ranking.POSTING * len(counted)


@given(FORMS, st.lists(st.sampled_from("abcdefghi"), min_size=1, max_size=5), st.integers(1, 8))
def test_leaving_out_the_hopeless_never_changes_the_best(
    texts: list[tuple[str, ...]], asked: list[str], limit: int
) -> None:
    words = {form: [(3, packed)] for form, packed in ranking.index(spans(texts)).items()}
    total = sum(map(len, texts))
    ranked = ranking.rank(asked, words, passages=len(texts), total_words=total, limit=limit)
    everything = ranking.rank(asked, words, passages=len(texts), total_words=total, limit=10**6)
    assert ranked.best == everything.best[:limit]
    scores = [by_hand(texts, asked, n) for n, held in enumerate(texts) if set(asked) & set(held)]
    expected = sorted(scores, reverse=True)[:limit]
    found = [by_hand(texts, asked, ordinal) for _, ordinal in ranked.best]
    assert found == pytest.approx(expected)


def test_bytes_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="postings"):
        list(ranking.unpack(b"12345678"))


def test_more_than_a_posting_can_count_is_counted_as_the_most() -> None:
    long = PassageSpan(start=0, end=1, heading="", words=("cat",) * 70_000)
    assert list(ranking.unpack(ranking.index([long])["cat"])) == [(0, 65535, 255)]
