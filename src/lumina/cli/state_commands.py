"""`lumina state`: what was noted, and how to correct it.

Without a command of its own it shows a conversation's state; set, retract, open, resolve and decide are a person's
corrections, which stand right after the last turn and are kept with by whom and why. The words are those of
`lumina.cli.stating`; what is printed there is loaded when a command runs.
"""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lumina.memory.errors import UsageError

LARGEST = 10_000_000  # for numbers that a person types
SHOW = "show"


class _ShowsByDefault(TyperGroup):
    """`lumina state ticket-4` shows that conversation: a first word that is no command belongs to `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


state = typer.Typer(
    cls=_ShowsByDefault, rich_markup_mode=None,
    help="What was noted, where it comes from, and how to correct it. Alone, or with a conversation: show it.",
)  # fmt: skip

Key = Annotated[str, typer.Argument(metavar="KEY", help="As `lumina state` shows it, such as home.city.")]
Value = Annotated[str, typer.Argument(metavar="VALUE", help="What is true.")]
InThread = Annotated[
    str, typer.Option("--thread", "-t", metavar="NAME", help="The conversation; the one that was asked last otherwise.")
]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who corrects.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, kept beside the value.")]
About = Annotated[
    str,
    typer.Option(
        "--about", metavar="WHAT",
        help="subject: true in every conversation; thread: in this one. Otherwise where the key stands already.",
    ),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]


@state.command(SHOW)
def show_command(
    thread: Annotated[str, typer.Argument(help="The conversation; the one that was asked last if left out.")] = "",
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", metavar="N", help="As it stood after turn N.", min=1, max=LARGEST),
    ] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Only what is about you, in every conversation.")] = False,
    as_json: Json = False,
) -> None:
    """What stands, with its words; and what could not be noted.

    Every fact, open issue, decision and finding, with the day, the turn, who said it and the words that it rests on.
    Turns whose changes are still to be noted, or were given up, are listed with the reason.
    """
    from lumina.cli.stating import show_state

    raise typer.Exit(show_state(thread, as_of or 0, profile=profile, as_json=as_json))


@state.command()
def history(key: Key, thread: InThread = "", as_json: Json = False) -> None:
    """Every value that a key ever had, and what became of it."""
    from lumina.cli.stating import show_history

    raise typer.Exit(show_history(thread, key, as_json=as_json))


@state.command("set")
def set_command(
    key: Key, value: Value, thread: InThread = "", why: Why = "", by: By = "me", about: About = "",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Set a fact to what is true. The old value stays readable as history."""
    _correct("set", key, value, thread, why, by, about, as_json)


@state.command()
def retract(
    key: Key, thread: InThread = "", why: Why = "", by: By = "me", about: About = "", as_json: Json = False
) -> None:
    """Take a fact, a decision or a finding back."""
    _correct("retract", key, "", thread, why, by, about, as_json)


@state.command("open")
def open_command(
    key: Key, value: Value, thread: InThread = "", why: Why = "", by: By = "me", about: About = "",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Open an issue."""
    _correct("open", key, value, thread, why, by, about, as_json)


@state.command()
def resolve(
    key: Key, thread: InThread = "", why: Why = "", by: By = "me", about: About = "", as_json: Json = False
) -> None:
    """Close an open issue."""
    _correct("resolve", key, "", thread, why, by, about, as_json)


@state.command()
def decide(
    key: Key, value: Value, thread: InThread = "", why: Why = "", by: By = "me", about: About = "",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Note a decision."""
    _correct("decide", key, value, thread, why, by, about, as_json)


def _correct(op: Any, key: str, value: str, thread: str, why: str, by: str, about: str, as_json: bool) -> None:
    from lumina.cli.stating import correct_state

    if about not in ("", "thread", "subject"):
        raise UsageError(f"--about is {about!r}; it can be subject or thread.")
    where: Any = about
    raise typer.Exit(correct_state(thread, op, key, value, by=by, why=why, about=where, as_json=as_json))
