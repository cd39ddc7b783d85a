"""The same work on many conversations, in a few processes, with progress.

Every conversation is a thread of its own and knows nothing of the others, so they can be measured side by side. Order
and results do not depend on the number of processes.
"""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from lumina.memory.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int, str], None]  # done, of how many, what


def silent(done: int, total: int, what: str) -> None:
    """Progress for nobody."""


def for_each(
    work: Callable[[Item], Result], items: Sequence[Item], *, processes: int, progress: Progress, what: str
) -> list[Result]:
    """`work(item)` for every item, in the order of `items`. `work` is a function of a module, its argument and result
    plain values. `processes` 0: as many as the machine has, at most four."""
    wanted = processes or min(os.cpu_count() or 1, 4)
    progress(0, len(items), what)
    if wanted == 1 or len(items) < 2:
        return [_one(work, item, at, len(items), progress, what) for at, item in enumerate(items, 1)]
    spawn = multiprocessing.get_context("spawn")
    results: dict[int, Result] = {}
    with ProcessPoolExecutor(min(wanted, len(items)), mp_context=spawn) as pool:
        running = {pool.submit(work, item): at for at, item in enumerate(items)}
        try:
            for done in as_completed(running):
                results[running[done]] = done.result()
                progress(len(results), len(items), what)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[at] for at in range(len(items))]


def _one(work: Callable[[Item], Result], item: Item, at: int, total: int, progress: Progress, what: str) -> Result:
    result = work(item)
    progress(at, total, what)
    return result


def limited(items: Sequence[Item], limit: int, what: str) -> Sequence[Item]:
    """The first `limit` of `items` (0: all). UsageError when there are none at all."""
    if not items:
        raise UsageError(f"The files hold no {what}. Nothing was measured.")
    return items[:limit] if limit else items
