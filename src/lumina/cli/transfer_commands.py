"""`lumina export` and `lumina import`: the commands and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Json = Annotated[bool, typer.Option("--json", help="A report as JSON instead of text for people.")]
Subject = Annotated[
    str, typer.Option("--subject", metavar="NAME", help="Whose conversations, in a database of several people.")
]


def add_to(app: typer.Typer) -> None:
    """Registers both commands."""
    app.command("export")(export_command)
    app.command("import")(import_command)


def export_command(
    thread: Annotated[str, typer.Argument(help="The conversation; the one that was asked last if left out.")] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="All conversations, the profile, and the documents of the person's own.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; standard output if left out.")
    ] = None,
    form: Annotated[
        Literal["lumina", "markdown"],
        typer.Option("--format", help="lumina: all that is kept, for `lumina import`. markdown: to read."),
    ] = "lumina",
    subject: Subject = "me",
    as_json: Json = False,
) -> None:
    """Write a conversation, or everything, into a file.

    The file holds all that is kept: each turn with what the model saw, sources, what was noted. Importing it elsewhere
    and exporting it again gives the same bytes. A turn that is being answered is not in it. Nothing is changed here
    but the audit, which says that it was exported.
    """
    from lumina.cli.transferring import export

    raise typer.Exit(export(thread, everything, output, form=form, subject=subject, as_json=as_json))


def import_command(
    file: Annotated[Path, typer.Argument(help="The file; - reads standard input.")],
    origin: Annotated[
        Literal["auto", "lumina", "openai", "chatgpt"],
        typer.Option("--from", help="Who wrote it; auto looks into the file."),
    ] = "auto",
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="What its one conversation is called here.")] = "",
    skip: Annotated[bool, typer.Option("--skip", help="Leave out conversations that are here already.")] = False,
    deltas: Annotated[
        bool, typer.Option("--deltas/--no-deltas", help="Note what changes in turns to come; not of a Lumina export.")
    ] = True,
    subject: Subject = "me",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, report, and write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Read conversations from a file, of Lumina or of another program.

    A Lumina export, OpenAI-style messages, or ChatGPT's conversations.json.

    Nothing that is here is overwritten, and a file with a fault is refused as a whole, with the line and the reason.
    From other programs come questions and answers; source lists hidden in the answers become sources, and the report
    says what was changed, merged or left out. No model is asked.
    """
    from lumina.cli.transferring import import_file

    raise typer.Exit(
        import_file(file, origin, name, skip=skip, deltas=deltas, subject=subject, dry_run=dry_run, as_json=as_json)
    )
