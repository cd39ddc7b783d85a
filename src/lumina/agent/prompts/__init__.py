"""The questions that are put to a model, each in a file beside the code that reads the answer.

`answer.md` is the system message of every answer; what comes back is text with citations (`lumina.agent.citations`).
The delta step's question stands beside the type it is answered with (`lumina.memory.note`).
"""

from functools import cache
from importlib.resources import files


def instructions(day: str) -> str:
    """The system message on `day` (ISO 8601, in the asker's zone): the same bytes all day long."""
    return _text("answer.md").replace("{day}", day)


@cache
def _text(name: str) -> str:
    return files("lumina.agent.prompts").joinpath(name).read_text(encoding="utf-8").strip()
