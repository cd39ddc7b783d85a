"""What the tools gave back, read from their JSON text. Anything that is not as agreed reads as a failed search."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from lumina.adapters.extractive.memory_block import Recalled

Outcome = Literal["found", "empty", "failed", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of a source: its number, where it stands, its words. `covers` is 0-1 as the search measured it, and
    `score` ranks (best first), or is `covers` where the tool gives none."""

    source: int
    title: str
    heading: str
    covers: float
    score: float
    text: str
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """How a search ended, and what it found, best first."""

    outcome: Outcome
    passages: tuple[Passage, ...] = ()


def read_results(text: str) -> Results:
    """The answer of web_search, or of open_source, which is one passage."""
    body = _object(text)
    items = body.get("results", [body] if "text" in body else [])
    passages = tuple(passage for item in _list(items) if (passage := _passage(item)) is not None)
    if passages:
        return Results(outcome="found", passages=passages)
    outcome = body.get("outcome")
    if outcome == "empty" or outcome == "refused":
        return Results(outcome=outcome)
    return Results(outcome="empty" if outcome == "found" else "failed")


def read_recollection(text: str) -> tuple[Recalled, ...]:
    """The answer of look_back: passages of earlier turns."""
    return tuple(item for raw in _list(_object(text).get("passages")) if (item := _recalled(raw)) is not None)


def _object(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _passage(item: object) -> Passage | None:
    if not isinstance(item, dict) or type(n := item.get("source")) is not int or n < 1:
        return None
    text, covers = item.get("text"), _share(item.get("covers"))
    if not isinstance(text, str) or not text.strip():
        return None
    return Passage(
        source=n,
        title=_text(item.get("title")),
        heading=_text(item.get("heading")),
        covers=covers,
        score=float(score) if isinstance(score := item.get("score"), int | float) else covers,
        text=text,
        host=_text(item.get("host")),
    )


def _recalled(item: object) -> Recalled | None:
    if not isinstance(item, dict) or type(turn := item.get("turn")) is not int:
        return None
    text = _text(item.get("text"))
    if not text.strip():
        return None
    by: Literal["user", "assistant"] = "user" if item.get("by") == "user" else "assistant"
    replaced = item.get("replaced_at")
    return Recalled(
        turn=turn, day=_text(item.get("day")), by=by, text=text, replaced=replaced if type(replaced) is int else 0
    )


def _share(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
