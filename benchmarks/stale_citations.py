"""What becomes of the citations when a model copies every one that it can see?

The same two conversations, of three and of five turns, are held in four ways against the same model double
(`lumina.testing.CopyingModel`) and the same recorded search:

    hidden      sources in a comment at the end of the stored answer; the whole history goes back to the model
    stripped    the comment is taken out on its way to the model; the visible [1] stays
    numbers too the numbers are taken out of the history as well
    Lumina      the real agent on a real SQLite file

The first three number the sources of each turn from 1, as the program did in which this was first seen. For every
marker in an answer it is asked what a reader of that program gets when he follows it. Beside it, the two forms in which
the order of cleaning and cutting matters, measured.

    python benchmarks/stale_citations.py [--json]
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from lumina.agent.ports import Empty, Failed, Found, Hit, SearchResult
from lumina.memory.scope import ThreadScope
from lumina.memory.turns import Message, TurnPage
from lumina.memory.visible_text import clean_answer
from lumina.testing import CopyingModel, RecordedSearch, ScriptedNotes, page
from lumina.wiring import open_agent

COMMENT = re.compile(r"<!--SOURCES:([^\n]{0,20000}?)-->")
NUMBER = re.compile(r"\[(\d{1,3})\]")
VERDICTS = ("right", "wrong", "stale", "nowhere")
HERE = ThreadScope(tenant="local", subject="me", thread="main")

# The conversations

SIZE = page("functools", "lru_cache keeps up to 128 results [12].", url="https://docs.test/functools")
RULE = page("Caching", "When the cache is full, the oldest result goes.", url="https://docs.test/caching")
CLEAR = page("Clearing", "cache_clear empties the cache.", url="https://docs.test/clearing")
TYPED = page("Typed", "With typed=True, 3 and 3.0 are kept apart [12].", url="https://docs.test/typed")
NOTHING = Empty(provider="recorded", reason="4 pages were looked through")
DOWN = Failed(provider="recorded", reason="no answer within 20 seconds", retry=True)

Step = tuple[str, Sequence[Hit] | SearchResult | None]  # a question, and what its search gives; None: it needs none
CONVERSATIONS: dict[str, list[Step]] = {
    "three turns": [
        ("How large is the cache?", [SIZE, RULE]),
        ("How do I empty it?", [CLEAR]),
        ("Thanks. Is that the same as item [7] of my list?", None),
    ],
    "five turns": [
        ("How large is the cache?", [SIZE, RULE]),
        ("Who named it?", NOTHING),
        ("How do I empty it?", [CLEAR]),
        ("Is that thread-safe?", DOWN),
        ("And what does typed do?", [TYPED, SIZE]),
    ],
}


@dataclass(frozen=True, kw_only=True)
class Marker:
    """A number in an answer. `meant`: what it stood for where the model first saw it; `got`: what a reader finds."""

    n: int
    meant: str
    got: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One turn: its answer as a reader sees it, its markers, and the markers that were taken out and reported."""

    answer: str
    markers: list[Marker]
    removed: list[str] = field(default_factory=list)


def judge(n: int, meant: str, got: str, offered: Sequence[str]) -> Marker:
    """`offered`: the sources that the program gave the model to cite in this turn. "" is no source."""
    if not got:
        verdict = "nowhere"  # the reader gets nothing
    elif got != meant:
        verdict = "wrong"  # another source than the number stood for
    elif got not in offered:
        verdict = "stale"  # a source of an earlier turn, which nobody offered for this answer
    else:
        verdict = "right"
    return Marker(n=n, meant=meant, got=got, verdict=verdict)


def numbers(text: str) -> list[int]:
    return list(dict.fromkeys(int(n) for n in NUMBER.findall(text)))


def copying(steps: Sequence[Step]) -> tuple[CopyingModel, RecordedSearch]:
    searching = {question for question, result in steps if result is not None}
    return CopyingModel(searches=lambda asked: asked in searching), RecordedSearch(
        [r for _, r in steps if r is not None]
    )


# The old ways


def as_it_is(stored: str) -> str:
    return stored


def strip_comment(stored: str) -> str:
    return COMMENT.sub("", stored).rstrip()


def strip_numbers(stored: str) -> str:
    return " ".join(NUMBER.sub("", strip_comment(stored)).split())


def read_first(comments: list[str]) -> str:
    return comments[0]


