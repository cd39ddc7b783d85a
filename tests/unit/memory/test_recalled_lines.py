"""How recalled passages stand in the memory block, now and as the first rendering had them."""

import time
from dataclasses import replace

import pytest

from lumina.memory.errors import UsageError
from lumina.memory.looking_back import RECALL_OFF
from lumina.memory.ranking import Pick, Speakers, rank, units_of
from lumina.memory.recall import CANDIDATES, candidates_for, considered, pick_within
from lumina.memory.receipt import Item, Receipt
from lumina.memory.rendering import Material, inert, render
from lumina.memory.scope import ThreadScope
from lumina.memory.store import StoredPassage
from lumina.memory.thread import Thread
from lumina.memory.turns import Turn
from lumina.stores.in_memory import InMemoryStore
from lumina.testing.clock import FixedClock


def turn(seq: int, day: str, question: str, answer: str) -> Turn:
    return Turn(
        seq=seq, attempt=1, question=question, answer=answer, status="complete", reason="", day=day, delta="none"
    )


TURNS = {
    (1, 1): turn(1, "2026-11-02", "My cat is Mia.", "A fine name [3]."),
    (7, 1): turn(7, "2026-11-03", "Mia is ill.", "See a vet."),
}


def recalled(seq: int, part: str, end: int, **more: int) -> Item:
    return Item(kind="recalled", seq=seq, attempt=1, part="answer" if part == "answer" else "question", end=end, **more)


ITEMS = (recalled(1, "question", 14, replaced_at=7), recalled(1, "answer", 16), recalled(7, "question", 11),
         recalled(9, "question", 5))  # fmt: skip


def shown(rendering: int) -> list[str]:
    receipt = Receipt(rendering=rendering, memory_id="aa", items=ITEMS)
    (message,) = render(receipt, Material(question="And?", instructions="", turns=TURNS))
    return message.content.split("\n")[1:-3]


def test_the_day_stands_once_above_its_passages():
    assert shown(2) == [
        "From earlier turns:", "2026-11-02:", "#1 user: My cat is Mia. (replaced at turn 7)",
        "#1 assistant: A fine name [3].", "2026-11-03:", "#7 user: Mia is ill.", "#9: [forgotten]",
    ]  # fmt: skip


def test_a_receipt_of_the_first_rendering_is_shown_as_it_was():
    """CASES M1: every old thread renders the same context."""
    assert shown(1) == [
        "From earlier turns:", "- turn 1, 2026-11-02, user: My cat is Mia. (replaced at turn 7)",
        "- turn 1, 2026-11-02, assistant: A fine name [3].", "- turn 7, 2026-11-03, user: Mia is ill.",
        "- turn 9: [forgotten]",
    ]  # fmt: skip


def test_brackets_with_numbers_of_another_conversation_become_round():
    assert inert("One [1], [2, 3]; 【4】 [[5]]") == "One (1), (2, 3); (4) (5)"
    assert inert("[note] and [a1] stay") == "[note] and [a1] stay"


def test_making_brackets_inert_is_linear():
    def seconds(times: int) -> float:
        started = time.process_time()
        inert("[1 " * times + "[" * times + "[1" + "1 , " * times)
        return time.process_time() - started

    seconds(1000)
    assert seconds(80_000) < 40 * max(seconds(10_000), 0.002)


def passage(id: int, day: str, text: str = "x") -> StoredPassage:
    return StoredPassage(id=id, seq=id, attempt=1, part="question", start=0, end=len(text), day=day, text=text)


def test_the_heading_of_a_day_is_paid_once():
    picks = [Pick(passage=passage(n, "2026-11-02"), score=9.0 - n) for n in (1, 2, 3)]
    picks.append(Pick(passage=passage(4, "2026-11-03"), score=1.0))
    chosen = pick_within(picks, 40, lambda _: 10, lambda _: 10)
    assert [pick.passage.id for pick in chosen] == [1, 2, 3]
    assert len(pick_within(picks, 60, lambda _: 10, lambda _: 10)) == 4


