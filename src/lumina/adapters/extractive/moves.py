"""What to do next with a request: answer from what is known, look it up, or compose the answer from what was found.

One function decides, from plain values; it reads from top to bottom in the order in which things are tried:

1. results of this turn are there: the answer is made from them;
2. a greeting, thanks or a statement: a short acknowledgement;
3. the question points back: the recalled passages answer, or look_back is asked for more;
4. the memory or an answer in the window holds it already;
5. otherwise it is searched for, a follow-up together with the words of the question before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lumina.adapters.extractive import composing, known, manner
from lumina.adapters.extractive.memory_block import Memory, is_number
from lumina.adapters.extractive.notes import operations
from lumina.adapters.extractive.own_words import said_of_oneself
from lumina.adapters.extractive.phrases import language_of, phrase
from lumina.adapters.extractive.quoting import MARKER
from lumina.adapters.extractive.researching import (
    PAGES,
    PAGES_RESEARCHED,
    number_of,
    pages_to_read,
    parts_of,
    planned,
    together,
)
from lumina.adapters.extractive.statements import stated
from lumina.adapters.extractive.tool_results import read_recollection, read_results
from lumina.agent.evidence import follow_up_query, is_follow_up
from lumina.memory.reference import pointing_phrase
from lumina.memory.words import forms

SAYING = re.compile(r"\b(?:say|said|tell|told|mention|mentioned|answer|answered|gesagt|dit|dijiste)\b", re.IGNORECASE)
SEARCH, READ, OPEN, LOOK_BACK, PLAN = "web_search", "read_page", "open_source", "look_back", "plan"
MAX_QUERY = 400  # characters of a query


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of the window."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A tool call of this turn, and its result as text."""

    tool: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request in plain values. `earlier` is the window, oldest first; `tools` are the names that are offered."""

    question: str
    memory: Memory = field(default_factory=Memory)
    earlier: tuple[Said, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """The answer, whole."""

    text: str
    kind: Literal["say"] = "say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A tool to call."""

    tool: str
    arguments: dict[str, str | int | list[str]]
    kind: Literal["use"] = "use"


Move = Say | Use


def next_move(asked: Asked) -> Move:
    """The next step of the turn. It asks only for tools that are offered, and each turn ends after a few."""
    if asked.exchanges:
        return _from_results(asked, asked.exchanges)
    language = language_of(asked.question)
    small_talk = manner.small_talk(asked.question)
    if small_talk == "understood" and _forgets_nothing(asked):
        small_talk = "nothing noted"
    if small_talk:
        return Say(text=phrase(language, small_talk))
    if pointing_phrase(asked.question):
        return _pointing_back(asked)
    return _open(asked) or _told(_from_what_is_known(asked)) or _search(asked)


def _forgets_nothing(asked: Asked) -> bool:
    """Whether the message only asks to forget, and nothing that the memory holds goes by that name.

    Another note taker may find more under a word, so where a key or value shares one, it is not called nothing.
    """
    statements = stated(asked.question)
    if not statements or not asked.memory.whole or any(one.kind != "forget" for one in statements):
        return False
    entries = asked.memory.entries
    if operations(asked.question, {entry.key: entry.value for entry in entries}):
        return False
    nouns = {form for one in statements for form in forms(one.noun)}
    values = {form for one in statements for form in forms(one.value)}
    return all(nouns.isdisjoint(forms(one.key)) and values.isdisjoint(forms(one.value)) for one in entries)


def _from_what_is_known(asked: Asked) -> str:
    question, memory, language = manner.asking(asked.question), asked.memory, language_of(asked.question)
    own = _own_words(asked)
    told = known.from_memory(question, memory, language) or known.from_said(question, own, language)
    if not told:
        parts, whole = known.from_parts(question, memory, own, language)
        told = parts if whole else ""
    if told or _leans_on_before(asked):
        return told
    answers = [said.text for said in asked.earlier if said.role == "assistant"]
    told = known.from_window(question, answers, memory, language)
    return told or known.from_recall(question, memory.recalled, memory.citable, language, sure=True)


def _own_words(asked: Asked) -> list[str]:
    """What the user plainly said of themselves in the window, oldest first, in their words."""
    told = [said.text for said in asked.earlier if said.role == "user"]
    return [text[one.start : one.end].strip() for text in told for one in said_of_oneself(text)]


def _told(text: str) -> Say | None:
    return Say(text=text) if text else None


