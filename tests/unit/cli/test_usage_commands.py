"""`lumina usage`: what models took, summed up by day, turn, purpose and model; a price is known or said not to be."""

import asyncio
import json

import pytest

from lumina.cli.place import ME
from lumina.memory.store import ModelUse
from lumina.stores.opening import open_store
from lumina.testing.store_examples import told


@pytest.fixture
def spent(home):
    """Two conversations, three turns, four models."""

    def use(seq, day, purpose, model, **tokens):
        return ModelUse(seq=seq, attempt=1, purpose=purpose, model=model, day=day, **tokens)

    async def fill():
        store = await open_store(home / "lumina.db")
        one, other = ME.thread("one"), ME.thread("other")
        for scope, question in ((one, "a"), (one, "b"), (other, "c")):
            await told(store, scope, question)
        await store.add_usage(one, [
            use(1, "2026-11-29", "answer", "openai:gpt-5", input=10_000, output=500, cached=8_000),
            use(1, "2026-11-30", "note", "ollama:llama3.2", input=900, output=40),
            use(2, "2026-11-30", "answer", "nobody:x", input=70, output=7),
        ])  # fmt: skip
        await store.add_usage(other, [use(1, "2026-11-30", "note", "openai:gpt-5", input=1_000, output=0)])
        await store.close()

    home.mkdir(parents=True, exist_ok=True)
    asyncio.run(fill())


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


def test_without_a_call_it_says_so(lumina):
    assert lumina("usage").out == "No model was asked yet.\n"


def test_it_is_summed_up_by_day_with_a_total(lumina, spent):
    done = lumina("usage")
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[:5] for line in lines[1:]] == [
        ["2026-11-29", "1", "10,000", "8,000", "500"], ["2026-11-30", "3", "1,970", "0", "47"],
        ["total", "4", "11,970", "8,000", "547"],
    ]  # fmt: skip
    assert [" ".join(line[5:]) for line in lines[1:]] == [
        "$0.0085", "$0.0012, and 1 call of unknown price", "$0.0098, and 1 call of unknown price"
    ]  # fmt: skip
    assert "not known" in done.err


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("purpose", [("answer", 2, "0.0085", 1), ("note", 2, "0.00125", 0)]),
        ("model", [("nobody:x", 1, None, 1), ("ollama:llama3.2", 1, "0", 0), ("openai:gpt-5", 2, "0.00975", 0)]),
    ],
)
def test_it_is_summed_up_by_purpose_and_model(lumina, spent, by, expected):
    got = rows(lumina("usage", "--by", by, "--json"))
    assert [
        (row[by], row["calls"], row["usd"] and str(float(row["usd"])).removesuffix(".0"), row["calls_without_price"])
        for row in got
    ] == expected


def test_it_is_summed_up_by_turn_of_one_conversation_or_all(lumina, spent):
    got = rows(lumina("usage", "--by", "turn", "--json"))
    assert [(row["thread"], row["turn"], row["input"]) for row in got] == [
        ("one", 1, 10_900), ("one", 2, 70), ("other", 1, 1_000)
    ]  # fmt: skip
    shown = lumina("usage", "--by", "turn", "--thread", "one").out.splitlines()
    assert [line.split()[0] for line in shown] == ["turn", "1", "2", "total"]
    assert "price unknown" in shown[2]


def test_it_begins_at_a_day(lumina, spent):
    assert [row["day"] for row in rows(lumina("usage", "--since", "2026-11-30", "--json"))] == ["2026-11-30"]
    assert lumina("usage", "--since", "2027-01-01").out == "No model was asked since 2027-01-01.\n"
    assert (lumina("usage", "--since", "today").code, lumina("usage", "--by", "week").code) == (2, 2)


def test_a_real_turn_is_in_it_and_the_built_in_model_costs_nothing(lumina):
    lumina("ask", "-t", "main", "What is Lumina?")
    [row] = rows(lumina("usage", "--by", "model", "--json"))
    assert row["model"] == "lumina:extractive"
    assert row["calls"] >= 1
    assert (row["usd"], row["calls_without_price"]) == ("0", 0)
