"""`isolation`: does anything of one tenant, customer or conversation reach another?

Three tenants with the same customers and the same conversations, under names made to be mixed up (delimiters, prefixes,
wildcards, letter case, two normal forms of one name), and then under names drawn at random from the same stuff. Every
place holds words of its own, canaries, in everything that is stored: questions, answers, titles, follow-ups, notes,
sources, documents, instructions, events. Then everything that can be read is read in every scope, and searched for the
canaries of all others: contexts that point back, recall that a model asks for, state, profile, threads, turns, receipts
rendered again, sources, tool calls, events, documents and their search.

Allowed is: in a conversation its own words, its customer's profile and documents, its tenant's documents. Anything else
is a crossing.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from lumina.agent.ports import DocumentStore, NewDocument, PassageSpan
from lumina.evals.parallel import Progress
from lumina.evals.replay import Where, opened
from lumina.evals.reports import Report, Table, exactly
from lumina.evals.scenarios import Options
from lumina.memory.errors import NotFound
from lumina.memory.looking_back import look_back
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.turns import NewSource, ToolRecord
from lumina.memory.words import forms

# In groups of six that look like one another.
HOSTILE = (
    "acme", "acme-corp", "ACME", "acme%", "acme_", "acm",
    "a&run_id=b", "a:b", "a/b", "a b", "a", "a\u200bb",
    "*", "%", "_", "'--", "..", "null",
    "jos\u00e9", "jose\u0301", "JOS\u00c9", "jose", '"acme"', "{acme}",
)  # fmt: skip
PIECES = (
    "a",
    "A",
    "b",
    ":",
    "/",
    "%",
    "_",
    "-",
    "&",
    "=",
    " ",
    ".",
    "*",
    "'",
    '"',
    "\\",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "\u0130",
)
EACH = 6  # names in a set
DRAWN = 4  # sets of names drawn at random, beside the hostile ones
TURNS = 3  # of a conversation; the window is put so that only the last one stands in it
WIDE = frozenset(("threads", "deltas of the subject"))  # ways that rightly show all conversations of one customer
POINTING = "What did I tell you earlier about the secret word?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A conversation with the canaries that may be seen in it."""

    scope: ThreadScope
    own: str
    subject: str
    tenant: str

    @property
    def allowed(self) -> frozenset[str]:
        return frozenset((self.own, self.subject, self.tenant))


@dataclass(slots=True, kw_only=True)
class Found:
    """What was read, by way of reading: how often, and how often another's canary was in it."""

    read: Counter[str]
    own: Counter[str]
    crossed: Counter[str]
    examples: list[str]


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    draw = random.Random(options.seed)
    hostile = [list(HOSTILE[at : at + EACH]) for at in range(0, len(HOSTILE), EACH)]
    lists = [*hostile, *(names_of(draw) for _ in range(DRAWN))][: options.limit or None]
    wheres: tuple[Where, ...] = ("memory", "sqlite")
    found = Found(read=Counter(), own=Counter(), crossed=Counter(), examples=[])
    for at, names in enumerate(lists):
        for nth, where in enumerate(wheres):
            progress(at * len(wheres) + nth, len(lists) * len(wheres), "sets of names on two stores")
            asyncio.run(look_everywhere(places_of(names), where, found))
    progress(len(lists) * len(wheres), len(lists) * len(wheres), "sets of names on two stores")
    return _report(lists, found)


def names_of(draw: random.Random) -> list[str]:
    """A set of names drawn from what hostile names are made of. All are different and fit for an id."""
    names = {"".join(draw.choices(PIECES, k=draw.randint(1, 6))) for _ in range(30)}
    usable = sorted(name for name in names if name.strip())
    return draw.sample(usable, EACH)


