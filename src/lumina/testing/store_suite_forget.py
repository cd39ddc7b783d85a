"""What every store must do when something is forgotten: all goes at once, and what comes late brings nothing back.

Part of `lumina.testing.store_suite.StoreSuite`. The rules are those of `lumina.memory.forgetting`; here is
tested that a store shows them its rows and carries their answer out, in every table.
"""

import asyncio
import json
import re
from dataclasses import replace

import pytest

from lumina.memory import forgetting
from lumina.memory.change import Change, Quote, dump_changes, load_changes
from lumina.memory.errors import NotFound, TurnConflict
from lumina.memory.forgotten import forget_entry, forget_subject, forget_thread, forget_turn
from lumina.memory.receipt import Item, Receipt
from lumina.memory.removal import NewAudit, Removal
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State, fold
from lumina.memory.store import Snapshot, Store, StoredReceipt, VersionConflict
from lumina.memory.turns import Turn, TurnPage
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import asked, cited, ended, looked_up, noted, page_about, subject_of, thread_of, told

HERE = thread_of()
OTHER = thread_of(thread="other")
AUDIT = NewAudit(action="forget turn", by="ana", at="2026-12-01T10:00:00+00:00", thread="main")


def said(turn: Turn, key: str, value: str, *, about: str = "thread", thread: str = "main") -> Change:
    """What the question of `turn`, "My KEY is VALUE.", says."""
    at = turn.question.index(value)
    quote = Quote(seq=turn.seq, attempt=turn.attempt, part="question", start=at, end=at + len(value))
    return Change(
        op="set", kind="fact", key=key, value=value, said_by="user", seq=turn.seq, attempt=turn.attempt, day=turn.day,
        number=turn.number, quote=quote, about="subject" if about == "subject" else "thread",
        thread=thread if about == "subject" else "",
    )  # fmt: skip


async def tell(store: Store, scope: ThreadScope, key: str, value: str, *, about: str = "thread") -> Turn:
    """A whole turn that says something, with its delta applied and a receipt that showed the turn before."""
    turn = await told(store, scope, f"My {key} is {value}.", f"So it is {value}.", delta=True)
    items = [Item(kind="question")]
    items += [Item(kind="turn", seq=turn.seq - 1, attempt=1)] if turn.seq > 1 else []
    body = Receipt(rendering=1, items=tuple(items), sent="f" * 64).to_json()
    await store.put_receipt(scope, StoredReceipt(seq=turn.seq, attempt=1, call=1, purpose="answer", body=body))
    await store.append_events(scope, 0, 0, [json.dumps(
        {"seq": 0, "thread": scope.thread, "turn": turn.seq, "kind": "turn.started", "attempt": 1,
         "question": turn.question}
    )])  # fmt: skip
    change = said(turn, key, value, about=about, thread=scope.thread)
    await store.answer_delta(scope, turn.seq, 1, json.dumps({"ops": [], "note": value}))
    await apply(store, scope, turn, change)
    return turn


async def apply(store: Store, scope: ThreadScope, turn: Turn, *changes: Change) -> None:
    state, profile = await store.state(scope), await store.profile(scope.of_subject)
    now = State.from_json(state.body).merge(changes)[0]
    known = State.from_json(profile.body, about="subject").merge(changes)[0]
    await store.apply_delta(
        scope, noted(turn, dump_changes(changes)), Snapshot(version=state.version + 1, body=now.to_json()),
        Snapshot(version=profile.version + 1, body=known.to_json()),
    )  # fmt: skip


async def everything(store: Store, *scopes: ThreadScope) -> str:
    """All that can be read of the threads and their subject, as one text."""
    found: list[object] = []
    for scope in scopes:
        subject = scope.of_subject
        found += [await store.threads(subject, limit=99), await store.profile(subject), await store.state(scope)]
        found += [await store.deltas(scope), await store.subject_deltas(subject), await store.sources(scope)]
        found += [await store.delta_jobs(scope, "waiting", "answered", "applied", "set aside")]
        found += [await store.page(scope), await store.events(scope, 0, 0), await store.audit(subject)]
        for page in await store.page(scope):
            key = (page.seq, getattr(page, "attempt", 1))
            found += [await store.turns(scope, [key]), await store.tool_calls(scope, *key)]
            found += [await store.events(scope, *key), await store.receipts(scope, *key)]
        ids = [(seq << 16) + place for seq in range(1, 20) for place in range(4)]
        found.append(await store.passages(scope, ids))
        for source in await store.sources(scope):
            found.append(await store.text(subject, source.digest))
    return repr(found)


