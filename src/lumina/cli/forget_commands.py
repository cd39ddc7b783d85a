"""`lumina forget`: an entry, a turn, a conversation, everything.

What will go is shown first, and asked about: nothing can bring it back. Afterwards the places that still hold the same
words are listed; they stay until they are forgotten, too.
"""

import json
import sys
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lumina.memory.errors import UsageError

if TYPE_CHECKING:
    from lumina.memory.change import About
    from lumina.memory.forgotten import Forgotten
    from lumina.memory.thread import Thread
    from lumina.wiring import Threads

forget = typer.Typer(
    help="Forget an entry, a turn, a conversation or everything, for good.", no_args_is_help=True,
    rich_markup_mode=None,
)  # fmt: skip

LARGEST = 10_000_000
LEFT_IN_A_FILE = (
    "It is forgotten and nothing can find it, but another program is reading the database, so that old bytes may still "
    "be in its log. Close the other program and run `lumina forget finish`."
)
LEFT_ON_A_SERVER = (
    "It is forgotten and no query can find it, but old bytes may still be in the database's files: another program is "
    "reading it, or a table is too large to be written anew or belongs to another user. Close the other program and "
    "run `lumina forget finish`; for a large table see docs/how-to/forget.md."
)
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Without a terminal it is needed.")]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]
InThread = Annotated[
    str,
    typer.Option("--thread", "-t", metavar="NAME", help="The conversation; the one that was asked last if left out."),
]


