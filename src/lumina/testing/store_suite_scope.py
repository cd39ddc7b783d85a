"""The part of the store suite about scopes: another's id behaves exactly like one that does not exist.

Three installations hold threads of the same names, and ids that a pattern, a fold or a glued key would confuse. Each
scope has a canary, a word of its own, in every field that can hold text; no read of another scope may return it.
"""

from collections.abc import AsyncIterator

import pytest

from lumina.memory.errors import NotFound
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Snapshot, Store, StoredReceipt
from lumina.memory.turns import NewSource
from lumina.testing.store_examples import HOSTILE, asked, cited, ended, looked_up, noted, thread_of, told


async def fill(store: Store, scope: ThreadScope, canary: str) -> None:
    """One turn with `canary` in every place that can hold text. Every scope gets the same turn and source numbers."""
    await store.open_thread(scope, deltas=True)
    turn, _ = await store.begin_turn(scope, asked("same", f"cat {canary}"))
    await store.add_tool_call(scope, 1, 1, looked_up(result=canary, arguments=canary))
    source = NewSource(
        locator="https://same.example/", url=f"https://same.example/?{canary}", title=canary, host="same.example",
        depth="page", text=canary,
    )  # fmt: skip
    await store.register_source(scope, 1, 1, source)
    event = f'{{"kind":"text","text":"{canary}"}}'
    end = ended(
        turn, f"cat {canary} [1]", delta=True, citations=(cited(),), events=(event,), usage=f'{{"{canary}": 1}}'
    )
    await store.finish_turn(scope, end)
    await store.set_title(scope, canary)
    await store.set_followups(scope, 1, 1, [canary])
    await store.append_events(scope, 0, 0, [event])
    await store.put_receipt(scope, StoredReceipt(seq=1, attempt=1, call=1, purpose="answer", body=f'"{canary}"'))
    await store.answer_delta(scope, 1, 1, canary)
    profile = await store.profile(scope.of_subject)
    body = f'{{"{canary}": 1}}'
    after = Snapshot(version=profile.version + 1, body=body)
    await store.apply_delta(scope, noted(turn, f'["{canary}"]'), Snapshot(version=1, body=body), after)


async def everything(store: Store, scope: ThreadScope) -> AsyncIterator[object]:
    """All that can be read within `scope`, with keys and numbers that exist elsewhere."""
    subject = scope.of_subject
    yield await store.threads(subject, limit=1000)
    yield await store.thread_info(scope)
    yield await store.recent_turns(scope, limit=100)
    yield await store.turns(scope, [(1, 1), (2, 1)])
    yield await store.page(scope)
    yield await store.tool_calls(scope, 1, 1)
    yield await store.events(scope, 1, 1)
    yield await store.events(scope, 0, 0)
    yield await store.sources(scope)
    yield await store.sources(scope, [1, 2])
    yield await store.source_names(scope, [1, 2])
    yield await store.state(scope)
    yield await store.profile(subject)
    yield await store.delta_jobs(scope, "waiting", "answered", "applied", "set aside")
    yield await store.deltas(scope)
    yield await store.deltas(scope, [1, 2])
    yield await store.subject_deltas(subject)
    yield await store.subject_deltas(subject, [1, 2])
    yield await store.receipts(scope, 1, 1)
    found = await store.matches(scope, ["cat"], before=99, cap=999)
    yield found
    yield await store.passages(
        scope, sorted({id for ids in found.ids.values() for id in ids} | set(range(65536, 65540)))
    )
    for source in await store.sources(scope):
        yield await store.text(subject, source.digest)


class ScopeSuite:
    """Isolation, on every read."""

    async def test_no_read_returns_another_scopes_canary(self, store: Store) -> None:
        scopes = {
            f"canary{n}x": thread_of(subject, thread, tenant)
            for n, (tenant, subject, thread) in enumerate(
                (tenant, subject, thread)
                for tenant in ("acme", "acme-corp", "ACME")
                for subject in ("me", "m%", "me:main")
                for thread in ("main", "m_in")
            )
        }
        for canary, scope in scopes.items():
            await fill(store, scope, canary)
        for canary, scope in scopes.items():
            seen = [repr(read) async for read in everything(store, scope)]
            for other, elsewhere in scopes.items():
                # A subject's list of threads, its profile and its deltas are its own, whichever thread is asked from.
                if elsewhere.of_subject != scope.of_subject:
                    assert not any(other in read for read in seen), f"{other} of {elsewhere} was read from {scope}"
                elif elsewhere != scope:
                    theirs = [*seen[1:12], *seen[13:16], *seen[18:]]
                    assert not any(other in read for read in theirs), f"{other} of {elsewhere} was read from {scope}"
            assert all(canary in read for read in seen[:8]), "the canary of the scope itself is there"

    async def test_ids_are_the_same_only_to_the_code_point(self, store: Store) -> None:
        for place in ("tenant", "subject", "thread"):
            for n, name in enumerate(HOSTILE):
                scope = thread_of(**{"subject": f"s-{place}", "thread": "t", "tenant": f"t-{place}", place: name})
                await told(store, scope, f"question {n} of {place}")
            for n, name in enumerate(HOSTILE):
                scope = thread_of(**{"subject": f"s-{place}", "thread": "t", "tenant": f"t-{place}", place: name})
                turns = (await store.recent_turns(scope, limit=99)).turns
                assert [turn.question for turn in turns] == [f"question {n} of {place}"]
                assert scope.thread in [info.thread for info in await store.threads(scope.of_subject, limit=99)]

    async def test_words_of_another_thread_are_not_found(self, store: Store) -> None:
        await told(store, thread_of(thread="a"), "needle one")
        await told(store, thread_of(thread="b"), "needle two")
        await told(store, thread_of(subject="you", thread="a"), "needle three")
        for scope, text in ((thread_of(thread="a"), "needle one"), (thread_of(thread="b"), "needle two")):
            ids = (await store.matches(scope, ["needl", "two"], before=99, cap=99)).ids
            assert len(ids["needl"]) == 1, "another thread's passages are not even counted"
            passages = await store.passages(scope, [id for found in ids.values() for id in found])
            assert [passage.text for passage in passages] == [text]

    async def test_a_text_of_another_subject_is_not_found(self, store: Store) -> None:
        mine, other = thread_of("me").of_subject, thread_of("you").of_subject
        digest = await store.put_text(mine, "private")
        for scope in (other, thread_of("me", tenant="elsewhere").of_subject):
            with pytest.raises(NotFound):
                await store.text(scope, digest)

    async def test_asking_about_an_unknown_subject_leaves_no_trace(self, store: Store) -> None:
        nobody = thread_of("nobody")
        assert (await store.profile(nobody.of_subject)).version == 0
        assert await store.recent_turns(nobody, limit=5)
        assert await store.threads(nobody.of_subject) == []
