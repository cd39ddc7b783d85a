"""CAsT, iKAT and TopiOCQA: conversations of somebody who searches, with each follow-up as a person resolved it.

    CAsT 2019-2021  [{"number": 31, "turn": [{"number": 1, "raw_utterance": "...", "manual_rewritten_utterance": "...",
                      "passage": "the answer"}]}]; 2019's rewritten questions are a file of their own, lines of
                      "31_2<tab>Is throat cancer treatable?"
    iKAT            [{"number": "9-1", "ptkb": {"1": "I'm vegetarian."}, "turns": [{"turn_id": 1, "utterance": "...",
                      "resolved_utterance": "...", "response": "...", "ptkb_provenance": [1]}]}]
    TopiOCQA        [{"Conversation_no": 1, "Turn_no": 1, "Question": "...", "Answer": "...", "Topic": "..."}]

Years differ: an answer or a resolved question can be missing, and is then "". Of CAsT 2020's two files, which hold the
same conversations, the one read last counts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lumina.evals.files import DataFile
from lumina.memory.errors import UsageError

Kind = Literal["CAsT", "iKAT", "TopiOCQA"]
RESOLVED_LINE = re.compile(r"(\d{1,6})_(\d{1,4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTurn:
    """`resolved` is the question as a person wrote it out; `statements` are the numbers of the profile's statements
    that it needs; `topic` what it is about (TopiOCQA)."""

    question: str
    resolved: str = ""
    answer: str = ""
    statements: tuple[str, ...] = ()
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One conversation. `profile`: the person's statements by number (iKAT)."""

    name: str
    kind: Kind
    turns: tuple[TopicTurn, ...]
    profile: Mapping[str, str]


def topics(files: Iterable[DataFile]) -> list[Topic]:
    """Every conversation in `files`, those of CAsT 2019 with the resolved questions that stand in a file of their own.
    UsageError for a file of another kind."""
    found: dict[str, Topic] = {}
    resolved: dict[tuple[str, int], str] = {}
    for file in files:
        if _is_resolved(file):
            for row in file.content:
                match = RESOLVED_LINE.fullmatch(row[0].strip())
                if match is not None:
                    resolved[match[1], int(match[2])] = row[1].strip()
            continue
        for topic in _topics(file):
            found[topic.name] = topic
    return [_with_resolved(topic, resolved) for topic in found.values()]


def _topics(file: DataFile) -> list[Topic]:
    rows = file.content if isinstance(file.content, list) else []
    try:
        if rows and all(isinstance(row, dict) for row in rows):
            if "ptkb" in rows[0]:
                return [_ikat(row, file) for row in rows]
            if "turn" in rows[0]:
                return [_cast(row) for row in rows]
            if "Conversation_no" in rows[0]:
                return _topiocqa(rows, file)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{file.path} is not as it should be: {error!r} is missing or of another kind.") from None
    raise UsageError(
        f"{file.path} is none of CAsT (objects with `turn`), iKAT (`ptkb`), TopiOCQA (`Conversation_no`) and CAsT "
        "2019's resolved questions (31_2<tab>question)."
    )


def _is_resolved(file: DataFile) -> bool:
    return file.kind == "tsv" and bool(file.content) and RESOLVED_LINE.fullmatch(file.content[0][0].strip()) is not None


def _cast(row: Mapping[str, Any]) -> Topic:
    turns = tuple(
        TopicTurn(
            question=str(turn["raw_utterance"]).strip(),
            resolved=str(turn.get("manual_rewritten_utterance") or "").strip(),
            answer=str(turn.get("passage") or "").strip(),
        )
        for turn in row["turn"]
    )
    return Topic(name=f"CAsT {row['number']}", kind="CAsT", turns=turns, profile={})


def _ikat(row: Mapping[str, Any], file: DataFile) -> Topic:
    turns = tuple(
        TopicTurn(
            question=str(turn["utterance"]).strip(),
            resolved=str(turn.get("resolved_utterance") or "").strip(),
            answer=str(turn.get("response") or "").strip(),
            statements=tuple(str(number) for number in turn.get("ptkb_provenance") or ()),
        )
        for turn in row.get("turns") or row["responses"]
    )
    profile = {str(number): str(said) for number, said in row["ptkb"].items()}
    return Topic(name=f"iKAT {file.name} {row['number']}", kind="iKAT", turns=turns, profile=profile)


def _topiocqa(rows: Sequence[Mapping[str, Any]], file: DataFile) -> list[Topic]:
    by_number: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_number[int(row["Conversation_no"])].append(row)
    return [
        Topic(
            name=f"TopiOCQA {file.name} {number}",
            kind="TopiOCQA",
            turns=tuple(
                TopicTurn(question=str(row["Question"]), answer=str(row["Answer"]), topic=str(row["Topic"]))
                for row in sorted(said, key=lambda row: int(row["Turn_no"]))
            ),
            profile={},
        )
        for number, said in by_number.items()
    ]


def _with_resolved(topic: Topic, resolved: Mapping[tuple[str, int], str]) -> Topic:
    if topic.kind != "CAsT" or all(turn.resolved for turn in topic.turns):
        return topic
    number = topic.name.removeprefix("CAsT ")
    turns = (
        replace(turn, resolved=turn.resolved or resolved.get((number, at), ""))
        for at, turn in enumerate(topic.turns, 1)
    )
    return replace(topic, turns=tuple(turns))
