"""When a model call that failed is made again, and after how long.

Only what may pass is tried again: too many requests, an overloaded or broken server, a connection that was not made. A
provider that names a pause is given it, up to a cap; otherwise the pause doubles, and chance spreads it so that many
who failed at once do not come back at once. Nothing is tried again once a word was shown: the caller sees to that.
"""

from random import Random

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)

from lumina.memory.errors import ProviderError

PASSING = (ModelRateLimitError, ModelUnavailableError, ModelServerError, ModelConnectionError, ModelRequestTimeout)
PASSING_STATUS = frozenset({408, 409, 425, 429})
LASTING = (ModelQuotaExceededError, ModelRequestRejectedError)


def may_pass(error: BaseException) -> bool:
    """Whether the same call may work a moment later."""
    if isinstance(error, ProviderError):
        return error.retry
    if isinstance(error, LASTING):
        return False
    if isinstance(error, ModelHTTPError) and error.status_code in PASSING_STATUS:
        return True
    return isinstance(error, (*PASSING, ConnectionError))


def asked_pause(error: BaseException) -> float | None:
    """The seconds that the provider named, if it did."""
    for one in (error, error.__cause__):
        if isinstance(one, ModelAPIError) and one.retry_after is not None:
            return max(0.0, one.retry_after)
    return None


def pause(
    error: BaseException, tried: int, *, tries: int, first: float, longest: float, chance: Random
) -> float | None:
    """Seconds until the next try, or None for no other. `tried` counts the tries so far; `longest` is the most that is
    waited: a provider that wants more is not waited for."""
    if tried >= tries or not may_pass(error):
        return None
    asked = asked_pause(error)
    if asked is not None:
        return asked if asked <= longest else None
    return min(first * 2 ** (tried - 1), longest) * chance.uniform(0.5, 1.0)
