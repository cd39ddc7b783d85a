"""Vectors are made beside the turns, asked only when recall has fired, and never mixed."""

import asyncio
from array import array

import pytest

from lumina import open_thread
from lumina.memory import meaning as rules
from lumina.memory.embedding import EmbedderError, checked, dot, embed, mean, unit
from lumina.memory.errors import UsageError
from lumina.memory.meaning import Meaning, reindex, reindex_words
from lumina.memory.passages import passages_of
from lumina.memory.scope import TenantScope
from lumina.memory.thread import Thread
from lumina.testing import HashedWords
from lumina.testing.store_examples import asked, ended, thread_of, told

HERE = thread_of()
LOCAL = TenantScope(tenant="local")
SAME = {"automobile": "car", "vehicle": "car"}


async def opened(store, embedder, scope=HERE) -> Thread:
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False), embedder=embedder)


async def say(thread: Thread, question: str, answer: str = "I see.") -> None:
    await thread.record(await thread.context(question), answer)


async def filled(store, embedder, turns: int = 30) -> Thread:
    """A thread whose second turn speaks of an automobile and whose others do not."""
    thread = await opened(store, embedder)
    for n in range(1, turns + 1):
        await say(thread, "My automobile is red." if n == 2 else f"Describe plant{n}.", f"Of gardens, part {n}.")
    await thread.embed()
    return thread


# One embedder


async def test_each_turn_gets_its_vectors_after_it_is_kept(store) -> None:
    embedder = HashedWords()
    thread = await opened(store, embedder)
    await say(thread, "My car is red.", "A red car.")
    await thread.embed()
    assert await store.embedders(HERE) == {embedder.name: 2}
    assert embedder.asked == [("passage", ("My car is red.", "A red car."))]


async def test_recall_finds_by_meaning_what_shares_no_word(store) -> None:
    with_vectors = await filled(store, HashedWords(dimensions=512, same=SAME))
    question = "What did I say earlier about my car and plant18?"
    found = await with_vectors.context(question)
    assert "My automobile is red." in found.openai()[-1]["content"]
    plain = await (await opened(store, None)).context(question)
    assert "My automobile is red." not in plain.openai()[-1]["content"]


async def test_a_question_is_embedded_only_when_recall_fires(store) -> None:
    embedder = HashedWords(same=SAME)
    thread = await filled(store, embedder)
    embedder.asked.clear()
    await thread.context("And what do you recommend?")
    await thread.embed()
    assert embedder.asked == []
    await thread.context("What did you say earlier about plant18?")
    assert [kind for kind, _ in embedder.asked] == ["question"]


async def test_without_memory_nothing_is_embedded(store) -> None:
    info = await store.open_thread(HERE, deltas=False)
    embedder = HashedWords()
    thread = Thread(store=store, scope=HERE, info=info, embedder=embedder, remembers=False)
    await say(thread, "My car is red.")
    assert await thread.embed() == 0
    assert embedder.asked == []


# Failing


async def test_a_failing_embedder_keeps_no_turn_and_no_recall_from_going_on(store) -> None:
    embedder = HashedWords()
    embedder.fails = "the endpoint is down"
    thread = await filled(store, embedder)
    assert thread.meaning is not None
    assert thread.meaning.trouble == "the endpoint is down"
    context = await thread.context("What did you say earlier about plant18?")
    assert "Describe plant18." in context.openai()[-1]["content"]
    assert "Searched by words alone: the endpoint is down" in context.receipt.recall_reason
    embedder.fails = ""
    await say(thread, "Go on.")
    await thread.embed()
    assert "" not in await store.embedders(HERE), "what was missing is made up for"
    assert thread.meaning.trouble == ""


async def test_what_is_made_up_for_beside_a_turn_is_bounded(store, monkeypatch) -> None:
    monkeypatch.setattr(rules, "PORTION", 2)
    await filled(store, None)
    embedder = HashedWords()
    meaning = Meaning(store=store, scope=HERE, embedder=embedder)
    assert await meaning.catch_up(most=5) == 5
    assert [len(texts) for _, texts in embedder.asked] == [2, 2, 1]
    assert await meaning.catch_up(most=500) == 55
    assert await meaning.catch_up() == 0


