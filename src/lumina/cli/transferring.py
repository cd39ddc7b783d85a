"""What `lumina export` and `lumina import` do."""

import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lumina.cli.place import ME, known_thread, settings, threads_at
from lumina.cli.screen import flat, note, say
from lumina.cli.working import Worker, complete
from lumina.memory.errors import UsageError
from lumina.memory.scope import SubjectScope, ThreadScope, check_id
from lumina.memory.store import Store
from lumina.memory.transfer import Exported, Imported, export_to, import_from

if TYPE_CHECKING:
    from lumina.adapters.imports.as_lines import Counts
    from lumina.adapters.imports.conversations import Change

BY = "command line"
NAMED = 20  # changes that are named; --json lists them all


def check_event(body: str) -> None:
    """ValueError for an event that no page could show."""
    from pydantic import ValidationError

    from lumina.agent.events import from_json

    try:
        from_json(body)
    except ValidationError:
        raise ValueError("body: it is no event that this version of Lumina knows") from None


def whose(subject: str) -> SubjectScope:
    return SubjectScope(tenant=ME.tenant, subject=check_id("--subject", subject))


# Export


def export(
    thread: str, everything: bool, output: Path | None, *, form: str, subject: str, as_json: bool
) -> int:  # fmt: skip
    """Writes the file. Returns the exit code."""
    if everything and thread:
        raise UsageError("Name a conversation or give --all, not both.")
    if as_json and output is None:
        raise UsageError("--json reports on a file: give -o FILE.")
    if form == "lumina" and output is None and sys.stdout.isatty():
        raise UsageError("An export is for a file or a pipe: give -o FILE, or --format markdown to read it here.")
    scope, chosen = whose(subject), settings()

    async def work(_: Worker) -> Exported:
        async with await threads_at(chosen) as threads:
            store = threads.store
            which = await _which(store, scope, thread, everything)
            with _written_to(output) as write:
                if form == "markdown":
                    return await _markdown(store, which, write)
                with _counting("exporting") as told:
                    return await export_to(store, which, write, event=check_event, told=told, by=BY)

    report = complete(work)
    if as_json:
        say(json.dumps({**asdict(report), "file": str(output)}))
    elif output is not None:
        say(f"{_conversations(len(report.threads))} with {_turns(report.turns)} written to {flat(str(output))}.")
    if report.unproved and not as_json:
        note(
            f"{report.unproved} receipts show what was said in other conversations, which are not in the file: there "
            "they cannot be compared with what was sent. --all exports everything."
        )
    return 0


async def _which(store: Store, scope: SubjectScope, thread: str, everything: bool) -> SubjectScope | ThreadScope:
    if not everything and scope == ME:
        return (await known_thread(store, thread))[0]
    if everything:
        for info in await store.threads(scope, limit=1_000_000):
            if info.running:  # a turn whose process is gone ends first, so that it is in the file
                await store.open_thread(scope.thread(info.thread), deltas=info.deltas)
        return scope
    if not thread:
        raise UsageError("Name the conversation, or give --all.")
    info = await store.thread_info(scope.thread(thread))
    await store.open_thread(scope.thread(thread), deltas=info.deltas)
    return scope.thread(thread)


async def _markdown(store: Store, which: SubjectScope | ThreadScope, write: Callable[[bytes], object]) -> Exported:
    from lumina.cli.transfer_markdown import markdown_of

    if isinstance(which, ThreadScope):
        scopes = [which]
    else:
        scopes = [which.thread(info.thread) for info in await store.threads(which, limit=1_000_000) if info.turns]
    turns = 0
    for at, scope in enumerate(scopes):
        write(b"\n---\n\n" if at else b"")
        text, count = await markdown_of(store, scope)
        write(text.encode("utf-8"))
        turns += count
    return Exported(threads=tuple(scope.thread for scope in scopes), turns=turns)


