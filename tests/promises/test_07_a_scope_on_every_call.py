"""Promise 7: a scope on every call, and nothing of another's behind it (CASES A2, I3; DEMAND "Memory" 6, 7, 9)."""

import inspect
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.words import forms
from lumina.stores.opening import open_store
from lumina.testing.document_suite import about

# Names chosen to look like one another's: delimiters, prefixes, wildcards, case, and normal forms.
TWINS = [
    "acme", "acme-corp", "ACME", "acme%", "acme_", "a&run_id=b", "a:b", "a/b", "*", "%", "jose\u0301", "jos\u00e9",
    "a b", "'--",
]  # fmt: skip


def test_no_call_of_a_store_goes_without_a_scope() -> None:
    free = {"close", "secret", "scrub", "mend_words"}  # of the database as a whole; they return nothing of anybody
    for name, call in inspect.getmembers(Store, inspect.isfunction):
        if name.startswith("_") or name in free:
            continue
        first = list(inspect.signature(call).parameters.values())[1]
        assert first.name == "scope", name
        allowed = {ThreadScope, SubjectScope, TenantScope}
        assert set(get_args(first.annotation) or (first.annotation,)) <= allowed, name


@pytest.mark.parametrize("bad", ["", " ", None, 7, "a\x00b", "a\nb", "\ud800", "x" * 201])
def test_an_id_that_is_none_is_refused_with_the_reason(bad: object) -> None:
    with pytest.raises(UsageError, match=r"subject"):
        SubjectScope(tenant="local", subject=bad)  # pyright: ignore[reportArgumentType]


async def conversation(store: Store, scope: ThreadScope, canary: str) -> str:
    """Three turns full of the canary: words, facts about the thread and the subject, a source. Returns a context."""
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))
    for n in range(3):
        question = f"My secret word {n} is {canary} and I live in {canary}."
        context = await thread.context(question)
        await thread.record(context, f"Noted {canary}.")
        ops = [
            {"op": "set", "key": "secret.word", "value": canary, "quote": f"My secret word {n} is {canary}"},
            {"op": "set", "key": "home.city", "value": canary, "quote": f"I live in {canary}", "about": "subject"},
        ]
        await thread.apply(json.dumps({"ops": ops}))
    return "\n".join(message.content for message in (await thread.context("What is my secret word earlier?")).messages)


@pytest.mark.parametrize("where", ["memory", "sqlite"])
async def test_a2_equal_ids_under_other_owners_never_mix(tmp_path: Path, where: str) -> None:
    store = await open_store(tmp_path / "a.db" if where == "sqlite" else None)
    scopes = [
        ThreadScope(tenant=tenant, subject=subject, thread="ticket")
        for tenant in ("acme", "acme-corp", "ACME")
        for subject in ("customer", "customer-1", "a&run_id=b")
    ]
    for at, scope in enumerate(scopes):
        await conversation(store, scope, f"canary{at}x")
    for at, scope in enumerate(scopes):
        thread = Thread(store=store, scope=scope, info=await store.thread_info(scope))
        seen = "\n".join(m.content for m in (await thread.context("What was my secret word earlier?")).messages)
        assert f"canary{at}x" in seen
        assert not [other for other in range(len(scopes)) if other != at and f"canary{other}x" in seen]
    await store.close()


async def test_another_threads_words_stay_in_it_and_the_profile_goes_along(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "a.db")
    one, two = (ThreadScope(tenant="t", subject="s", thread=name) for name in ("one", "two"))
    await conversation(store, one, "canary")
    thread = Thread(store=store, scope=two, info=await store.open_thread(two, deltas=True))
    seen = "\n".join(m.content for m in (await thread.context("What was my secret word earlier?")).messages)
    assert "home.city: canary" in seen
    assert "secret.word" not in seen
    await store.close()


async def test_anothers_thread_is_as_one_that_does_not_exist(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "a.db")
    mine = ThreadScope(tenant="t", subject="me", thread="thread-a")
    await conversation(store, mine, "canary")
    messages = []
    for scope in (
        ThreadScope(tenant="t", subject="you", thread="thread-a"),
        ThreadScope(tenant="t", subject="you", thread="thread-b"),
    ):
        with pytest.raises(NotFound) as refusal:
            await store.thread_info(scope)
        messages.append(str(refusal.value).replace(scope.thread, "X"))
        assert await store.turns(scope, [(1, 1)]) == {}
        assert await store.receipts(scope, 1, 1) == []
    assert messages[0] == messages[1]
    await store.close()


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(TWINS), min_size=2, max_size=4, unique=True))
async def test_i3_hostile_names_are_only_names(names: list[str]) -> None:
    """DEMAND Memory 6 and 7."""
    store = await open_store(None)
    scopes = [ThreadScope(tenant="t", subject=name, thread=name) for name in names]
    for at, scope in enumerate(scopes):
        await conversation(store, scope, f"canary{at}x")
    for at, scope in enumerate(scopes):
        thread = Thread(store=store, scope=scope, info=await store.thread_info(scope))
        seen = "\n".join(m.content for m in (await thread.context("my secret word earlier?")).messages)
        assert [n for n in range(len(names)) if f"canary{n}x" in seen] == [at]


@pytest.mark.parametrize("where", ["memory", "sqlite"])
async def test_a_subjects_documents_are_found_by_it_and_by_nobody_else(tmp_path: Path, where: str) -> None:
    """Listed, searched, read and removed; the tenant's are everybody's in it."""
    store: Any = await open_store(tmp_path / "a.db" if where == "sqlite" else None)
    people = [SubjectScope(tenant=tenant, subject=subject) for tenant in ("t", "u") for subject in ("me", "me%", "you")]
    for at, scope in enumerate(people):
        await store.put_documents(scope, [about("doc:/own.md", f"a canary number {at}")], own=True)
    await store.put_documents(people[0], [about("doc:/all.md", "a canary for all")])
    ids = {at: next(info.id for info in await store.documents(scope) if info.own) for at, scope in enumerate(people)}
    for at, scope in enumerate(people):
        everybodys = ["a canary for all"] if scope.tenant == "t" else []
        found = await store.find_passages(scope, list(forms("canary")), limit=99)
        assert sorted(hit.body for hit in found.hits) == sorted([f"a canary number {at}", *everybodys])
        assert found.passages == 1 + len(everybodys)
        assert await store.remove_documents(scope, [id for other, id in ids.items() if other != at]) == 0
        for other, id in ids.items():
            if other != at:
                with pytest.raises(NotFound):
                    await store.document_text(scope, id)
    await store.close()
