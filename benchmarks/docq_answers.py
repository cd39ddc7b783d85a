"""Answers about a documentation tree: the whole agent, from a question to its cited sentences.

    python benchmarks/docq_answers.py DOCS_FOLDER QUESTIONS.json [...] [--database FILE] [--json] [--each]

The folder is indexed into a SQLite file (kept and used again with `--database`). Every question is then asked of the
agent with the built-in model in a thread of its own; a follow-up is the second turn of its thread, and is asked alone
in another. Everything is judged from the events of the turn, so from what a user can see:

page first      the page that the answer cites first is a right one
in two, five    among the first passages that the model was shown there is a right one
quoted          a sentence or code block of the answer holds the expression, so the answer itself is right
cited           the answer cites a right passage: the expression matches one that is cited, or one quoted from
hedged          the answer says that it found no direct answer; "wrong" counts only answers that do not

`docq.py` has the form of the question files, and measures the search alone.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from docq import KINDS, Asked, asked
from lumina.adapters.extractive.phrases import PHRASES
from lumina.agent.events import AnyEvent, CitationMade, SourceRead, Text, TurnFinished
from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import SubjectScope
from lumina.wiring import open_agent, open_library

ME = SubjectScope(tenant="local", subject="me")
HEDGES = tuple(text for phrases in PHRASES.values() for name, text in phrases.items() if name in ("thin", "empty"))


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How one turn went. `place`: of the first right passage among those shown, from 1; 0 when there is none."""

    id: str
    kind: str
    question: str
    page_first: bool
    place: int
    hedged: bool
    quoted: bool
    cited: bool
    answer: str
    seconds: float
    cpu: float


def judge(question: Asked, events: Iterable[AnyEvent], *, seconds: float, cpu: float) -> Judged:
    """`events`: all of a turn, in order."""
    events = list(events)
    answer = "".join(event.text for event in events if isinstance(event, Text))
    sources = [event for event in events if isinstance(event, SourceRead)]
    citations = sorted((event for event in events if isinstance(event, CitationMade)), key=lambda one: one.position)
    url = {source.n: source.url for source in sources}
    right = [is_page(source.url, question) and holds(source.passage, question) for source in sources]
    return Judged(
        id=question.id,
        kind=question.kind,
        question=question.query,
        page_first=bool(citations) and is_page(url.get(citations[0].n, ""), question),
        place=right.index(True) + 1 if True in right else 0,
        hedged=answer.startswith(HEDGES),
        quoted=holds(re.sub(r" \[\d+\]|`", "", answer), question),
        cited=any(_cites_right(one, sources, question) for one in citations),
        answer=answer,
        seconds=seconds,
        cpu=cpu,
    )


def _cites_right(citation: CitationMade, sources: list[SourceRead], question: Asked) -> bool:
    """The passage that was shown and holds the citation's first words is right, or the citation's own passage is."""
    opening = citation.passage.strip()[:60]
    shown = [one for one in sources if one.n == citation.n and opening and opening in one.passage]
    return any(is_page(one.url, question) and holds(one.passage + citation.passage, question) for one in shown)


def is_page(url: str, question: Asked) -> bool:
    return any(url.endswith("/" + page) for page in question.pages)


def holds(text: str, question: Asked) -> bool:
    return bool(question.regex.search(" ".join(text.split())))


async def ask(agent: SearchAgent, thread: str, question: Asked, text: str) -> Judged:
    began, cpu = time.perf_counter(), time.process_time()
    run = await agent.ask(ME.thread(thread), text)
    events = [event async for event in run.events()]
    await run.ended()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    await run.notes()
    finished = events[-1]
    if not isinstance(finished, TurnFinished) or finished.status != "complete":
        raise SystemExit(f"{question.id}: the turn did not complete: {finished}")
    return judge(question, events, seconds=seconds, cpu=cpu)


