"""What may stand in a field of an export: text that every database keeps, ids, days, times, digests, JSON, counts.

Each type raises ValueError with the reason and without the data.
"""

import json
import re
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from lumina.memory.errors import UsageError
from lumina.memory.scope import check_id

MOST = 2**53  # no count or offset is larger
DEEPEST = 60  # levels of JSON inside a field
SHA256 = re.compile(r"[0-9a-f]{64}")


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"holds the character U+0000 at character {text.index(chr(0))}")
    return text


def _id(text: str) -> str:
    try:
        return check_id("it", text)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _id_or_nothing(text: str) -> str:
    return _id(text) if text else text


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("is not a day such as 2026-11-30")
    return text


def _day_or_nothing(text: str) -> str:
    return _day(text) if text else text


def _time(text: str) -> str:
    when = datetime.fromisoformat(text)
    if when.tzinfo is None or when.astimezone(UTC).isoformat() != text:
        raise ValueError("is not a time in UTC such as 2026-11-30T12:00:00+00:00")
    return text


def _time_or_nothing(text: str) -> str:
    return _time(text) if text else text


def _digest(text: str) -> str:
    if not SHA256.fullmatch(text):
        raise ValueError("is not a SHA-256 in hexadecimal")
    return text


def _json_object(text: str) -> str:
    _storable(text)
    try:
        value = json.loads(text, parse_int=_small, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({str(error)[:80]})") from None
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")
    if not _shallow(value):
        raise ValueError(f"is JSON of more than {DEEPEST} levels")
    return text


def _small(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > MOST:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _shallow(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return True
    return False


Text = Annotated[str, AfterValidator(_storable)]
Id = Annotated[str, AfterValidator(_id)]
MaybeId = Annotated[str, AfterValidator(_id_or_nothing)]
Day = Annotated[str, AfterValidator(_day)]
MaybeDay = Annotated[str, AfterValidator(_day_or_nothing)]
Time = Annotated[str, AfterValidator(_time)]
MaybeTime = Annotated[str, AfterValidator(_time_or_nothing)]
Digest = Annotated[str, AfterValidator(_digest)]
JsonObject = Annotated[str, AfterValidator(_json_object)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Number = Annotated[int, Field(ge=1, le=MOST)]
Span = tuple[Count, Count]
