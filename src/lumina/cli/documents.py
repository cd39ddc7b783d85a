"""`lumina docs`: what answers are quoted from.

Progress goes to standard error, a bar where a person watches and nothing in a pipe; the report goes to standard output.
What could not be read is named with the reason and never stops the rest.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lumina.cli.place import ME, settings
from lumina.cli.screen import columns, flat, note, say
from lumina.cli.working import Worker, complete
from lumina.wiring import open_library

if TYPE_CHECKING:
    from lumina.adapters.documents.library import Progress, Removal, Report
    from lumina.agent.ports import DocumentInfo

NAMED = 20  # skipped files named one by one


def add(paths: list[Path], *, as_json: bool) -> int:
    """Adds files and folders. Exit code 1 when one is not there, or nothing at all could be read."""

    chosen = settings()

    async def added(_: Worker) -> "Report":
        async with open_library(chosen.database) as library:
            with progress_bar(shown=not as_json) as told:
                return await library.add(ME, paths, progress=told)

    report = complete(added)
    kept = len(report.added) + len(report.changed) + len(report.unchanged)
    if as_json:
        say(json.dumps({
            "added": report.added, "changed": report.changed, "unchanged": len(report.unchanged),
            "removed": report.removed, "other_kinds": report.other, "passages": report.passages,
            "skipped": [{"path": str(row.path), "reason": row.reason} for row in report.skipped],
            "noted": [{"path": str(row.path), "reason": row.reason} for row in report.noted],
        }))  # fmt: skip
    else:
        _say_report(report)
    absent = any(not path.exists() for path in paths)
    return 1 if absent or (report.skipped and not kept) else 0


def _say_report(report: "Report") -> None:
    counts = [(len(report.added), "added"), (len(report.changed), "changed"), (len(report.unchanged), "unchanged"),
              (len(report.removed), "removed"), (len(report.skipped), "skipped")]  # fmt: skip
    told = ", ".join(f"{number} {word}" for number, word in counts if number)
    say(
        f"{told or 'Nothing to add'}."
        + (
            f" {report.passages} {'passage' if report.passages == 1 else 'passages'} can be found."
            if report.passages
            else ""
        )
    )
    for row in report.noted[:NAMED]:
        say(f"  note: {flat(str(row.path))}: {flat(row.reason)}")
    for row in report.skipped[:NAMED]:
        say(f"  skipped: {flat(str(row.path))}: {flat(row.reason)}")
    if len(report.skipped) > NAMED:
        say(f"  and {len(report.skipped) - NAMED} more; --json lists them all")
    if report.other:
        say(f"  {report.other} of other kinds passed over (md, txt, html and pdf are read)", "dim")


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[Callable[["Progress"], None]]:
    """A bar on standard error while a person watches, else nothing."""
    if not (shown and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", markup=False), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=None, name="")

        def told(step: "Progress") -> None:
            bar.update(task, completed=step.done, total=step.total, name=flat(Path(step.name).name)[-40:])

        yield told


def listing(*, as_json: bool) -> int:
    """The documents that are searched."""

    chosen = settings()

    async def load(_: Worker) -> "list[DocumentInfo]":
        async with open_library(chosen.database) as library:
            return await library.documents(ME)

    found = complete(load)
    if as_json:
        for info in found:
            row = {"id": info.id, "title": info.title, "path": info.locator.removeprefix("doc:"),
                   "passages": info.passages, "added_at": info.added_at}  # fmt: skip
            say(json.dumps(row))
        return 0
    if not found:
        note("No documents yet: answers come from Lumina's own documentation. Add yours: lumina docs add FOLDER")
        return 0
    rows = [(f"#{i.id}", i.title, f"{i.passages}", i.locator.removeprefix("doc:")) for i in found]
    for at, line in enumerate(columns([("no.", "title", "passages", "path"), *rows], right=frozenset({2}))):
        say(line, "dim" if at == 0 else "")
    return 0


def remove(paths: list[str], *, as_json: bool) -> int:
    """Removes documents by path, folder or number. Exit code 1 when one of them is not there."""

    chosen = settings()

    async def removed(_: Worker) -> "Removal":
        async with open_library(chosen.database) as library:
            return await library.remove(ME, paths)

    removal = complete(removed)
    gone = [info.locator.removeprefix("doc:") for info in removal.removed]
    if as_json:
        say(json.dumps({"removed": gone, "unknown": list(removal.unknown)}))
    else:
        say(f"{len(gone)} {'document' if len(gone) == 1 else 'documents'} removed from the search.")
        for name in removal.unknown:
            say(f"  not found: {flat(name)} (lumina docs list shows what there is)")
    return 1 if removal.unknown else 0