@needs("forget")
class ForgetSuite(Capable):
    """Forgetting, the audit, and what comes late."""

    async def test_d11_a_forgotten_turn_keeps_its_number_and_its_day_and_nothing_else(self, store: Store) -> None:
        await tell(store, HERE, "pet", "Rex")
        await tell(store, HERE, "city", "Zanzibar")
        await store.add_tool_call(
            HERE, 2, 1, looked_up(0, arguments='{"query": "Zanzibar"}', result="Zanzibar", said="Zanzibar")
        )
        await store.set_followups(HERE, 2, 1, ["Why Zanzibar?"])
        await store.append_events(HERE, 2, 1, ['{"kind":"text","text":"So it is Zanzibar."}'])
        await store.register_source(HERE, 2, 1, page_about("Zanzibar is an island.", "https://zanzibar.example/"))
        await tell(store, HERE, "car", "Golf")
        done = await forget_turn(store, HERE, 2, by="ana")
        assert (done.turns, done.changes, done.sources) == (1, 1, 1)
        assert "zanzibar" not in (await everything(store, HERE)).lower()
        (turn,) = (await store.turns(HERE, [(2, 1)])).values()
        assert (turn.seq, turn.forgotten, turn.question, turn.answer) == (2, done.day, "", "")
        matches = await store.matches(HERE, ["zanzibar", "golf"], before=9, cap=9)
        assert (matches.ids["zanzibar"], len(matches.ids["golf"])) == ((), 2)
        assert [page.seq for page in await store.page(HERE)] == [1, 2, 3]
        assert await store.events(HERE, 2, 1) == []
        thread_log = [json.loads(body)["kind"] for _, body in await store.events(HERE, 0, 0)]
        assert thread_log == ["turn.started", "forgotten", "turn.started"]
        (source,) = await store.sources(HERE)
        assert (source.n, source.title, source.host, source.url) == (1, "", "", "")
        again = await store.register_source(HERE, 3, 1, page_about("Again.", "https://zanzibar.example/"))
        assert again.n == 2, "a number is never given out twice"

    async def test_forgetting_a_turn_twice_changes_nothing(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        first = await forget_turn(store, HERE, 1)
        before = await everything(store, HERE)
        second = await forget_turn(store, HERE, 1)
        assert (first.turns, second.turns, second.changes) == (1, 0, 0)
        assert await everything(store, HERE) == before

    async def test_a_known_client_id_of_a_forgotten_turn_is_that_turn(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        await forget_turn(store, HERE, 1)
        turn, new = await store.begin_turn(HERE, asked("turn-1", "My city is Zanzibar."))
        assert (turn.seq, new, turn.question, bool(turn.forgotten)) == (1, False, "", True)
        assert (await store.record_turn(HERE, asked("turn-1", "x"), ended(), "{}")).question == ""
        assert "Zanzibar" not in await everything(store, HERE)

    async def test_a_late_write_to_a_forgotten_turn_is_refused_or_passed_over(self, store: Store) -> None:
        turn = await told(store, HERE, "My city is Zanzibar.", delta=True)
        await forget_turn(store, HERE, 1)
        account = StoredReceipt(seq=1, attempt=1, call=7, purpose="delta", body="{}")
        late = noted(turn, dump_changes([said(turn, "city", "Zanzibar")]))
        for call in (
            store.append_events(HERE, 1, 1, ['{"kind":"text"}']),
            store.register_source(HERE, 1, 1, page_about("Zanzibar")),
            store.add_tool_call(HERE, 1, 1, looked_up(result="Zanzibar")),
            store.put_receipt(HERE, account),
            store.apply_delta(HERE, late, Snapshot(version=1, body="{}"), None),
        ):
            with pytest.raises(NotFound, match="forgotten"):
                await call
        await store.answer_delta(HERE, 1, 1, "Zanzibar")
        await store.set_followups(HERE, 1, 1, ["Zanzibar?"])
        await store.set_title(HERE, "Zanzibar", turn=(1, 1))
        done = await store.finish_turn(HERE, ended(turn, "Zanzibar."))
        assert done.answer == ""
        started = {"thread": "main", "turn": 1, "kind": "followups", "questions": ["Zanzibar?"]}
        await store.append_events(HERE, 0, 0, [json.dumps(started)])
        assert "Zanzibar" not in await everything(store, HERE)
        assert [job.status for job in await store.delta_jobs(HERE, "waiting", "set aside")] == ["set aside"]

    async def test_an_account_that_comes_late_loses_what_is_gone(self, store: Store) -> None:
        first = await tell(store, HERE, "city", "Zanzibar")
        second = await told(store, HERE, "And?", delta=True)
        entry = Item(
            kind="entry", about="thread", seq=1, number=first.number, entry_kind="fact", said_by="user", key="city"
        )
        body = Receipt(rendering=1, items=(entry, Item(kind="keys", keys=("city",))), sent="f" * 64).to_json()
        changed = {"thread": "main", "turn": 1, "kind": "state.changed", "key": "city", "about": "thread",
                   "new": "Zanzibar"}  # fmt: skip
        await forget_entry(store, HERE, "city")
        await store.put_receipt(HERE, StoredReceipt(seq=2, attempt=1, call=1, purpose="answer", body=body))
        await store.append_events(HERE, 0, 0, [json.dumps(changed)])
        (kept,) = await store.receipts(HERE, second.seq, 1)
        receipt = Receipt.from_json(kept.body)
        assert receipt.sent == ""
        assert all(item.forgotten and not item.key and not item.keys for item in receipt.items)
        # The answer of turn 1 says the same in its own words; nothing else does.
        assert (await everything(store, HERE)).replace("So it is Zanzibar.", "").count("Zanzibar") == 0

    async def test_forgetting_an_entry_masks_the_quote_and_keeps_every_other_offset(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        await tell(store, HERE, "car", "Golf")
        done = await forget_entry(store, HERE, "city")
        assert (done.masked, done.changes) == (1, 1)
        (turn,) = (await store.turns(HERE, [(1, 1)])).values()
        assert turn.question == "My city is ████████."
        matches = await store.matches(HERE, ["zanzibar", "citi"], before=9, cap=9)
        assert len(matches.ids["zanzibar"]) == 1, "the answer holds it still, and is listed"
        assert len(matches.ids["citi"]) == 1, "the other words are found as before"
        assert [(one.where, one.seq, one.count) for one in done.elsewhere] == [("answer", 1, 1)]
        state = State.from_json((await store.state(HERE)).body)
        assert [entry.key for entry in state.current()] == ["car"]

    async def test_an_older_value_does_not_come_back(self, store: Store) -> None:
        await tell(store, HERE, "city", "Leeds")
        await tell(store, HERE, "city", "Zanzibar")
        await tell(store, HERE, "car", "Golf")
        await forget_turn(store, HERE, 2)
        state = State.from_json((await store.state(HERE)).body)
        assert [entry.key for entry in state.current()] == ["car"]
        deltas = [load_changes(delta.changes) for delta in await store.deltas(HERE)]
        assert fold(deltas).to_json() == state.to_json(), "the snapshot is the fold of what is left"
        (stone,) = deltas[1]
        assert (stone.forgotten, stone.value, stone.quote, stone.key) == (True, "", None, "city")
        await tell(store, HERE, "city", "York")
        now = State.from_json((await store.state(HERE)).body).get("city")
        assert now is not None
        assert now.value == "York"

    async def test_no_trace_of_a_key_is_left_that_nothing_older_had(self, store: Store) -> None:
        await tell(store, HERE, "diagnosis", "gout")
        await forget_turn(store, HERE, 1)
        assert "diagnosis" not in await everything(store, HERE)

    async def test_d11_a_missing_thread_is_no_error_and_others_stay_as_they_are(self, store: Store) -> None:
        await tell(store, OTHER, "pet", "Rex")
        before = await everything(store, OTHER)
        done = await forget_thread(store, HERE)  # is not there
        assert (done.threads, done.turns, done.changes, done.receipts) == (0, 0, 0, 0)
        await tell(store, HERE, "city", "Zanzibar")
        done = await forget_thread(store, HERE)
        assert (done.threads, done.turns) == (1, 1)
        after = await everything(store, OTHER)
        assert "Zanzibar" not in after
        with pytest.raises(NotFound):
            await store.thread_info(HERE)
        rows = re.compile(r"Audited\([^()]*\)|version=[0-9]{1,9}|, (?=\])")  # the profile was written in between
        assert rows.sub("", after) == rows.sub("", before)
        assert (await store.open_thread(HERE, deltas=True)).turns == 0

    async def test_a_thread_takes_along_what_it_put_into_the_profile(self, store: Store) -> None:
        await tell(store, OTHER, "city", "Leeds", about="subject")
        await tell(store, HERE, "city", "Zanzibar", about="subject")
        await tell(store, HERE, "pet", "Rex", about="subject")
        await forget_thread(store, HERE)
        profile = State.from_json((await store.profile(subject_of())).body, about="subject")
        assert profile.current() == (), "Leeds had been replaced and does not come back"
        assert "Zanzibar" not in await everything(store, OTHER)
        assert "pet" not in await everything(store, OTHER)

    async def test_a_subject_goes_whole_and_one_row_of_the_audit_stays(self, store: Store) -> None:
        you = thread_of(subject="you")
        await tell(store, you, "pet", "Rex")
        others = await everything(store, you)
        await tell(store, HERE, "city", "Zanzibar", about="subject")
        await tell(store, OTHER, "city", "Leeds")
        await forget_turn(store, OTHER, 1, by="ana")
        done = await forget_subject(store, subject_of(), by="ana")
        assert (done.threads, done.turns) == (2, 2)
        assert await store.threads(subject_of()) == []
        assert (await store.profile(subject_of())).version == 0
        assert await store.subject_deltas(subject_of()) == []
        (row,) = await store.audit(subject_of())
        assert (row.number, row.action, row.by, json.loads(row.detail)) == (
            2, "forget subject", "ana", {"threads": 2, "turns": 2},
        )  # fmt: skip
        assert await everything(store, you) == others

    async def test_the_audit_counts_and_says_who_and_never_what(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        await tell(store, HERE, "city", "Leeds")
        await forget_turn(store, HERE, 1, by="ana")
        await forget_entry(store, HERE, "city", by="ben")
        rows = await store.audit(subject_of())
        assert [(row.number, row.action, row.by, row.thread) for row in rows] == [
            (1, "forget turn", "ana", "main"), (2, "forget entry", "ben", "main"),
        ]  # fmt: skip
        assert all(isinstance(value, int) for row in rows for value in json.loads(row.detail).values())
        assert await store.audit(subject_of(subject="you")) == []

    async def test_nothing_is_forgotten_under_a_running_turn(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar", about="subject")
        await tell(store, OTHER, "car", "Golf")
        await store.begin_turn(HERE, asked("new"))
        before = await everything(store, HERE, OTHER)
        for call in (
            forget_turn(store, HERE, 1), forget_turn(store, HERE, 2),
            forget_entry(store, HERE, "city", about="subject"), forget_thread(store, HERE),
            forget_subject(store, subject_of()),
        ):  # fmt: skip
            with pytest.raises(TurnConflict) as conflict:
                await call
            assert conflict.value.running == 2
        assert await everything(store, HERE, OTHER) == before
        assert (await forget_turn(store, OTHER, 1)).turns == 1

    async def test_a_rule_that_raises_or_finds_nothing_writes_nothing(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        before = await everything(store, HERE)

        def conflict(held: object) -> Removal | None:
            raise VersionConflict("meanwhile")

        with pytest.raises(VersionConflict):
            await store.forget(subject_of(), conflict, AUDIT)
        assert await store.forget(subject_of(), lambda held: None, AUDIT) is None
        assert await everything(store, HERE) == before

    async def test_what_a_model_answered_is_applied_first_and_forgotten_with_the_rest(self, store: Store) -> None:
        turn = await told(store, HERE, "My city is Zanzibar.", delta=True)
        ops = [{"op": "set", "key": "city", "value": "Zanzibar", "quote": "My city is Zanzibar"}]
        await store.answer_delta(HERE, turn.seq, 1, json.dumps({"ops": ops, "title": "Zanzibar"}))
        with pytest.raises(VersionConflict):
            await store.forget(subject_of(), forgetting.forget_entry("main", "city", about="thread", day="d"), AUDIT)
        done = await forget_entry(store, HERE, "city")
        assert (done.changes, done.masked) == (1, 1)
        assert "Zanzibar" not in await everything(store, HERE)
        assert await store.delta_jobs(HERE, "waiting", "answered") == []

    async def test_d11_a_delta_that_waits_brings_nothing_back(self, store: Store) -> None:
        from lumina.memory.noting import take

        await tell(store, HERE, "city", "Zanzibar")
        again = await told(store, HERE, "My city is Zanzibar, I said.", delta=True)
        ops = [{"op": "set", "key": "city", "value": "Zanzibar", "quote": "My city is Zanzibar"}]
        done = await forget_entry(store, HERE, "city")
        assert ("question", 2) in [(one.where, one.seq) for one in done.elsewhere]
        await take(store, HERE, json.dumps({"ops": ops}), seq=again.seq)
        assert State.from_json((await store.state(HERE)).body).current() == ()
        changes = [each for delta in await store.deltas(HERE) for each in load_changes(delta.changes)]
        assert all(change.forgotten for change in changes), "and its history stays empty, too"
        await tell(store, HERE, "city", "York")
        now = State.from_json((await store.state(HERE)).body).get("city")
        assert now is not None
        assert now.value == "York", "what is said after is news"

    async def test_d11_writers_at_once_bring_nothing_back(self, store: Store) -> None:
        from lumina.memory.noting import ask, settle, take

        await tell(store, HERE, "pet", "Rex")
        await told(store, HERE, "My city is Zanzibar.", "Zanzibar it is.", delta=True)
        ops = [{"op": "set", "key": "city", "value": "Zanzibar", "quote": "My city is Zanzibar"}]
        reply = json.dumps({"ops": ops, "title": "Zanzibar", "followups": ["Why Zanzibar?"]})

        async def note() -> None:
            await ask(store, HERE, seq=2)
            await take(store, HERE, reply, seq=2)

        async def go_on() -> None:
            await settle(store, HERE)
            await told(store, HERE, "And then?", delta=True)

        done = await asyncio.gather(note(), go_on(), forget_turn(store, HERE, 2), return_exceptions=True)
        failed = [one for one in done if isinstance(one, Exception) and not isinstance(one, NotFound | TurnConflict)]
        assert failed == []
        await forget_turn(store, HERE, 2)  # where it met the running turn
        with pytest.raises(NotFound):
            await take(store, HERE, reply, seq=2)
        await settle(store, HERE)
        assert "Zanzibar" not in await everything(store, HERE)

    async def test_texts_that_something_else_cites_stay(self, store: Store) -> None:
        first = await told(store, HERE, "one")
        shared = await store.register_source(HERE, first.seq, 1, page_about("Shared words.", "https://a.example/"))
        own = await store.register_source(HERE, first.seq, 1, page_about("Own words.", "https://b.example/"))
        await told(store, OTHER, "two")
        await store.register_source(OTHER, 1, 1, page_about("Shared words.", "https://c.example/"))
        turn, _ = await store.begin_turn(HERE, asked("three"))
        citation = replace(cited(shared.n), digest=shared.digest)
        await store.finish_turn(HERE, ended(turn, "It is [1].", cited=(shared.n,), citations=(citation,)))
        prompt = await store.put_text(subject_of(), "Be brief.")
        body = Receipt(rendering=1, items=(Item(kind="instructions", digest=prompt),)).to_json()
        await store.put_receipt(HERE, StoredReceipt(seq=2, attempt=1, call=1, purpose="answer", body=body))
        done = await forget_turn(store, HERE, 1)
        assert done.sources == 1, "turn 2 cites the other one"
        assert await store.text(subject_of(), shared.digest) == "Shared words."
        assert await store.text(subject_of(), prompt) == "Be brief."
        with pytest.raises(NotFound):
            await store.text(subject_of(), own.digest)
        assert [source.title for source in await store.sources(HERE)] == ["A page", ""]

    async def test_scrubbing_is_safe_at_any_time(self, store: Store) -> None:
        assert isinstance(await store.scrub(), bool)
        await tell(store, HERE, "pet", "Rex")
        before = await everything(store, HERE)
        await store.scrub()
        assert await everything(store, HERE) == before

    async def test_a_page_shows_that_a_turn_was_forgotten(self, store: Store) -> None:
        await tell(store, HERE, "city", "Zanzibar")
        done = await forget_turn(store, HERE, 1)
        (page,) = await store.page(HERE)
        assert isinstance(page, TurnPage)
        assert (page.forgotten, page.question, page.citations, page.read, page.usage) == (done.day, "", (), (), "{}")