async def test_a_refused_text_does_not_hold_up_those_after_it(store) -> None:
    class Picky(HashedWords):
        async def embed(self, texts, *, kind):
            if any("poison" in text for text in texts):
                raise EmbedderError("no such text", provider=self.name, retry=False)
            return await super().embed(texts, kind=kind)

    embedder = Picky()
    thread = await opened(store, embedder)
    await say(thread, "The poison of the car.")
    await thread.embed()
    await say(thread, "My car is red.")
    await thread.embed()
    assert await store.embedders(HERE) == {"": 2, embedder.name: 2}
    done = await reindex(store, LOCAL, embedder)
    assert (done.made, done.there) == (1, 2)
    assert done.refused == ("main, turn 1: no such text",)


async def test_a_question_whose_vector_is_late_is_sought_by_words(store, monkeypatch) -> None:
    class Endless(HashedWords):
        async def embed(self, texts, *, kind):
            if kind == "question":
                await asyncio.Event().wait()
            return await super().embed(texts, kind=kind)

    monkeypatch.setattr(rules, "QUESTION_SECONDS", 0.01)
    thread = await filled(store, Endless())
    context = await thread.context("What did you say earlier about plant18?")
    assert "gave no vector within" in context.receipt.recall_reason
    assert "Describe plant18." in context.openai()[-1]["content"]


# Another embedder


async def test_a_changed_embedder_is_detected_and_reindex_mends(store) -> None:
    """DEMAND Memory 30: lexical recall keeps working, nothing is lost, dimensions never mix."""
    old, new = HashedWords(dimensions=512, same=SAME), HashedWords(dimensions=256, same=SAME)
    await filled(store, old)
    counts = await store.embedders(HERE)
    question = "What did I say earlier about my car and plant18?"

    thread = await opened(store, new)
    assert thread.meaning is not None
    assert await thread.meaning.other() == old.name
    context = await thread.context(question)
    told_once = f"vectors were made by {old.name}; run lumina reindex."
    assert context.receipt.recall_reason.count(told_once) == 1
    assert "Describe plant18." in context.openai()[-1]["content"]
    assert "My automobile is red." not in context.openai()[-1]["content"]
    await say(thread, "Something else.")
    await thread.embed()
    assert await store.embedders(HERE) == {**counts, "": 2}, "nothing is deleted, and nothing is mixed in"
    assert new.asked == []

    steps: list[tuple[int, int]] = []
    done = await reindex(store, LOCAL, new, progress=lambda *step: steps.append(step))
    assert (done.made, done.refused) == (62, ())
    assert steps == [(0, 62), (32, 62), (62, 62)]
    assert await store.embedders(HERE) == {new.name: 62}
    context = await thread.context(question)
    assert "My automobile is red." in context.openai()[-1]["content"]
    assert "reindex" not in context.receipt.recall_reason


async def test_changing_the_embedder_back_loses_nothing(store) -> None:
    old, new = HashedWords(), HashedWords(dimensions=64)
    await filled(store, old)
    await say(await opened(store, new), "My vehicle is fast.")
    thread = await opened(store, old)
    await thread.embed()
    assert await store.embedders(HERE) == {old.name: 62}


async def test_reindexing_goes_on_where_it_was_interrupted(store, monkeypatch) -> None:
    monkeypatch.setattr(rules, "PORTION", 4)
    old, new = HashedWords(), HashedWords(dimensions=64)
    await filled(store, old)

    class Killed(Exception):
        pass

    def kill(done: int, total: int) -> None:
        if done == 8:
            raise Killed

    with pytest.raises(Killed):
        await reindex(store, LOCAL, new, progress=kill)
    assert await store.embedders(HERE) == {new.name: 8, old.name: 52}
    for embedder in (old, new):
        meaning = Meaning(store=store, scope=HERE, embedder=embedder)
        assert await meaning.other() != "", "half of each: neither is compared"
    done = await reindex(store, LOCAL, new)
    assert (done.made, done.there) == (52, 8)
    assert await store.embedders(HERE) == {new.name: 60}