def places_of(names: Sequence[str]) -> list[Place]:
    """Three tenants, in each the same customers, each with a conversation of the same name and one of their own."""
    tenants = names[:3]
    places = []
    for t, tenant in enumerate(tenants):
        for s, subject in enumerate(names):
            for n, thread in enumerate(("ticket", subject)):
                places.append(
                    Place(
                        scope=ThreadScope(tenant=tenant, subject=subject, thread=thread),
                        own=f"canaryt{t}s{s}n{n}x",
                        subject=f"canaryt{t}s{s}x",
                        tenant=f"canaryt{t}x",
                    )
                )
    return places


async def look_everywhere(places: Sequence[Place], where: Where, found: Found) -> None:
    """Fills a store with canaries and reads it back in every scope."""
    async with opened(where) as store:
        for place in places:
            await fill(store, place)
        canaries = {canary for place in places for canary in place.allowed}
        for place in places:
            async for way, text in read_everything(store, place.scope):
                found.read[way] += 1
                found.own[way] += any(canary in text for canary in place.allowed)
                theirs = frozenset(c for c in canaries if way in WIDE and c.startswith(place.subject[:-1] + "n"))
                crossed = [canary for canary in canaries - place.allowed - theirs if canary in text]
                if crossed:
                    found.crossed[way] += 1
                    found.examples.append(f"{way} of {place.scope} ({where}): {sorted(crossed)[:3]}")


async def fill(store: Store, place: Place) -> None:
    """A conversation that is full of its canary, its customer's and its tenant's documents, and a profile."""
    scope, own = place.scope, place.own
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True))
    for n in range(TURNS):
        said = f"My secret word is {own} number {n} and I live in {place.subject}"
        context = await thread.context(f"{said}.", instructions=f"Help {own}.", look_back=True)
        turn = await thread.record(
            replace(context, window_start=n + 1), f"Noted {own} [1].", client_id=f"same-{n}",
            messages=[
                {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "c", "function": {"name": "find", "arguments": f'{{"q": "{own}"}}'}}]},
                {"role": "tool", "tool_call_id": "c", "content": f"A result about {own}."},
            ],
        )  # fmt: skip
        ops = [
            {"op": "set", "key": "secret.word", "value": own, "quote": f"My secret word is {own}"},
            {"op": "set", "key": "home.city", "value": place.subject, "quote": f"I live in {place.subject}",
             "about": "subject"},
        ]  # fmt: skip
        await thread.delta_request(turn.seq)
        await thread.apply({"ops": ops, "followups": [f"What is {own}?"], "title": f"About {own}"}, seq=turn.seq)
    source = NewSource(locator=f"doc:{own}", url=f"file:///{own}", title=own, host="h", depth="page", text=f"Of {own}.")
    await store.register_source(scope, 1, 1, source)
    record = ToolRecord(index=0, call=1, id="c", name="find", arguments="{}", result=f"found {own}")
    await store.add_tool_call(scope, 1, 1, record)
    await store.append_events(scope, 1, 1, [f'{{"kind": "text", "text": "{own}"}}'])
    await store.append_events(scope, 0, 0, [f'{{"kind": "title", "title": "{own}"}}'])
    documents = cast("DocumentStore", store)
    await documents.put_documents(scope.of_subject, [_document(place.subject)], own=True)
    await documents.put_documents(scope.of_subject, [_document(place.tenant)])


def _document(canary: str) -> NewDocument:
    text = f"The secret word is {canary}."
    span = PassageSpan(start=0, end=len(text), heading="Secrets", words=tuple(forms(text)))
    return NewDocument(
        locator="doc:/secret.md", url="file:///secret.md", title=f"Of {canary}", digest=canary, text=text,
        passages=(span,), size=len(text),
    )  # fmt: skip


