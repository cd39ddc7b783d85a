from collections.abc import Sequence

from lumina.adapters.extractive.memory_block import Memory, Recalled
from lumina.adapters.extractive.phrases import Language


def from_memory(question: str, memory: Memory, language: Language) -> str:
    return ""


def from_window(question: str, answers: Sequence[str], memory: Memory, language: Language) -> str:
    return ""


def from_recall(question: str, recalled: Sequence[Recalled], citable: frozenset[int], language: Language) -> str:
    return ""
