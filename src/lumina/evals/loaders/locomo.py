"""LoCoMo and the sets of its shape (REALTALK): long conversations of two people with questions and gold messages.

    [{"conversation": {"speaker_a": "Ann", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023",
                       "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "...", "blip_caption": "..."}]},
      "qa": [{"question": "...", "evidence": ["D1:1"], "category": 4}]}]

Sessions may stand beside `qa` instead of under `conversation`; a message may have `clean_text`, which is then taken.
A photo counts as words: its caption in brackets. Evidence strings are read by `D:?(\\d+):(\\d+)`, so that "D8:6; D9:17"
names two messages and "D:11:26" one. Questions of category 5 (adversarial) have no answer and are left out.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from lumina.evals.files import DataFile
from lumina.evals.talks import Asked, Gold, Spoken, Talk, lines_of, usable
from lumina.memory.errors import UsageError

EVIDENCE = re.compile(r"D:?(\d{1,6}):(\d{1,6})")
ADVERSARIAL = "5"
MOST_SESSIONS = 1000
FORMATS = ("%d %B, %Y", "%d %B %Y", "%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d", "%Y/%m/%d", "%B %d, %Y")
UNDATED = date(2000, 1, 1)


def is_locomo(file: DataFile) -> bool:
    samples = _samples(file.content)
    return bool(samples) and all(isinstance(each, dict) and "qa" in each for each in samples)


def talks(file: DataFile) -> list[Talk]:
    """The conversations of a file. UsageError for one that is not of this shape."""
    return [_talk(sample, f"{file.name} #{at}") for at, sample in enumerate(_samples(file.content), 1)]


def _samples(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if isinstance(content, dict) else []


def _talk(sample: Mapping[str, Any], place: str) -> Talk:
    conversation = sample.get("conversation", sample)
    if not isinstance(conversation, Mapping):
        raise UsageError(f"{place}: `conversation` is not an object with sessions.")
    try:
        first, second = _speakers(conversation, place)
        lines = lines_of(_spoken(conversation, first))
        questions = [_asked(qa) for qa in sample["qa"] if str(qa.get("category", "")) != ADVERSARIAL]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{place} is not of LoCoMo's shape: {error!r} is missing or of another kind.") from None
    if not lines:
        raise UsageError(f"{place} holds no message.")
    asked, passed_over = usable(questions, lines)
    return Talk(
        name=str(sample.get("sample_id") or place), lines=lines, asked=asked, user=first, assistant=second,
        passed_over=passed_over,
    )  # fmt: skip


def _speakers(conversation: Mapping[str, Any], place: str) -> tuple[str, str]:
    names = conversation.get("name")
    if "speaker_a" in conversation:
        return str(conversation["speaker_a"]), str(conversation["speaker_b"])
    if isinstance(names, Mapping) and len(names) >= 2:
        first, second = list(names.values())[:2]
        return str(first), str(second)
    seen = dict.fromkeys(str(line["speaker"]) for _, line in _lines(conversation))
    if len(seen) != 2:
        raise UsageError(f"{place} has {len(seen)} speakers; a conversation of two is wanted.")
    first, second = seen
    return first, second


def _lines(conversation: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number in range(1, MOST_SESSIONS):
        for line in conversation.get(f"session_{number}") or ():
            yield number, line


def _spoken(conversation: Mapping[str, Any], first: str) -> Iterator[Spoken]:
    for session, line in _lines(conversation):
        day = _day(conversation.get(f"session_{session}_date_time") or line.get("date_time") or "", session)
        caption = f" [photo: {line['blip_caption']}]" if line.get("blip_caption") else ""
        text = str(line.get("clean_text") or line.get("text") or "") + caption
        speaker = str(line["speaker"])
        yield Spoken(
            id=str(line["dia_id"]), speaker=speaker, asks=speaker == first, day=day, text=text.replace("\0", " "),
            session=session,
        )  # fmt: skip


def _asked(qa: Mapping[str, Any]) -> Asked:
    ids = dict.fromkeys(f"D{s}:{t}" for each in qa.get("evidence") or () for s, t in EVIDENCE.findall(str(each)))
    return Asked(
        question=str(qa["question"]), evidence=tuple(Gold(id=id) for id in ids), category=str(qa.get("category", ""))
    )


def _day(written: str, session: int) -> str:
    """The ISO day in a session's date; a day of its own for each session that has none."""
    for part in (written.split(" on ")[-1], written.split(",")[0], written.split(" ")[0], written.split("T")[0]):
        for form in FORMATS:
            try:
                return datetime.strptime(part.strip(), form).date().isoformat()
            except ValueError:
                continue
    return (UNDATED + timedelta(days=session)).isoformat()
