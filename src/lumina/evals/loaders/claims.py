"""WiCE and BEGIN as their authors publish them: sentences with the text that they should rest on.

WiCE (ryokamoi/wice, `data/entailment_retrieval/claim/*.jsonl`): a line has `claim`, `evidence` (a page cut into
sentences, the title first), `label` and `supporting_sentences` (groups of indices). BEGIN (google/BEGIN-dataset,
`*.tsv`): columns `knowledge`, `response`, `begin_label`. Only files that say `dev` in their name are read: the others
are kept apart, to decide one day whether a figure counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lumina.evals.files import DataFile, read_files
from lumina.memory.errors import UsageError

TITLE = "(meta data) TITLE:"
WICE_LABELS = {"supported": "supported", "partially_supported": "partly", "not_supported": "not"}
COLUMNS = ("knowledge", "response", "begin_label")

Label = Literal["supported", "partly", "not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`text` and the page it cites. `gold`: the spans of the page that the annotators chose (code points)."""

    text: str
    page: str
    title: str
    label: Label
    gold: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims of one set: `wice`, or `begin` with the name of its part."""

    name: str
    claims: tuple[Claim, ...]


def read_claims(paths: Sequence[Path]) -> list[Claims]:
    """The sets at `paths`; files of other kinds in a folder are passed over. UsageError when there is none."""
    found = []
    for file in read_files(paths):
        name = file.name.lower()
        if "dev" in name and file.kind == "jsonl" and _is_wice(file):
            claims = tuple(_wice(file, at, row) for at, row in enumerate(file.content, 1))
            found.append(Claims(name="wice", claims=claims))
        elif "dev" in name and file.kind == "tsv" and file.content and set(COLUMNS) <= set(file.content[0]):
            part = name.partition(".")[0].removeprefix("begin_dev_")
            found.append(Claims(name=f"begin {part}", claims=tuple(_begin(file))))
    if not found:
        raise UsageError("No development file of WiCE (.jsonl) or BEGIN (.tsv) is there. Nothing was measured.")
    return found


def _is_wice(file: DataFile) -> bool:
    return bool(file.content) and isinstance(file.content[0], dict) and {"claim", "evidence"} <= set(file.content[0])


def _wice(file: DataFile, line: int, row: Any) -> Claim:
    try:
        evidence = [str(each) for each in row["evidence"]]
        chosen = sorted({int(at) for group in row.get("supporting_sentences") or () for at in group})
        starts = [0]
        for each in evidence:
            starts.append(starts[-1] + len(each) + 1)
        title = evidence[0].removeprefix(TITLE) if evidence and evidence[0].startswith(TITLE) else ""
        return Claim(
            text=str(row["claim"]), page="\n".join(evidence), title=title, label=WICE_LABELS[row["label"]],  # type: ignore[arg-type]
            gold=tuple((starts[at], starts[at + 1] - 1) for at in chosen),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UsageError(f"{file.path}, line {line} is no claim of WiCE: {error!r}.") from None


def _begin(file: DataFile) -> list[Claim]:
    heading, *rows = file.content
    knowledge, response, label = (heading.index(column) for column in COLUMNS)
    claims = []
    for at, row in enumerate(rows, 2):
        if len(row) != len(heading):
            raise UsageError(f"{file.path}, line {at} has {len(row)} columns, not {len(heading)}.")
        full = row[label] == "Fully attributable"
        claims.append(Claim(text=row[response], page=row[knowledge], title="", label="supported" if full else "not"))
    return claims
