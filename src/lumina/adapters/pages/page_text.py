"""What reading a page gives: its text, or the reason why there is none."""

from dataclasses import dataclass

LONGEST_TEXT = 400_000  # characters that are kept of a page; the longest articles have about as many
LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """`title` may be empty; `text` is not."""

    title: str
    text: str


class NotText(Exception):
    """There is no text to be had of it; says why, for a person."""
