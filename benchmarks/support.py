"""How well the check of a citation tells supported sentences from others, on WiCE and BEGIN.

    python benchmarks/support.py PATH [--json]

PATH is a folder with `wice/claim_dev.jsonl.gz` (WiCE, claims with the cited page cut into sentences) and
`begin/begin_dev_wow.tsv.gz` (BEGIN, answers with the text they should rest on). Neither is part of this
project.

- AUC: the share of pairs in which the supported sentence scores higher; 0.5 is chance. The interval in
  brackets is the middle 95 % of 500 bootstrap samples. Nothing is fitted here, so all rows are test rows.
- gold: of the supported claims, how many are shown a passage that holds a sentence which the annotators
  chose.
- caught: of the supported claims with one thing changed (a name that the page does not have, another number,
  an inserted "not"), how many report the changed thing as missing.
"""

import argparse
import csv
import gzip
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lumina.agent.claim_details import Kind, names, negations, numbers
from lumina.agent.support import SourceText, Support, support

TITLE = "(meta data) TITLE:"
AUXILIARY = re.compile(r"\b(?:is|was|were|are|has|had|have|will|would|can|could|did|does|became|remains|may|should)\b")
SEED = 7
SAMPLES = 500

Row = tuple[dict[str, Any], SourceText, Support]


def auc(better: list[float], worse: list[float]) -> float:
    pairs = sum((a > b) + 0.5 * (a == b) for a in better for b in worse)
    return pairs / (len(better) * len(worse))


def with_interval(better: list[float], worse: list[float]) -> dict[str, Any]:
    chance = random.Random(SEED)
    drawn = sorted(
        auc(chance.choices(better, k=len(better)), chance.choices(worse, k=len(worse))) for _ in range(SAMPLES)
    )
    low, high = drawn[SAMPLES // 40], drawn[-SAMPLES // 40]
    return {"auc": auc(better, worse), "low": low, "high": high, "n": [len(better), len(worse)]}


def wice_rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            evidence = row["evidence"]
            title = evidence[0].removeprefix(TITLE) if evidence and evidence[0].startswith(TITLE) else ""
            source = SourceText("\n".join(evidence), title)
            yield row, source, support(row["claim"], source)


def holds_gold(row: dict[str, Any], found: Support) -> bool | None:
    """Whether a chosen sentence, or the larger part of it, stands in the passage; None: nobody chose any."""
    gold = {at for group in row["supporting_sentences"] for at in group}
    if not gold:
        return None
    start = 0
    for at, sentence in enumerate(row["evidence"]):
        end = start + len(sentence)
        if at in gold:
            for span in found.passage:
                common = min(end, span.end) - max(start, span.start)
                if common >= 0.5 * min(end - start, span.end - span.start):
                    return True
        start = end + 1
    return False


def foreign_name(claim: str, source: SourceText, others: list[str], chance: random.Random) -> tuple[str, str] | None:
    own = list(names(claim))
    foreign = [other for other in others if other.lower() not in source.text.lower()]
    if not own or not foreign:
        return None
    old, new = chance.choice(own), chance.choice(foreign)
    return claim[: old.start] + new + claim[old.end :], new


def other_number(claim: str, chance: random.Random) -> tuple[str, str] | None:
    own = [number for number in numbers(claim) if number.text.isdecimal()]
    if not own:
        return None
    old = chance.choice(own)
    value = int(old.text)
    new = str(value + chance.choice([step for step in (-3, -2, -1, 1, 2, 3, 5, 7) if value + step > 0]))
    return claim[: old.start] + new + claim[old.end :], new


def inserted_not(claim: str) -> tuple[str, str] | None:
    match = AUXILIARY.search(claim)
    if match is None or negations(claim):
        return None
    return claim[: match.end()] + " not" + claim[match.end() :], "not"


def caught(altered: tuple[str, str], source: SourceText, kinds: tuple[Kind, ...]) -> bool:
    claim, new = altered
    return any(m.kind in kinds and (new in m.text or m.text in new) for m in support(claim, source).missing)


def alterations(rows: list[Row]) -> dict[str, Any]:
    chance = random.Random(SEED)
    others = sorted({name.text for row, _, _ in rows for name in names(row["claim"])})
    kinds: dict[str, tuple[Callable[[str, SourceText], tuple[str, str] | None], tuple[Kind, ...]]] = {
        "foreign name": (lambda claim, source: foreign_name(claim, source, others, chance), ("name",)),
        "other number": (lambda claim, source: other_number(claim, chance), ("number", "date")),
        "inserted not": (lambda claim, source: inserted_not(claim), ("negation",)),
    }
    result = {}
    for kind, (alter, expected) in kinds.items():
        hits = [
            caught(altered, source, expected)
            for row, source, _ in rows
            if row["label"] == "supported" and (altered := alter(row["claim"], source))
        ]
        result[kind] = {"caught": sum(hits) / len(hits), "n": len(hits)}
    return result


def wice(path: Path) -> dict[str, Any]:
    rows = list(wice_rows(path))
    scores: dict[str, list[float]] = {"supported": [], "partially_supported": [], "not_supported": []}
    flagged: dict[str, int] = dict.fromkeys(scores, 0)
    for row, _, found in rows:
        scores[row["label"]].append(found.score)
        flagged[row["label"]] += bool(found.missing)
    gold = [holds_gold(row, found) for row, _, found in rows if row["label"] == "supported"]
    known = [hit for hit in gold if hit is not None]
    return {
        "supported against not": with_interval(scores["supported"], scores["not_supported"]),
        "supported against partly": with_interval(scores["supported"], scores["partially_supported"]),
        "gold": {"share": sum(known) / len(known), "n": len(known)},
        "something missing": {label: flagged[label] / len(scores[label]) for label in scores},
        "caught": alterations(rows),
    }


def begin(path: Path) -> dict[str, Any]:
    full, rest, asked = [], [], 0
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found = support(row["response"], SourceText(row["knowledge"]))
            asked += not found.checkable
            (full if row["begin_label"] == "Fully attributable" else rest).append(found.score)
    return {**with_interval(full, rest), "not checkable": asked}


def speed(path: Path) -> dict[str, float]:
    """Milliseconds of processor time: to index 120 sentences, to check a first and a further sentence."""
    index = first = further = 0.0
    sentences = claims = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            start = time.process_time()
            source = SourceText("\n".join(row["evidence"]))
            indexed = time.process_time()
            support(row["claim"], source)
            checked = time.process_time()
            support(row["claim"], source)
            index, first = index + indexed - start, first + checked - indexed
            further += time.process_time() - checked
            sentences, claims = sentences + len(source), claims + 1
    return {
        "index 120 sentences": 120_000 * index / sentences,
        "first sentence": 1000 * first / claims,
        "further sentence": 1000 * further / claims,
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Support on WiCE and BEGIN.")
    parser.add_argument("path", type=Path, help="folder with wice/ and begin/")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    claims = options.path / "wice" / "claim_dev.jsonl.gz"
    report = {
        "wice": wice(claims),
        "begin wow": begin(options.path / "begin" / "begin_dev_wow.tsv.gz"),
        "milliseconds": speed(claims),
    }
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for part, figures in report.items():
        for name, figure in figures.items():
            print(f"{part:14} {name:26} {figure if not isinstance(figure, float) else round(figure, 3)}")


if __name__ == "__main__":
    main(sys.argv[1:])
