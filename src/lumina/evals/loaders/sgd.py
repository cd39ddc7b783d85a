"""Schema-Guided Dialogue: what a person wants, slot by slot, and how it changes while they talk.

    [{"dialogue_id": "1_00000", "turns": [
        {"speaker": "USER", "utterance": "...", "frames": [{"service": "Restaurants_2",
            "state": {"slot_values": {"date": ["the 8th"]}},
            "actions": [{"slot": "date", "values": ["the 8th"], "canonical_values": ["2019-03-08"]}]}]},
        {"speaker": "SYSTEM", "utterance": "...", "frames": [...]}]}]

A turn is a user's utterance and the system's reply. A slot changes when its values and those before share no spelling:
the gold lists several spellings of one value, and "the 8th" beside "March 8th" is no change of mind. A file of schemas
in the same folder (`schema.json`) is passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lumina.evals.files import DataFile
from lumina.memory.errors import UsageError
from lumina.memory.evidence import folded
from lumina.memory.keys import normal_key


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotChange:
    """A slot got a value in this turn. `spellings`: every way in which the gold writes it, the plain ones last."""

    key: str  # service.slot
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A user's utterance, the system's reply, and what the utterance changed."""

    question: str
    answer: str
    changes: tuple[SlotChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    name: str
    exchanges: tuple[Exchange, ...]


def is_sgd(file: DataFile) -> bool:
    rows = file.content if isinstance(file.content, list) else []
    return bool(rows) and all(isinstance(row, dict) and "dialogue_id" in row and "turns" in row for row in rows)


def is_schema(file: DataFile) -> bool:
    rows = file.content if isinstance(file.content, list) else []
    return bool(rows) and all(isinstance(row, dict) and "service_name" in row for row in rows)


def dialogues(file: DataFile) -> list[Dialogue]:
    """The dialogues of a file. UsageError for one that is not of this shape."""
    found: list[Dialogue] = []
    for row in file.content:
        place = f"{file.name}, dialogue {row['dialogue_id']}"
        try:
            found.append(Dialogue(name=str(row["dialogue_id"]), exchanges=tuple(_exchanges(row["turns"]))))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise UsageError(f"{place} is not of SGD's shape: {error!r} is missing or of another kind.") from None
    return found


def _exchanges(turns: Sequence[Mapping[str, Any]]) -> Iterator[Exchange]:
    standing: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(turns):
        turn = turns[at]
        user = turn["speaker"] == "USER"
        reply = turns[at + 1] if user and at + 1 < len(turns) and turns[at + 1]["speaker"] == "SYSTEM" else None
        question = str(turn["utterance"]) if user else ""
        answer = str(reply["utterance"]) if reply else "" if user else str(turn["utterance"])
        changes = tuple(_changes(turn["frames"], standing)) if user else ()
        yield Exchange(question=question, answer=answer, changes=changes)
        at += 2 if reply else 1


def _changes(frames: Sequence[Mapping[str, Any]], standing: dict[str, tuple[str, ...]]) -> Iterator[SlotChange]:
    """The slots whose value is another one than what stands; `standing` is brought up to date."""
    for frame in frames:
        values: Mapping[str, Sequence[str]] = frame.get("state", {}).get("slot_values", {})
        for slot, spellings in values.items():
            key = normal_key(f"{frame['service']}.{slot}") or ""
            known = standing.get(key, ())
            standing[key] = tuple(dict.fromkeys([*spellings, *known])) if _same(known, spellings) else tuple(spellings)
            if not _same(known, spellings):
                plain = [
                    canonical
                    for action in frame.get("actions", ())
                    if action.get("slot") == slot and set(action.get("values", ())) & set(spellings)
                    for canonical in action.get("canonical_values", ())
                ]
                yield SlotChange(key=key, spellings=tuple(dict.fromkeys([*spellings, *plain])))


def _same(known: Sequence[str], spellings: Sequence[str]) -> bool:
    return not {folded(each) for each in known}.isdisjoint(folded(each) for each in spellings)
