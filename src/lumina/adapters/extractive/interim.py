from collections.abc import Sequence
from typing import Literal

from lumina.memory.words import content_words


def pointing_phrase(question: str) -> str:
    folded = " ".join(question.lower().split())
    for sign in ("earlier", "did you say", "you said", "did i say", "last time", "did we say", "you told"):
        if sign in folded:
            return sign
    return ""


def follow_up_query(question: str, before: Sequence[str]) -> str:
    words = content_words(question)
    starts = question.lower().startswith(("and ", "what about", "how about", "but "))
    if before and (starts or len(words) <= 1):
        return f"{question} {' '.join(content_words(before[-1]))}"
    return question


def evidence(covers: Sequence[float]) -> Literal["direct", "several", "thin"]:
    if not covers or max(covers) < 0.9:
        return "thin"
    rest = sorted(covers, reverse=True)
    return "direct" if len(rest) == 1 or rest[0] - rest[1] >= 0.1 else "several"
