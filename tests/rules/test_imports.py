"""What may import what, and what an import costs.

The contracts of pyproject.toml are read by import-linter, imports inside functions included. That an optional
dependency is optional is shown by blocking it in a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# What each may load: itself, the standard library, and these with what they need.
PYDANTIC = ["pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"]
BASE = [*PYDANTIC, "sqlalchemy", "greenlet", "alembic", "mako", "markupsafe"]
HEAVY = [
    "pydantic_ai", "openai", "sqlalchemy", "alembic", "aiosqlite", "lxml", "sentencex", "pypdfium2", "markdown_it",
    "rich.markdown", "rich.live", "pydantic_settings", "numpy",
]  # fmt: skip

IMPORT_WITH_THE_REST_BLOCKED = """
import importlib, json, pkgutil, sys

package, allowed = sys.argv[1], set(json.loads(sys.argv[2]))

class Blocked:  # a finder
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in allowed or top == "lumina" or top in sys.stdlib_module_names or top.startswith("_sysconfigdata"):
            return None
        raise ModuleNotFoundError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, Blocked())
module = importlib.import_module(package)
if package != "lumina":  # `lumina` here is the name alone: its other rooms need what the extras bring
    for found in pkgutil.walk_packages(module.__path__, package + "."):
        if ".migrations" not in found.name:  # run by Alembic, inside Alembic
            importlib.import_module(found.name)
"""
LOADED_BY_IMPORT = "import json, sys; import {module}; print(json.dumps(sorted(sys.modules)))"
LOADED_BY_HELP = """
import contextlib, io, json, sys

from lumina.cli.main import run

sys.argv = ["lumina", "--help"]
said = io.StringIO()
with contextlib.redirect_stdout(said):
    try:
        code = run()
    except SystemExit as stop:
        code = stop.code
assert not code, code
assert "ask" in said.getvalue(), said.getvalue()
print(json.dumps(sorted(sys.modules)))
"""


def python(script: str, *arguments: str, root: Path) -> str:
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_import_contracts_hold(root: Path) -> None:
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--no-cache", "--no-logo"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("package", "allowed"), [("lumina.memory", PYDANTIC), ("lumina", PYDANTIC), ("lumina.stores", BASE)]
)
def test_a_package_of_the_base_install_needs_nothing_else(package: str, allowed: list[str], root: Path) -> None:
    python(IMPORT_WITH_THE_REST_BLOCKED, package, json.dumps(allowed), root=root)


@pytest.mark.parametrize("module", ["lumina", "lumina.memory"])
def test_importing_the_library_loads_nothing_heavy(module: str, root: Path) -> None:
    loaded = json.loads(python(LOADED_BY_IMPORT.format(module=module), root=root))
    assert [name for name in HEAVY if name in loaded] == []


def test_help_loads_nothing_heavy(root: Path) -> None:
    loaded = json.loads(python(LOADED_BY_HELP, root=root).splitlines()[-1])
    assert [name for name in HEAVY if name in loaded] == []