def read_last(comments: list[str]) -> str:
    return comments[-1]


class OldWay:
    """An agent that keeps each answer as one text, with its sources in a comment for the page to read.

    `sent` is what is done to a stored answer on its way back to the model; `reads` which comment of an answer the page
    takes, when the model has written some of its own.
    """

    def __init__(self, steps: Sequence[Step], sent: Callable[[str], str], reads: Callable[[list[str]], str]) -> None:
        self._model, self._search = copying(steps)
        self._sent, self._reads = sent, reads
        self._turns: list[tuple[str, str]] = []  # question, answer as stored
        self._meanings: list[dict[int, str]] = []  # what the numbers of each answer stood for

    async def ask(self, question: str) -> Answered:
        hits: list[Hit] = []
        agent = Agent(self._model)

        @agent.tool_plain
        async def web_search(query: str) -> str:
            found = await self._search.search(HERE.of_subject, query, limit=8)
            hits.extend(found.hits if isinstance(found, Found) else ())
            return json.dumps({"results": [{"source": n, "text": hit.text} for n, hit in enumerate(hits, 1)]})

        answer = (await agent.run(question, message_history=self._history())).output
        own = [hit.url for hit in hits]
        stored = answer + (f"\n<!--SOURCES:{json.dumps([{'url': url} for url in own])}-->" if own else "")
        meant = self._in_view(own)
        self._turns.append((question, stored))
        self._meanings.append(meant)
        shown, sources = self.page(stored)
        got = dict(enumerate(sources, 1))
        return Answered(answer=shown, markers=[judge(n, meant.get(n, ""), got.get(n, ""), own) for n in numbers(shown)])

    def page(self, stored: str) -> tuple[str, list[str]]:
        """The answer and its sources, as the page makes them from the stored text."""
        comments = COMMENT.findall(stored)
        sources = [source["url"] for source in json.loads(self._reads(comments))] if comments else []
        return strip_comment(stored), sources

    def _history(self) -> list[ModelMessage]:
        history: list[ModelMessage] = []
        for question, stored in self._turns:
            history.append(ModelRequest(parts=[UserPromptPart(question)]))
            history.append(ModelResponse(parts=[TextPart(self._sent(stored))]))
        return history

    def _in_view(self, own: list[str]) -> dict[int, str]:
        """What each number stood for at the first place where the model could see it."""
        seen: dict[int, str] = {}
        for (_, stored), meant in zip(self._turns, self._meanings, strict=True):
            for n in numbers(COMMENT.sub("", self._sent(stored))):
                seen.setdefault(n, meant.get(n, ""))
        return {**dict(enumerate(own, 1)), **seen}


async def hold_the_old_way(
    steps: Sequence[Step], sent: Callable[[str], str], reads: Callable[[list[str]], str]
) -> list[Answered]:
    program = OldWay(steps, sent, reads)
    return [await program.ask(question) for question, _ in steps]


# Lumina


async def hold_with_lumina(steps: Sequence[Step], database: Path) -> list[Answered]:
    """The real agent; a reader follows a number through what is stored, when the conversation is over."""
    model, search = copying(steps)
    meant: dict[int, str] = {}
    removed: list[list[str]] = []
    async with await open_agent(database=database, model=model, search=search, notes=ScriptedNotes()) as agent:
        for question, _ in steps:
            run = await agent.ask(HERE, question)
            events = [event async for event in run.events()]
            for event in events:
                if event.kind == "source":
                    meant.setdefault(event.n, event.url)
            removed.append([event.marker for event in events if event.kind == "citation.removed"])
            await run.notes()
        thread = await agent.thread(HERE)
        sources = {source.n: source.url for source in await agent.store.sources(HERE)}
        answered: list[Answered] = []
        for turn, gone in zip(await agent.store.page(HERE), removed, strict=True):
            assert isinstance(turn, TurnPage)
            citable = {n for call in await thread.show(turn.seq) for n in call.receipt.citable}
            linked = {citation.n for citation in turn.citations}
            markers = [
                judge(n, meant.get(n, ""), sources.get(n, "") if n in linked else "", [sources[n] for n in citable])
                for n in numbers(turn.answer)
            ]
            answered.append(Answered(answer=turn.answer, markers=markers, removed=gone))
        return answered