@contextmanager
def _written_to(output: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A place to write to. A file is there under its name only when it is whole."""
    if output is None:
        sys.stdout.flush()
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    if not output.name or output.is_dir():
        raise UsageError(f"{str(output)!r} is a folder, not a file to write to: give -o FILE. Nothing was exported.")
    part = output.with_name(output.name + ".part")
    try:
        with part.open("wb") as file:
            yield file.write
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _counting(what: str) -> Iterator[Callable[[int], object] | None]:
    """How many turns are done, on standard error while a person watches."""
    if not sys.stderr.isatty():
        yield None
        return

    def told(turns: int) -> None:
        if turns % 100 == 0:
            sys.stderr.write(f"\r{what}: {turns} turns")
            sys.stderr.flush()

    try:
        yield told
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


# Import


def import_file(
    file: Path, origin: str, name: str, *, skip: bool, deltas: bool, subject: str, dry_run: bool, as_json: bool
) -> int:
    """Reads the file in. Returns the exit code."""
    scope, chosen = whose(subject), settings()
    if name:
        check_id("--as", name)
    with _opened(file) as opened:
        kind = _kind(opened) if origin == "auto" else origin
        changes: list[Change] = []
        counts: Counts | None = None
        if kind != "lumina":
            stem = name or (file.stem if str(file) != "-" else "imported")
            raw, counts, changes = _foreign(opened, kind, stem, zone=chosen.zone, deltas=deltas)
            opened = io.BytesIO(raw)

        async def work(_: Worker) -> Imported:
            async with await threads_at(chosen) as threads:
                with _counting("importing") as told:
                    return await import_from(
                        threads.store, scope, opened, name=name, skip=skip, dry_run=dry_run, event=check_event,
                        told=told, by=BY,
                    )  # fmt: skip

        report = complete(work)
    if as_json:
        row = {**asdict(report), "from": kind, "dry_run": dry_run, "changes": [asdict(change) for change in changes]}
        say(json.dumps(row | ({"sources": counts.sources, "markers": counts.markers} if counts else {})))
        return 0
    _say_report(report, counts, changes, dry_run=dry_run)
    return 0


def _say_report(report: Imported, counts: "Counts | None", changes: "list[Change]", *, dry_run: bool) -> None:
    would = "would be imported" if dry_run else "imported"
    names = ", ".join(flat(new) for _, new in report.threads[:NAMED])
    say(f"{_conversations(len(report.threads))} with {_turns(report.turns)} {would}" + (f": {names}" if names else ""))
    if counts is not None and (counts.sources or counts.markers):
        say(f"  {counts.sources} sources have numbers of the conversation; {counts.markers} markers were rewritten")
    if report.there_already:
        say(f"  left out, because they are here already: {', '.join(map(flat, report.there_already[:NAMED]))}")
    if report.moved and report.turns:
        say(f"  what was noted in it counts as said after your first {_turns(report.moved)}", "dim")
    sums = Counter(change.what for change in changes)
    if sums:
        say("  " + ", ".join(f"{count} {what}" for what, count in sorted(sums.items())) + ":")
    for change in changes[:NAMED]:
        place = f", message {change.message}" if change.message else ""
        say(f"    {flat(change.conversation)}{place}: {change.what}: {flat(change.reason)}")
    if len(changes) > NAMED:
        say(f"    and {len(changes) - NAMED} more; --json lists them all")


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """The file, or standard input kept aside so that it can be read twice."""
    if str(file) != "-":
        with file.open("rb") as opened:
            yield opened
        return
    with tempfile.TemporaryFile() as kept:
        while piece := sys.stdin.buffer.read(1 << 20):
            kept.write(piece)
        kept.seek(0)
        yield kept


def _kind(opened: BinaryIO) -> str:
    """Who wrote the file, by how it begins."""
    begin = opened.read(1 << 16)
    opened.seek(0)
    first = begin.split(b"\n", 1)[0]
    if b'"format":"lumina"' in first:
        return "lumina"
    if b'"mapping"' in begin:
        return "chatgpt"
    if b'"role"' in begin:
        return "openai"
    raise UsageError("It cannot be told who wrote this file. Say so with --from lumina, openai or chatgpt.")


def _foreign(
    opened: BinaryIO, kind: str, stem: str, *, zone: str, deltas: bool
) -> "tuple[bytes, Counts, list[Change]]":  # fmt: skip
    from lumina.adapters.imports.as_lines import as_file
    from lumina.adapters.imports.chatgpt import read_chatgpt
    from lumina.adapters.imports.conversations import LARGEST
    from lumina.adapters.imports.openai_messages import read_openai

    raw = opened.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise UsageError(f"The file is larger than {LARGEST >> 20} MB. Nothing was imported; split it.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"The file is not UTF-8 (byte {error.start}). Nothing was imported.") from None
    read = read_chatgpt(text) if kind == "chatgpt" else read_openai(text, check_id("The name of the file", stem))
    made, counts = as_file(read, zone=zone, now=datetime.now(UTC), deltas=deltas)
    return made, counts, read.changes


def _turns(count: int) -> str:
    return f"{count} {'turn' if count == 1 else 'turns'}"


def _conversations(count: int) -> str:
    return f"{count} {'conversation' if count == 1 else 'conversations'}"