async def answers(agent: SearchAgent, mark: str, items: list[dict]) -> list[Judged]:
    """Every question of the file, judged; the threads' names begin with `mark`."""
    judged = []
    for item in items:
        queries = asked(item)
        thread = f"{mark}-{item['id']}"
        judged.append(await ask(agent, thread, queries[0], item["question"]))
        if len(queries) > 1:
            judged.append(await ask(agent, thread, queries[1], item["follow_up"]))
            judged.append(await ask(agent, f"{thread}-alone", queries[2], item["follow_up"]))
    return judged


def summary(judged: list[Judged]) -> dict[str, dict[str, int]]:
    """Per kind, how many of what."""
    rows = {}
    for kind in KINDS:
        of_kind = [one for one in judged if one.kind == kind]
        plain = [one for one in of_kind if not one.hedged]
        rows[kind] = {
            "n": len(of_kind),
            "page first": sum(one.page_first for one in of_kind),
            "in two": sum(1 <= one.place <= 2 for one in of_kind),
            "in five": sum(1 <= one.place <= 5 for one in of_kind),
            "quoted": sum(one.quoted for one in of_kind),
            "cited": sum(one.cited for one in of_kind),
            "hedged": len(of_kind) - len(plain),
            "wrong": sum(not one.cited and not one.quoted for one in plain),
            "not quoted": sum(not one.quoted for one in plain),
        }
    return rows


async def measure(folder: str, files: dict[str, list[dict]], database: Path) -> dict:
    began, cpu = time.perf_counter(), time.process_time()
    async with open_library(database) as library:
        report = await library.add(ME, [folder])
    indexed = {"seconds": round(time.perf_counter() - began, 1), "cpu": round(time.process_time() - cpu, 1)}
    size = _size(database)
    results = {}
    async with await open_agent(database=database) as agent:
        mark = f"{time.time_ns():x}"  # a kept database has threads of an earlier run
        for number, (name, items) in enumerate(files.items()):
            judged = await answers(agent, f"{mark}-{number}", items)
            results[name] = {"summary": summary(judged), "each": [asdict(one) for one in judged]}
    turns = sum(len(result["each"]) for result in results.values())
    return {
        "documents": len(report.added) + len(report.unchanged) + len(report.changed),
        "indexing (this process)": indexed,
        "bytes of the database": size,
        "bytes a turn": (_size(database) - size) // max(turns, 1),
        "questions": results,
    }


def _size(database: Path) -> int:
    return sum(path.stat().st_size for path in database.parent.glob(database.name + "*"))


def _print(figures: dict, each: bool) -> None:
    print("\n".join(f"{name}: {value}" for name, value in figures.items() if name != "questions"))
    for name, result in figures["questions"].items():
        columns = list(result["summary"][KINDS[0]])
        print(f"\n{name}\n{'':16}" + "".join(f"{column:>11}" for column in columns))
        for kind, row in result["summary"].items():
            print(f"{kind:16}" + "".join(f"{row[column]:>11}" for column in columns))
        for what in ("seconds", "cpu"):
            times = sorted(one[what] for one in result["each"])
            print(f"{what} a question: median {times[len(times) // 2]:.2f}, most {times[-1]:.2f}")
        for one in result["each"] if each else ():
            marks = " ".join(name for name in ("page_first", "quoted", "cited", "hedged") if one[name])
            print(f"\n--- {one['id']} {one['kind']}: {one['question']}\n    place {one['place']}; {marks}")
            print(one["answer"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--database", help="a SQLite file to index into, or one that is indexed")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--each", action="store_true", help="print every answer")
    options = parser.parse_args()
    files = {Path(name).name: json.loads(Path(name).read_text(encoding="utf-8")) for name in options.questions}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(options.database or Path(folder) / "lumina.db")
        figures = asyncio.run(measure(options.folder, files, database))
    if options.json:
        json.dump(figures, sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        _print(figures, options.each)


if __name__ == "__main__":
    main()
