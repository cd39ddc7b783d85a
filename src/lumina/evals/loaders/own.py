"""Conversations of your own, with questions and the messages that answer them: JSON Lines, one conversation a line.

    {"id": "ticket-17",
     "messages": [{"id": "m1", "role": "user", "text": "My router is an XR-5.", "day": "2026-03-05"},
                  {"id": "m2", "role": "assistant", "text": "Noted."}],
     "questions": [{"question": "Which router do I have?", "evidence": ["m1"]},
                   {"question": "...", "evidence": [{"id": "m2", "quote": "the words that are needed"}]}]}

`role` is user or assistant; where two people talk, give `speaker` in its place (two names). `day` (ISO 8601) holds
until the next one. An evidence is a message's id (all of it is needed), or id and quote (those words are).
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from lumina.evals.files import DataFile
from lumina.evals.talks import Asked, Gold, Spoken, Talk, lines_of, usable
from lumina.memory.errors import UsageError

UNDATED = "2000-01-01"


def is_own(file: DataFile) -> bool:
    rows = file.content if isinstance(file.content, list) else []
    return bool(rows) and all(isinstance(row, dict) and "messages" in row for row in rows)


def talks(file: DataFile) -> list[Talk]:
    """The conversations of a file. UsageError that names the line and what is wrong with it."""
    return [_talk(row, f"{file.name}, conversation {at}") for at, row in enumerate(file.content, 1)]


def _talk(row: Mapping[str, Any], place: str) -> Talk:
    messages = row["messages"]
    if not isinstance(messages, list) or not all(isinstance(each, Mapping) for each in messages):
        raise UsageError(f"{place}: `messages` is not a list of objects.")
    names = list(dict.fromkeys(str(each["speaker"]) for each in messages if "speaker" in each))
    if names and len(names) != 2:
        raise UsageError(f"{place} has {len(names)} speakers; give two, or roles user and assistant.")
    lines = lines_of(_spoken(messages, names, place))
    if not lines:
        raise UsageError(f"{place} holds no message.")
    questions = [_asked(each, f"{place}, question {at}") for at, each in enumerate(row.get("questions") or (), 1)]
    asked, passed_over = usable(questions, lines)
    user, assistant = names or ("", "")
    return Talk(
        name=str(row.get("id") or place), lines=lines, asked=asked, user=user, assistant=assistant,
        passed_over=passed_over,
    )  # fmt: skip


def _spoken(messages: list[Mapping[str, Any]], names: list[str], place: str) -> Iterator[Spoken]:
    day = UNDATED
    for at, message in enumerate(messages, 1):
        where = f"{place}, message {at}"
        speaker = str(message.get("speaker" if names else "role") or "")
        if speaker not in (names or ("user", "assistant")):
            raise UsageError(f"{where}: its {'speaker' if names else 'role'} is {speaker[:40]!r}.")
        text = message.get("text")
        if not isinstance(text, str):
            raise UsageError(f"{where}: `text` is missing or not text.")
        day = _day(message.get("day") or day, where)
        yield Spoken(
            id=str(message.get("id") or at), speaker=speaker, asks=speaker == (names[0] if names else "user"),
            day=day, text=text.replace("\0", " "),
        )  # fmt: skip


def _asked(row: Any, place: str) -> Asked:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str):
        raise UsageError(f"{place}: `question` is missing or not text.")
    evidence = row.get("evidence") or ()
    if not isinstance(evidence, list | tuple):
        raise UsageError(f"{place}: `evidence` is not a list.")
    return Asked(
        question=row["question"],
        evidence=tuple(
            Gold(id=str(each.get("id")), quote=str(each.get("quote") or ""))
            if isinstance(each, Mapping)
            else Gold(id=str(each))
            for each in evidence
        ),
        category=str(row.get("category", "")),
    )


def _day(written: object, place: str) -> str:
    try:
        return date.fromisoformat(str(written)[:10]).isoformat()
    except ValueError:
        raise UsageError(f"{place}: its day {str(written)[:40]!r} is not one such as 2026-03-05.") from None
