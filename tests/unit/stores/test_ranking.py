"""BM25 by hand, and the packing of its postings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.agent.ports import PassageSpan
from lumina.stores import ranking

POSTINGS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 255), st.integers(0, 65535)), min_size=1)


@given(POSTINGS)
def test_postings_come_back_as_they_were(postings: list[ranking.Posting]) -> None:
    packed = ranking.pack(postings)
    assert list(ranking.unpack(packed)) == postings
    assert len(packed) == 7 * len(postings)


def test_bytes_of_another_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="postings"):
        list(ranking.unpack(b"12345678"))


def test_the_score_is_bm25_over_the_scope() -> None:
    texts = ["cat cat dog", "cat", "bird bird"]
    spans = [PassageSpan(start=0, end=1, heading="", words=tuple(text.split())) for text in texts]
    index = ranking.index(spans)
    ranked = ranking.rank(
        ["cat", "dog", "cow"], {word: [(7, held)] for word, held in index.items()}, passages=3, total_words=6, limit=9
    )

    def score(times: int, holding: int, length: int) -> float:
        idf = math.log(1 + (3 - holding + 0.5) / (holding + 0.5))
        return idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / 2))

    first, second = score(2, 2, 3) + score(1, 1, 3), score(1, 2, 1)
    assert first > second
    assert ranked.best == ((7, 0), (7, 1))
    assert ranked.frequency == {"cat": 2, "dog": 1, "cow": 0}


def test_more_than_a_posting_can_count_is_counted_as_the_most() -> None:
    long = PassageSpan(start=0, end=1, heading="", words=("cat",) * 70_000)
    assert list(ranking.unpack(ranking.pack(ranking.index([long])["cat"]))) == [(0, 255, 65535)]