async def test_reindexing_runs_beside_a_writer_and_over_all_threads(store) -> None:
    old, new = HashedWords(), HashedWords(dimensions=64)
    scopes = [HERE, thread_of(thread="other"), thread_of(subject="somebody")]
    foreign = thread_of(tenant="elsewhere")
    for scope in (*scopes, foreign):
        await say(await opened(store, old, scope), "My car is red.")
        await (await opened(store, old, scope)).embed()

    async def write() -> None:
        for n in range(10):
            await told(store, HERE, f"question {n}", f"answer {n}")

    await asyncio.gather(write(), reindex(store, LOCAL, new))
    await reindex(store, LOCAL, new)
    assert await store.embedders(LOCAL) == {new.name: 26}
    assert await store.embedders(foreign) == {old.name: 2}


async def test_an_embedder_that_fails_for_now_ends_a_reindex_and_keeps_what_was_made(store) -> None:
    await filled(store, None)
    embedder = HashedWords()
    embedder.fails = "too many requests"
    with pytest.raises(EmbedderError, match="too many requests"):
        await reindex(store, LOCAL, embedder)
    assert await store.embedders(HERE) == {"": 60}


async def test_the_word_index_is_written_anew_from_the_text(store) -> None:
    await store.open_thread(HERE, deltas=False)
    for n in range(1, 6):
        question, answer = f"My cat number{n}.", "A dog."
        passages = passages_of(question, answer)
        broken = passages if n % 2 else tuple(
            type(one)(part=one.part, start=one.start, end=one.end, words=("wrong",)) for one in passages
        )  # fmt: skip
        await store.record_turn(HERE, asked(str(n), question), ended(answer=answer, passages=broken), "{}")

    async def holding(word: str) -> list[int]:
        ids = (await store.matches(HERE, [word], before=99, cap=99)).ids[word]
        return [one.seq for one in await store.passages(HERE, ids)]

    assert await holding("cat") == [1, 3, 5]
    assert await reindex_words(store, LOCAL) == 1
    assert await holding("cat") == [1, 2, 3, 4, 5]
    assert await holding("dog") == [1, 2, 3, 4, 5]
    assert await holding("wrong") == []


# By itself


async def test_a_library_user_gives_an_embedder_when_the_thread_is_opened(tmp_path) -> None:
    embedder = HashedWords()
    async with await open_thread(tmp_path / "a.db", embedder=embedder) as thread:
        await say(thread, "My car is red.")
    async with await open_thread(tmp_path / "a.db", embedder=HashedWords(dimensions=8)) as thread:
        assert await thread.store.embedders(thread.scope) == {embedder.name: 2}, "closing waits for a moment"
        assert thread.meaning is not None
        assert await thread.meaning.other() == embedder.name


def test_vectors_are_brought_to_length_one_and_compared() -> None:
    assert list(unit([3.0, 4.0])) == pytest.approx([0.6, 0.8])
    assert dot(unit([1.0, 1.0]), unit([1.0, 0.0])) == pytest.approx(0.5**0.5)
    assert list(mean([unit([1.0, 0.0]), unit([0.0, 1.0])], [3.0, 4.0])) == pytest.approx([0.6, 0.8])
    for wrong in ([0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], []):
        with pytest.raises(ValueError, match="direction"):
            unit(wrong)
    with pytest.raises(ValueError, match="compared"):
        dot(unit([1.0]), unit([1.0, 0.0]))
    with pytest.raises(ValueError, match="no vectors"):
        mean([])


async def test_what_an_embedder_gives_is_checked() -> None:
    class Wrong(HashedWords):
        gives: list = []

        async def embed(self, texts, *, kind):
            return self.gives

    embedder = Wrong(dimensions=2)
    for gives, said in (([], "0 vectors for 1"), ([[1.0]], "1 dimensions"), ([[0.0, 0.0]], "direction"),
                        ([[float("nan"), 1.0]], "direction"), ([["a", "b"]], "direction")):  # fmt: skip
        embedder.gives = gives
        with pytest.raises(EmbedderError, match=said):
            await embed(embedder, ["a"], kind="question")
    assert checked(embedder, [3.0, 4.0]) == array("f", [0.6, 0.8])


async def test_an_embedder_without_a_usable_name_is_refused(store) -> None:
    for wrong in (
        HashedWords(name=" "),
        HashedWords(name="a\n"),
        HashedWords(name="n" * 201),
        HashedWords(dimensions=0, name="n"),
    ):
        with pytest.raises(UsageError, match="embedder"):
            await opened(store, wrong)
