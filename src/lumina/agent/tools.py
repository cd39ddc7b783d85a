"""What a model may do in a turn: search, read a page that was found, read more of a source, look back.

Each tool answers with a JSON object: fields, never markers. Of a source a model gets its number, title, host and text,
cleaned; never its address, its locator or a row's id. How a search ended is a field, and a failed search never looks
like an empty one (promise 9).
"""

import asyncio
import logging
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lumina.agent.desk import Desk
from lumina.agent.events import Event, PageRead, Plan, SearchFinished, SearchStarted, SourceRead
from lumina.agent.ledger import Ledger
from lumina.agent.ports import Failed, Found, Hit, Page, SearchResult, Unread
from lumina.agent.query_guard import QueryGuard
from lumina.agent.reading import Wanted, typed_addresses
from lumina.agent.searching import search_in_turn
from lumina.agent.storable import storable
from lumina.agent.toolbox import Result, Tool, refused
from lumina.agent.turn_log import TurnLog
from lumina.agent.web_address import WebAddress
from lumina.memory.context import Context
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.looking_back import look_back
from lumina.memory.recall import pick_within
from lumina.memory.rendering import PASSAGE_LIMIT
from lumina.memory.state import State
from lumina.memory.store import StoredPassage
from lumina.memory.thread import Thread
from lumina.memory.turns import Searched
from lumina.memory.visible_text import clean, cut_place, one_line, splits
from lumina.memory.words import content_words, forms

HITS = 8  # passages of one search
PASSAGE = 1500  # characters of one passage
OPENED = 4000  # characters of an opened source
BLOCK = 500  # characters; an opened source is shown around the blocks that fit the question best
FENCE = re.compile(r"^ {0,3}(`{3,64}|~{3,64})([^\n]{0,200})", re.MULTILINE)
TITLE, HEADING, QUERY = 80, 160, 400  # characters
PLANNED = 6  # queries of a plan
LOOKED_BACK = 1000  # tokens of one look back

logger = logging.getLogger(__name__)


