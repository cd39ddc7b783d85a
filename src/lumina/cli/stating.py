"""What `lumina state` does: shows what was noted with the words that it rests on, and makes corrections."""

import json
from collections.abc import Collection
from dataclasses import asdict
from typing import Literal

from lumina.cli.flow import words_of, wrapped
from lumina.cli.place import known_thread, settings, threads_at
from lumina.cli.remembered import HEADINGS
from lumina.cli.screen import flat, measure, note, say, say_line
from lumina.cli.working import Worker, complete
from lumina.memory.change import About, Change, Operation
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.keys import near_key, normal_key
from lumina.memory.state import Entry, Outcome
from lumina.memory.store import DeltaJob
from lumina.memory.telling import Quoted, Told, tell_entries
from lumina.memory.thread import Thread

QUOTED = 160  # characters of a quote that are shown
OPEN_JOBS = ("waiting", "answered", "set aside")


def show_state(name: str, as_of: int, *, profile: bool, as_json: bool) -> int:
    """Prints what stands, or stood after turn `as_of`. Returns the exit code."""
    chosen = settings()

    async def load(_: Worker) -> tuple[str, list[Quoted], list[DeltaJob]]:
        async with await threads_at(chosen) as threads:
            scope, info = await known_thread(threads.store, name)
            if as_of > info.turns:
                raise NotFound(f"Conversation {scope.thread} has no turn {as_of}; its last is {info.turns}.")
            thread = await threads.thread(scope)
            states = [await thread.profile(as_of=as_of)]
            states += [] if profile else [await thread.state(as_of=as_of)]
            jobs = await threads.store.delta_jobs(scope, *OPEN_JOBS)
            jobs = [] if profile else [job for job in jobs if not as_of or job.seq <= as_of]
            return scope.thread, await tell_entries(threads.store, scope, states), jobs

    thread, entries, jobs = complete(load)
    if as_json:
        say(json.dumps({
            "thread": thread, "as_of": as_of or None,
            "entries": [_entry_json(each) for each in entries],
            "not_noted": [{"turn": job.seq, "status": job.status, "tries": job.tries, "reason": job.reason}
                          for job in jobs],
        }))  # fmt: skip
        return 0
    when = f"After turn {as_of} of {flat(thread)}" if as_of else flat(thread)
    say(when if not profile else "In every conversation", "dim")
    if not entries:
        note("Nothing is noted yet." if not as_of else "Nothing was noted then.")
    _say_section("About you", [each for each in entries if each.entry.about == "subject"])
    for kind, heading in HEADINGS.items():
        _say_section(heading, [each for each in entries if (each.entry.about, each.entry.kind) == ("thread", kind)])
    if jobs:
        say("Not noted", "bold")
        for job in jobs:
            say(f"  turn {job.seq}: {flat(_job(job))}", "amber" if job.status == "set aside" else "")
    return 0


def show_history(name: str, key: str, *, as_json: bool) -> int:
    """Prints every value that `key` ever had. NotFound when it was never named."""
    chosen = settings()

    async def load(_: Worker) -> list[Told]:
        async with await threads_at(chosen) as threads:
            scope, _info = await known_thread(threads.store, name)
            return await history_of(await threads.thread(scope), key)

    rows = complete(load)
    if as_json:
        for row in rows:
            say(json.dumps({**asdict(row), "sentence": str(row)}))
    else:
        say_history(rows)
    return 0


async def history_of(thread: Thread, key: str) -> list[Told]:
    """The history of `key` in the profile and in the thread. NotFound, with a near key, when there is none."""
    rows = [*await thread.history(key, about="subject"), *await thread.history(key)]
    if not rows:
        known = (await thread.state()).keys() | (await thread.profile()).keys()
        raise never_noted(key, known)
    return rows


def never_noted(key: str, known: Collection[str]) -> NotFound:
    near = near_key(key, known)
    hint = f" There is {near}." if near else ""
    return NotFound(f"Nothing was ever noted under {key!r}; nothing was changed.{hint}")


def say_history(rows: list[Told]) -> None:
    """A sentence for each value; what stands is marked."""
    for row in rows:
        lead = words_of("* " if row.current else "", "green")
        place = words_of("about you: ", "dim") if row.about == "subject" else []
        for line in wrapped([*lead, *place, *words_of(flat(str(row)))], width=measure(), indent=""):
            say_line(line)


