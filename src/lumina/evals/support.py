"""`support`: does the check of a citation tell carried sentences from others, show where, and say what is missing?

Two public sets in which people judged that: WiCE (claims of Wikipedia with the page they cite) and BEGIN (answers with
the text they should rest on), development parts only. Nothing is fitted here: the weights stand in
`lumina.agent.support`, with where they come from.

- Area: the share of pairs in which the supported sentence scores higher; 0.5 is chance. In brackets the middle 95 % of
  bootstrap samples; beside it the same within each of five folds, mean and least.
- Passage: of the supported claims, how many are shown a passage that holds a sentence which the annotators chose (half
  of it, or half of the passage).
- Caught: of the supported claims with one thing changed (a name that the page does not have, another number, an
  inserted "not"), how many report the changed thing as missing.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from lumina.agent.claim_details import Kind, names, negations, numbers
from lumina.agent.support import SourceText, Support, support
from lumina.evals.loaders.claims import Claim, Claims, read_claims
from lumina.evals.measures import area
from lumina.evals.parallel import Progress, limited
from lumina.evals.reports import Cell, Report, Table, Target, at_least, percent
from lumina.evals.scenarios import Options

AUXILIARY = re.compile(r"\b(?:is|was|were|are|has|had|have|will|would|can|could|did|does|became|remains|may|should)\b")
STEPS = (-3, -2, -1, 1, 2, 3, 5, 7)
AREAS = {"not": 0.93, "partly": 0.79}  # wanted of WiCE: supported against these
WOW = 0.94  # wanted of BEGIN wow
GOLD = 97
CAUGHT = {"foreign name": 90, "other number": 75, "inserted not": 65}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    claim: Claim
    source: SourceText
    found: Support


Change = Callable[[Row], tuple[str, str] | None]  # a changed claim, and what was put into it


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module. `--limit` takes the first claims of each set."""
    sets = read_claims(options.paths)
    total, done = sum(len(limited(each.claims, options.limit, "claims")) for each in sets), 0
    rows: dict[str, list[Row]] = {}
    for each in sets:
        rows[each.name] = []
        for claim in limited(each.claims, options.limit, "claims"):
            source = SourceText(claim.page, claim.title)
            rows[each.name].append(Row(claim=claim, source=source, found=support(claim.text, source)))
            done += 1
            progress(done, total, "claims")
    return _report(sets, rows, options.seed)


def holds_gold(row: Row) -> bool | None:
    """Whether a chosen sentence, or the larger part of it, stands in the passage; None: nobody chose any."""
    if not row.claim.gold:
        return None
    return any(
        min(end, span.end) - max(start, span.start) >= 0.5 * min(end - start, span.end - span.start)
        for start, end in row.claim.gold
        for span in row.found.passage
    )


def foreign_name(row: Row, others: Sequence[str], draw: random.Random) -> tuple[str, str] | None:
    """A name of the claim, replaced by one that the page does not hold."""
    claim = row.claim.text
    own = list(names(claim))
    foreign = [other for other in others if other.lower() not in row.claim.page.lower()]
    if not own or not foreign:
        return None
    old, new = draw.choice(own), draw.choice(foreign)
    return claim[: old.start] + new + claim[old.end :], new


def other_number(row: Row, draw: random.Random) -> tuple[str, str] | None:
    """A number of the claim, a little larger or smaller."""
    claim = row.claim.text
    own = [number for number in numbers(claim) if number.text.isdecimal()]
    if not own:
        return None
    old = draw.choice(own)
    new = str(int(old.text) + draw.choice([step for step in STEPS if int(old.text) + step > 0]))
    return claim[: old.start] + new + claim[old.end :], new


def inserted_not(row: Row) -> tuple[str, str] | None:
    """A "not" behind the first auxiliary of a claim that denies nothing."""
    claim = row.claim.text
    match = AUXILIARY.search(claim)
    if match is None or negations(claim):
        return None
    return claim[: match.end()] + " not" + claim[match.end() :], "not"


def caught(row: Row, change: Change, kinds: tuple[Kind, ...]) -> bool | None:
    """Whether what was put in is reported as missing; None: the claim cannot be changed so."""
    changed = change(row)
    if changed is None:
        return None
    claim, new = changed
    missing = support(claim, row.source).missing
    return any(each.kind in kinds and (new in each.text or each.text in new) for each in missing)


