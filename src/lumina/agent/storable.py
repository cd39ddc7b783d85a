"""Text from outside, made fit to be kept: no store keeps NUL or half of a surrogate pair.

What a model asks for is kept too, and sent to it again in the next call of the turn. It may be the words of a page, so
its texts pass through `clean` like everything else that goes back, and names are names.
"""

import json
import re

from lumina.memory.visible_text import clean

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NO_NAME = re.compile("[^A-Za-z0-9_.:-]")
LONGEST_NAME = 64  # characters; what the vendors' interfaces take


def storable(text: str) -> str:
    """`text` with the replacement character for what no store keeps."""
    return UNSTORABLE.sub("\ufffd", text)


def plain_name(text: str) -> str:
    """A tool's name or a call's id as a model wrote it, without what no interface would take back."""
    return NO_NAME.sub("_", text[:LONGEST_NAME])


def inert_json(text: str) -> str:
    """JSON as a model wrote it, every text in it cleaned; what is no JSON is cleaned as it stands. Arguments in which
    nothing had to be cleaned stay as they were, to the byte."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return clean(text)
    cleaned = _cleaned(value)
    return text if cleaned == value and clean(text) == text else json.dumps(cleaned, ensure_ascii=False)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, dict):
        return {clean(str(name)): _cleaned(each) for name, each in value.items()}
    return value
