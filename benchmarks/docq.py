"""Questions about a documentation tree: is the right page first, and the right passage among the first?

    python benchmarks/docq.py DOCS_FOLDER QUESTIONS.json [QUESTIONS.json ...] [--json] [--each]

A question file is a list of {id, kind, question, follow_up, pages, regex, first_pages?, first_regex?}; `kind` is
easy, paraphrase or follow_up. Right page: the first hit's file is listed in `pages`. Right passage: its file is
listed and `regex` matches its body (case ignored, white space collapsed). A follow_up item gives three rows of
figures: its first question (lexical), the follow-up with the words of the question before it, and the follow-up alone.

`evidence` is what the answerer would do: "direct" is a wrong answer that is not hedged wherever the first passage is
wrong; "several" quotes at least two passages, "thin" says that no direct answer was found.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from lumina.adapters.documents.library import Library
from lumina.adapters.documents.memory_index import MemoryDocumentStore
from lumina.adapters.documents.search import DocumentSearch
from lumina.agent.evidence import evidence, follow_up_query
from lumina.agent.ports import Found, Hit
from lumina.memory.scope import SubjectScope

SCOPE = SubjectScope(tenant="local", subject="me")
LIMIT = 10
KINDS = ("lexical", "follow-up", "follow-up alone", "paraphrase")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One query and what is right for it."""

    id: str
    kind: str
    query: str
    pages: tuple[str, ...]
    regex: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """How it went: right page first, place of the first right passage (0 = not among LIMIT), evidence, milliseconds."""

    id: str
    kind: str
    query: str
    page_first: bool
    place: int
    evidence: str
    first: str
    milliseconds: float


def asked(item: dict) -> list[Asked]:
    """The queries of one item."""
    right = {"pages": tuple(item["pages"]), "regex": re.compile(item["regex"], re.IGNORECASE)}
    if item["kind"] != "follow_up":
        kind = "lexical" if item["kind"] == "easy" else "paraphrase"
        return [Asked(id=item["id"], kind=kind, query=item["question"], **right)]
    first = {"pages": tuple(item["first_pages"]), "regex": re.compile(item["first_regex"], re.IGNORECASE)}
    query = follow_up_query(item["follow_up"], [item["question"]])
    return [
        Asked(id=item["id"], kind="lexical", query=item["question"], **first),
        Asked(id=item["id"], kind="follow-up", query=query, **right),
        Asked(id=item["id"], kind="follow-up alone", query=item["follow_up"], **right),
    ]


def is_page(hit: Hit, question: Asked) -> bool:
    return any(hit.locator.endswith("/" + page) for page in question.pages)


def is_passage(hit: Hit, question: Asked) -> bool:
    return is_page(hit, question) and bool(question.regex.search(" ".join(hit.text.split())))


async def answer(search: DocumentSearch, question: Asked) -> Answered:
    began = time.perf_counter()
    result = await search.search(SCOPE, question.query, limit=LIMIT)
    took = (time.perf_counter() - began) * 1000
    hits = result.hits if isinstance(result, Found) else ()
    places = [place for place, hit in enumerate(hits, start=1) if is_passage(hit, question)]
    return Answered(
        id=question.id,
        kind=question.kind,
        query=question.query,
        page_first=bool(hits) and is_page(hits[0], question),
        place=places[0] if places else 0,
        evidence=evidence(hits),
        first=f"{hits[0].title} > {hits[0].heading}" if hits else "",
        milliseconds=round(took, 1),
    )


def summary(answers: list[Answered]) -> dict[str, dict[str, int]]:
    """Per kind: how many, right page first, right passage within one, two, five, and what the evidence allowed."""
    rows = {}
    for kind in KINDS:
        of_kind = [one for one in answers if one.kind == kind]
        allowed = Counter(one.evidence for one in of_kind)
        rows[kind] = {
            "n": len(of_kind),
            "page first": sum(one.page_first for one in of_kind),
            "passage first": sum(one.place == 1 for one in of_kind),
            "in two": sum(1 <= one.place <= 2 for one in of_kind),
            "in five": sum(1 <= one.place <= 5 for one in of_kind),
            "direct": allowed["direct"],
            "direct, wrong": sum(one.evidence == "direct" and one.place != 1 for one in of_kind),
            "several": allowed["several"],
            "several, wrong": sum(one.evidence == "several" and not 1 <= one.place <= 2 for one in of_kind),
            "thin": allowed["thin"],
        }
    return rows


async def measure(folder: str, files: dict[str, list[dict]]) -> dict:
    store = MemoryDocumentStore()
    library = Library(store)
    began = time.perf_counter()
    report = await library.add(SCOPE, [folder], progress=_tell if sys.stderr.isatty() else None)
    indexed = time.perf_counter()
    again = await library.add(SCOPE, [folder])
    unchanged = time.perf_counter()
    results = {}
    search = DocumentSearch(store)
    for name, items in files.items():
        answers = [await answer(search, question) for item in items for question in asked(item)]
        results[name] = {"summary": summary(answers), "each": [asdict(one) for one in answers]}
    return {
        "documents": len(report.added),
        "passages": report.passages,
        "skipped": len(report.skipped),
        "seconds to index": round(indexed - began, 1),
        "seconds unchanged": round(unchanged - indexed, 1),
        "unchanged": len(again.unchanged),
        "questions": results,
    }


def _tell(progress) -> None:
    print(f"\r{progress.done}/{progress.total}", end="", file=sys.stderr, flush=True)


def _print(figures: dict, each: bool) -> None:
    for name in ("documents", "passages", "skipped", "seconds to index", "seconds unchanged"):
        print(f"{name}: {figures[name]}")
    for name, result in figures["questions"].items():
        columns = list(result["summary"][KINDS[0]])
        print(f"\n{name}\n{'':16}" + "".join(f"{column:>16}" for column in columns))
        for kind, row in result["summary"].items():
            print(f"{kind:16}" + "".join(f"{row[column]:>16}" for column in columns))
        times = sorted(one["milliseconds"] for one in result["each"])
        print(f"milliseconds a question: median {times[len(times) // 2]}, most {times[-1]}")
        if each:
            for one in result["each"]:
                mark = "page" if one["page_first"] else "    "
                print(
                    f"  {one['id']:6}{one['kind']:16}{mark} {one['place']:2} {one['evidence']:8}{one['query'][:60]!r}"
                )
                print(f"{'':32}{one['first'][:100]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--each", action="store_true", help="print every question")
    options = parser.parse_args()
    files = {Path(name).name: json.loads(Path(name).read_text(encoding="utf-8")) for name in options.questions}
    figures = asyncio.run(measure(options.folder, files))
    if options.json:
        json.dump(figures, sys.stdout, indent=1, ensure_ascii=False)
        print()
    else:
        _print(figures, options.each)


if __name__ == "__main__":
    main()
