"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class FixedClock:
    """A callable that returns the same aware datetime (UTC) until it is moved; it may be moved back, as clocks are."""

    def __init__(self, now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)) -> None:
        if now.tzinfo is None:
            raise ValueError("A clock needs a datetime with a time zone.")
        self._now = now

    def __call__(self) -> datetime:
        return self._now

    def move(self, by: timedelta) -> None:
        """Moves the clock on, or back."""
        self._now += by
