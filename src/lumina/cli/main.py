"""`lumina`: the commands, their options and their exit codes.

0: done. 1: it failed, and the message says why and what was kept. 2: the call was wrong. 130: stopped by Ctrl-C; what
had arrived is kept. What a command needs is imported when it runs, so that help and mistakes are answered at once.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from lumina.cli import transfer_commands
from lumina.cli.eval_commands import evaluate
from lumina.cli.forget_commands import forget
from lumina.cli.prompt_commands import prompts
from lumina.cli.reindex_commands import register_reindex
from lumina.cli.state_commands import state
from lumina.memory.errors import LuminaError, UsageError

WrongCall = typer.BadParameter.__mro__[1]  # click's UsageError; Typer may bring a click of its own
LARGEST = 10_000_000  # for numbers that a person types

ORDER = "ask chat docs threads show state forget prompts export import reindex eval".split()


class InOrder(TyperGroup):
    """Commands in the order in which a person comes to need them."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return sorted(super().list_commands(ctx), key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    name="lumina",
    cls=InOrder,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
docs = typer.Typer(help="The documents that answers are quoted from.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(docs, name="docs")
app.add_typer(state, name="state")
app.add_typer(forget, name="forget")
app.add_typer(prompts, name="prompts")

ThreadOption = Annotated[
    str, typer.Option("--thread", "-t", metavar="NAME", help="The conversation to go on with. A new name begins one.")
]
GoOn = Annotated[bool, typer.Option("--continue", "-c", help="Go on with the conversation that was asked last.")]
Budget = Annotated[
    int, typer.Option(metavar="TOKENS", help="How many tokens the model is sent at most.", min=1, max=LARGEST)
]
Temporary = Annotated[
    bool,
    typer.Option("--temporary", help="A new conversation: without a profile, deleted after a day."),
]
ModelOption = Annotated[str, typer.Option("--model", metavar="NAME", help="Who answers; LUMINA_MODEL otherwise.")]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"lumina {version('lumina-search')}")
        except PackageNotFoundError:
            typer.echo("lumina, from a source tree that is not installed")
        raise typer.Exit


@app.callback()
def lumina(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show the program's own log, and where an unexpected fault is.")
    ] = False,
) -> None:
    """Answers from your documents, with a source for every sentence and a memory you can read.

    lumina ask "How does Lumina remember?" works at once: no key, no server, no network. Without a model, sentences are
    quoted; without documents of your own, from Lumina's documentation.

    Settings come from the environment (LUMINA_MODEL, LUMINA_HOME, LUMINA_MEMORY ...) or from lumina.toml in
    LUMINA_HOME. The exit code is 0 when it was done, 1 when it failed, 2 when the call was wrong, 130 after Ctrl-C.
    """
    from lumina.cli.screen import send_logs

    send_logs(shown=traceback)


@app.command()
def ask(
    question: Annotated[
        list[str] | None, typer.Argument(help="What you want to know; - reads it from standard input.")
    ] = None,
    thread: ThreadOption = "",
    go_on: GoOn = False,
    model: ModelOption = "",
    budget: Budget = 8000,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the events of the turn, one JSON object a line.")
    ] = False,
    regenerate: Annotated[
        bool, typer.Option("--regenerate", help="Answer the last turn again; with a question, that one in its place.")
    ] = False,
    turn: Annotated[
        int | None, typer.Option("--turn", "-n", metavar="N", help="With --regenerate: which turn.", min=1, max=LARGEST)
    ] = None,
    temporary: Temporary = False,
) -> None:
    """Ask one question and print the cited answer.

    Each call begins a new conversation, unless you name one (--thread) or go on with the last one (--continue).
    The answer and its sources go to standard output, what happens meanwhile to standard error. Ctrl-C stops the
    answer and keeps what has arrived. With LUMINA_MEMORY=off each question stands alone and nothing is noted.

    --regenerate goes on with the last conversation, or the named one. What stood in the turn's place, and all that came
    after it, is superseded: it is sent to no model any more, and `lumina show` still shows it.
    """
    from lumina.cli.asking import Redo, ask_once, piped_question

    if turn and not regenerate:
        raise UsageError("--turn names the turn that --regenerate answers again: give both.")
    if regenerate and temporary:
        raise UsageError("--temporary begins a new conversation; --regenerate needs one that is there. Give one.")
    if not question and not regenerate:
        raise UsageError('There is no question. Give one: lumina ask "..."')
    text = piped_question() if question == ["-"] else " ".join(question or ())
    redo = Redo(turn=turn or 0, question=bool(question)) if regenerate else None
    told = {"thread": thread, "go_on": go_on, "model": model, "budget": budget, "as_json": as_json}
    raise typer.Exit(ask_once(text, redo=redo, temporary=temporary, **told))


