"""`__all__` of a public package equals what is visible in it, each name says what it is, and docs/reference pins it."""

import ast
import types
from importlib import import_module
from pathlib import Path

import pytest

PUBLIC = ["lumina", "lumina.memory", "lumina.stores", "lumina.testing"]


def tools(module: types.ModuleType) -> set[str]:
    """Names that the package imports from outside Lumina for its own use."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("lumina")
        ):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("package", PUBLIC)
def test_all_equals_what_is_visible(package: str) -> None:
    module = import_module(package)
    bound = {name for name, value in vars(module).items() if not isinstance(value, types.ModuleType)}
    visible = {name for name in bound if not name.startswith("_")} - tools(module)
    listed = set(getattr(module, "__all__", ()))
    assert visible <= listed, f"visible, not in __all__: {sorted(visible - listed)}"
    for name in listed:  # a lazy one is made on the first look
        getattr(module, name)


@pytest.mark.parametrize("package", PUBLIC)
def test_a_name_that_is_listed_is_listed_once_and_shown_by_dir(package: str) -> None:
    module = import_module(package)
    listed = list(getattr(module, "__all__", ()))
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) <= set(dir(module))


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_class_and_function_says_what_it_is(package: str) -> None:
    module = import_module(package)
    silent = [
        name
        for name in getattr(module, "__all__", ())
        if isinstance(value := getattr(module, name), type | types.FunctionType) and not (value.__doc__ or "").strip()
    ]
    assert silent == []
