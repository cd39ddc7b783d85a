"""The part of the store suite about vectors of passages."""

import math
from array import array

import pytest

from lumina.memory.embedding import Vector, dot, unit
from lumina.memory.errors import UsageError
from lumina.memory.forgotten import forget_entry, forget_turn
from lumina.memory.scope import TenantScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import HOSTILE, subject_of, thread_of, told

HERE = thread_of()
ONE, OTHER = "one/4", "other/4"


def towards(degrees: float) -> Vector:
    """A direction in a plane: the cosine of two is that of the angle between them."""
    angle = math.radians(degrees)
    return unit([math.cos(angle), math.sin(angle), 0.0, 0.0])


async def ids_of(store: Store, scope=HERE) -> list[int]:
    """All passages of the thread that have no vector by `nobody`, which are all."""
    return [one.id for one in await store.without_vectors(scope, embedder="nobody", limit=10_000)]


@needs("vectors")
class VectorSuite(Capable):
    """Vectors: kept, read, compared, counted."""

    async def test_a_vector_comes_back_as_it_was_put(self, store: Store) -> None:
        await told(store, HERE, "a cat", "a dog")
        first, second = await ids_of(store)
        odd = unit([0.1, -1e-30, 3.0, -0.0])
        assert await store.put_vectors(HERE, ONE, {first: odd, second: towards(30)}) == 2
        assert await store.vectors(HERE, [second, first, first, 99], embedder=ONE) == {first: odd, second: towards(30)}
        assert await store.vectors(HERE, [first], embedder=OTHER) == {}
        assert await store.vectors(HERE, [], embedder=ONE) == {}

    async def test_a_vector_of_a_passage_that_is_not_there_is_passed_over(self, store: Store) -> None:
        await told(store, HERE, "a cat", "a dog")
        first, second = await ids_of(store)
        given = {first: towards(0), 1: towards(0), 12345678901: towards(0), -1: towards(0), 1 << 70: towards(0)}
        assert await store.put_vectors(HERE, ONE, given) == 1
        assert list(await store.vectors(HERE, [*given, second], embedder=ONE)) == [first]
        assert await store.put_vectors(thread_of(thread="none"), ONE, given) == 0
        assert await store.put_vectors(HERE, ONE, {}) == 0

    async def test_a_vector_of_words_that_have_changed_is_not_kept(self, store: Store) -> None:
        """Between reading a passage and knowing its vector, somebody may have forgotten a part of it."""
        await told(store, HERE, "a cat", "a dog")
        first, second = await ids_of(store)
        made = {first: towards(0), second: towards(0)}
        assert await store.put_vectors(HERE, ONE, made, texts={first: "a cat and its name", second: "a dog"}) == 1
        assert list(await store.vectors(HERE, [first, second], embedder=ONE)) == [second]

    async def test_only_vectors_of_length_one_are_kept(self, store: Store) -> None:
        await told(store, HERE, "a cat", "a dog")
        first, second = await ids_of(store)
        for wrong in ([2.0, 0.0], [0.0, 0.0], [math.nan, 0.0], [math.inf, 0.0], []):
            with pytest.raises(UsageError, match="length 1"):
                await store.put_vectors(HERE, ONE, {first: towards(0), second: array("f", wrong)})
        assert await store.vectors(HERE, [first, second], embedder=ONE) == {}

    async def test_a_passage_has_one_vector_the_last_one_put(self, store: Store) -> None:
        await told(store, HERE, "a cat", "a dog")
        first, second = await ids_of(store)
        await store.put_vectors(HERE, ONE, {first: towards(0), second: towards(0)})
        await store.put_vectors(HERE, ONE, {first: towards(50)})
        await store.put_vectors(HERE, OTHER, {second: towards(70)})
        assert await store.vectors(HERE, [first, second], embedder=ONE) == {first: towards(50)}
        assert await store.vectors(HERE, [first, second], embedder=OTHER) == {second: towards(70)}
        assert await store.embedders(HERE) == {ONE: 1, OTHER: 1}

    async def test_the_nearest_come_first_with_their_cosine(self, store: Store) -> None:
        for n in range(1, 5):
            await told(store, HERE, f"question {n}", f"answer {n}")
        ids = await ids_of(store)
        angles = [80, 10, 50, 170, 20, 20, 60, 0]
        await store.put_vectors(HERE, ONE, {id: towards(angle) for id, angle in zip(ids, angles, strict=True)})
        found = await store.nearest(HERE, towards(0), embedder=ONE, before=9, limit=4)
        assert [id for id, _ in found] == [ids[7], ids[1], ids[5], ids[4]], "of two equally near the newer comes first"
        assert [cosine for _, cosine in found] == pytest.approx(
            [1.0, math.cos(math.radians(10)), *[math.cos(math.radians(20))] * 2], abs=1e-6
        )
        earlier = await store.nearest(HERE, towards(0), embedder=ONE, before=3, limit=9)
        assert [id for id, _ in earlier] == [ids[1], ids[2], ids[0], ids[3]]
        assert await store.nearest(HERE, towards(0), embedder=ONE, before=1, limit=9) == []
        assert await store.nearest(HERE, towards(0), embedder=ONE, before=9, limit=0) == []
        assert len(await store.nearest(HERE, towards(0), embedder=ONE, before=1 << 40, limit=99)) == 8

    async def test_vectors_of_two_embedders_are_never_compared(self, store: Store) -> None:
        """DEMAND Memory 30: other dimensions, or another model of the same ones."""
        await told(store, HERE, "a cat", "a dog")
        await told(store, HERE, "a bird", "a fish")
        ids = await ids_of(store)
        await store.put_vectors(HERE, OTHER, {ids[0]: towards(0)})
        await store.put_vectors(HERE, "three/3", {ids[1]: unit([1.0, 0.0, 0.0])})
        await store.put_vectors(HERE, ONE, {ids[2]: towards(90)})
        assert [id for id, _ in await store.nearest(HERE, towards(0), embedder=ONE, before=9, limit=9)] == [ids[2]]
        assert await store.nearest(HERE, towards(0), embedder="three/3", before=9, limit=9) == []

    async def test_many_are_compared_as_one_by_one(self, store: Store) -> None:
        words = " ".join(f"word{n}." for n in range(40))
        for _ in range(3):
            await told(store, HERE, words, words)
        ids = await ids_of(store)
        made = {id: unit([math.sin(id * n + n) for n in range(1, 9)]) for id in ids}
        await store.put_vectors(HERE, "many/8", made)
        asked = unit([1.0, -2.0, 0.5, 0.0, 3.0, 1.0, -1.0, 2.0])
        found = await store.nearest(HERE, asked, embedder="many/8", before=99, limit=5)
        best = sorted(ids, key=lambda id: -dot(made[id], asked))[:5]
        assert [id for id, _ in found] == best
        assert [cosine for _, cosine in found] == pytest.approx([dot(made[id], asked) for id in best], abs=1e-5)

    async def test_passages_without_vectors_come_in_order_and_in_portions(self, store: Store) -> None:
        for n in range(1, 4):
            await told(store, HERE, f"question {n}", f"answer {n}")
        ids = await ids_of(store)
        await store.put_vectors(HERE, ONE, {ids[1]: towards(0)})
        await store.put_vectors(HERE, OTHER, {ids[2]: towards(0)})

        async def texts(**asked) -> list[str]:
            return [one.text for one in await store.without_vectors(HERE, **asked)]

        assert await texts() == ["question 1", "answer 2", "question 3", "answer 3"]
        assert await texts(embedder=ONE) == ["question 1", "question 2", "answer 2", "question 3", "answer 3"]
        assert await texts(embedder=ONE, limit=2) == ["question 1", "question 2"]
        assert await texts(embedder=ONE, limit=2, after=ids[2]) == ["answer 2", "question 3"]
        assert await texts(limit=0) == []

    async def test_passages_are_counted_by_who_made_their_vector(self, store: Store) -> None:
        there, foreign = thread_of(thread="there"), thread_of(subject="somebody")
        for scope in (HERE, there, foreign, thread_of(tenant="elsewhere")):
            await told(store, scope, "a cat", "a dog")
        first, _ = await ids_of(store)
        await store.put_vectors(HERE, ONE, {first: towards(0)})
        await store.put_vectors(foreign, OTHER, {first: towards(0)})
        assert await store.embedders(HERE) == {ONE: 1, "": 1}
        assert await store.embedders(subject_of()) == {ONE: 1, "": 3}
        assert await store.embedders(TenantScope(tenant="local")) == {ONE: 1, OTHER: 1, "": 4}
        assert await store.embedders(thread_of(thread="none")) == {}
        assert await store.tenant_threads(TenantScope(tenant="local")) == [HERE, there, foreign]
        assert await store.tenant_threads(TenantScope(tenant="nobody")) == []

    async def test_vectors_stay_in_their_thread(self, store: Store) -> None:
        scopes = [thread_of(thread=name) for name in HOSTILE] + [thread_of(subject=name) for name in HOSTILE]
        for scope in scopes:
            await told(store, scope, "a cat", "a dog")
        (first, _) = await ids_of(store, scopes[0])
        for at, scope in enumerate(scopes):
            await store.put_vectors(scope, ONE, {first: towards(at)})
        for at, scope in enumerate(scopes):
            assert await store.vectors(scope, [first], embedder=ONE) == {first: towards(at)}
            ((id, cosine),) = await store.nearest(scope, towards(at), embedder=ONE, before=9, limit=9)
            assert (id, cosine) == (first, pytest.approx(1.0, abs=1e-6))

    @needs("forget")
    async def test_d11_a_vector_goes_with_the_words_that_it_was_made_of(self, store: Store) -> None:
        """A turn's with the turn, and with a masked quote those of its turn; every other stays."""
        said = ("My city is York.", "My car is a Golf.", "My dog is Rex.")
        for question in said:
            await told(store, HERE, question, "Noted.", delta=True)
        ids = await ids_of(store)
        given = {id: towards(at) for at, id in enumerate(ids)}
        assert await store.put_vectors(HERE, ONE, given) == len(given) == 6
        await forget_turn(store, HERE, 1)
        thread = Thread(store=store, scope=HERE, info=await store.thread_info(HERE))
        op = {"op": "set", "key": "car", "value": "Golf", "quote": "My car is a Golf"}
        await thread.apply({"ops": [op]}, seq=2)
        assert (await forget_entry(store, HERE, "car")).masked == 1
        left = await store.vectors(HERE, ids, embedder=ONE)
        assert left == {id: given[id] for id in ids[4:]}
        assert [id for id, _ in await store.nearest(HERE, towards(0), embedder=ONE, before=9, limit=9)] == ids[4:]
        assert [one.id for one in await store.without_vectors(HERE, limit=9)] == ids[2:4], "made anew, of what is left"