def _caught(rows: Sequence[Row], seed: int) -> dict[str, list[bool]]:
    draw = random.Random(seed)
    others = sorted({name.text for row in rows for name in names(row.claim.text)})
    changes: dict[str, tuple[Change, tuple[Kind, ...]]] = {
        "foreign name": (lambda row: foreign_name(row, others, draw), ("name",)),
        "other number": (lambda row: other_number(row, draw), ("number", "date")),
        "inserted not": (inserted_not, ("negation",)),
    }
    carried = [row for row in rows if row.claim.label == "supported"]
    return {
        name: [hit for row in carried if (hit := caught(row, *change)) is not None] for name, change in changes.items()
    }


def _areas(name: str, rows: Sequence[Row], seed: int) -> tuple[list[tuple[Cell, ...]], list[Target]]:
    """Lines of the table, and what was wanted of them."""
    lines: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    checkable = [row for row in rows if row.found.checkable]
    for title, some in ((name, rows), (f"{name}, checkable", checkable)):
        for label in ("not", "partly"):
            better = [row.found.score for row in some if row.claim.label == "supported"]
            worse = [row.found.score for row in some if row.claim.label == label]
            if not better or not worse:
                continue
            what = f"{title}: supported against {label}"
            found = area(better, worse, seed=seed)
            lines.append((what, str(found), f"{fmean(found.folds):.3f}", f"{min(found.folds):.3f}",
                          len(better), len(worse)))  # fmt: skip
            wanted = AREAS[label] if name == "wice" else WOW if name == "begin wow" else None
            if wanted is not None and some is rows:
                targets.append(at_least(f"{what}, area", wanted, round(found.value, 3), unit=""))
    return lines, targets


def _report(sets: Sequence[Claims], rows: dict[str, list[Row]], seed: int) -> Report:
    lines: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    missing: list[tuple[Cell, ...]] = []
    for name, some in rows.items():
        found, wanted = _areas(name, some, seed)
        lines += found
        targets += wanted
        for label in ("supported", "partly", "not"):
            of = [row for row in some if row.claim.label == label]
            kinds = [sum(any(m.kind == kind for m in row.found.missing) for row in of) for kind in KINDS]
            if of:
                anything = sum(bool(row.found.missing) for row in of)
                missing.append((f"{name}, {label}", *(percent(hits, len(of)) for hits in (anything, *kinds)), len(of)))
    tables = [
        Table(title="How well the score tells them apart", rows=tuple(lines),
              columns=("set", "area [95 %]", "five folds, mean", "least", "supported", "others")),
        Table(title="Claims with something missing, %", rows=tuple(missing),
              columns=("set", "anything", *KINDS, "claims"),
              note="Not found in the page: a claim that is carried can have it too, by another word for it."),
    ]  # fmt: skip
    if "wice" in rows:
        table, wanted = _shown(rows["wice"], seed)
        tables.append(table)
        targets += wanted
    names_of = ", ".join(f"{each.name} ({len(rows[each.name])})" for each in sets)
    return Report(scenario="support", data=f"development parts of {names_of} claims", tables=tuple(tables),
                  targets=tuple(targets))  # fmt: skip


KINDS: tuple[Kind, ...] = ("name", "number", "date", "quote", "negation")


def _shown(rows: Sequence[Row], seed: int) -> tuple[Table, list[Target]]:
    gold = [hit for row in rows if row.claim.label == "supported" and (hit := holds_gold(row)) is not None]
    held = percent(sum(gold), len(gold))
    lines: list[tuple[Cell, ...]] = [("passage holds a gold sentence", held, len(gold))]
    targets = [at_least("passage holds a gold sentence", GOLD, round(held, 1))] if held is not None else []
    for name, hits in _caught(rows, seed).items():
        share = percent(sum(hits), len(hits))
        lines.append((f"{name} is caught", share, len(hits)))
        if share is not None:
            targets.append(at_least(f"{name} is caught", CAUGHT[name], round(share, 1)))
    title = "Supported claims of WiCE as they are, and with one thing changed"
    return Table(title=title, columns=("what", "%", "claims"), rows=tuple(lines)), targets
