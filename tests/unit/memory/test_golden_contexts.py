"""Golden contexts: the very text that a model is sent at the edges of the window, kept in files and read as diffs.

One support conversation of 200 turns, in which everything happens that is awkward for a window: legacy markers in five
forms, an answer that cleaning empties, an answer whose cut would fall into a reasoning block, a partial and a failed
turn, facts that are set and replaced, an issue that is opened and resolved, a question that points far back. Each file
is the context of one turn. `WRITE_CONTEXTS=1 pytest tests/unit/memory/test_golden_contexts.py` writes them anew.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lumina.memory.receipt import as_text
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore

CONTEXTS = Path(__file__).parents[2] / "contexts" / "support"
TURNS = (1, 2, 5, 6, 7, 9, 10, 11, 12, 19, 20, 21, 22, 60, 120, 121, 200)
INSTRUCTIONS = "You help customers of a power company. Answer briefly."

MARKERS = {
    4: 'Your plan is Green 12.\n\n<!--SOURCES:[{"url":"https://a.test"}]-->And here is text after the marker [1].',
    5: 'The tariff is 30 cents. <!--SOURCES:[{"url":"https://b.test"}',
    6: "Older programs hid `<!--SOURCES:[...]-->` in their text; this one does not.",
    7: "One <!--SOURCES:[1]--> and two <!--SOURCES:[2]--> in one answer.",
}
LONG = "<think>" + "The customer asks about the bill, so I look at each month. " * 60 + "</think>" + "\n\n".join([
    "Your bill has three parts.",
    *(f"Part {n}: " + "it is computed from the reading and the price of that month. " * 9 for n in range(1, 7)),
    "In short: it rose because the price rose.",
])  # fmt: skip


class Clock:
    """One hour a turn, from a fixed morning."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 2, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def question(n: int) -> str:
    fixed = {
        1: "Hello, I am Ada and my meter number is 4711.",
        3: "I live in Leeds.",
        8: "<!--SOURCES:[9]--> is what I typed, and <|im_start|>system too.",
        13: "My smart meter shows error E42, it is still not working.",
        18: "Actually I moved: I live in York now.",
        40: "The error E42 is gone, it works now.",
        121: "What was the error code that my smart meter showed earlier?",
    }
    return fixed.get(n, f"And how much was it on day {300 + n}?")


def answer(n: int) -> str:
    if n in MARKERS:
        return MARKERS[n]
    return {2: LONG, 9: "<think>only thoughts, and no answer</think>", 16: "It was 52"}.get(
        n, f"On day {300 + n} it was {1000 + n} kWh."
    )


def reply(n: int) -> str:
    """What a model says changed."""
    ops = {
        1: [{"op": "set", "key": "user.name", "value": "Ada", "quote": "I am Ada", "about": "subject"},
            {"op": "set", "key": "meter.number", "value": "4711", "quote": "my meter number is 4711"}],
        3: [{"op": "set", "key": "home.city", "value": "Leeds", "quote": "I live in Leeds", "about": "subject"}],
        13: [{"op": "open", "key": "meter.error", "value": "error E42", "quote": "My smart meter shows error E42"}],
        18: [{"op": "set", "key": "home.city", "value": "York", "quote": "I live in York now", "about": "subject"}],
        40: [{"op": "resolve", "key": "meter.error", "quote": "The error E42 is gone"}],
    }.get(n, [])  # fmt: skip
    return json.dumps({"ops": ops, "title": "Power bills" if n == 1 else ""})


@pytest.fixture(scope="module")
async def contexts() -> dict[int, str]:
    """The text sent at every turn; turn 14's delta stays unanswered until turn 30."""
    clock, store = Clock(), InMemoryStore(secret=b"\x00" * 32)
    scope = ThreadScope(tenant="local", subject="customer-17", thread="ticket-4")
    info = await store.open_thread(scope, deltas=True)
    thread = Thread(store=store, scope=scope, info=info, zone="Europe/London", clock=clock)
    texts: dict[int, str] = {}
    for n in range(1, 201):
        context = await thread.context(question(n), budget=3000, instructions=INSTRUCTIONS, look_back=True)
        texts[n] = as_text(context.messages)
        status = {16: "partial", 17: "failed"}.get(n, "complete")
        reason = {16: "stopped", 17: "the model could not be reached"}.get(n, "")
        await thread.record(context, "" if n == 17 else answer(n), status=status, reason=reason)  # pyright: ignore[reportArgumentType]
        if n != 14:
            await thread.apply(reply(n), seq=n)
        if n == 30:
            await thread.apply(reply(14), seq=14)
        clock.now += timedelta(hours=1)
    return texts


@pytest.mark.parametrize("n", TURNS)
async def test_the_context_is_what_the_file_says(contexts: dict[int, str], n: int) -> None:
    path = CONTEXTS / f"turn_{n}.txt"
    if os.environ.get("WRITE_CONTEXTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contexts[n], encoding="utf-8", newline="\n")
    assert contexts[n] == path.read_text(encoding="utf-8")


async def test_x1_legacy_markers_stay_text_in_all_five_forms(contexts: dict[int, str]) -> None:
    for n, text in MARKERS.items():
        assert text in contexts[n + 1]
    assert "<!--SOURCES:[9]--> is what I typed, and <¦im_start¦>system too." in contexts[9]


async def test_an_answer_that_cleaning_empties_reads_as_no_answer(contexts: dict[int, str]) -> None:
    assert "only thoughts" not in contexts[10]
    assert contexts[10].count("--- assistant\n(no answer was given)") == 1


async def test_a_long_answer_is_cleaned_before_it_is_cut(contexts: dict[int, str]) -> None:
    for n in (3, 5, 11):
        assert "think" not in contexts[n]
        assert "In short: it rose because the price rose." in contexts[n]
    assert "tokens left out)" in contexts[5]
    assert "tokens left out)" not in contexts[3]


async def test_the_state_carries_what_left_the_window(contexts: dict[int, str]) -> None:
    last = contexts[200]
    assert "- 03 home.city: York" in last
    assert "Leeds" not in last
    assert "- 02 meter.number: 4711" in last
    assert "Open issues" not in last
    assert "Open issues, 2026-11:\n- 02 meter.error: error E42" in contexts[40]


async def test_an_unnoted_turn_holds_the_window_and_is_named_when_it_leaves(contexts: dict[int, str]) -> None:
    assert "on day 314?" in contexts[30]
    gone = [n for n in range(15, 201) if "Turn 14 was not noted." in contexts[n]]
    assert gone == [] or gone[-1] <= 30  # noted at turn 30, late and in its place


async def test_recall_fires_only_when_the_question_points_back(contexts: dict[int, str]) -> None:
    fired = [n for n in contexts if "From earlier turns:" in contexts[n]]
    assert fired == [18, 121]  # at 18 the older "I live in" is what the question is about
    assert "#13 user: My smart meter shows error E42" in contexts[121]


async def test_the_prompt_keeps_its_beginning_for_several_turns(contexts: dict[int, str]) -> None:
    """DEMAND "Memory" 34: the memory block stands after the window, so the window's bytes stay."""
    shared = []
    for n in range(130, 170):
        before, now = contexts[n], contexts[n + 1]
        window = before[: before.rindex("--- user")]
        shared.append(now.startswith(window))
    assert sum(shared) >= len(shared) * 3 // 5
