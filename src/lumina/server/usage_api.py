"""/api/usage: what the models took for whoever asks, summed up in rows, and what it cost."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from lumina.memory.errors import UsageError
from lumina.memory.stored import ModelUse
from lumina.server.ids import thread_id
from lumina.server.views import View
from lumina.server.whose import Agent, Subject
from lumina.wiring import price_of

router = APIRouter(tags=["usage"])
By = Literal["day", "turn", "purpose", "model"]


class UsageView(View):
    """Calls of models that belong together. What was forgotten is not counted any more."""

    what: dict[str, str | int] = Field(description="the day (UTC), purpose or model; or thread (id) and turn")
    calls: int
    input: int = Field(description="tokens sent, cached ones included")
    output: int = Field(description="tokens made, reasoning included")
    cached: int
    cache_written: int
    reasoning: int
    usd: str | None = Field(description="US dollars as a decimal; null when no call has a known price")
    calls_without_price: int = Field(description="calls that are in no price")


@router.get("/usage")
async def show_usage(
    agent: Agent, subject: Subject, by: By = "day",
    since: Annotated[str, Query(max_length=10, description="from this day on (UTC), such as 2026-11-30")] = "",
) -> list[UsageView]:  # fmt: skip
    """What the models took, by day, turn, purpose or model."""
    try:
        right = not since or date.fromisoformat(since).isoformat() == since
    except ValueError:
        right = False
    if not right:
        raise UsageError("since is a day such as 2026-11-30.")
    groups: dict[tuple[str | int, ...], list[ModelUse]] = {}
    for use in await agent.store.usage(subject, since=since):
        key = (use.thread, use.seq) if by == "turn" else (getattr(use, by),)
        groups.setdefault(key, []).append(use)
    return [_row(by, groups[key]) for key in sorted(groups)]


def _row(by: By, uses: Sequence[ModelUse]) -> UsageView:
    first = uses[0]
    prices = [price for use in uses if (price := price_of(use)) is not None]
    return UsageView(
        what={"thread": thread_id(first.thread), "turn": first.seq} if by == "turn" else {by: getattr(first, by)},
        calls=len(uses),
        input=sum(use.input for use in uses),
        output=sum(use.output for use in uses),
        cached=sum(use.cached for use in uses),
        cache_written=sum(use.cache_written for use in uses),
        reasoning=sum(use.reasoning for use in uses),
        usd=str(sum(prices, Decimal(0))) if prices else None,
        calls_without_price=len(uses) - len(prices),
    )