async def read_everything(store: Store, scope: ThreadScope) -> AsyncIterator[tuple[str, str]]:
    """Every way to read, each with all that it gives as one text."""
    thread = Thread(store=store, scope=scope, info=await store.thread_info(scope))
    state, profile = await thread.state(), await thread.profile()
    yield "state", repr(state.current())
    yield "profile", repr(profile.current())
    context = await thread.context(POINTING, look_back=True)
    yield "context that points back", repr(context.messages)
    yield "receipt of it", context.receipt.to_json()
    yield "another thread's context", repr((await _new_thread(store, scope)).messages)
    yield "look_back", repr(await look_back(store, scope, "secret word", before=TURNS + 1, state=state))
    yield (
        "look_back for every canary",
        repr(await look_back(store, scope, _all_canaries(), before=TURNS + 1, state=state)),
    )
    yield "threads", repr(await store.threads(scope.of_subject, limit=1000))
    yield "thread info", repr(await store.thread_info(scope))
    yield "turns as a page", repr(await store.page(scope))
    yield "turns by number", repr(await store.turns(scope, [(n, 1) for n in range(1, TURNS + 2)]))
    yield "recent turns", repr(await store.recent_turns(scope, limit=1000))
    yield "sources", repr(await store.sources(scope)) + repr(await store.source_names(scope, list(range(99))))
    yield "tool calls", repr(await store.tool_calls(scope, 1, 1))
    yield "events of a turn", repr(await store.events(scope, 1, 1))
    yield "events of the thread", repr(await store.events(scope, 0, 0))
    yield "deltas", repr(await store.deltas(scope))
    yield "deltas of the subject", repr(await store.subject_deltas(scope.of_subject))
    yield "delta jobs", repr(await store.delta_jobs(scope, "waiting", "answered", "applied", "set aside"))
    yield "receipts", repr(await store.receipts(scope, 1, 1))
    yield "turns shown again", "\n".join([repr(await thread.show(n)) for n in (1, TURNS)])
    async for way, text in _documents(cast("DocumentStore", store), scope.of_subject):
        yield way, text


async def _new_thread(store: Store, scope: ThreadScope) -> Any:
    """A context in a conversation that has just begun: of what was said elsewhere it may show the profile alone."""
    fresh = scope.of_subject.thread(f"new {scope.thread}"[:200])
    thread = Thread(store=store, scope=fresh, info=await store.open_thread(fresh, deltas=True))
    return await thread.context(POINTING)


def _all_canaries() -> str:
    return " ".join(f"canaryt{t}s{s}n0x" for t in range(3) for s in range(4))


async def _documents(store: DocumentStore, scope: SubjectScope) -> AsyncIterator[tuple[str, str]]:
    listed = await store.documents(scope)
    yield "documents", repr(listed)
    yield "document search", repr(await store.find_passages(scope, list(forms("secret word")), limit=1000))
    yield "texts of documents", repr([await store.document_text(scope, info.id) for info in listed])
    others = [number for number in range(1, 400) if number not in {info.id for info in listed}]
    yield "texts by guessed number", repr([text for n in others[:60] if (text := await _guess(store, scope, n))])


async def _guess(store: DocumentStore, scope: SubjectScope, number: int) -> str:
    try:
        return await store.document_text(scope, number)
    except NotFound:
        return ""


def _report(lists: Sequence[Sequence[str]], found: Found) -> Report:
    rows = tuple(
        (way, count, found.own[way], found.crossed[way]) for way, count in sorted(found.read.items())
    )  # fmt: skip
    crossings = sum(found.crossed.values())
    return Report(
        scenario="isolation",
        data=f"{len(lists)} sets of names on two stores; three tenants each, equal customers and conversations",
        tables=(
            Table(
                title="Everything that can be read, in every scope",
                columns=("way of reading", "read", "held its own words", "held another's"),
                rows=rows,
                note="Some ways rightly show nothing, such as a guessed number of a document.",
            ),
        ),
        targets=(exactly("crossings", 0, crossings),),
        figures={
            "crossings": found.examples[:50],
            "reads": sum(found.read.values()),
            "names": [list(n) for n in lists],
        },
    )
