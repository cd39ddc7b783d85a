"""Text from outside, made fit to be kept: no store keeps NUL or half of a surrogate pair."""

import re

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with the replacement character for what no store keeps."""
    return UNSTORABLE.sub("\ufffd", text)