@app.command()
def chat(
    thread: ThreadOption = "",
    go_on: GoOn = False,
    model: ModelOption = "",
    budget: Budget = 8000,
    temporary: Temporary = False,
) -> None:
    """Ask again and again in one conversation.

    Inside, /sources, /state and /show tell where an answer comes from, /again and /edit ask the last turn again or
    otherwise, and /help lists all such commands. Ctrl-C stops an answer and keeps what has arrived; /quit or Ctrl-D
    leaves. Questions may come from a pipe, one a line.
    """
    from lumina.cli.chatting import chat as run_chat

    raise typer.Exit(run_chat(thread=thread, go_on=go_on, model=model, budget=budget, temporary=temporary))


@app.command()
def show(
    thread: Annotated[str, typer.Argument(help="The conversation; the one that was asked last if left out.")] = "",
    turn: Annotated[
        int | None,
        typer.Option("--turn", "-n", metavar="N", help="Which turn; the last one if left out.", min=1, max=LARGEST),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print exactly what was sent, nothing else.")] = False,
    call: Annotated[
        int | None,
        typer.Option("--call", metavar="N", help="Only this model call of the turn.", min=1, max=LARGEST),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Render again and compare with what was sent: all turns, or --turn N.")
    ] = False,
    attempt: Annotated[
        int | None,
        typer.Option(metavar="K", help="Which attempt; the newest if left out.", min=1, max=LARGEST),
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="With --verify: fold what was noted anew where it is damaged."),
    ] = False,
    as_json: Json = False,
) -> None:
    """What the model saw in a turn, and why.

    Every part of what was sent, with its tokens; what was left out, with the reason. A turn may have asked the model
    several times: before and after a search, and at the end to note what changed. The exit code is 1 when something
    does not render as it was sent, or cannot be read. --verify also compares what was noted with the fold of its
    deltas.
    """
    from lumina.cli.showing import show_turn
    from lumina.cli.verifying import verify_turns

    if verify:
        if text or call or attempt:
            raise UsageError("--verify compares whole turns: leave out --text, --call and --attempt.")
        raise typer.Exit(verify_turns(thread, turn or 0, as_json=as_json, rebuild=rebuild))
    if rebuild:
        raise UsageError("--rebuild mends what --verify finds: give both.")
    if text and as_json:
        raise UsageError("Give --text or --json, not both.")
    raise typer.Exit(show_turn(thread, turn or 0, call or 0, text=text, as_json=as_json, attempt=attempt or 0))


@app.command()
def threads(
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most.", min=1, max=LARGEST)] = 30,
    as_json: Json = False,
) -> None:
    """Your conversations, the one asked last first."""
    from lumina.cli.listing import list_threads

    raise typer.Exit(list_threads(limit, as_json=as_json))


app.command("eval")(evaluate)


register_reindex(app)


@docs.command("add")
def docs_add(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: md, txt, html, pdf.")],
    as_json: Json = False,
) -> None:
    """Add files and folders, or bring them up to date. What has not changed is skipped.

    What cannot be read is named with the reason, and the rest is added. The exit code is 1 when a path is not there, or
    nothing could be read.
    """
    from lumina.cli.documents import add

    raise typer.Exit(add(paths, as_json=as_json))


@docs.command("list")
def docs_list(as_json: Json = False) -> None:
    """The documents that are searched."""
    from lumina.cli.documents import listing

    raise typer.Exit(listing(as_json=as_json))


@docs.command("remove")
def docs_remove(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders or numbers, as `lumina docs list` shows them."),
    ],
    as_json: Json = False,
) -> None:
    """Stop searching in documents. The files themselves stay; so do answers that cite them."""
    from lumina.cli.documents import remove

    raise typer.Exit(remove(paths, as_json=as_json))


transfer_commands.add_to(app)


def run() -> None:
    """The entry point: errors become one message and an exit code, never a traceback."""
    from lumina.cli.screen import prepare

    prepare()
    sys.exit(carry_out(sys.argv[1:]))


def carry_out(arguments: list[str]) -> int:
    """Runs one command and returns its exit code."""
    from lumina.cli.screen import complain

    try:
        code = app(arguments, prog_name="lumina", standalone_mode=False)
        sys.stdout.flush()
    except LuminaError as error:
        complain(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        _reader_left()
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        if isinstance(error, WrongCall):
            return _wrong(error)
        if "--traceback" in arguments:
            raise
        complain(_fault(error))
        return 1
    return code or 0


def _wrong(error: Exception) -> int:
    """A call that cannot be understood: what is wrong, and where the help is."""
    from lumina.cli.screen import complain, safe

    context = getattr(error, "ctx", None)
    path = context.command_path if context else "lumina"
    said = error.format_message()  # pyright: ignore[reportAttributeAccessIssue] - click's
    if context is not None and said.startswith("Usage:"):  # nothing was given at all: the message is the help
        sys.stderr.write(safe(said) + "\n")
    else:
        stop = "" if said.endswith("?") else "."
        complain(f"{said.rstrip('.').replace('?.', '?')}{stop} `{path} --help` says what can be given.")
    return 2


def _fault(error: Exception) -> str:
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or error}{place}. What was stored before is kept."
    return (
        f"unexpected fault ({type(error).__name__}: {error}). What was stored before is kept. "
        "`lumina --traceback ...` shows where it is; please report it."
    )


def _reader_left() -> None:
    """Whoever read our output has gone: say nothing more, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
