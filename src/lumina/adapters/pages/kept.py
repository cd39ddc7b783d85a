"""What was read a moment ago, so that a page that two searches find is fetched once. Per process, bounded, and only
what anybody may fetch: nothing that was asked for with a key comes here."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key: at most `most` units of size in all, each for `age` seconds. `clock` in seconds, ever rising."""

    def __init__(self, *, most: int, age: float, clock: Callable[[], float]) -> None:
        self._most, self._age, self._clock = most, age, clock
        self._values: OrderedDict[str, tuple[float, int, Value]] = OrderedDict()
        self._size = 0

    def get(self, key: str) -> Value | None:
        found = self._values.get(key)
        if found is None:
            return None
        if self._clock() - found[0] > self._age:
            self._remove(key)
            return None
        self._values.move_to_end(key)
        return found[2]

    def put(self, key: str, value: Value, size: int) -> None:
        if key in self._values:
            self._remove(key)
        if size > self._most:
            return
        self._values[key] = (self._clock(), size, value)
        self._size += size
        while self._size > self._most:
            self._remove(next(iter(self._values)))

    def _remove(self, key: str) -> None:
        self._size -= self._values.pop(key)[1]