def _open(asked: Asked) -> Use | None:
    """`what does [3] say?` opens the source, if it may be cited again."""
    for marker in MARKER.finditer(asked.question):
        number = marker.group()[1:-1]
        if OPEN in asked.tools and is_number(number) and int(number) in asked.memory.citable:
            return Use(tool=OPEN, arguments={"n": int(number)})
    return None


def _search(asked: Asked) -> Move:
    if SEARCH not in asked.tools:
        return Say(text=phrase(language_of(asked.question), "no search"))
    query = resolved(asked)[:MAX_QUERY]
    if PLAN in asked.tools:
        return Use(tool=PLAN, arguments={"queries": list(planned(query))})
    return Use(tool=SEARCH, arguments={"query": query})


def _pointing_back(asked: Asked) -> Move:
    """Words are asked for: the recalled ones come first. What was settled is asked for: the memory does."""
    language = language_of(asked.question)
    recalled = known.from_recall(asked.question, asked.memory.recalled, asked.memory.citable, language)
    if not recalled and SAYING.search(asked.question):
        window = known.shown([(said.role, said.text) for said in asked.earlier])
        recalled = known.from_recall(asked.question, window, asked.memory.citable, language)
    noted = known.from_memory(asked.question, asked.memory, language)
    told = recalled or noted if SAYING.search(asked.question) else noted or recalled
    if told:
        return Say(text=told)
    if LOOK_BACK in asked.tools:
        return Use(tool=LOOK_BACK, arguments={"query": manner.asking(asked.question)[:MAX_QUERY]})
    return _search(asked)


def _from_results(asked: Asked, exchanges: Sequence[Exchange]) -> Move:
    language = language_of(asked.question)
    last = exchanges[-1]
    if last.tool == LOOK_BACK:
        recalled = read_recollection(last.result)
        told = known.from_recall(asked.question, recalled, asked.memory.citable, language)
        return Say(text=told or phrase(language, "nothing earlier"))
    if further := _look_further(asked, exchanges):
        return further
    searched = [exchange.result for exchange in exchanges if exchange.tool == SEARCH]
    pages = [exchange.result for exchange in exchanges if exchange.tool == READ]
    results = together(searched, pages) if len(searched) + len(pages) > 1 else read_results(last.result)
    plain = manner.asking(asked.question)[:MAX_QUERY]
    searches = sum(exchange.tool == SEARCH for exchange in exchanges)
    if results.outcome == "refused" and searches == 1 and _leans_on_before(asked):
        return Use(tool=SEARCH, arguments={"query": plain})  # an earlier question's words may carry what is private
    question = MARKER.sub(" ", plain) if last.tool == OPEN else resolved(asked)
    asked_as = " ".join([plain, *_questions(asked.earlier)[-1:]]) if _leans_on_before(asked) else plain
    text = composing.answer(
        question, results, language, asked_as=asked_as, opened=last.tool == OPEN,
        parts=parts_of(question) if PLAN in asked.tools else (),
    )  # fmt: skip
    beside, _ = known.from_parts(plain, asked.memory, _own_words(asked), language)
    if beside and results.outcome != "found":
        return Say(text=beside)
    return Say(text=f"{beside}\n\n{text}" if beside else text)


def _look_further(asked: Asked, exchanges: Sequence[Exchange]) -> Use | None:
    """The rest of the plan, then pages of the web behind what was found."""
    if exchanges[-1].tool == OPEN:
        return None
    done = [exchange.arguments for exchange in exchanges if exchange.tool == SEARCH]
    if PLAN in asked.tools and len(done) < len(queries := planned(resolved(asked)[:MAX_QUERY])):
        return Use(tool=SEARCH, arguments={"query": queries[len(done)]})
    if READ not in asked.tools:
        return None
    read = [n for exchange in exchanges if exchange.tool == READ and (n := number_of(exchange.arguments))]
    results = [read_results(exchange.result) for exchange in exchanges if exchange.tool == SEARCH]
    if n := pages_to_read(results, read, PAGES_RESEARCHED if PLAN in asked.tools else PAGES):
        return Use(tool=READ, arguments={"n": n})
    return None


def resolved(asked: Asked) -> str:
    """The question as it is searched for: what it asks, with the words that a follow-up leans on."""
    return follow_up_query(manner.asking(asked.question), _questions(asked.earlier))


def _leans_on_before(asked: Asked) -> bool:
    return is_follow_up(manner.asking(asked.question), _questions(asked.earlier))


def _questions(earlier: Sequence[Said]) -> list[str]:
    """The questions of the window that were questions, the last one last."""
    return [said.text for said in earlier if said.role == "user" and not manner.small_talk(said.text)]
