"""What to do next with a request: answer from what is known, look it up, or compose the answer from what was found.

One function decides, from plain values; it reads from top to bottom in the order in which things are tried:

1. results of this turn are there: the answer is made from them;
2. a greeting, thanks or a statement: a short acknowledgement;
3. the question points back: the recalled passages answer, or look_back is asked for more;
4. the memory or an answer in the window holds it already;
5. otherwise it is searched for, a follow-up together with the words of the question before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lumina.adapters.extractive import composing, known, manner
from lumina.adapters.extractive.interim import follow_up_query, pointing_phrase
from lumina.adapters.extractive.memory_block import Memory
from lumina.adapters.extractive.phrases import language_of, phrase
from lumina.adapters.extractive.tool_results import read_recollection, read_results

SEARCH, OPEN, LOOK_BACK = "web_search", "open_source", "look_back"
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
    arguments: dict[str, str | int]
    kind: Literal["use"] = "use"


Move = Say | Use


def next_move(asked: Asked) -> Move:
    """The next step of the turn. It never asks for a tool that is not offered, nor twice for the same one."""
    if asked.exchanges:
        return _from_results(asked, asked.exchanges[-1])
    language = language_of(asked.question)
    small_talk = manner.small_talk(asked.question)
    if small_talk:
        return Say(text=phrase(language, small_talk))
    if pointing_phrase(asked.question):
        return _pointing_back(asked)
    told = known.from_memory(asked.question, asked.memory, language)
    if not told and not _leans_on_before(asked):
        answers = [said.text for said in asked.earlier if said.role == "assistant"]
        told = known.from_window(asked.question, answers, asked.memory, language)
    if told:
        return Say(text=told)
    return _search(asked)


def _search(asked: Asked) -> Move:
    if SEARCH not in asked.tools:
        return Say(text=phrase(language_of(asked.question), "no search"))
    return Use(tool=SEARCH, arguments={"query": resolved(asked)[:MAX_QUERY]})


def _pointing_back(asked: Asked) -> Move:
    language = language_of(asked.question)
    told = known.from_recall(asked.question, asked.memory.recalled, asked.memory.citable, language)
    told = told or known.from_memory(asked.question, asked.memory, language)
    if told:
        return Say(text=told)
    if LOOK_BACK in asked.tools:
        return Use(tool=LOOK_BACK, arguments={"query": manner.asking(asked.question)[:MAX_QUERY]})
    return _search(asked)


def _from_results(asked: Asked, last: Exchange) -> Move:
    language = language_of(asked.question)
    if last.tool == LOOK_BACK:
        recalled = read_recollection(last.result)
        told = known.from_recall(asked.question, recalled, asked.memory.citable, language)
        return Say(text=told or phrase(language, "nothing earlier"))
    return Say(text=composing.answer(resolved(asked), read_results(last.result), language))


def resolved(asked: Asked) -> str:
    """The question as it is searched for: what it asks, with the words that a follow-up leans on."""
    return follow_up_query(manner.asking(asked.question), _questions(asked.earlier))


def _leans_on_before(asked: Asked) -> bool:
    return resolved(asked) != manner.asking(asked.question)


def _questions(earlier: Sequence[Said]) -> list[str]:
    """The questions of the window that were questions, the last one last."""
    return [said.text for said in earlier if said.role == "user" and not manner.small_talk(said.text)]
