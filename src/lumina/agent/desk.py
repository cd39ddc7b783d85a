"""What turns are answered with: the same for every turn of an agent, chosen once by `lumina.wiring`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lumina.agent.ports import NoteTaker, SearchProvider
from lumina.agent.prompts import Prompts
from lumina.agent.turn_log import Bell
from lumina.memory.budget import Calibration
from lumina.memory.embedding import Embedder
from lumina.memory.store import Store

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a turn ends by itself. Times are in seconds; none of them is a clock's."""

    model_calls: int = 6
    tool_calls: int = 8
    look_backs: int = 2
    turn: float = 180  # from the context to the last word of the answer
    silence: float = 60  # until the model's first piece, and between two of its pieces
    one_search: float = 20
    answer: int = 100_000  # characters
    thinking: int = 400_000  # characters
    one_note: float = 60  # one try of the delta step
    note_pause: float = 1  # before the next try; doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """`notice` is said beside every answer, never in it ("Quoted from your documents; no model is set")."""

    store: Store
    model: "Model"
    search: SearchProvider
    notes: NoteTaker
    notice: str = ""
    limits: Limits = field(default_factory=Limits)
    bell: Bell = field(default_factory=Bell)
    calibration: Calibration = field(default_factory=Calibration)  # of the model's tokens, while the agent is open
    embedder: Embedder | None = None
    prompts: Prompts = field(default_factory=Prompts)
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()  # what is closed with the agent, such as its doors
