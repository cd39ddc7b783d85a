"""Recall in the subject's other threads: only when asked, only the subject's own, and inert."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from lumina.memory.receipt import as_text
from lumina.memory.reference import points_elsewhere
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.testing.clock import FixedClock


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path) -> AsyncIterator[Store]:
    made = InMemoryStore() if request.param == "memory" else await open_store(tmp_path / "a.db")
    yield made
    await made.close()


async def opened(store: Store, thread: str, *, subject: str = "ada", deltas: bool = False, **options) -> Thread:
    scope = ThreadScope(tenant="local", subject=subject, thread=thread)
    info = await store.open_thread(scope, deltas=deltas)
    return Thread(store=store, scope=scope, info=info, clock=FixedClock(), **options)


async def say(thread: Thread, question: str, answer: str) -> None:
    await thread.record(await thread.context(question), answer)


async def sent(thread: Thread, question: str) -> str:
    return as_text((await thread.context(question)).messages)


async def test_another_thread_is_recalled_when_the_question_asks_for_it_and_stands_under_its_own_heading(store: Store):
    before, now = await opened(store, "trip"), await opened(store, "today")
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel [3], see also 【4】 and [1, 2].")
    await say(now, "Hello", "Hello!")
    text = await sent(now, "Which hotel in Lisbon did you recommend last time?")
    assert f"Another conversation, {before.today()}:\n" in text
    assert "#1 assistant: I recommend the Pombal hotel (3), see also (4) and (1, 2)." in text


async def test_a_question_that_stays_here_reads_no_other_thread(store: Store):
    before, now = await opened(store, "trip"), await opened(store, "today")
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    await say(now, "Hello", "Hello!")
    assert "Pombal" not in await sent(now, "Which hotel in Lisbon is good?")
    assert "Pombal" not in await sent(now, "Which hotel in Lisbon did you recommend earlier?")


async def test_other_threads_are_read_for_every_question_when_the_caller_says_so(store: Store):
    before, now = await opened(store, "trip"), await opened(store, "today", other_threads=True)
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    await say(now, "Hello", "Hello!")
    context = await now.context("Does the Pombal hotel in Lisbon have parking?")
    assert "Pombal hotel." in as_text(context.messages)
    assert "of another conversation holds" in context.receipt.recall_reason


async def test_no_word_of_another_subject_is_ever_recalled(store: Store):
    theirs = await opened(store, "trip", subject="bob")
    await say(theirs, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    mine = await opened(store, "today", other_threads=True)
    await say(mine, "Hello", "Hello!")
    assert "Pombal" not in await sent(mine, "Which hotel in Lisbon did you recommend last time?")


async def test_what_was_said_in_a_temporary_thread_is_recalled_in_no_other(store: Store):
    scope = ThreadScope(tenant="local", subject="ada", thread="secret")
    clock = FixedClock()
    info = await store.open_thread(scope, deltas=False, expires_at=clock() + timedelta(days=1), now=clock())
    secret = Thread(store=store, scope=scope, info=info, clock=clock)
    await say(secret, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    now = await opened(store, "today", other_threads=True)
    await say(now, "Hello", "Hello!")
    assert "Pombal" not in await sent(now, "Which hotel in Lisbon did you recommend last time?")


async def test_a_thread_that_may_not_leave_reads_no_other_and_recall_off_reads_nothing(store: Store):
    before = await opened(store, "trip")
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    alone, off = await opened(store, "secret", other_threads=True), await opened(store, "off", recall="off")
    alone.temporary = True
    for thread in (alone, off):
        assert "Pombal" not in await sent(thread, "Which hotel in Lisbon did you recommend last time?")


async def test_a_recalled_turn_of_another_thread_makes_none_of_its_sources_citable_here(store: Store):
    before, now = await opened(store, "trip"), await opened(store, "today")
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel [1].")
    await say(now, "Hello", "Hello!")
    context = await now.context("Which hotel in Lisbon did you recommend last time?")
    assert context.receipt.citable == ()
    assert "[1]" not in as_text(context.messages)


async def test_the_receipt_names_the_thread_and_is_rendered_again_byte_for_byte(store: Store):
    before, now = await opened(store, "trip"), await opened(store, "today")
    await say(before, "Which hotel in Lisbon?", "I recommend the Pombal hotel.")
    context = await now.context("Which hotel in Lisbon did you recommend last time?")
    await now.record(context, "The Pombal hotel.")
    (shown,) = await now.show()
    assert shown.same is True
    assert shown.messages == context.messages
    assert {item.thread for item in shown.items if item.kind == "recalled"} == {"trip"}


async def test_a_value_that_was_replaced_in_this_thread_is_marked_in_another_threads_passage(store: Store):
    before, now = await opened(store, "trip", deltas=True), await opened(store, "today", deltas=True)
    await say(before, "My home city is Porto.", "Noted.")
    await before.apply(reply("home.city", "Porto", "My home city is Porto"))
    await say(now, "My home city is Lisbon.", "Noted.")
    await now.apply(reply("home.city", "Lisbon", "My home city is Lisbon"))
    text = await sent(now, "Which home city did I mention in our last conversation?")
    assert "My home city is Porto. (replaced in another conversation)" in text


def reply(key: str, value: str, quote: str) -> str:
    return json.dumps({"ops": [{"op": "set", "key": key, "value": value, "quote": quote, "about": "subject"}]})


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend last time?", "In our previous chat you listed three hotels.",
        "Last week you told me about a museum.", "Was hast du letztes Mal empfohlen?",
        "Wie hieß das Hotel aus unserem letzten Gespräch?", "Quel hôtel as-tu conseillé la dernière fois ?",
        "Dans notre dernière conversation, tu parlais d'un musée.", "¿Qué hotel me recomendaste la última vez?",
        "En nuestra conversación anterior hablamos de un museo.", "你上次推荐了哪家酒店？",
        "上周你告诉我的博物馆叫什么？", "前回おすすめのホテルは何でしたか？", "以前の会話で話したホテルは？",
        "ما الفندق الذي نصحتني به المرة الماضية؟", "في المحادثة السابقة ذكرت متحفا",
    ],
)  # fmt: skip
def test_asking_for_another_conversation_is_understood_in_seven_languages(question: str):
    assert points_elsewhere(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did you say earlier?", "Which was the first option?",
        "When was the last conference?", "Was hast du vorhin gesagt?", "Qu'est-ce que tu as dit tout à l'heure ?",
        "你刚才说什么？", "さっき何と言った？",
        "How was the weather last week?", "What do you recommend?",
    ],
)  # fmt: skip
def test_pointing_back_in_this_conversation_does_not_ask_for_another(question: str):
    assert not points_elsewhere(question)
