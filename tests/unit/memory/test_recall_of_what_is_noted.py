"""A question whose answer the state holds is sent a small recall, and no less is found for any other."""

import pytest

from lumina.memory.passages import passages_of
from lumina.memory.recall import Recalled, decide, query_words
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.words import vocabulary

TURNS = (
    ("My router model is Heron 12.", "Noted, your router model is Heron 12."),
    ("Which tea is mild?", "White tea."),
)
STATE = "home city: York\nrouter model: Heron 12"


def recall(question: str, state: str = STATE) -> Recalled:
    passages: list[StoredPassage] = []
    for seq, (asked, answer) in enumerate(TURNS, 1):
        for span in passages_of(asked, answer):
            text = (asked if span.part == "question" else answer)[span.start : span.end]
            passages.append(StoredPassage(
                id=len(passages) + 1, seq=seq, attempt=1, part=span.part, start=span.start, end=span.end,
                day="2026-11-30", text=text,
            ))  # fmt: skip
    ids = {
        word: tuple(p.id for p in reversed(passages) if word in vocabulary(p.text)) for word in query_words(question)
    }
    matches = WordMatches(ids=ids, turns=len(TURNS))
    return decide(question, before=9, window=(), state=state, matches=matches, passages=passages)


def test_what_the_state_says_already_needs_a_small_recall_only_and_the_reason_says_so():
    found = recall("What did I tell you earlier about the router model?")
    assert (found.fire, found.extent) == (True, "small")
    assert found.picks
    assert found.reason.endswith("What it asks for is noted, so a small recall is sent.")


@pytest.mark.parametrize("state", ["", "home city: York", "router model year: 2019"])
def test_what_the_state_does_not_say_is_recalled_in_full(state: str):
    assert recall("What did I tell you earlier about the router model?", state).extent == "full"


@pytest.mark.parametrize(
    "question",
    [
        "What did I tell you earlier, what was my router model before?",
        "What did I say earlier my old router model is?",
        "When did I tell you about my router model?",
        "What did you tell me earlier about the router model?",
        "What did I tell you earlier about the router model and the mild tea?",
    ],
)
def test_who_asks_how_it_was_or_when_or_what_the_answer_was_or_for_more_gets_all(question: str):
    assert recall(question).extent == "full"
