"""The built-in answerer: quotes sources, notes what was plainly said, needs no key and no network.

The names are loaded when they are asked for: `ExtractiveModel` brings a model library with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lumina.adapters.extractive.model import ExtractiveModel
    from lumina.adapters.extractive.notes import ExtractiveNotes

__all__ = ["ExtractiveModel", "ExtractiveNotes"]

HOMES = {"ExtractiveModel": "model", "ExtractiveNotes": "notes"}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"lumina.adapters.extractive has no {name}")
    return getattr(import_module(f"lumina.adapters.extractive.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
