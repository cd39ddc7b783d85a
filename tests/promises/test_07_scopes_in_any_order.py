"""Promise 7 in any order (CASES I3, A2).

People of three tenants, with names like one another's and equal conversations, ask, read pages of the web, keep
documents, are noted and export, in an order that Hypothesis chooses. Each has a word of their own, and it is in nobody
else's prompt, search, source, state, profile, document, usage, list or export.
"""

import asyncio
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lumina.agent.desk import Desk, Limits
from lumina.agent.ports import Found, Hit
from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import ThreadScope
from lumina.memory.transfer import export_to
from lumina.memory.words import forms
from lumina.stores.opening import open_store
from lumina.testing import Call, ScriptedModel
from lumina.testing.document_suite import about

PEOPLE = [
    (tenant, subject) for tenant in ("acme", "acme-corp", "ACME") for subject in ("a", "a%", "jose\u0301", "jos\u00e9")
]
OWNERS = st.integers(0, len(PEOPLE) - 1)
THREADS = st.sampled_from(["main", "main%"])


def word(owner: int) -> str:
    return f"canary{chr(97 + owner)}{owner}x"


class Own:
    """Finds a page of the web about whoever asks; the scope is all that it goes by."""

    name = "own"

    def __init__(self) -> None:
        self.asked: list[tuple[Any, str]] = []

    async def search(self, scope: Any, query: str, *, limit: int) -> Found:
        self.asked.append((scope, query))
        mine = word(PEOPLE.index((scope.tenant, scope.subject)))
        text = f"The page of {mine} says {mine}."
        hit = Hit(
            locator="https://same.test/", url=f"https://same.test/?{mine}", title=f"About {mine}", host="same.test",
            depth="page", stored=text, start=0, end=len(text),
        )  # fmt: skip
        return Found(provider=self.name, hits=(hit,))


class Noted:
    """Notes who asked in thread and profile, with follow-ups and a title of theirs."""

    name = "noted"

    async def note(self, request: Any) -> str:
        said = next((part for part in request.question.split() if part.startswith("canary")), "")
        ops = [
            {"op": "set", "key": key, "value": said, "quote": said, "about": whom}
            for key, whom in (("own.word", "subject"), ("thread.word", "thread"))
        ]
        return json.dumps({"ops": ops if said else [], "followups": [f"{said}?"], "title": said})


class Strangers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.store: Any = self.runner.run(open_store(None))
        self.search = Own()
        self.model = ScriptedModel(
            [step for _ in range(60) for step in (Call("web_search", {"query": "me"}), "So it is [1].")]
        )
        self.agent = SearchAgent(
            Desk(store=self.store, model=self.model, search=self.search, notes=Noted(), limits=Limits(note_pause=0))
        )
        self.prompts: list[tuple[int, str]] = []
        self.seen: set[int] = set()

    def teardown(self) -> None:
        self.runner.run(self.agent.close())
        self.runner.close()

    def scope(self, owner: int, thread: str) -> ThreadScope:
        tenant, subject = PEOPLE[owner]
        return ThreadScope(tenant=tenant, subject=subject, thread=thread)

    @rule(owner=OWNERS, thread=THREADS, back=st.booleans())
    def ask(self, owner: int, thread: str, back: bool) -> None:
        async def turn() -> None:
            before = len(self.model.requests)
            words = "What was my word, which you told me earlier?" if back else f"My word is {word(owner)} now."
            run = await self.agent.ask(self.scope(owner, thread), words)
            assert (await run.ended()).status == "complete"
            await run.notes(wait=60)
            self.prompts += [(owner, repr(request.messages)) for request in self.model.requests[before:]]

        self.runner.run(turn())
        self.seen.add(owner)

    @rule(owner=OWNERS)
    def keep_a_document(self, owner: int) -> None:
        scope = self.scope(owner, "main").of_subject
        self.runner.run(self.store.put_documents(scope, [about("doc:/own.md", f"a paper of {word(owner)}")], own=True))

    @rule(owner=OWNERS, thread=THREADS)
    def read_all_that_is_there(self, owner: int, thread: str) -> None:
        async def read() -> str:
            scope, store = self.scope(owner, thread), self.store
            whole = scope.of_subject
            lines: list[bytes] = []
            if owner in self.seen:
                await export_to(store, whole, lines.append)
            found = await store.find_passages(whole, list(forms("paper")), limit=99)
            listed = [await store.threads(whole), await store.documents(whole), found.hits, await store.profile(whole)]
            if thread in {info.thread for info in await store.threads(whole)}:
                listed += [await store.page(scope), await store.sources(scope), await store.state(scope)]
                listed += [await store.receipts(scope, 1, 1), await store.events(scope, 1, 1)]
            return repr(listed) + b"".join(lines).decode()

        self.none_of_anybody_else(owner, self.runner.run(read()))

    @invariant()
    def nobody_is_sent_what_is_somebody_elses(self) -> None:
        for owner, prompt in self.prompts:
            self.none_of_anybody_else(owner, prompt)
        self.prompts.clear()
        for scope, query in self.search.asked:
            self.none_of_anybody_else(PEOPLE.index((scope.tenant, scope.subject)), query)

    def none_of_anybody_else(self, owner: int, text: str) -> None:
        others = [word(other) for other in range(len(PEOPLE)) if other != owner]
        assert not [other for other in others if other in text]


TestStrangersI3 = Strangers.TestCase
TestStrangersI3.settings = settings(max_examples=8, stateful_step_count=20, deadline=None)


def test_I3_A2_the_words_of_all_people_are_told_apart_here() -> None:
    assert len({word(owner) for owner in range(len(PEOPLE))}) == len(PEOPLE)
    assert not [1 for a in range(12) for b in range(12) if a != b and word(a) in word(b)]
