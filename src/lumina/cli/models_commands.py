"""`lumina models` and `lumina doctor`: who can answer here, and whether everything that is set works.

What they print and ask is in `lumina.cli.checking`, loaded when a command runs.
"""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]


def register_models(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("models")(models)
    app.command("doctor")(doctor)


def models(as_json: Json = False) -> None:
    """Who can answer here, and what the others need.

    The names to give to --model or LUMINA_MODEL, which are ready, and what is missing.

    A server on this machine (Ollama, or the one that LUMINA_MODEL_URL names) is asked briefly which models it has.
    Keys are looked for and never shown.
    """
    from lumina.cli.checking import list_models

    raise typer.Exit(list_models(as_json=as_json))


def doctor(
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Check this one; LUMINA_MODEL otherwise.")] = "",
    as_json: Json = False,
) -> None:
    """Check that what is set works, and say what to do.

    Settings, database, search, model, embedder.

    The model is asked for one word, the search for one query, the embedder for one vector. Each line says ok or failed,
    and what to do. The exit code is 1 when anything failed.
    """
    from lumina.cli.checking import check_all

    raise typer.Exit(check_all(model, as_json=as_json))