OLD_WAYS = {
    "hidden, the page takes the first comment": (as_it_is, read_first),
    "hidden, it takes the last one": (as_it_is, read_last),
    "stripped": (strip_comment, read_first),
    "stripped, numbers as well": (strip_numbers, read_first),
}


async def measure() -> dict[str, dict[str, list[Answered]]]:
    """Conversation to way to its answers."""
    held: dict[str, dict[str, list[Answered]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for at, (name, steps) in enumerate(CONVERSATIONS.items()):
            held[name] = {way: await hold_the_old_way(steps, *how) for way, how in OLD_WAYS.items()}
            held[name]["Lumina"] = await hold_with_lumina(steps, Path(folder) / f"{at}.db")
    return held


# The order of cleaning and cutting

ROOM = 6  # messages that are sent at most
LAST_WORDS = '[1] The cache is empty now.\n<!--SOURCES:[{"url": "https://docs.test/clearing"}]-->'
THOUGHTS = "<think>The user wants the size, so I look at maxsize.</think>It keeps 128 results. <|im_end|>"


def strip_and_drop(messages: Sequence[Message]) -> list[Message]:
    """An answer that was nothing but hidden data is empty once it is clean, and is not sent."""
    cleaned = [Message(role=m.role, content=clean_answer(strip_comment(m.content))) for m in messages]
    return [m for m in cleaned if m.content]


def dropped() -> dict[str, int]:
    """How many messages reach the model, of the six that may, when cleaning drops two answers of the last three."""
    rows: list[Message] = []
    for n in range(1, 7):
        only_data = n in (4, 5)
        rows.append(Message(role="user", content=f"Question {n}?"))
        rows.append(Message(role="assistant", content='<!--SOURCES:[{"url": "x"}]-->' if only_data else f"Answer {n}."))
    return {
        "cut, then clean": len(strip_and_drop(rows[-ROOM:])),
        "clean, then cut": len(strip_and_drop(rows)[-ROOM:]),
    }


def left_behind(text: str, clean: Callable[[str], str]) -> dict[str, int]:
    """Of all places where a cut can fall inside `text`: after how many is something sent that the clean text does not
    begin with. Cleaning first, that cannot be: a cut of the clean text is its beginning."""
    places = range(1, len(text))
    whole = clean(text)
    return {
        "places": len(places),
        "cut, then clean": sum(not whole.startswith(clean(text[:at]).rstrip()) for at in places),
        "clean, then cut": sum(not whole.startswith(whole[:at].rstrip()) for at in places),
    }


def order() -> dict[str, Mapping[str, int]]:
    return {
        "messages sent of 6, cleaning drops two": dropped(),
        "cuts that leave a piece, comment": left_behind(LAST_WORDS, strip_comment),
        "cuts that leave a piece, reasoning and token": left_behind(THOUGHTS, clean_answer),
    }


# The table


def counts(answers: Sequence[Answered]) -> dict[str, int]:
    found = Counter(marker.verdict for answer in answers for marker in answer.markers)
    return {verdict: found[verdict] for verdict in VERDICTS} | {"removed": sum(len(a.removed) for a in answers)}


def table(held: Mapping[str, Mapping[str, Sequence[Answered]]]) -> str:
    head = "| conversation | way | right | wrong | stale | nowhere | removed and reported | the same, all answers |"
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for conversation, ways in held.items():
        for way, answers in ways.items():
            last, every = counts(answers[-1:]).values(), counts(answers).values()
            cells = [conversation, way, *map(str, last), " / ".join(map(str, every))]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def order_table() -> str:
    lines = ["| form | cut, then clean | clean, then cut |", "|---|---|---|"]
    for form, row in order().items():
        of = f" of {row['places']}" if "places" in row else f" of {ROOM}"
        lines.append(f"| {form} | {row['cut, then clean']}{of} | {row['clean, then cut']}{of} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Citations against a model that copies every one it can see.")
    parser.add_argument("--json", action="store_true", help="every answer and every marker, as JSON")
    given = parser.parse_args()
    held = asyncio.run(measure())
    if given.json:
        rows = {
            name: {way: [asdict(a) for a in answers] for way, answers in ways.items()} for name, ways in held.items()
        }
        json.dump({"conversations": rows, "order": order()}, sys.stdout, indent=1)
        print()
        return
    print(table(held), order_table(), sep="\n\n")


if __name__ == "__main__":
    main()
