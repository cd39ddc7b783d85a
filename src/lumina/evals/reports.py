"""What a scenario found: tables for people, the same as JSON, and what was wanted beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`rows` have a cell for each of `columns`; the first names the row. Floats are shown with one decimal."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What was wanted of a figure. `must`: it holds on any data, so a miss is a fault and not a weaker result."""

    what: str
    wanted: str
    measured: float
    met: bool
    must: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of one scenario. `data` says in a sentence what it ran on; `figures` are for `--json` alone."""

    scenario: str
    data: str
    tables: tuple[Table, ...]
    targets: tuple[Target, ...] = ()
    figures: Mapping[str, object] = field(default_factory=dict)

    @property
    def broken(self) -> bool:
        """Whether something failed that must hold on any data."""
        return any(target.must and not target.met for target in self.targets)

    def as_json(self) -> dict[str, object]:
        return {
            "scenario": self.scenario,
            "data": self.data,
            "tables": [
                {
                    "title": table.title,
                    "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                    "note": table.note,
                }
                for table in self.tables
            ],
            "targets": [
                {"what": t.what, "wanted": t.wanted, "measured": t.measured, "met": t.met, "must": t.must}
                for t in self.targets
            ],
            "figures": dict(self.figures),
        }


def at_least(what: str, wanted: float, measured: float, *, must: bool = False, unit: str = "%") -> Target:
    return Target(
        what=what, wanted=f"at least {wanted:g}{_unit(unit)}", measured=measured, met=measured >= wanted, must=must
    )


def at_most(what: str, wanted: float, measured: float, *, must: bool = False, unit: str = "%") -> Target:
    return Target(
        what=what, wanted=f"at most {wanted:g}{_unit(unit)}", measured=measured, met=measured <= wanted, must=must
    )


def exactly(what: str, wanted: float, measured: float, *, unit: str = "") -> Target:
    """A figure that must be just this on any data."""
    return Target(what=what, wanted=f"{wanted:g}{_unit(unit)}", measured=measured, met=measured == wanted, must=True)


def shown(cell: Cell) -> str:
    """A cell as a person reads it."""
    if cell is None:
        return "-"
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def markdown(table: Table) -> str:
    """The table as a page of the docs has it."""
    lines = ["| " + " | ".join(table.columns) + " |", "|---" * len(table.columns) + "|"]
    lines += ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def percent(hits: float, of: float) -> float | None:
    """None where there is nothing to take a share of."""
    return 100 * hits / of if of else None


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def count_of(rows: Sequence[object], noun: str) -> str:
    return f"{len(rows):,} {noun}{'' if len(rows) == 1 else 's'}"