def test_as_many_picks_are_weighed_as_could_be_sent_and_some_more():
    picks = [Pick(passage=passage(n, "2026-11-02", "word " * 26), score=1.0) for n in range(200)]
    assert len(considered(picks, 2000)) == 101
    assert len(considered(picks, 0)) == 1
    assert len(considered(picks, 100_000)) == 200


def test_the_number_of_candidates_is_bounded_and_grows_with_the_room():
    assert [candidates_for(share) for share in (0, 1000, 2000, 4000, 10**9)] == [60, 60, 80, CANDIDATES, CANDIDATES]


def test_ranking_is_linear_in_the_passages_at_hand():
    def seconds(count: int) -> float:
        passages = [passage(n, "2026-11-02", "a lamp on the desk beside a chair") for n in range(1, count + 1)]
        units = units_of(passages, ("lamp", "chair"))
        started = time.process_time()
        rank("lamp chair", {"lamp": 2.0, "chair": 1.0}, units, Speakers())
        return time.process_time() - started

    seconds(100)
    assert seconds(8000) < 40 * max(seconds(1000), 0.002)


def test_cosines_lift_a_passage_that_shares_no_word_and_bad_ones_do_no_harm():
    texts = ("a lamp", "the light on my desk", "tea")
    passages = [passage(n, f"2026-11-{n:02}", text) for n, text in enumerate(texts, 1)]
    units = units_of(passages, ("lamp",))
    alike = rank("lamp", {"lamp": 2.0}, units, Speakers(), {1: 0.9, 2: 0.8, 3: 0.05})
    assert [pick.passage.id for pick in alike] == [1, 2, 3]
    for similar in ({1: 0.0, 2: 0.0}, {1: -1.0}, {99: 0.5}):
        assert rank("lamp", {"lamp": 2.0}, units, Speakers(), similar)[0].passage.id == 1


async def opened(**options) -> Thread:
    store = InMemoryStore()
    scope = ThreadScope(tenant="local", subject="ada", thread="main")
    thread = Thread(
        store=store, scope=scope, info=await store.open_thread(scope, deltas=False), clock=FixedClock(), **options
    )
    context = await thread.context("My cat Mia eats tuna.")
    await thread.record(context, "Good.")
    for n in range(12):
        await thread.record(replace(context, question=f"How warm is day {n}? Mia naps."), "Mild.")
    return thread


async def test_always_small_sends_a_few_passages_and_says_so():
    thread = await opened(recall="always small")
    context = await thread.context("Mia naps?")
    assert not context.receipt.recall_fired
    assert context.receipt.recall_reason.endswith("A small recall is sent all the same.")
    share = 8000 // 4 // 4
    assert 0 < sum(item.tokens for item in context.receipt.items if item.kind == "recalled" and item.included) <= share
    assert "recalled" not in (await (await opened()).context("Mia naps?")).receipt.tokens


async def test_recall_can_be_off_and_an_unknown_word_is_refused():
    receipt = (await (await opened(recall="off")).context("What did I say earlier about tuna?")).receipt
    assert (receipt.recall_fired, receipt.recall_reason) == (False, RECALL_OFF)
    with pytest.raises(UsageError, match="always small"):
        await opened(recall="sometimes")


async def test_an_embedder_that_finds_the_turn_brings_it_although_no_word_is_shared():
    """The gate goes by words; the embedder's nearest passages are candidates beside them."""
    asked: list[tuple[str, int]] = []

    async def nearest(question: str, before: int) -> dict[int, float]:
        asked.append((question, before))
        return {first: 0.9}

    thread = await opened(nearest=nearest)
    (first,) = (await thread.store.matches(thread.scope, ["tuna"], before=99, cap=9)).ids["tuna"]
    text = (await thread.context("What did you say earlier on how warm it was?")).messages[-1].content
    assert "#1 user: My cat Mia eats tuna." in text
    assert len(asked) == 1
    await thread.context("And?")
    assert len(asked) == 1, "a question that stays with the last turns asks no embedder"
