"""What values a slot had in the course of a dialogue, and whether words that hold an old one speak of the slot."""

from collections.abc import Sequence
from dataclasses import dataclass

from lumina.evals.loaders.sgd import Dialogue, SlotChange
from lumina.memory.evidence import folded
from lumina.memory.words import content_words

TELLING = 3  # characters of a value that says by itself what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A slot's life in a dialogue: its values in order, each with its turn (from 1)."""

    key: str
    values: tuple[tuple[int, SlotChange], ...]

    @property
    def words(self) -> str:
        return self.key.rpartition(".")[2].replace("_", " ")

    @property
    def now(self) -> SlotChange:
        return self.values[-1][1]

    @property
    def old(self) -> list[tuple[int, str]]:
        """(turn, spelling) of every value that was replaced and is not what holds now."""
        current = {folded(each) for each in self.now.spellings}
        return [
            (seq, spelling)
            for seq, change in self.values[:-1]
            for spelling in change.spellings
            if folded(spelling) not in current
        ]


def slots_of(dialogue: Dialogue) -> list[Slot]:
    """Every slot that got a value, in the order of its first."""
    lives: dict[str, list[tuple[int, SlotChange]]] = {}
    for seq, exchange in enumerate(dialogue.exchanges, 1):
        for change in exchange.changes:
            lives.setdefault(change.key, []).append((seq, change))
    return [Slot(key=key, values=tuple(values)) for key, values in lives.items()]


def is_of(slot: Slot, old: Sequence[str], slots: Sequence[Slot], text: str) -> bool:
    """Whether an old value in `text` is the slot's: it says by itself what it is, or a word of the slot's name stands
    in the passage too. What holds under another slot now, or has fewer than three characters, does not say it."""
    now = {folded(each) for other in slots if other is not slot for each in other.now.spellings}
    if any(len(value) >= TELLING and folded(value) not in now for value in old):
        return True
    return not set(content_words(slot.words)).isdisjoint(content_words(text))
