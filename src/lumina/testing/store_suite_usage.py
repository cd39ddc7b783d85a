"""What a store must do for what model calls took. See `lumina.testing.store_suite`."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.forgotten import forget_subject, forget_thread, forget_turn
from lumina.memory.scope import ThreadScope
from lumina.memory.store import ModelUse, Store
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import NOON, ODD, asked, ended, subject_of, thread_of, told
from lumina.testing.store_suite_transfer import exported, imported, without_scope

ME, HERE = subject_of(), thread_of()
THERE = subject_of("copy", "elsewhere")
MODEL = "openai:gpt-5"


def use(seq: int = 1, day: str = "2026-11-30", purpose: str = "answer", attempt: int = 1, **tokens: int) -> ModelUse:
    plain = ModelUse(seq=seq, attempt=attempt, purpose=purpose, model=MODEL, day=day)
    return replace(plain, **tokens)


def kept(one: ModelUse, number: int = 1, scope: ThreadScope = HERE) -> ModelUse:
    return replace(one, number=number, subject=scope.subject, thread=scope.thread)


class UsageSuite(Capable):
    """`add_usage` and `usage`."""

    async def test_what_a_call_took_is_kept_as_it_was_told(self, store: Store) -> None:
        await told(store, HERE, "one")
        first = use(input=2**40, output=7, cached=5, cache_written=3, reasoning=2)
        others = [replace(use(purpose=text, input=n), model=text) for n, text in enumerate(ODD) if text]
        await store.add_usage(HERE, [first])
        await store.add_usage(HERE, others)
        assert await store.usage(HERE) == [kept(one, n) for n, one in enumerate([first, *others], 1)]
        await store.add_usage(HERE, [])
        assert len(await store.usage(HERE)) == 1 + len(others)

    async def test_it_is_read_by_scope_and_from_a_day_on(self, store: Store) -> None:
        """A2: equal ids of others, and twins of case, see nothing of it."""
        scopes = [thread_of(s, n, t) for t in ("a", "A") for s in ("me", "Me") for n in ("x", "X")]
        for n, scope in enumerate(scopes):
            await told(store, scope, "one")
            await store.add_usage(scope, [use(input=n, day="2026-11-29"), use(input=n + 100)])
        for n, scope in enumerate(scopes):
            assert [one.input for one in await store.usage(scope)] == [n, n + 100]
            assert [one.input for one in await store.usage(scope, since="2026-11-30")] == [n + 100]
            assert await store.usage(scope, since="2026-12-01") == []
            mine = [m for m, other in enumerate(scopes) if other.of_subject == scope.of_subject]
            assert sorted(one.input for one in await store.usage(scope.of_subject)) == [
                *mine, *(m + 100 for m in mine)
            ]  # fmt: skip
        assert len(await store.usage(HERE.of_subject.of_tenant)) == 0
        of_tenant = await store.usage(scopes[0].of_subject.of_tenant)
        assert [(one.day, one.subject, one.thread) for one in of_tenant] == [
            (day, subject, thread) for day in ("2026-11-29", "2026-11-30") for subject in ("Me", "me")
            for thread in ("X", "x")
        ]  # fmt: skip
        assert await store.usage(thread_of(thread="not there")) == []

    async def test_a_superseded_attempt_still_counts(self, store: Store) -> None:
        await told(store, HERE, "one")
        await store.add_usage(HERE, [use(input=1)])
        again, _ = await store.begin_turn(HERE, asked("again"), instead_of=1)
        await store.add_usage(HERE, [use(input=2, attempt=2)])  # while it runs
        await store.finish_turn(HERE, ended(again))
        assert [(one.attempt, one.input, one.number) for one in await store.usage(HERE)] == [(1, 1, 1), (2, 2, 1)]

    async def test_what_cannot_be_kept_is_refused_whole(self, store: Store) -> None:
        await told(store, HERE, "one")
        for bad in (use(input=-1), use(day="30.11.2026"), use(day=""), use(purpose=""), use(purpose="a\0"),
                    replace(use(), model="\ud800"), use(output=2**60)):  # fmt: skip
            with pytest.raises(UsageError):
                await store.add_usage(HERE, [use(), bad])
        for absent in (use(2), use(attempt=2)):
            with pytest.raises(NotFound):
                await store.add_usage(HERE, [use(), absent])
        with pytest.raises(NotFound):
            await store.add_usage(thread_of(thread="not there"), [use()])
        assert await store.usage(HERE) == []

    @needs("forget")
    async def test_it_goes_with_the_turn_the_thread_and_the_subject(self, store: Store) -> None:
        other = thread_of(thread="other")
        for scope in (HERE, other):
            for seq in (1, 2):
                await told(store, scope, f"question {seq}")
                await store.add_usage(scope, [use(seq, input=seq)])
        await forget_turn(store, HERE, 1, by="me", now=NOON)
        assert [one.input for one in await store.usage(HERE)] == [2]
        with pytest.raises(NotFound):
            await store.add_usage(HERE, [use(1)])
        await forget_thread(store, HERE, by="me", now=NOON)
        assert [one.thread for one in await store.usage(ME)] == ["other", "other"]
        await forget_subject(store, ME, by="me", now=NOON)
        assert await store.usage(ME) == []

    async def test_it_goes_with_a_temporary_thread(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False, expires_at=NOON, now=NOON - timedelta(days=1))
        await told(store, HERE, "one")
        await store.add_usage(HERE, [use()])
        await store.threads(ME, now=NOON + timedelta(seconds=1))
        assert await store.usage(ME) == []

    @needs("transfer")
    async def test_it_is_exported_and_imported_with_its_turn(self, store: Store) -> None:
        for seq in (1, 2):
            await told(store, HERE, f"question {seq}")
            await store.add_usage(HERE, [use(seq, input=seq), use(seq, purpose="note", cached=4)])
        file = await exported(store, HERE)
        assert file.count(b'"kind":"usage"') == 4
        await imported(store, THERE, file)
        there = THERE.thread("main")
        assert await store.usage(there) == [kept(one, one.number, there) for one in await store.usage(HERE)]
        assert without_scope(await exported(store, there)) == without_scope(file)
        await store.add_usage(there, [use(2)])
        assert [one.number for one in await store.usage(there)] == [1, 2, 1, 2, 3]

    @needs("transfer")
    async def test_an_export_from_before_usage_was_kept_is_still_taken(self, store: Store) -> None:
        await told(store, HERE, "one")
        file = await exported(store, HERE)
        old = sealed(file.replace(b'"schema":"0003"', b'"schema":"0002"', 1))
        assert old != file
        await imported(store, THERE, old)
        assert without_scope(await exported(store, THERE.thread("main"))) == without_scope(file)


def sealed(file: bytes) -> bytes:
    """The file with the seal that its lines ask for."""
    from hashlib import sha256

    *lines, _ = file.splitlines(keepends=True)
    body = b"".join(lines)
    return body + b'{"kind":"end","lines":%d,"sha256":"%s"}\n' % (len(lines), sha256(body).hexdigest().encode())
