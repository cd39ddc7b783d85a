"""Writes docs/reference from the code: settings, events, errors, public names, what is noted, commands.

    python tools/write_reference.py            writes the pages
    python tools/write_reference.py --check    says which pages are out of date, and writes nothing

Everything that is described here is described where it is defined: a docstring, a field's comment or description.
"""

import argparse
import ast
import inspect
import json
import sys
import textwrap
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
PUBLIC = ("lumina", "lumina.memory", "lumina.stores", "lumina.testing")
WRITTEN = "Written from the code by `make docs`; do not edit it by hand."


def pages() -> dict[str, str]:
    """File name -> text of every page."""
    found = {"settings.md": settings(), "events.md": events(), "errors.md": errors(), "python.md": names()}
    found["noted.md"] = noted()
    if find_spec("lumina.cli.main"):
        found["commands.md"] = commands()
    found["api.md"] = api()
    return {"index.md": index(found)} | found | {"openapi.json": openapi()}


def index(found: dict[str, str]) -> str:
    lines = ["# Reference", "", "What the code says about itself.", ""]
    for name, text in found.items():
        title, idea = text.splitlines()[0].removeprefix("# "), text.split("\n\n")[1].replace("\n", " ")
        lines.append(f"- [{title}]({name}): {idea}")
    return "\n".join([*lines, "", WRITTEN]) + "\n"


def settings() -> str:
    from lumina.settings import FILE, table

    rows = [[f"`{name}`", *told] for name, *told in table()]
    return page(
        "Settings",
        f"What you can set: in the environment, or in `{FILE}` in LUMINA_HOME.",
        f"The environment comes first, then `{FILE}`, then the default. In the file a setting is written without\n"
        '`LUMINA_` and in lower case: `timezone = "Europe/Berlin"`. LUMINA_HOME itself can only be set in the\n'
        "environment. A value that cannot be used, or a key that nobody knows, is refused with what is allowed.",
        grid(["setting", "meaning", "allowed", "default"], rows),
    )


def events() -> str:
    from lumina.agent.events import AnyEvent, Event

    kinds = get_args(get_args(AnyEvent)[0])
    shared = ", ".join(f"`{name}`" for name in Event.model_fields)
    parts = [
        f"Each event is one line of JSON with `kind` and the fields that all share: {shared}.\n"
        "`lumina ask --json` prints them."
    ]
    for kind in kinds:
        comments = comments_of(kind)
        rows = [
            [f"`{name}`", type_name(field.annotation), default_of(field), comments.get(name, "")]
            for name, field in kind.model_fields.items()
            if name != "kind" and name not in Event.model_fields
        ]
        parts += [
            f"## {kind.model_fields['kind'].default}",
            doc(kind),
            grid(["field", "type", "default", "meaning"], rows),
        ]
    return page("Events", "What happens while a turn is answered, one event a line.", *parts)


def errors() -> str:
    """The tree as the module draws it, then what each error says."""
    module = import_module("lumina.memory.errors")
    drawn = inspect.cleandoc(module.__doc__ or "").split("\n\n")[1]
    parts = [
        "Sorted by who must act. A message says what happened, what was kept and what to do next.",
        f"```text\n{textwrap.dedent(drawn)}\n```",
    ]
    for kind in error_kinds():
        parts += [f"## {kind.__name__}", f"A kind of `{kind.__mro__[1].__name__}`, in `{kind.__module__}`.", doc(kind)]
    return page("Errors", "Every error that Lumina raises on purpose.", *parts)


def error_kinds() -> list[type]:
    """All errors of all rooms, those of the tree first. Read from the source, so that only their modules are loaded."""
    package = Path(str(import_module("lumina").__file__)).parent
    known, kinds = {"LuminaError"}, [import_module("lumina.memory.errors").LuminaError]
    files = [package / "memory" / "errors.py", *sorted(package.rglob("*.py"))]
    for path in files:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and known & {ast.unparse(base) for base in node.bases}:
                if node.name not in known:
                    module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
                    kinds.append(getattr(import_module(module), node.name))
                known.add(node.name)
    return kinds


def names() -> str:
    """What may be imported, with the first paragraph of what each says about itself."""
    parts = []
    for package in PUBLIC:
        module = import_module(package)
        parts += [f"## {package}", doc(module)]
        parts.append(grid(["name", "what", "in short"], [[f"`{n}`", kind_of(v), first(v)] for n, v in public(module)]))
    return page("Names", "What a program may import from Lumina; anything else can change without notice.", *parts)


