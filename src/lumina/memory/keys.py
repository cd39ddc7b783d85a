"""What a key is, and when two keys are nearly the same.

A key is a dotted lower-case path: `account.status`, `home.city`. A fact is overwritten only if it comes back under
its own key, so a new key that nearly equals an existing one is worth a question before it is believed.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from lumina.memory.words import forms

MAX_KEY = 100  # code points
KEY = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")


def is_key(key: str) -> bool:
    return len(key) <= MAX_KEY and KEY.fullmatch(key) is not None


def normal_key(written: str) -> str | None:
    """`written` as a key where its meaning is plain (case, spaces and hyphens), or None if it is no key."""
    if len(written) > 2 * MAX_KEY:
        return None
    parts = ["_".join(part.replace("-", " ").split()) for part in written.lower().split(".")]
    key = ".".join(parts)
    return key if is_key(key) else None


def near_key(key: str, existing: Iterable[str]) -> str | None:
    """The first of `existing`, in the order of the alphabet, that `key` nearly equals; None if it is there itself.

    Nearly equal: the same letters with other dots and underscores; the same words, stemmed, in any order; one path
    is the end of the other (`city`, `home.city`); one letter more, less or other in a part of five letters or more.
    """
    known = sorted(set(existing))
    return None if key in known else next((other for other in known if _near(key, other)), None)


def _near(one: str, other: str) -> bool:
    if _letters(one) == _letters(other) or _words(one) == _words(other):
        return True
    if one.endswith("." + other) or other.endswith("." + one):
        return True
    mine, theirs = one.split("."), other.split(".")
    if len(mine) != len(theirs):
        return False
    unlike = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
    return len(unlike) == 1 and min(map(len, unlike[0])) >= 5 and _one_letter_apart(*unlike[0])


@lru_cache(maxsize=16384)
def _words(key: str) -> list[str]:
    return sorted(forms(key))


def _letters(key: str) -> str:
    return key.replace(".", "").replace("_", "")


def _one_letter_apart(one: str, other: str) -> bool:
    """Digits are no slips of the pen: option1 and option2 are two options."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    at = next((place for place, letter in enumerate(one) if letter != other[place]), len(one))
    if other[at].isdigit() or (len(one) == len(other) and one[at].isdigit()):
        return False
    return one[at + (len(one) == len(other)) :] == other[at + 1 :]
