"""`lumina`: the commands, their options and their exit codes.

0: done. 1: it failed, and the message says why and what was kept. 2: the call was wrong. 130: stopped by Ctrl-C; what
had arrived is kept.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lumina.memory.errors import LuminaError, UsageError

app = typer.Typer(
    name="lumina",
    help="Answers from your documents, with a source for every sentence and a memory you can read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
docs = typer.Typer(help="The documents that answers are quoted from.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(docs, name="docs")

ThreadOption = Annotated[
    str, typer.Option("--thread", "-t", metavar="NAME", help="The conversation to go on with. A new name begins one.")
]
GoOn = Annotated[bool, typer.Option("--continue", "-c", help="Go on with the conversation that was asked last.")]
Budget = Annotated[int, typer.Option(metavar="TOKENS", help="How much the model is sent at most.", min=1)]
ModelOption = Annotated[str, typer.Option("--model", metavar="NAME", help="Who answers; LUMINA_MODEL otherwise.")]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lumina {version('lumina-search')}")
        raise typer.Exit


@app.callback()
def lumina(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="On an unexpected fault, show where it is.")] = False,
) -> None:
    """Answers from your documents, with a source for every sentence and a memory you can read.

    No key, no server and no network are needed: without a model, sentences are quoted. Settings come from the
    environment (LUMINA_...) or from lumina.toml in LUMINA_HOME; docs/reference/settings.md lists them.
    """


@app.command()
def ask(
    question: Annotated[list[str], typer.Argument(help="What you want to know; - reads it from standard input.")],
    thread: ThreadOption = "",
    go_on: GoOn = False,
    model: ModelOption = "",
    budget: Budget = 8000,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the events of the turn, one JSON object a line.")
    ] = False,
) -> None:
    """Ask one question and print the cited answer.

    Each call begins a new conversation, unless you name one (--thread) or go on with the last one (--continue).
    """
    from lumina.cli.asking import ask_once

    text = sys.stdin.read().strip() if question == ["-"] else " ".join(question)
    raise typer.Exit(ask_once(text, thread=thread, go_on=go_on, model=model, budget=budget, as_json=as_json))


@app.command()
def chat(thread: ThreadOption = "", go_on: GoOn = False, model: ModelOption = "", budget: Budget = 8000) -> None:
    """Talk. Answers stream in; /sources, /state and /show tell where they come from.

    Ctrl-C stops an answer and keeps what has arrived; /quit or Ctrl-D leaves.
    """
    from lumina.cli.chatting import chat as run_chat

    raise typer.Exit(run_chat(thread=thread, go_on=go_on, model=model, budget=budget))


@app.command()
def show(
    thread: Annotated[str, typer.Argument(help="The conversation; the one that was asked last if left out.")] = "",
    turn: Annotated[
        int | None, typer.Option("--turn", "-n", metavar="N", help="Which turn; the last one by default.", min=1)
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print exactly what was sent, nothing else.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Render again and compare with what was sent: all turns, or --turn N.")
    ] = False,
    as_json: Json = False,
) -> None:
    """What the model saw in a turn, and why: every part, its tokens, in or out."""
    from lumina.cli.showing import show_turn, verify_turns

    if verify:
        raise typer.Exit(verify_turns(thread, turn or 0, as_json=as_json))
    raise typer.Exit(show_turn(thread, turn or 0, text=text, as_json=as_json))


@app.command()
def threads(
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most.", min=1)] = 30, as_json: Json = False
) -> None:
    """Your conversations, the one asked last first."""
    from lumina.cli.showing import list_threads

    raise typer.Exit(list_threads(limit, as_json=as_json))


@docs.command("add")
def docs_add(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: md, txt, html, pdf.")],
    as_json: Json = False,
) -> None:
    """Add files and folders, or bring them up to date. What has not changed is skipped.

    What cannot be read is named with the reason, and the rest is added; the exit code is 1 only if nothing could be.
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
    paths: Annotated[list[str], typer.Argument(help="Files or folders, as added; a folder takes all below it.")],
    as_json: Json = False,
) -> None:
    """Stop searching in files or folders. The files themselves stay; so do answers that cite them."""
    from lumina.cli.documents import remove

    raise typer.Exit(remove(paths, as_json=as_json))


def run() -> None:
    """The entry point: errors become one message and an exit code, never a traceback."""
    from lumina.cli.screen import complain, prepare

    prepare()
    try:
        app()
    except LuminaError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has left; say nothing more, not even at exit.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if "--traceback" in sys.argv:
            raise
        complain(
            f"unexpected fault ({type(error).__name__}: {error}). What was acknowledged is kept. "
            "`lumina --traceback ...` shows where it is; please report it."
        )
        sys.exit(1)
