"""Errors, sorted by who must act.

    LuminaError
    ├── UsageError            the caller: bad input, an unknown thread, a misuse of the library
    │   ├── NotFound          nothing there, or it belongs to somebody else: the two look the same
    │   ├── TurnConflict      the thread is answering another turn; carries its seq
    │   └── DoesNotFit        the question and the instructions alone exceed the budget
    ├── ProviderError         the outside: a model or a search provider; says whether a retry helps
    └── StoreError            the data: a row that cannot be read, a database newer than this program

A message says what happened, what was kept and what to do next.
"""


class LuminaError(Exception):
    """The root of every error that Lumina raises on purpose."""


class UsageError(LuminaError):
    """The call cannot be carried out as it was made; nothing was changed."""


class NotFound(UsageError):
    """There is no such thing in this scope. Another's id behaves exactly like one that does not exist."""


class TurnConflict(UsageError):
    """The thread is answering another turn. One turn runs at a time; `running` is that turn's seq."""

    def __init__(self, message: str, *, running: int) -> None:
        super().__init__(message)
        self.running = running


class DoesNotFit(UsageError):
    """Instructions and question alone need more tokens than the budget has; `need` and `budget` say how many."""

    def __init__(self, message: str, *, need: int, budget: int) -> None:
        super().__init__(message)
        self.need = need
        self.budget = budget


class ProviderError(LuminaError):
    """A model or a search provider failed. `provider` names it, `retry` says whether trying again may help."""

    def __init__(self, message: str, *, provider: str, retry: bool) -> None:
        super().__init__(message)
        self.provider = provider
        self.retry = retry


class StoreError(LuminaError):
    """Stored data cannot be used as it is. What is stored was left as it was found."""
