"""Writes that a stop does not cut in two.

A task is cancelled at an await. When that await is a commit, nobody knows afterwards whether it happened; so a commit
runs to its end, and the stop takes effect after it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def unbroken(writing: Coroutine[Any, Any, T]) -> T:
    """The result of `writing`, which is finished even if the caller is cancelled meanwhile; then CancelledError."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # seen: the stop comes first
        raise
