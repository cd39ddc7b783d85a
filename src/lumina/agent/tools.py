"""What a model may do in a turn: search, read more of a source, look back in the conversation.

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
from lumina.agent.events import Event, PageRead, SearchFinished, SearchStarted, SourceRead
from lumina.agent.ledger import Ledger
from lumina.agent.ports import Failed, Found, Hit, SearchResult
from lumina.agent.query_guard import QueryGuard
from lumina.agent.toolbox import Result, Tool, refused
from lumina.agent.turn_log import TurnLog
from lumina.memory.context import Context
from lumina.memory.errors import NotFound
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
LOOKED_BACK = 1000  # tokens of one look back

logger = logging.getLogger(__name__)


class Query(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query: Annotated[str, Field(min_length=1, max_length=2000, description="The words to look for.")]


class Number(BaseModel):
    model_config = ConfigDict(extra="ignore")
    n: Annotated[int, Field(ge=1, le=10**9, description="The number of a source of this conversation.")]


class Tools:
    """The tools of one turn, and what they found: `searched` sums up all searches of the turn."""

    def __init__(
        self, *, desk: Desk, thread: Thread, context: Context, state: State, ledger: Ledger, guard: QueryGuard,
        log: TurnLog,
    ) -> None:  # fmt: skip
        self._desk = desk
        self._thread = thread
        self._context = context
        self._state = state
        self._ledger = ledger
        self._guard = guard
        self._log = log
        self._ended: set[str] = set()
        self._shown: set[tuple[int, str]] = set()

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
        return [search, opening, looking] if self._context.receipt.look_back else [search, opening]

    async def _web_search(self, asked: Query) -> Result:
        query = one_line(asked.query, QUERY)
        provider = self._desk.search.name
        self._log.gather(self._event(SearchStarted, query=query, provider=provider))
        if carried := self._guard.carries(query):
            reason = f"The query carries “{one_line(carried, 60)}”, which is remembered and is not in the question."
            await self._finished(query, provider, "refused", reason)
            return refused(reason + " Search without it, or ask the user.")
        result = await self._ask(query)
        if not isinstance(result, Found):
            await self._finished(query, result.provider, result.kind, result.reason)
            return {"outcome": result.kind, "reason": one_line(result.reason, QUERY)}
        try:
            read = [await self._read(hit) for hit in result.hits[:HITS]]
        except Exception:  # what cannot be kept was not found
            await self._finished(query, result.provider, "failed", "What was found could not be kept.")
            raise
        events = [event for _, event in read if event is not None]
        await self._finished(query, result.provider, "found", hits=len(read), then=events)
        return {"outcome": "found", "results": [shown for shown, _ in read]}

    async def _ask(self, query: str) -> SearchResult:
        provider, limit = self._desk.search, self._desk.limits.one_search
        try:
            async with asyncio.timeout(limit):
                result = await provider.search(self._thread.scope.of_subject, query, limit=HITS)
        except TimeoutError:
            return Failed(provider=provider.name, reason=f"No answer within {limit:g} seconds.", retry=True)
        except Exception as error:
            logger.warning("the search provider %s failed", provider.name, exc_info=True)
            return Failed(provider=provider.name, reason=f"It broke off ({type(error).__name__}).", retry=False)
        if isinstance(result, Found) and not result.hits:
            return Failed(provider=result.provider, reason="It claims hits and gave none.", retry=False)
        return result

    async def _finished(
        self, query: str, provider: str, outcome: str, reason: str = "", *, hits: int = 0, then: Sequence[Event] = ()
    ) -> None:
        self._ended.add(outcome)
        event = self._event(SearchFinished, query=query, provider=provider, outcome=outcome, reason=reason, hits=hits)
        await self._log.write(event, *then)

    async def _read(self, hit: Hit) -> tuple[Result, Event | None]:
        """Commits the hit's source. What the model is shown of it, and the event that tells of it the first time."""
        source = await self._ledger.register(hit)
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

    async def _open_source(self, asked: Number) -> Result:
        try:
            source, stored = await self._ledger.open(asked.n)
        except NotFound as error:
            return refused(str(error))
        start, end = around(stored, self._context.question, OPENED)
        await self._log.write(self._event(PageRead, n=source.n, characters=end - start))
        return {
            "source": source.n,
            "title": one_line(source.title, TITLE),
            "host": one_line(source.host, TITLE),
            "shown": "all of it" if end - start == len(stored) else f"characters {start}-{end} of {len(stored)}",
            "text": clean(stored[start:end]),
        }

    async def _look_back(self, asked: Query) -> Result:
        found = await look_back(
            self._thread.store, self._thread.scope, asked.query, before=first_shown(self._context), state=self._state,
            profile=await self._thread.profile(), meaning=self._thread.meaning,
        )  # fmt: skip
        words = {pick.passage.id: one_line(pick.passage.text, PASSAGE_LIMIT) for pick in found.picks}

        def cost(passage: StoredPassage) -> int:
            return self._thread.counter.count(words[passage.id]) + 20

        chosen = [pick.passage for pick in pick_within(found.picks, LOOKED_BACK, cost)]
        self._guard.recall(words[passage.id] for passage in chosen)
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
    space = max(text.rfind("\n", half, end), text.rfind(" ", half, end))
    return start, max(cut_place(text, space if space > 0 else end), half)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of about `BLOCK` characters, at line ends where there are any."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK)
        end = len(text) if end < 0 else min(end + 1, start + 2 * BLOCK)
        yield start, min(end, start + 2 * BLOCK)
        start = min(end, start + 2 * BLOCK)
