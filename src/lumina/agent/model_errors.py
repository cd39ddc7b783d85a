"""What went wrong with a model, said to a person.

A provider's own words may hold a key or a prompt, so they go to no page and to no log. Whoever runs Lumina finds in the
log of the process, under `lumina.agent`, what kind of error it was, its status and code, and where it was raised.
"""

import logging
import re
import traceback
from collections.abc import Iterator

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)

from lumina.memory.errors import LuminaError

logger = logging.getLogger("lumina.agent")

# The first that fits is said.
SAID: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (ModelAuthenticationError, "refused the key. Check the key and try again"),
    (ModelQuotaExceededError, "says that the quota is used up"),
    (ModelRateLimitError, "gets too many requests just now. Try again in a moment"),
    (ModelNotFoundError, "is not known to its provider. Check its name"),
    (ModelContextWindowExceededError, "cannot take that much text. Ask with a smaller budget"),
    (ModelOverloadedError, "is overloaded. Try again in a moment"),
    ((ModelTimeoutError, ModelRequestTimeout, TimeoutError), "did not answer in time. Try again"),
    ((ModelConnectionError, ConnectionError), "could not be reached, or the connection broke. Try again"),
    (ContentFilterError, "was stopped by its provider's content filter"),
    (UnexpectedModelBehavior, "answered in a form that cannot be read. Try again, or another model"),
    (UserError, "is not set up as it needs to be; the log says how"),
)


def explain(error: Exception, model: str) -> str:
    """One sentence for a person; Lumina's own errors are that already. The log is told what it was."""
    logger.warning("the model %s failed: %s", model, " from ".join(_kinds(error)))
    logger.debug("".join(traceback.format_tb(error.__traceback__)))
    if isinstance(error, LuminaError):
        return str(error)
    for kinds, said in SAID:
        if isinstance(error, kinds):
            return f"The model {model} {said}."
    if isinstance(error, ModelHTTPError):
        return f"The model {model} failed (HTTP {error.status_code})."
    if isinstance(error, ModelAPIError):
        return f"The model {model} failed. Try again."
    return f"The model {model} failed ({type(error).__name__})."


CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")


def _kinds(error: BaseException | None) -> Iterator[str]:
    """What the error is and what it comes from, without a word of what was said outside."""
    for _ in range(10):
        if error is None:
            return
        found = [getattr(error, name, None) for name in ("status_code", "provider_error_code", "provider_error_type")]
        told = [str(one) for one in found if one is not None and CODE.fullmatch(str(one))]
        yield f"{type(error).__name__}({', '.join(told)})" if told else type(error).__name__
        error = error.__cause__ or error.__context__
