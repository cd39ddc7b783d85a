"""A place where a double waits until the test lets it go on: overlap, stop and crash without a clock."""

import anyio


class Gate:
    """A place where a reply waits. `reached` is set when the reply gets there; it goes on after `open()`."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self._opened = anyio.Event()

    def open(self) -> None:
        """Lets the reply go on; opening twice changes nothing."""
        self._opened.set()

    async def passed(self) -> None:
        """Marks the gate as reached and waits until it is open."""
        self.reached.set()
        await self._opened.wait()
