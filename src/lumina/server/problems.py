"""One shape for everything that goes wrong.

    {"error": {"code": "not_found", "message": "There is no such conversation."}}

`code` is for programs and never changes its meaning; `message` says what happened, what was kept and what to do, and
is for people. A conflict also names the turn that is running. What was not foreseen is logged here and tells the
client nothing of the inside.
"""

import logging
from typing import Literal

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lumina.memory.errors import DoesNotFit, LuminaError, NotFound, ProviderError, StoreError, TurnConflict, UsageError

Code = Literal[
    "bad_request", "conflict", "disk_full", "does_not_fit", "forbidden", "internal", "invalid", "misdirected",
    "not_allowed", "not_found", "provider_failed", "stored_data", "too_large", "unsupported_media_type",
]  # fmt: skip
OF_STATUS: dict[int, Code] = {404: "not_found", 405: "not_allowed", 413: "too_large"}
FULL = ("disk is full", "no space left")
logger = logging.getLogger(__name__)


class Error(BaseModel):
    """What went wrong."""

    code: Code
    message: str
    running: int | None = None  # with `conflict`: the turn that is being answered
    need: int | None = None  # with `does_not_fit`: tokens needed
    budget: int | None = None  # with `does_not_fit`: tokens there are


class Problem(BaseModel):
    """The body of every answer whose status is 400 or more."""

    error: Error


def problem(status: int, code: Code, message: str, **more: int) -> Response:
    body = Problem(error=Error(code=code, message=message, **more))  # pyright: ignore[reportArgumentType]
    return JSONResponse(body.model_dump(exclude_none=True), status_code=status)


async def of_lumina(_: Request, error: Exception) -> Response:
    """What Lumina raised on purpose."""
    message = str(error)
    match error:
        case NotFound():
            return problem(404, "not_found", message)
        case TurnConflict():
            return problem(409, "conflict", message, running=error.running)
        case DoesNotFit():
            return problem(422, "does_not_fit", message, need=error.need, budget=error.budget)
        case UsageError():
            return problem(400, "bad_request", message)
        case ProviderError():
            return problem(502, "provider_failed", message)
        case StoreError():
            return problem(500, "stored_data", message)
        case _:
            return await of_anything(_, error)


async def of_request(_: Request, error: Exception) -> Response:
    """A request that is not as the API describes it. The values that were sent are not repeated."""
    found = error.errors() if hasattr(error, "errors") else []  # pyright: ignore[reportAttributeAccessIssue]
    first = found[0] if found else {"loc": ("body",), "msg": "it cannot be read"}
    where = ".".join(str(part) for part in first["loc"])
    return problem(422, "invalid", f"{where}: {first['msg']}. Nothing was done.")


async def of_http(_: Request, error: Exception) -> Response:
    """What the router found: no such path, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = str(error.detail) if isinstance(error, HTTPException) else "It failed."
    return problem(status, OF_STATUS.get(status, "bad_request"), f"{message}.")


async def of_anything(_: Request, error: Exception) -> Response:
    """What nobody foresaw. A disk that is full is told apart, because a person can mend it."""
    if any(sign in str(error).lower() for sign in FULL):
        return problem(
            507, "disk_full",
            "The disk is full: nothing was stored. What was stored before can be read. Make room and try again.",
        )  # fmt: skip
    logger.error("a request failed", exc_info=error)
    return problem(500, "internal", "It failed inside. Nothing more is known here; the server's log has the reason.")


HANDLERS = {LuminaError: of_lumina, HTTPException: of_http, Exception: of_anything}
