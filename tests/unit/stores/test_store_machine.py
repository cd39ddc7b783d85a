"""Two stores, told the same things in any order, answer the same: a database and its twin in memory."""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lumina.memory.change import Change, Quote, dump_changes, load_changes
from lumina.memory.errors import LuminaError
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State, fold
from lumina.memory.store import DROPPED, AppliedDelta, Snapshot, StoredReceipt
from lumina.memory.turns import TurnEnd
from lumina.stores.in_memory import InMemoryStore
from lumina.stores.opening import open_store
from lumina.testing.document_suite import about
from lumina.testing.store_examples import NOON, ODD, asked, ended, looked_up, page_about, thread_of, whole

SCOPES = st.sampled_from([thread_of(s, t, n) for n in ("a", "A") for s in ("me", "m_") for t in ("x", "x%")])
SEQS = st.integers(min_value=0, max_value=4)
ATTEMPTS = st.sampled_from([1, 1, 2, 3])
REDONE = st.sampled_from([0, 0, 0, 1, 2, 3])
CLIENTS = st.sampled_from("123456789abcdef")
TEXTS = st.sampled_from([*ODD, "cat dog", "cat 天気", "a\ud800", "a\0"])
WORDS = ["cat", "dog", "天気", "nothing"]


def said(seq: int, attempt: int, number: int, correction: int, about: Any, value: str, thread: str) -> Change:
    quote = None if correction else Quote(seq=seq, attempt=attempt, part="question", start=0, end=1)
    return Change(
        op="set", kind="fact", key="a", value=value, about=about, said_by="operator" if correction else "user",
        seq=seq, attempt=attempt, number=number, correction=correction, day="2026-11-30", quote=quote,
        thread=thread if about == "subject" else "", by="Ann" if correction else "",
    )  # fmt: skip


