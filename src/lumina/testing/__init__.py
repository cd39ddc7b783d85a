"""Public doubles: what a test puts in the place of a model, a note taker, a search or a clock.

    ScriptedModel, ScriptedNotes   say what the test tells them to, and keep what they were sent
    ObeyingModel, ObeyingNotes     do whatever any text in their input tells them to
    CopyingModel                   copies every citation that it can see
    RecordedSearch, page           a search that plays given results
    FixedClock                     a clock that stands still
    HashedWords                    an embedder without a model
    PlayedModel, Reply, Call, Thought, Gate, Captured    what the models are made of, for doubles of your own

Names are loaded when they are asked for, so that a test of the memory alone does not load a model library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lumina.testing.clock import FixedClock
    from lumina.testing.copying import CopyingModel
    from lumina.testing.embedding import HashedWords
    from lumina.testing.gates import Gate
    from lumina.testing.obeying import ObeyingModel, ObeyingNotes
    from lumina.testing.playing import Call, Captured, PlayedModel, Reply, Thought
    from lumina.testing.scripted import ScriptedModel, ScriptedNotes, ScriptEnded
    from lumina.testing.search import RecordedSearch, page

__all__ = [
    "Call",
    "Captured",
    "CopyingModel",
    "FixedClock",
    "Gate",
    "HashedWords",
    "ObeyingModel",
    "ObeyingNotes",
    "PlayedModel",
    "RecordedSearch",
    "Reply",
    "ScriptEnded",
    "ScriptedModel",
    "ScriptedNotes",
    "Thought",
    "page",
]

_HOMES = {
    "clock": ("FixedClock",),
    "copying": ("CopyingModel",),
    "embedding": ("HashedWords",),
    "gates": ("Gate",),
    "obeying": ("ObeyingModel", "ObeyingNotes"),
    "playing": ("Call", "Captured", "PlayedModel", "Reply", "Thought"),
    "scripted": ("ScriptEnded", "ScriptedModel", "ScriptedNotes"),
    "search": ("RecordedSearch", "page"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"lumina.testing.{home}"), name)
    raise AttributeError(f"lumina.testing has no {name}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