@forget.command("entry")
def forget_entry(
    key: Annotated[str, typer.Argument(help="The entry's key, such as home.city.")],
    about: Annotated[
        str, typer.Option("--about", metavar="WHAT", help="`thread`: noted in the conversation. `subject`: about you.")
    ] = "",
    thread: InThread = "",
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Forget what is noted under a key, for good.

    Every value it had goes, and the words that they were taken from. Without --about, the entry of the conversation is
    meant, or the one about you if the conversation has none. In the turns the quoted words are blanked; the turns stay.
    """
    if about not in ("", "thread", "subject"):
        raise UsageError("--about is thread or subject.")
    raise typer.Exit(_forget(_Wanted("entry", key=key, about=about, thread=thread), yes=yes, as_json=as_json))


@forget.command("turn")
def forget_turn(
    turn: Annotated[int, typer.Argument(help="The turn's number, as `lumina show` tells it.", min=1, max=LARGEST)],
    thread: InThread = "",
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Forget a turn: question, answer, and all that was noted from it. Its number and its day stay."""
    raise typer.Exit(_forget(_Wanted("turn", seq=turn, thread=thread), yes=yes, as_json=as_json))


@forget.command("thread")
def forget_thread(
    name: Annotated[str, typer.Argument(help="The conversation, as `lumina threads` lists it.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Forget a whole conversation, and what was noted about you from it."""
    raise typer.Exit(_forget(_Wanted("thread", thread=name), yes=yes, as_json=as_json))


@forget.command("me")
def forget_me(yes: Yes = False, as_json: Json = False) -> None:
    """Forget everything that is kept about you.

    All conversations go, what is noted about you, and documents of your own. Documents that everybody here may search
    stay: `lumina docs remove` takes them away.
    """
    raise typer.Exit(_forget(_Wanted("subject"), yes=yes, as_json=as_json))


@forget.command("finish")
def forget_finish() -> None:
    """Take forgotten bytes out of the file, where that had to wait.

    It has to while another program reads the database.
    """
    from lumina.cli.place import settings, threads_at
    from lumina.cli.working import Worker, complete

    chosen = settings()

    async def finished(_: Worker) -> bool:
        from lumina.memory.forgotten import finish

        async with await threads_at(chosen) as threads:
            return await finish(threads.store)

    raise typer.Exit(_say_bytes(complete(finished)))


class _Wanted:
    """What is to be forgotten, as it was typed."""

    def __init__(self, what: str, *, key: str = "", about: str = "", seq: int = 0, thread: str = "") -> None:
        self.what, self.key, self.about, self.seq, self.thread = what, key, about, seq, thread


def _forget(wanted: _Wanted, *, yes: bool, as_json: bool) -> int:
    """Shows, asks, forgets, tells. Exit code 1 when it was not confirmed, or when bytes are left in the file."""
    from lumina.cli.place import settings, threads_at
    from lumina.cli.working import Worker, complete
    from lumina.memory.forgotten import Forgotten

    if not yes and (as_json or not sys.stdin.isatty()):
        raise UsageError("Nothing can bring back what is forgotten, and nobody is here to confirm it. Give --yes.")
    chosen = settings()

    def run(preview: bool) -> Callable[[Worker], Coroutine[Any, Any, Forgotten]]:
        async def work(_: Worker) -> Forgotten:
            async with await threads_at(chosen) as threads:
                return await _carry_out(threads, wanted, preview=preview)

        return work

    if not yes:
        shown = complete(run(True))
        _say_what(shown, before=True)
        if not _anything(shown):
            return 0
        if not typer.confirm("Forget it for good?"):
            from lumina.cli.screen import note

            note("Nothing was forgotten.")
            return 1
    done = complete(run(False))
    if as_json:
        from lumina.cli.screen import say

        say(json.dumps(asdict(done)))
        return 0 if done.bytes_gone else 1
    return say_forgotten(done)


async def _carry_out(threads: "Threads", wanted: _Wanted, *, preview: bool) -> "Forgotten":
    from lumina.cli.place import ME, known_thread
    from lumina.memory.errors import NotFound

    if wanted.what == "subject":
        return await threads.forget_subject(ME, preview=preview)
    if wanted.what == "thread":
        return await threads.forget_thread(ME.thread(wanted.thread), preview=preview)
    scope, _ = await known_thread(threads.store, wanted.thread)
    if wanted.what == "turn":
        return await threads.forget_turn(scope, wanted.seq, preview=preview)
    about: About = "subject" if wanted.about == "subject" else "thread"
    try:
        return await threads.forget_entry(scope, wanted.key, about=about, preview=preview)
    except NotFound:
        if wanted.about:
            raise
        return await threads.forget_entry(scope, wanted.key, about="subject", preview=preview)


async def forget_named(thread: "Thread", typed: str) -> None:
    """`/forget` in a chat: a turn by its number, or an entry by its key, of the conversation or about you. What will go
    is shown, and goes when the command comes again with `yes`."""
    from lumina.cli.screen import flat, note
    from lumina.memory import forgotten
    from lumina.memory.errors import NotFound

    named, _, answer = typed.partition(" ")
    sure = answer.strip() == "yes"
    if not named or len(named) > 200 or (answer.strip() and not sure):
        raise UsageError("Give a key or the number of a turn: /forget home.city, /forget 3. /state lists the keys.")
    place = (thread.store, thread.scope)
    now = thread.now()
    if named.isascii() and named.isdigit() and len(named) < 9:
        done = await forgotten.forget_turn(*place, int(named), now=now, preview=not sure)
    else:
        try:
            done = await forgotten.forget_entry(*place, named, now=now, preview=not sure)
        except NotFound:
            done = await forgotten.forget_entry(*place, named, about="subject", now=now, preview=not sure)
    if sure:
        say_forgotten(done)
    else:
        _say_what(done, before=True)
        note(f"Nothing can bring it back. /forget {flat(named)} yes does it.")


def say_forgotten(done: "Forgotten") -> int:
    """What went, where the same words still stand, and whether bytes are left. Returns the exit code."""
    _say_what(done, before=False)
    _say_elsewhere(done)
    return _say_bytes(done.bytes_gone) if _anything(done) else 0


def _anything(done: "Forgotten") -> bool:
    return any((done.turns, done.masked, done.changes, done.threads)) or done.what == "subject"


def _say_what(done: "Forgotten", *, before: bool) -> None:
    from lumina.cli.screen import flat, say

    whose = f"in conversation {flat(done.thread)}" if done.thread else "about you"
    named = {
        "entry": f"{flat(done.key)} {whose}", "turn": f"Turn {done.seq} {whose}",
        "thread": f"Conversation {flat(done.thread)}", "subject": "Everything that is kept about you",
    }[done.what]  # fmt: skip
    if not _anything(done):
        say(f"{named}: nothing of it is here.")
        return
    counts = [
        (done.turns, "turn", "turns", ""), (done.masked, "turn", "turns", " whose quoted words are blanked"),
        (done.changes, "noted value", "noted values", ""),
        (done.sources, "source", "sources", " that nothing else had read"),
        (done.receipts, "account", "accounts", " of what a model saw"),
    ]  # fmt: skip
    told = ", ".join(
        f"{number} {one if number == 1 else many}{more}" for number, one, many, more in counts if number
    )  # fmt: skip
    say(f"{named} {'will be' if before else 'is'} forgotten" + (f": {told}." if told else "."))


def _say_elsewhere(done: "Forgotten") -> None:
    from lumina.cli.screen import flat, say

    if not done.elsewhere:
        return
    say("The same words stand in these places. They stay until they are forgotten, too:")
    for place in done.elsewhere:
        where = {"entry": f"entry {place.what}", "source": f"source {place.what}", "document": f"document {place.what}"}
        turn = f", turn {place.seq}" if place.seq else ""
        at = f" in conversation {place.thread}{turn}" if place.thread else ""
        times = f" ({place.count} times)" if place.count > 1 else ""
        say(f"  {flat(where.get(place.where, place.where))}{flat(at)}{times}")


def _say_bytes(gone: bool) -> int:
    from lumina.cli.place import settings
    from lumina.cli.screen import complain, say

    on_server = isinstance(settings().database, str)
    if gone:
        left = "tables; its write-ahead log and backups keep what they hold" if on_server else "file"
        say(f"Nothing of it is left in the database's {left}.", "dim")
        return 0
    complain(LEFT_ON_A_SERVER if on_server else LEFT_IN_A_FILE)
    return 1
