"""A schema at work in a thread: what is masked before it is kept or sent, what a delta may say, what is told."""

import json

import pytest

from lumina import open_thread
from lumina.memory.errors import UsageError
from lumina.memory.schema import DeclaredKey, Schema
from support.cards import shows_card

CARD, HIDDEN = "4111 1111 1111 1111", "████ ████ ████ ████"
SCHEMA = Schema(
    keys=(
        DeclaredKey(key="account.status", values=("open", "closed"), type="one of", about="subject", meaning="usable?"),
        DeclaredKey(key="plan.seats", type="number"),
        DeclaredKey(key="issue.*"),
        DeclaredKey(key="notes.*"),
    ),
    undeclared="refuse",
    never=("card_number",),
    issues_follow=True,
)


@pytest.fixture
async def thread():
    async with await open_thread(None, subject="s", thread="t", deltas=True, schema=SCHEMA) as opened:
        yield opened


async def told(thread, question, *ops, answer="ok", **more):
    context = await thread.context(question)
    await thread.record(context, answer, **more)
    request = await thread.delta_request()
    return request, await thread.apply({"ops": list(ops)}, seq=request.seq)


async def test_it_is_masked_in_question_answer_tool_calls_passages_and_receipts_before_anything_is_written(thread):
    called = [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "pay", "arguments": json.dumps({"card": CARD})}}]},
        {"role": "tool", "tool_call_id": "1", "content": f"paid with {CARD}"},
    ]  # fmt: skip
    context = await thread.context(f"my card is {CARD}")
    assert CARD not in repr(context.openai())
    turn = await thread.record(context, f"You paid with {CARD}.", messages=called, client_id="a")
    assert (turn.question, turn.answer) == (f"my card is {HIDDEN}", f"You paid with {HIDDEN}.")
    store = thread.store
    kept = repr(
        [(each.turns, each.passages, each.words, each.logs) for each in store._subjects["local", "s"].threads.values()]
    )
    assert not shows_card(kept, CARD)
    again = await thread.record(await thread.context(f"my card is {CARD}"), "x", client_id="a")
    assert again.seq == 1
    assert [shown.same for shown in await thread.show(1)] == [True]
    turn, _ = await thread.begin(f"and {CARD}?")
    assert turn.question == f"and {HIDDEN}?"


async def test_it_is_refused_in_a_delta_and_the_reply_is_kept_masked(thread):
    _, noting = await told(
        thread, f"my card is {CARD} and it was charged twice",
        {"op": "set", "key": "notes.card", "value": CARD, "quote": f"my card is {CARD}"},
        {"op": "set", "key": "notes.masked", "value": HIDDEN, "quote": f"my card is {HIDDEN}"},
        {"op": "open", "key": "issue.charge", "value": "it was charged twice", "quote": "it was charged twice"},
    )  # fmt: skip
    assert [each.reason for each in noting.refused] == [
        "it holds what is never stored here (card_number)",
        "its value was masked, and what it hides is never stored here",
    ]
    assert [outcome.change.value for outcome in noting.outcomes] == ["it was charged twice"]
    assert CARD not in repr(thread.store._subjects["local", "s"].threads["t"].jobs)


async def test_the_model_is_told_what_is_declared_and_that_can_be_shown_again(thread):
    request, _ = await told(thread, "hello from York")
    system, user = (message.content for message in request.messages)
    assert '"declared_keys"' in system
    for words in ('"account.status"', "one of: open, closed", "usable?", "a number such as 1200.5", '"refused"'):
        assert words in user
    assert [shown.same for shown in await thread.show(1)] == [True, True]
    thread.schema = Schema()
    assert [shown.same for shown in await thread.show(1)] == [True, True], "whatever becomes of the file"


async def test_an_undeclared_key_is_refused_a_near_one_once_and_a_wrong_value_with_what_is_allowed(thread):
    context = await thread.context("I am vegan; close the account; we are twelve")
    await thread.record(context, "ok")
    ops = [
        {"op": "set", "key": "diet", "value": "vegan", "quote": "I am vegan"},
        {"op": "set", "key": "acount.status", "value": "closed", "quote": "close the account"},
        {"op": "set", "key": "plan.seats", "value": "twelve", "quote": "we are twelve"},
        {"op": "set", "key": "account.status", "value": "gone", "quote": "close the account"},
    ]
    noting = await thread.apply({"ops": ops}, seq=1)
    assert noting.again
    reasons = [each.reason for each in noting.refused]
    assert reasons[0].startswith("its key is not declared; there are: account.status")
    assert "nearly equals account.status" in reasons[1]
    assert "must be a number such as 1200.5" in reasons[2]
    assert "one of: open, closed" in reasons[3]
    noting = await thread.apply({"ops": ops[:2]}, seq=1)
    assert not noting.outcomes, "asked again, it is still not declared"


async def test_a_declared_key_goes_where_it_belongs_and_an_issue_follows_the_subject(thread):
    """Whatever the model says it is about."""
    _, noting = await told(
        thread, "please close it. The cheque is missing",
        {"op": "set", "key": "account.status", "value": "closed", "quote": "please close it", "about": "thread"},
        {"op": "open", "key": "issue.cheque", "value": "The cheque is missing", "quote": "The cheque is missing"},
    )  # fmt: skip
    assert [outcome.change.about for outcome in noting.outcomes] == ["subject", "subject"]
    assert [entry.key for entry in (await thread.profile()).current()] == ["account.status", "issue.cheque"]
    request, _ = await told(thread, "and now?")
    assert [(entry.key, entry.kind, entry.about) for entry in request.entries] == [
        ("account.status", "fact", "subject"), ("issue.cheque", "issue", "subject"),
    ]  # fmt: skip


async def test_declared_keys_come_before_other_facts_when_there_is_little_room():
    schema = Schema(keys=(DeclaredKey(key="account.status"),))
    async with await open_thread(None, deltas=True, schema=schema) as thread:
        await told(thread, "It is shut", {"op": "set", "key": "account.status", "value": "shut", "quote": "It is shut"})
        for n in range(30):
            words = f"fact number {n} is long enough to need room"
            await told(thread, words, {"op": "set", "key": f"other.k{n}", "value": words, "quote": words})
        for given, kept in ((schema, True), (Schema(), False)):
            thread.schema = given
            items = (await thread.context("hm?", budget=500)).receipt.items
            assert ("account.status" in [i.key for i in items if i.kind == "entry" and i.included]) is kept


async def test_a_correction_is_held_to_the_schema_too(thread):
    await told(thread, "hello from York")
    for call, why in (
        (("set", "diet", "vegan"), "not declared"), (("set", "account.status", "gone"), "one of: open, closed"),
        (("set", "notes.a", f"card {CARD}"), "never stored"), (("set", "plan.seats", "many"), "a number"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=why):
            await thread.correct(*call, by="Ann")
    with pytest.raises(UsageError, match="never stored"):
        await thread.correct("set", "notes.a", "x", by="Ann", why=CARD)
    with pytest.raises(UsageError, match="belongs to the subject"):
        await thread.correct("set", "account.status", "open", by="Ann", about="thread")
    [outcome] = await thread.correct("set", "account.status", "Open", by="Ann")
    assert (outcome.change.value, outcome.change.about) == ("open", "subject")
    assert not shows_card(repr(thread.store._subjects), CARD)