def noted() -> str:
    """The rules of the built-in note taker by what they do, each as its own example says it."""
    rules = import_module("lumina.adapters.extractive.rules")
    groups = (
        ("Facts", "What is said is noted under its key; a new value takes the place of the old one.", rules.FACTS),
        ("Facts taken back", "The key is taken back if it holds that value now.", rules.TAKEN_BACK),
        (
            "Decisions",
            'Noted under the topic, if one is named ("for the database").',
            rules.DECISIONS,
        ),
        ("Problems", "Opened as an issue of the conversation, under the name of the thing.", rules.TROUBLE),
        ("Problems solved", "The issue is closed, if it is the one that is open.", rules.SOLVED),
    )
    whose = {"subject": "the person", "thread": "the conversation"}
    parts = []
    for title, idea, group in groups:
        rows = [[rule.example, f"`{rule.key}`", whose[rule.about]] for rule in group]
        parts += [f"## {title}", idea, grid(["said, for example", "noted under", "about"], rows)]
    return page(
        "What is noted without a language model",
        "What the built-in note taker reads in what you say, each rule by its example.",
        "A rule holds at the start of a sentence or clause that states. What is asked, supposed, quoted or said of\n"
        "others is not noted. `{value}` and `{noun}` stand for words of the sentence. Nothing else is noted; a\n"
        'language model notes more. "Forget my name", "forget where I live" and "it\'s Munich, not Berlin" change\n'
        "what is noted.",
        *parts,
    )


def public(module: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(module, name)) for name in sorted(getattr(module, "__all__", ()))]


def kind_of(value: Any) -> str:
    if inspect.isclass(value):
        return "error" if issubclass(value, Exception) else "class"
    return "function" if callable(value) else "value"


def first(value: Any) -> str:
    if get_origin(value) is not None or not callable(value):
        return type_name(value if get_origin(value) else type(value))
    return doc(value).split("\n\n")[0].replace("\n", " ")


def commands() -> str:
    """The help of `lumina` and of each command, from the same objects that print it."""
    import typer

    app = import_module("lumina.cli.main").app
    top = typer.main.get_command(app)
    parts = []
    for name, command in walk("lumina", top):
        parts.append(f"## {name}")
        parts.append(inspect.cleandoc(command.help or ""))
        rows = []
        for parameter in command.params:
            option = parameter.param_type_name == "option"
            usage = ", ".join(parameter.opts) if option else (parameter.name or "").upper()
            usage += f" {parameter.metavar}" if option and parameter.metavar else ""
            rows.append([f"`{usage}`", " ".join((getattr(parameter, "help", "") or "").split())])
        parts.append(grid(["argument or option", "meaning"], rows))
    return page("Commands", "What `lumina` can be told to do.", *parts)


def api() -> str:
    from lumina.server.app import description

    rows = [
        [f"`{method.upper()} {path}`", " ".join((route.get("description") or route["summary"]).split())]
        for path, methods in description()["paths"].items()
        for method, route in methods.items()
    ]
    return page(
        "HTTP API",
        "What `lumina serve` answers.",
        "[openapi.json](openapi.json) has every parameter and every field. What changes something is sent as JSON.\n"
        'Errors have one shape: `{"error": {"code": "not_found", "message": "..."}}`.',
        grid(["request", "what it does"], rows),
    )


def openapi() -> str:
    from lumina.server.app import description

    return json.dumps(description(), indent=1, ensure_ascii=False) + "\n"


def walk(name: str, command: Any) -> list[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    found = [(name, command)]
    for part in sorted(below):
        if not below[part].hidden:
            found += walk(f"{name} {part}", below[part])
    return found


# Pieces


def page(title: str, idea: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", idea, *(part for part in parts if part), WRITTEN]) + "\n"


def grid(head: list[str], rows: list[list[str]]) -> str:
    """A table; a column that says nothing is left out, and so is a table without rows."""
    if not rows:
        return ""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows)]
    lines = [[head[at] for at in kept], ["---"] * len(kept)]
    lines += [[row[at].replace("|", "\\|") for at in kept] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def doc(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def comments_of(kind: type) -> dict[str, str]:
    """The comment beside each field, which is where the code explains it."""
    found = {}
    for line in inspect.getsource(kind).splitlines():
        declared, _, comment = line.partition("  # ")
        name, colon, _ = declared.strip().partition(":")
        if colon and comment and name.isidentifier():
            found[name] = comment.strip()
    return found


def default_of(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return "empty" if value in ("", (), {}, []) else f"`{value}`"


def type_name(annotation: Any) -> str:
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inside)
    if origin in (Union, UnionType):
        return " or ".join(type_name(part) for part in inside)
    if origin is tuple:
        return f"list of {type_name(inside[0])}" if inside[-1] is Ellipsis else f"[{', '.join(map(type_name, inside))}]"
    if origin is dict:
        return f"{type_name(inside[0])} to {type_name(inside[1])}"
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "nothing"}
    return plain.get(annotation, getattr(annotation, "__name__", str(annotation)))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args().check
    wanted = pages()
    stale = [name for name, text in wanted.items() if not is_current(REFERENCE / name, text)]
    stale += [path.name for path in sorted(REFERENCE.glob("*.*")) if path.name not in wanted]
    if check:
        print("\n".join(f"docs/reference/{name} is out of date: run `make docs`" for name in stale))
        return 1 if stale else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name in stale:
        path = REFERENCE / name
        path.write_text(wanted[name], encoding="utf-8") if name in wanted else path.unlink()
        print(f"docs/reference/{name}")
    return 0


def is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