class BothStores(RuleBasedStateMachine):
    """Every rule calls both stores and compares what came back, or which error."""

    def __init__(self, database: Callable[[], str] | None = None) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.memory = InMemoryStore()
        where = database() if database else str(Path(self.folder.name) / "lumina.db")
        self.database: Any = self.runner.run(open_store(where))

    def teardown(self) -> None:
        self.runner.run(self.database.close())
        self.runner.close()
        self.folder.cleanup()

    def both(self, method: str, *args: Any, **named: Any) -> Any:
        answers = []
        for store in (self.memory, self.database):
            try:
                answers.append(self.runner.run(getattr(store, method)(*args, **named)))
            except LuminaError as refusal:
                answers.append((type(refusal).__name__, str(refusal)))
        assert answers[0] == answers[1]
        return answers[0]

    @rule(scope=SCOPES, deltas=st.booleans(), expires=st.sampled_from([None, None, 1, 2]), now=st.integers(0, 2))
    def open(self, scope: Any, deltas: bool, expires: int | None, now: int) -> None:
        moment = None if expires is None else NOON + timedelta(days=expires)
        self.both("open_thread", scope, deltas=deltas, expires_at=moment, now=NOON + timedelta(days=now))

    @rule(scope=SCOPES, client=CLIENTS, question=TEXTS, instead_of=REDONE)
    def begin(self, scope: Any, client: str, question: str, instead_of: int) -> None:
        self.both("begin_turn", scope, asked(client, question), instead_of=instead_of)

    @rule(scope=SCOPES, seq=SEQS, attempt=ATTEMPTS, answer=TEXTS, delta=st.booleans())
    def finish(self, scope: Any, seq: int, attempt: int, answer: str, delta: bool) -> None:
        passages = (whole("answer", answer),) if answer else ()
        end = TurnEnd(
            seq=seq, attempt=attempt, answer=answer, status="complete", delta="waiting" if delta else "none",
            passages=passages, events=('{"kind":"turn.finished"}',),
        )  # fmt: skip
        self.both("finish_turn", scope, end)

    @rule(scope=SCOPES, client=CLIENTS, question=TEXTS, instead_of=REDONE)
    def record(self, scope: Any, client: str, question: str, instead_of: int) -> None:
        end = ended(answer="a cat", delta=True)
        self.both("record_turn", scope, asked(client, question), end, '{"a": 1}', instead_of=instead_of)

    @rule(scope=SCOPES, seq=SEQS, attempt=ATTEMPTS, locator=st.sampled_from("uvw"), text=TEXTS)
    def read_source(self, scope: Any, seq: int, attempt: int, locator: str, text: str) -> None:
        self.both("register_source", scope, seq, attempt, page_about(text, locator))

    @rule(scope=SCOPES, seq=SEQS, text=TEXTS)
    def note(self, scope: Any, seq: int, text: str) -> None:
        self.both("add_tool_call", scope, seq, 1, looked_up(result=text))
        self.both("set_followups", scope, seq, 1, [text])
        self.both("append_events", scope, seq, 1 if seq else 0, ['{"a":1}'])
        self.both("put_receipt", scope, StoredReceipt(seq=seq, attempt=1, call=2, purpose="delta", body='{"b": 2}'))

    @rule(scope=SCOPES, seq=SEQS, attempt=ATTEMPTS, how=st.sampled_from(["answer", "fail", "set aside"]))
    def job(self, scope: Any, seq: int, attempt: int, how: str) -> None:
        if how == "answer":
            self.both("answer_delta", scope, seq, attempt, "said")
        else:
            self.both("fail_delta", scope, seq, attempt, "why", set_aside=how == "set aside")

    @rule(
        scope=SCOPES, seq=SEQS, attempt=ATTEMPTS, correction=st.integers(0, 2), late=st.booleans(),
        about=st.sampled_from(["thread", "subject"]), value=st.sampled_from("xyz"),
    )  # fmt: skip
    def apply(self, scope: Any, seq: int, attempt: int, correction: int, late: bool, about: Any, value: str) -> None:
        known = self.both("turns", scope, [(seq, attempt)]).get((seq, attempt))
        number = known.number if known else 1
        change = said(seq, attempt, number, correction, about, value, scope.thread)
        state, profile = self.both("state", scope), self.both("profile", scope.of_subject)
        delta = AppliedDelta(
            seq=seq, attempt=attempt, correction=correction, number=number, changes=dump_changes([change])
        )
        self.both(
            "apply_delta", scope, delta, self.next(scope, state, change),
            self.next(scope.of_subject, profile, change, version=profile.version + (0 if late else 1)),
        )  # fmt: skip

    def next(self, scope: Any, known: Snapshot, change: Change, version: int = 0) -> Snapshot:
        """What the memory would store after `change`: merged into what was read, or into the fold if that is gone."""
        about = "thread" if isinstance(scope, ThreadScope) else "subject"
        held = self.fold(scope) if known.body == DROPPED else State.from_json(known.body, about)
        return Snapshot(version=version or known.version + 1, body=held.merge([change])[0].to_json())

    def fold(self, scope: Any) -> State:
        if isinstance(scope, ThreadScope):
            return fold(load_changes(one.changes) for one in self.both("deltas", scope))
        return fold((load_changes(one.changes) for one in self.both("subject_deltas", scope)), about="subject")

    @rule(scope=SCOPES)
    def d4_state_and_profile_are_the_fold_of_the_deltas(self, scope: Any) -> None:
        for where, method in ((scope, "state"), (scope.of_subject, "profile")):
            stored = self.both(method, where).body
            assert stored in (DROPPED, self.fold(where).to_json()) or not (stored or self.fold(where).held)

    @rule(scope=SCOPES, names=st.lists(st.sampled_from("pqr"), max_size=3), text=TEXTS, own=st.booleans())
    def keep_documents(self, scope: Any, names: list[str], text: str, own: bool) -> None:
        self.both("put_documents", scope.of_subject, [about(name, text, "cat dog") for name in names], own=own)

    @rule(scope=SCOPES, ids=st.lists(st.integers(1, 6), max_size=2))
    def remove_documents(self, scope: Any, ids: list[int]) -> None:
        self.both("remove_documents", scope.of_subject, ids)

    @rule(scope=SCOPES, before=st.integers(0, 6), cap=st.integers(0, 3), around=st.integers(0, 2))
    def look(self, scope: Any, before: int, cap: int, around: int) -> None:
        subject = scope.of_subject
        self.both("threads", subject)
        self.both("thread_info", scope)
        self.both("recent_turns", scope, limit=cap, before=before)
        self.both("page", scope)
        self.both("page", scope, first=before, last=cap, superseded=True)
        self.both("state", scope)
        self.both("profile", subject)
        self.both("sources", scope)
        self.both("source_names", scope, [2, 1, 9])
        self.both("delta_jobs", scope, "waiting", "answered", "set aside")
        self.both("deltas", scope)
        self.both("deltas", scope, [before])
        self.both("subject_deltas", subject)
        self.both("subject_deltas", subject, [before])
        self.both("unnoted", scope, before=before, limit=cap)
        for seq in range(3):
            self.both("events", scope, seq, 1 if seq else 0, after=cap)
            self.both("tool_calls", scope, seq, 1)
            for attempt in (1, 2):
                self.both("receipts", scope, seq, attempt)
        found = self.both("matches", scope, WORDS, before=before, cap=cap)
        self.both("passages", scope, [id for ids in found.ids.values() for id in ids], around=around)
        self.both("find_passages", subject, WORDS, limit=cap)
        kept = [self.runner.run(store.documents(subject)) for store in (self.memory, self.database)]
        names = [[(one.id, one.locator, one.title, one.passages, one.own) for one in listed] for listed in kept]
        assert names[0] == names[1]


TestBothStores = BothStores.TestCase
TestBothStores.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)


def test_postgresql_answers_as_the_store_in_memory(fresh_database: Callable[[], str]) -> None:
    few = settings(max_examples=4, stateful_step_count=25, deadline=None)
    run_state_machine_as_test(lambda: BothStores(fresh_database), settings=few)
