"""A clock that jumps, for tests of limits: no test waits."""

import asyncio
import heapq


class JumpingLoop(asyncio.SelectorEventLoop):
    """When nothing is left to do, it is at once as late as the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        while self._scheduled and self._scheduled[0]._cancelled:  # type: ignore[attr-defined]
            heapq.heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._now = max(self._now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]
