"""Public doubles: what a test puts in the place of a model, a search or a clock.

Everything here is for tests of programs that use Lumina, and Lumina's own tests use nothing else. Names are loaded when
they are asked for, so that a test of the memory alone does not load a model library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lumina.testing.playing import Call, Captured, Gate, PlayedModel, Reply, Thought
    from lumina.testing.scripted import ScriptedModel, ScriptedNotes, ScriptEnded

__all__ = [
    "Call",
    "Captured",
    "Gate",
    "PlayedModel",
    "Reply",
    "ScriptEnded",
    "ScriptedModel",
    "ScriptedNotes",
    "Thought",
]

HOMES = {
    "playing": ("Call", "Captured", "Gate", "PlayedModel", "Reply", "Thought"),
    "scripted": ("ScriptEnded", "ScriptedModel", "ScriptedNotes"),
}


def __getattr__(name: str) -> object:
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"lumina.testing.{home}"), name)
    raise AttributeError(f"lumina.testing has no {name}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
