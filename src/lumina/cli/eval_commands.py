"""`lumina eval`: the command. What it runs is in `lumina.evals`; how a report looks on a terminal is here.

The report goes to standard output, a bar to standard error while a person watches. Exit code 1 means that something
failed which must hold on any data: a replaced value shown, a word of another customer, a write by a document. A weaker
figure than wanted is a result, not a failure.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lumina.memory.errors import UsageError

if TYPE_CHECKING:
    from lumina.evals.reports import Report, Table

MOST_NUMBERS = 20


def evaluate(
    scenario: Annotated[str, typer.Argument(metavar="[SCENARIO]", help="Which one; --list names them.")] = "",
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Files or folders of data: .json, .jsonl, .tsv, plain or .gz."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Name the scenarios and what each reads.")] = False,
    budget: Annotated[str, typer.Option(metavar="TOKENS", help="Budgets in tokens, for example 2000,4000.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", help="Only the first N conversations.", min=0)] = 0,
    seed: Annotated[int, typer.Option(metavar="N", help="For all that is drawn at random.")] = 1,
    store: Annotated[str, typer.Option(metavar="KIND", help="Where threads are kept: memory or sqlite.")] = "memory",
    processes: Annotated[int, typer.Option(metavar="N", help="0: as many as the machine has, at most 4.", min=0)] = 0,
    embedder: Annotated[
        str, typer.Option(metavar="NAME", help="evidence: rows with vectors too, by minilm or openai:MODEL.")
    ] = "",
    turns: Annotated[str, typer.Option(metavar="N", help="conservation: lengths of its scripts, 200,1000.")] = "",
    write_script: Annotated[
        Path | None, typer.Option(metavar="FILE", help="conservation: write the script as JSON Lines too.")
    ] = None,
    write_sent: Annotated[
        Path | None, typer.Option(metavar="FILE", help="conservation: write what was sent, as --score reads it.")
    ] = None,
    score: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="conservation: score what another system sent, instead of playing."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")] = False,
) -> None:
    """Measure the memory, on data that you have or that it makes.

    Public sets, or your own conversations; nothing is downloaded. Two to begin with:

    lumina eval isolation

    lumina eval evidence locomo10.json --budget 2000,4000

    The exit code is 1 when something failed that must hold on any data. docs/how-to/evaluate.md has the file formats.
    """
    if listing:
        _list(as_json=as_json)
        return
    if not scenario:
        raise UsageError("Which scenario? `lumina eval --list` names them.")
    from lumina.evals.scenarios import Options, run_scenario

    if store not in ("memory", "sqlite"):
        raise UsageError(f"--store is memory or sqlite, not {store!r}.")
    options = Options(
        paths=tuple(paths or ()), budgets=_numbers("--budget", budget), limit=limit, seed=seed, where=store,
        processes=processes, embedder=embedder, turns=_numbers("--turns", turns),
        write_script=write_script, write_sent=write_sent, score=score,
    )  # fmt: skip
    with _bar(shown=not as_json) as told:
        report = run_scenario(scenario, options, told)
    if as_json:
        from lumina.cli.screen import say

        say(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        _say(report)
    raise typer.Exit(1 if report.broken else 0)


def _numbers(option: str, written: str) -> tuple[int, ...]:
    """Whole numbers with commas between. UsageError for anything else."""
    parts = [part.strip() for part in written.split(",") if part.strip()]
    if len(parts) > MOST_NUMBERS or not all(part.isdecimal() and 0 < len(part) < 9 and int(part) for part in parts):
        raise UsageError(f"{option} takes whole numbers such as 2000,4000, not {written[:60]!r}.")
    return tuple(map(int, parts))


def _list(*, as_json: bool) -> None:
    import textwrap

    from lumina.cli.screen import measure, say
    from lumina.evals.scenarios import SCENARIOS

    if as_json:
        for each in SCENARIOS:
            say(json.dumps({"scenario": each.name, "asks": each.asks, "reads": each.reads}))
        return
    wide = max(len(each.name) for each in SCENARIOS) + 2
    for each in SCENARIOS:
        asks = textwrap.wrap(f"{each.asks}?", max(measure() - wide, 30)) if measure() else [f"{each.asks}?"]
        say(each.name.ljust(wide) + asks[0])
        for line in asks[1:]:
            say(" " * wide + line)
        say(" " * wide + (f"reads {each.reads}" if each.reads else "makes its own data"), "dim")


def _say(report: "Report") -> None:
    from lumina.cli.screen import say

    say(f"{report.scenario}: {report.data}", "bold")
    for table in report.tables:
        say()
        _say_table(table)
    if report.targets:
        say()
    for target in report.targets:
        mark, style = ("met   ", "green") if target.met else ("BROKEN", "red") if target.must else ("short ", "amber")
        say(f"{mark}  {target.what}: {target.measured:g} (wanted {target.wanted})", style)


def _say_table(table: "Table") -> None:
    from lumina.cli.screen import columns, say
    from lumina.evals.reports import shown

    rows = [table.columns, *(tuple(shown(cell) for cell in row) for row in table.rows)]
    say(table.title)
    for at, line in enumerate(columns(rows, right=frozenset(range(1, len(table.columns))))):
        say(f"  {line}", "dim" if at == 0 else "")
    if table.note:
        say(f"  {table.note}", "dim")


@contextmanager
def _bar(*, shown: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on standard error while a person watches, else nothing."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("measuring"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[what]}", markup=False),
        TimeRemainingColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=None, what="")
        yield lambda done, total, what: bar.update(task, completed=done, total=total or None, what=what)