class Query(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query: Annotated[str, Field(min_length=1, max_length=2000, description="The words to look for.")]


class Number(BaseModel):
    model_config = ConfigDict(extra="ignore")
    n: Annotated[int, Field(ge=1, le=10**9, description="The number of a source of this conversation.")]


class WebPage(BaseModel):
    model_config = ConfigDict(extra="ignore")
    n: Annotated[int, Field(ge=0, le=10**9, description="The number of a result of a search of this turn.")] = 0
    url: Annotated[str, Field(max_length=4000, description="Or an address that the user typed in the question.")] = ""


class Queries(BaseModel):
    model_config = ConfigDict(extra="ignore")
    queries: Annotated[list[str], Field(min_length=1, max_length=PLANNED, description="What to look for, in order.")]


class Tools:
    """The tools of one turn, and what they found: `searched` sums up all searches of the turn."""

    def __init__(
        self, *, desk: Desk, thread: Thread, context: Context, ledger: Ledger, log: TurnLog,
        remembered: "asyncio.Task[tuple[State, QueryGuard]]",
    ) -> None:  # fmt: skip
        """`remembered` reads the thread's state and what a search may not carry; nothing is searched before it has."""
        self._desk = desk
        self._thread = thread
        self._context = context
        self._ledger = ledger
        self._remembered = remembered
        self._log = log
        self._ended: set[str] = set()
        self._shown: set[tuple[int, str]] = set()
        self._results: dict[int, Hit] = {}  # pages of the web that searches of this turn found

    @property
    def searched(self) -> Searched:
        """found when any search found something; failed when one failed or was refused; empty when all were."""
        if "found" in self._ended:
            return "found"
        if self._ended & {"failed", "refused"}:
            return "failed"
        return "empty" if self._ended else "not needed"

    def all(self) -> list[Tool]:
        limits = self._desk.limits
        search = Tool(
            name="web_search", arguments=Query, run=self._web_search, limit=limits.tool_calls, side_effect=False,
            description="Searches the sources. Returns numbered passages, best first.",
        )  # fmt: skip
        opening = Tool(
            name="open_source", arguments=Number, run=self._open_source, limit=limits.tool_calls, side_effect=False,
            description="Reads more of a source of this conversation, by its number.",
        )  # fmt: skip
        looking = Tool(
            name="look_back", arguments=Query, run=self._look_back, limit=limits.look_backs, side_effect=False,
            description="Finds what was said in earlier turns of this conversation that are not shown.",
        )  # fmt: skip
        reading = Tool(
            name="read_page", arguments=WebPage, run=self._read_page, limit=limits.pages, side_effect=False,
            description="Reads a page of the web that a search of this turn found, or that the user named.",
        )  # fmt: skip
        planning = Tool(
            name="plan", arguments=Queries, run=self._plan, limit=1, side_effect=False,
            description="Shows the user what you are going to look for. Call it first.",
        )  # fmt: skip
        return [
            *([planning] if self._desk.research else []),
            search,
            *([reading] if self._desk.pages else []),
            opening,
            *([looking] if self._context.receipt.look_back else []),
        ]

    async def _known(self) -> tuple[State, QueryGuard]:
        return await asyncio.shield(self._remembered)  # a call that is given up does not end it for the others

    async def _plan(self, asked: Queries) -> Result:
        _, guard = await self._known()
        queries = [line for query in asked.queries if (line := one_line(query, QUERY)) and not guard.carries(line)]
        await self._log.write(self._event(Plan, queries=tuple(queries)))
        return {"planned": queries}

    async def _web_search(self, asked: Query) -> Result:
        query = one_line(asked.query, QUERY)
        _, guard = await self._known()
        if carried := guard.carries(query):
            provider = self._desk.search.name
            await self._begun(query, provider)
            reason = f"The query carries “{one_line(carried, 60)}”, which is remembered and is not in the question."
            await self._finished(query, provider, "refused", reason)
            return refused(reason + " Search without it, or ask the user.")

        async def begun(provider: str) -> None:
            await self._begun(query, provider)

        done = await search_in_turn(
            (self._desk.search, *self._desk.then), self._thread.scope.of_subject, query, limit=HITS,
            seconds=self._desk.limits.one_search, begun=begun, ended=lambda ending: self._ended_without(query, ending),
        )  # fmt: skip
        without = [each for each in done.endings if not isinstance(each, Found)]
        reasons = [one_line(f"{each.provider}: {each.reason.rstrip('.')}", QUERY) for each in without]
        if not done.hits:
            outcome = "failed" if any(isinstance(each, Failed) for each in without) else "empty"
            alone = one_line(without[0].reason, QUERY)
            return {"outcome": outcome, "reason": alone if len(without) == 1 else "; ".join(reasons)}
        found = [each for each in done.endings if isinstance(each, Found)]
        try:
            read = [await self._read(hit) for hit in done.hits]
        except Exception:  # what cannot be kept was not found
            await self._finished(query, found[-1].provider, "failed", "What was found could not be kept.")
            raise
        events = [event for _, event in read if event is not None]
        for each in found:
            then = events if each is found[-1] else ()
            await self._finished(query, each.provider, "found", hits=len(each.hits), then=then)
        missing = {"found_nothing": reasons} if reasons else {}
        return {"outcome": "found", "results": [shown for shown, _ in read], **missing}

    async def _begun(self, query: str, provider: str) -> None:
        self._log.gather(self._event(SearchStarted, query=query, provider=provider))

    async def _ended_without(self, query: str, ending: SearchResult) -> None:
        """A provider that found nothing is told at once; one that did, when its sources are kept."""
        if not isinstance(ending, Found):
            await self._finished(query, ending.provider, ending.kind, ending.reason)

    async def _finished(
        self, query: str, provider: str, outcome: str, reason: str = "", *, hits: int = 0, then: Sequence[Event] = ()
    ) -> None:
        self._ended.add(outcome)
        event = self._event(SearchFinished, query=query, provider=provider, outcome=outcome, reason=reason, hits=hits)
        await self._log.write(event, *then)

    async def _read(self, hit: Hit) -> tuple[Result, Event | None]:
        """Commits the hit's source. What the model is shown of it, and the event that tells of it the first time."""
        source = await self._ledger.register(hit)
        if hit.url.startswith(("http://", "https://")):
            self._results[source.n] = hit
        text = cut(clean(hit.text), PASSAGE)
        event = None
        if (source.n, text) not in self._shown:
            self._shown.add((source.n, text))
            event = self._event(
                SourceRead, n=source.n, title=source.title, url=source.url, host=source.host, depth=source.depth,
                passage=text, heading=hit.heading,
            )  # fmt: skip
        shown = {
            "source": source.n,
            "title": one_line(source.title, TITLE),
            "host": one_line(source.host, TITLE),
            "heading": one_line(hit.heading, HEADING),
            "covers": round(hit.coverage, 2),
            "score": round(hit.score, 2),
            "text": text,
        }
        return shown, event

    async def _read_page(self, asked: WebPage) -> Result:
        wanted = self._wanted(asked)
        if isinstance(wanted, str):
            await self._log.write(self._event(PageRead, n=asked.n, characters=0, outcome="refused", reason=wanted))
            return refused(wanted)
        page = await self._fetch(wanted)
        if isinstance(page, Unread):
            self._ended.add("failed")
            reason = one_line(page.reason, QUERY)
            await self._log.write(self._event(
                PageRead, n=asked.n, characters=0, outcome="failed", host=wanted.host, reason=reason
            ))  # fmt: skip
            return {"outcome": "failed", "reason": reason}
        self._ended.add("found")
        stored, there = storable(page.text), WebAddress.of(page.url)
        source = await self._ledger.register(Hit(
            locator=wanted.locator, url=there.url, title=storable(one_line(page.title, HEADING)),
            host=there.short_host(), depth="page", stored=stored, start=0, end=len(stored),
        ))  # fmt: skip
        whole = clean(stored)
        start, end = around(whole, self._context.question, OPENED)
        text = whole[start:end]
        self._shown.add((source.n, text))
        read = self._event(PageRead, n=source.n, characters=end - start, host=source.host)
        await self._log.write(read, self._event(
            SourceRead, n=source.n, title=source.title, url=source.url, host=source.host, depth=source.depth,
            passage=text,
        ))  # fmt: skip
        return {
            "source": source.n,
            "title": one_line(source.title, TITLE),
            "host": one_line(source.host, TITLE),
            "shown": _part_shown(start, end, whole),
            "text": text,
        }

    def _wanted(self, asked: WebPage) -> Wanted | str:
        """The page that is meant, or why it is not opened."""
        if hit := self._results.get(asked.n):
            return Wanted(locator=hit.locator, url=hit.url, host=hit.host)
        try:
            address = WebAddress.of(asked.url) if asked.url else None
        except UsageError as error:
            return str(error)
        typed = typed_addresses(self._context.question)
        if address is not None and (known := typed.get(address.canonical)):
            return Wanted(locator=known.canonical, url=known.url, host=known.short_host())
        if address is not None:
            return "Only a page that a search of this turn found, by its number, or one that the user typed is opened."
        return f"No search of this turn has found a page {asked.n} of the web. open_source reads what was stored."

    async def _fetch(self, wanted: Wanted) -> Page | Unread:
        assert self._desk.pages is not None  # the tool is offered only then
        seconds = self._desk.limits.one_page
        try:
            async with asyncio.timeout(seconds):
                return await self._desk.pages.read(wanted.url)
        except TimeoutError:
            return Unread(url=wanted.url, reason=f"it was not read within {seconds:g} seconds", retry=True)
        except Exception as error:
            logger.warning("a page could not be read", exc_info=True)
            return Unread(url=wanted.url, reason=f"reading it broke off ({type(error).__name__})", retry=False)

    async def _open_source(self, asked: Number) -> Result:
        try:
            source, stored = await self._ledger.open(asked.n)
        except NotFound as error:
            return refused(str(error))
        text = clean(stored)
        start, end = around(text, self._context.question, OPENED)
        await self._log.write(self._event(PageRead, n=source.n, characters=end - start))
        return {
            "source": source.n,
            "title": one_line(source.title, TITLE),
            "host": one_line(source.host, TITLE),
            "shown": _part_shown(start, end, text),
            "text": text[start:end],
        }

    async def _look_back(self, asked: Query) -> Result:
        state, guard = await self._known()
        found = await look_back(
            self._thread.store, self._thread.scope, asked.query, before=first_shown(self._context), state=state,
            profile=await self._thread.profile(), meaning=self._thread.meaning,
        )  # fmt: skip
        words = {pick.passage.id: one_line(pick.passage.text, PASSAGE_LIMIT) for pick in found.picks}

        def cost(passage: StoredPassage) -> int:
            return self._thread.counter.count(words[passage.id]) + 20

        chosen = [pick.passage for pick in pick_within(found.picks, LOOKED_BACK, cost)]
        guard.recall(words[passage.id] for passage in chosen)
        rows = [
            {
                "turn": passage.seq,
                "day": passage.day,
                "by": "user" if passage.part == "question" else "assistant",
                "text": words[passage.id],
                **({"replaced_at": found.replaced[passage.id]} if passage.id in found.replaced else {}),
            }
            for passage in chosen
        ]
        nothing = {} if rows else {"reason": "No turn that is not shown holds these words."}
        return {"passages": rows, **nothing}

    def _event(self, kind: type[Event], **fields: object) -> Event:
        return kind.model_validate({"thread": self._thread.scope.thread, "turn": self._log.seq, **fields})


def _part_shown(start: int, end: int, text: str) -> str:
    return "all of it" if end - start == len(text) else f"characters {start}-{end} of {len(text)}"


def first_shown(context: Context) -> int:
    """The seq of the first turn that is sent word for word; without one, the seq of the turn itself."""
    shown = [item.seq for item in context.receipt.items if item.kind == "turn" and item.included]
    return min(shown, default=context.window_start)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words where there are any, else between graphemes. A fenced block that
    the cut leaves open is closed."""
    if len(text) <= limit:
        return text
    room = limit
    while fence := _open_fence(shown := _cut(text, room)):
        if len(shown) + 1 + len(fence) <= limit:
            return f"{shown}\n{fence}"
        room -= len(fence)
        if room < 2:
            break
    return shown


def _cut(text: str, limit: int) -> str:
    space = max(text.rfind(" ", limit // 2, limit - 1), text.rfind("\n", limit // 2, limit - 1))
    return text[: cut_place(text, space if space > 0 else limit - 1)] + "…"


def _open_fence(text: str) -> str:
    """What closes the fenced block that `text` ends in, "" when it ends in none."""
    fence = ""
    for match in FENCE.finditer(text):
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and not match[2].strip():
            fence = ""
    return fence


def around(text: str, question: str, limit: int) -> tuple[int, int]:
    """Offsets of at most `limit` characters of `text`, where the most different words of the question stand. No
    grapheme is split, unless it is half as long as `limit`."""
    if len(text) <= limit:
        return 0, len(text)
    asked = set(content_words(question))
    blocks = list(_blocks(text))
    worth = [len(asked.intersection(forms(text[start:end]))) for start, end in blocks]
    best = max(range(len(blocks)), key=lambda at: (worth[at], -at))
    start = min(max(0, blocks[best][0] - BLOCK), len(text) - limit)
    while splits(text, start):
        start += 1
    end = start + limit
    if end >= len(text):
        return start, len(text)
    half = start + limit // 2
    after = half + 1  # a line's end may be two characters
    space = max(text.rfind("\n", after, end), text.rfind(" ", after, end))
    return start, max(cut_place(text, space if space > 0 else end), half)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of about `BLOCK` characters, at line ends where there are any."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK)
        end = len(text) if end < 0 else min(end + 1, start + 2 * BLOCK)
        yield start, min(end, start + 2 * BLOCK)
        start = min(end, start + 2 * BLOCK)
