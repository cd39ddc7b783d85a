"""What changed this turn: the delta, as a model or a person writes it and as code accepts it."""

from dataclasses import dataclass

from lumina.memory.turns import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaRequest:
    """The question that the delta step puts to a model about one turn.

    `messages` is what a language model is sent; the other fields are the same material for code that needs no prose.
    `previous_answer` is the answer of the turn before (a confirmation quotes the offer in it). `keys` are the current
    keys with their values; a delta must reuse them. `read_sources` says whether this turn read any.
    """

    seq: int
    attempt: int
    question: str
    answer: str
    previous_answer: str
    keys: dict[str, str]
    read_sources: bool
    title_wanted: bool
    messages: tuple[Message, ...]
