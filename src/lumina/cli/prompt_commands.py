"""`lumina prompts`: what a model is told to do, and how to replace it.

A prompt is a file. Lumina's own comes with the program; one of the same name in LUMINA_HOME/prompts takes its place
from the next question on. Old turns are shown with what was sent then: receipts keep it.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

prompts = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="answer or note, as `lumina prompts` lists them.")]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")]


@prompts.callback()
def listing(ctx: typer.Context, as_json: Json = False) -> None:
    """What the model is told to do, and your own words in its place.

    A file in LUMINA_HOME/prompts takes the place of Lumina's own. `lumina prompts copy NAME` writes one to begin from;
    remove it to go back. The exit code is 2 when one of yours cannot be used.
    """
    if ctx.invoked_subcommand is None:
        raise typer.Exit(_list(as_json=as_json))


@prompts.command("show")
def show(
    name: Name, lumina: Annotated[bool, typer.Option("--default", help="Lumina's own, not yours.")] = False
) -> None:
    """Print a prompt as it is used: yours if there is one, else Lumina's own."""
    from lumina.agent.prompts import named, own_text
    from lumina.cli.screen import safe

    prompt = named(name)
    text = ("" if lumina else own_text(prompt, _folder())) or prompt.default()
    if sys.stdout.isatty():
        sys.stdout.write(safe(text))
    else:  # byte for byte
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()


@prompts.command("copy")
def copy(name: Name) -> None:
    """Write Lumina's own prompt into your folder, to be edited. A file that is there is left as it is."""
    from lumina.agent.prompts import named
    from lumina.cli.screen import say
    from lumina.memory.errors import UsageError

    prompt = named(name)
    path = _folder() / prompt.file
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(prompt.default())
    except FileExistsError:
        raise UsageError(f"{path} is there already and was left as it is. Edit it, or remove it first.") from None
    say(f"Written: {path}")
    say("It is used from the next question on. Remove it to go back to Lumina's own.")


def _folder() -> Path:
    from lumina.agent.prompts import FOLDER
    from lumina.cli.place import settings

    return settings().home / FOLDER


def _list(*, as_json: bool) -> int:
    from lumina.agent.prompts import ALL, own_text
    from lumina.cli.screen import columns, complain, flat, note, say
    from lumina.memory.errors import UsageError

    folder, rows, broken = _folder(), [], 0
    for prompt in ALL:
        problem = ""
        try:
            own = bool(own_text(prompt, folder))
        except UsageError as error:
            own, problem = True, str(error)
        broken += bool(problem)
        rows.append({"name": prompt.name, "own": own, "path": str(folder / prompt.file) if own else "",
                     "about": prompt.about, "problem": problem})  # fmt: skip
    unused = sorted(path.name for path in folder.glob("*")) if folder.is_dir() else []
    unused = [name for name in unused if name not in {prompt.file for prompt in ALL}]
    if as_json:
        for row in rows:
            say(json.dumps(row))
        return 2 if broken else 0
    for line in columns([(row["name"], "yours" if row["own"] else "Lumina's", row["about"]) for row in rows]):
        say(line)
    for row in rows:
        if row["problem"]:
            complain(row["problem"])
    if unused:
        note(f"Not used, for no prompt has that name: {', '.join(map(flat, unused))} (in {folder})")
    return 2 if broken else 0
