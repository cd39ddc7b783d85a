"""How many tokens a text needs, without the model's tokenizer, and how the budget is shared.

Characters are counted by kind and divided by what a token of that kind holds. The ratios lie below the measured ones
(characters per cl100k token: English 5.2, German 4.0, Arabic 1.3, Japanese 1.1, Chinese 0.84; STACK "tokens"), so that
the count errs towards too many. One factor per model, calibrated from what the provider reports, corrects the rest.
An exact tokenizer can be put in its place: anything with `name` and `count`.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

DEFAULT_BUDGET = 8000  # tokens
MESSAGE_OVERHEAD = 4  # tokens that a chat format spends on each message

# Characters per token.
LATIN, OTHER_ALPHABET, UNSPACED, SIGNS, PICTURES = 3.5, 1.2, 0.8, 1.5, 0.4
LONG_RUN = 24  # characters without a space: longer runs are base64, hex or URLs and count as signs

LATIN_RUN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff \t]+")
SIGN_RUN = re.compile(r"[\x00-\x08\x0a-\x1f!-@\[-`{-\xbf\u2000-\u206f]+")
ALPHABET_RUN = re.compile(r"[\u0250-\u07ff\u1f00-\u1fff\u10a0-\u10ff\u2c00-\u2c5f\ufb50-\ufdff\ufe70-\ufeff]+")
UNSPACED_RUN = re.compile(r"[\u0900-\u109f\u1100-\u1dff\u2070-\u2bff\u2e80-\ufaff\uff00-\uffef]+")
NO_SPACE = re.compile(rf"[^\s\u0250-\U0010ffff]{{{LONG_RUN + 1},}}")


class Counter(Protocol):
    """Counts tokens. `name` goes into the receipt; the same name must count the same."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCounter:
    """Counts by script. `factor` is the model's calibration, within 0.5 to 2."""

    factor: float = 1.0

    @property
    def name(self) -> str:
        return f"by script x {self.factor:g}"

    def count(self, text: str) -> int:
        return math.ceil(_raw(text) * self.factor)


@lru_cache(maxsize=4096)
def _raw(text: str) -> float:
    latin = _length(LATIN_RUN, text)
    signs = _length(SIGN_RUN, text)
    alphabet = _length(ALPHABET_RUN, text)
    unspaced = _length(UNSPACED_RUN, text)
    pictures = len(text) - latin - signs - alphabet - unspaced
    # Letters inside a long run without spaces move from the Latin ratio to the signs'.
    dense = sum(_length(LATIN_RUN, run) for run in NO_SPACE.findall(text))
    return (
        (latin - dense) / LATIN + (signs + dense) / SIGNS + alphabet / OTHER_ALPHABET + unspaced / UNSPACED
        + pictures / PICTURES
    )  # fmt: skip


def _length(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The budget in tokens and the most that state and recall may take of it."""

    total: int

    @property
    def state(self) -> int:
        return self.total // 5

    @property
    def recall(self) -> int:
        return self.total // 4

    @property
    def sources(self) -> int:
        return self.total // 10
