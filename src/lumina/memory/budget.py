"""How many tokens a text needs, without the model's tokenizer, and how the budget is shared.

Characters are counted by script and divided by what a token of that script holds at least: the ratios were set on
prose in 33 languages, on code, data and noise against cl100k, so that the count errs towards too many
(benchmarks/token_count.py; docs/why/budget.md has the table). One factor per model, calibrated from what the provider
reports, corrects the rest. An exact tokenizer can be put in its place: anything with `name` and `count`.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

DEFAULT_BUDGET = 8000  # tokens
MESSAGE_OVERHEAD = 4  # tokens that a chat format spends on each message

LEAST_FACTOR, MOST_FACTOR = 0.5, 2.0
BY_SCRIPT = "by script x "  # how the counter's name begins; its factor follows
WORTH_LEARNING = 200  # tokens; what a chat format adds weighs too much in shorter texts

LONG_RUN = 24  # characters without a space: longer runs are base64, hex or URLs and count as signs
SIGNS = 1.5  # characters per token of digits, punctuation and what stands in long runs
LATIN = 3.5
BLANKS = 8.0  # of the second and later spaces in a row: indentation costs little
RATIOS: tuple[tuple[float, str], ...] = (
    (SIGNS, r"\x00-\x08\x0a-\x1f!-@\[-`{-\xbf\u2000-\u206f"),
    (0.7, r"\u00c0-\u02ff\u1e00-\u1eff"),  # letters with accents
    (1.4, r"\u0400-\u052f"),  # Cyrillic
    (1.2, r"\u0600-\u07ff\ufb50-\ufdff\ufe70-\ufeff"),  # Arabic
    (1.0, r"\u0300-\u03ff\u0590-\u05ff\u1f00-\u1fff"),  # Greek, Hebrew, combining marks
    (0.8, r"\u0900-\u09ff\u0e00-\u0e7f\u2e80-\ufaff\uff00-\uffef"),  # Hindi, Bengali, Thai; Chinese, Japanese, Korean
    (0.5, r"\u0530-\u058f\u0a00-\u0dff\u10a0-\u10ff"),  # Armenian, Georgian, the south of India
)
REST = 0.4  # all others, pictures among them: up to three tokens a character
LATIN_RUN = re.compile(r"[A-Za-z \t]+")
BLANK_RUN = re.compile(r"(?<=[ \t])[ \t]+")
RUNS = tuple((ratio, re.compile(f"[{letters}]+")) for ratio, letters in RATIOS)
NO_SPACE = re.compile(rf"[^\s\u0250-\U0010ffff]{{{LONG_RUN + 1},}}")


class Counter(Protocol):
    """Counts tokens. `name` goes into the receipt; the same name must count the same."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCounter:
    """Counts by script. `factor` is the model's calibration."""

    factor: float = 1.0

    @property
    def name(self) -> str:
        return f"{BY_SCRIPT}{self.factor:g}"

    def count(self, text: str) -> int:
        return math.ceil(_raw(text) * self.factor)


class Calibration:
    """What one model's tokens weigh against the count by script, learned from what its provider reports.

    The first report sets the factor, each later one moves it half of the way. It stays within LEAST_FACTOR and
    MOST_FACTOR, and has two decimals, so that a receipt can name it. A count that is already under way keeps the factor
    it began with.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor
        self._reports = 0

    @property
    def counter(self) -> ScriptCounter:
        return ScriptCounter(factor=round(self._factor, 2))

    def learn(self, counter: str, counted: int, reported: int) -> None:
        """`counted` tokens by the `counter` of that name were `reported` tokens to the provider. Another counter than
        one by script, a short text, or a provider that reports nothing, teaches nothing."""
        if not counter.startswith(BY_SCRIPT) or min(counted, reported) < WORTH_LEARNING:
            return
        factor = float(counter.removeprefix(BY_SCRIPT))
        seen = min(max(factor * reported / counted, LEAST_FACTOR), MOST_FACTOR)
        self._factor = seen if not self._reports else (self._factor + seen) / 2
        self._reports += 1


@lru_cache(maxsize=4096)
def _raw(text: str) -> float:
    latin, blanks = _length(LATIN_RUN, text), _length(BLANK_RUN, text)
    # Letters inside a long run without spaces move from the Latin ratio to the signs'.
    dense = sum(_length(LATIN_RUN, run) for run in NO_SPACE.findall(text))
    tokens = (latin - blanks - dense) / LATIN + blanks / BLANKS + dense / SIGNS
    rest = len(text) - latin
    for ratio, pattern in RUNS:
        if not rest:
            break
        found = _length(pattern, text)
        tokens += found / ratio
        rest -= found
    return tokens + rest / REST


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