def correct_state(
    name: str, op: Operation, key: str, value: str, *, by: str, why: str, about: About | Literal[""], as_json: bool
) -> int:
    """Makes a correction after the last turn and says what it did. Exit code 1 when there was nothing to end."""
    chosen = settings()
    if chosen.memory == "off":
        raise UsageError("LUMINA_MEMORY is off: nothing is noted, so there is nothing to correct.")

    async def make(_: Worker) -> tuple[tuple[Outcome, ...], str]:
        async with await threads_at(chosen) as threads:
            scope, _info = await known_thread(threads.store, name)
            thread = await threads.thread(scope)
            known = (await thread.state()).keys() | (await thread.profile()).keys()
            path = normal_key(key) or key
            if op in ("retract", "resolve") and path not in known:
                raise never_noted(path, known)
            outcomes = await thread.correct(op, key, value, by=by, why=why, about=about)
            return outcomes, near_key(outcomes[0].change.key, known) or ""

    outcomes, near = complete(make)
    for outcome in outcomes:
        say(json.dumps(_outcome_json(outcome)) if as_json else _did(outcome, near))
    return 1 if all(outcome.kind == "nothing to retract" for outcome in outcomes) else 0


def _did(outcome: Outcome, near: str) -> str:
    change = outcome.change
    of = "about you" if change.about == "subject" else "in this conversation"
    hint = f" There is also {near}: is it the same?" if near else ""
    match outcome.kind:
        case "new":
            return f"Noted {of}: {change.key} = {change.value}.{hint}"
        case "replaces":
            return f"Noted {of}: {change.key} = {change.value}, instead of {outcome.old}."
        case "closes":
            done = "Resolved" if change.op == "resolve" else "Taken back"
            return f"{done} {of}: {change.key}, which was {outcome.old}."
        case "nothing to retract":
            return f"There was nothing {of} under {change.key}. That it does not stand is noted.{hint}"
        case "repeats":
            return f"It stood {of} already: {change.key} = {change.value or outcome.old}."
        case _:
            return f"Noted {of}, but what stands is newer: {change.key} = {outcome.old}."


def _say_section(heading: str, entries: list[Quoted]) -> None:
    if not entries:
        return
    say(heading, "bold")
    for each in entries:
        entry = each.entry
        kind = f"{entry.kind}, " if entry.about == "subject" and entry.kind != "fact" else ""
        told = f"({kind}{_by(entry)}, turn {entry.seq}{f' of {entry.thread}' if entry.thread else ''}, {entry.day})"
        lines = [*words_of(flat(f"{entry.key}: {entry.value}")), *words_of(flat(told), "dim")]
        for line in wrapped(lines, width=measure(), indent="  "):
            say_line(line)
        for text in (each.quote, f"accepting: {each.offer}" if each.offer else "", entry.why):
            if text:
                say("    " + flat(text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"), "dim")


def _by(entry: Entry | Change) -> str:
    return {
        "user": "you",
        "operator": f"corrected by {entry.by}",
        "assistant": "an answer",
        "source": f"source [{entry.source}]",
    }[entry.said_by]


def _job(job: DeltaJob) -> str:
    tries = f" after {job.tries} {'try' if job.tries == 1 else 'tries'}" if job.tries else ""
    why = f" ({job.reason})" if job.reason else ""
    return {
        "waiting": f"waits to be noted{tries}{why}",
        "answered": "was answered; it is applied with the next question",
        "set aside": f"given up{tries}{why}",
    }[job.status]


def _entry_json(each: Quoted) -> dict[str, object]:
    entry = each.entry
    return {
        "kind": entry.kind, "key": entry.key, "value": entry.value, "about": entry.about, "said_by": entry.said_by,
        "by": entry.by, "why": entry.why, "day": entry.day, "turn": entry.seq, "thread": entry.thread,
        "source": entry.source or None, "quote": each.quote, "offer": each.offer,
    }  # fmt: skip


def _outcome_json(outcome: Outcome) -> dict[str, object]:
    change = outcome.change
    return {"did": outcome.kind, "op": change.op, "key": change.key, "value": change.value, "old": outcome.old,
            "about": change.about, "after_turn": change.seq, "correction": change.correction}  # fmt: skip
