"""/api/usage: what the models took for whoever asks, summed up in rows, and what it cost."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from lumina.memory.spent import By, Spent, check_day, summed
from lumina.server.ids import thread_id
from lumina.server.views import View
from lumina.server.whose import Agent, Subject
from lumina.wiring import price_of

router = APIRouter(tags=["usage"])


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
    check_day("since", since)
    return [_view(row) for row in summed(await agent.store.usage(subject, since=since), by, price_of)]


def _view(row: Spent) -> UsageView:
    price = row.known_price
    what = {**row.what, "thread": thread_id(row.what["thread"])} if "thread" in row.what else row.what
    return UsageView(
        what=what, calls=row.calls, **row.tokens, usd=None if price is None else str(price),
        calls_without_price=row.unpriced,
    )  # fmt: skip
