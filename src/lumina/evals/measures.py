"""Shares, medians and intervals."""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

SAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """In points of percent: the mean of paired differences with the middle 95 % of its bootstrap samples."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"


def paired_difference(one: Sequence[float], other: Sequence[float], *, seed: int, samples: int = SAMPLES) -> Difference:
    """How much more of `one` holds than of `other`, where both answer the same questions in the same order.

    The paired bootstrap: questions are drawn with replacement, each with both of its results. Zeros if there are none.
    """
    pairs = [a - b for a, b in zip(one, other, strict=True)]
    if not pairs:
        return Difference(mean=0.0, low=0.0, high=0.0)
    draw = random.Random(seed)
    size = len(pairs)
    means = sorted(100 * sum(draw.choices(pairs, k=size)) / size for _ in range(samples))
    return Difference(
        mean=100 * sum(pairs) / size,
        low=means[int(0.025 * samples)],
        high=means[min(int(0.975 * samples), samples - 1)],
    )


def common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes `one` and `other` share at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """The share of pairs in which the better one scores higher (ties count half; 0.5 is chance), with the middle 95 %
    of its bootstrap samples. `folds`: the same within each of five parts of the data."""

    value: float
    low: float
    high: float
    folds: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def area(better: Sequence[float], worse: Sequence[float], *, seed: int, samples: int = 500) -> Area:
    """How well scores tell `better` from `worse`. ValueError when one of them is empty."""
    if not better or not worse:
        raise ValueError("there is nothing to compare")
    draw = random.Random(seed)
    drawn = sorted(
        _area(draw.choices(better, k=len(better)), draw.choices(worse, k=len(worse))) for _ in range(samples)
    )
    parts = [(better[at::5], worse[at::5]) for at in range(5)]
    return Area(
        value=_area(better, worse), low=drawn[int(0.025 * samples)], high=drawn[min(int(0.975 * samples), samples - 1)],
        folds=tuple(_area(one, other) for one, other in parts if one and other),
    )  # fmt: skip


def _area(better: Sequence[float], worse: Sequence[float]) -> float:
    ranked = sorted(worse)
    pairs = sum(bisect_left(ranked, score) + bisect_right(ranked, score) for score in better)
    return pairs / (2 * len(better) * len(worse))
