"""A support desk on `lumina.memory`: several customers, three conversations each, and what the agent would see.

    python examples/support_desk/support_desk.py                       # kept in support_desk.db
    python examples/support_desk/support_desk.py desk.db --turns 300 --customers 4

The customers and the model are scripted (`conversations.py`), so that it runs anywhere and always alike. To put a real
model in, write two functions of your own and hand them to `Desk`: one that answers messages, one that answers the
question what changed. Both get plain OpenAI messages.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from conversations import SESSIONS, Customer, Line, customers, session  # noqa: E402

from lumina import Context, Thread, open_thread  # noqa: E402
from lumina.memory.schema import Schema  # noqa: E402

Messages = list[dict[str, Any]]
INSTRUCTIONS = "You are the support desk of a small shop. What was noted about the customer stands before the question."
BUDGET = 4000  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One turn: what was asked, what the agent would see, and what the notes made of it."""

    customer: Customer
    session: str
    line: Line
    context: Context
    refused: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(str(message["content"]) for message in self.context.openai())

    @property
    def memory(self) -> str:
        """The block of what was noted, before the question."""
        last = str(self.context.openai()[-1]["content"])
        return last[: last.rfind("</memory")] if "</memory" in last else ""


@dataclass(kw_only=True)
class Desk:
    """The agent. `answer` and `note` stand for a model: messages in, text out. By default the script is read out.
    `open` gives a customer's conversation; by default from the file `database`."""

    database: str = "support_desk.db"
    open: Callable[[Customer, str], Awaitable[Thread]] | None = None
    schema: Schema = field(default_factory=lambda: Schema.from_toml(HERE / "schema.toml"))
    answer: Callable[[Messages, Line], str] = lambda _, line: line.answer
    note: Callable[[Messages, Line], str] = lambda _, line: json.dumps({"ops": line.ops})

    async def _open(self, customer: Customer, which: str) -> Thread:
        return await open_thread(
            self.database, subject=customer.id, thread=which, tenant="desk", deltas=True, schema=self.schema
        )

    async def turn(self, thread: Thread, customer: Customer, which: str, line: Line) -> Seen:
        context = await thread.context(line.question, instructions=INSTRUCTIONS, budget=BUDGET)
        await thread.record(context, self.answer(context.openai(), line))
        refused: list[str] = []
        while request := await thread.delta_request():
            noting = await thread.apply(self.note(request.openai(), line), seq=request.seq)
            refused += [f"{each.key}: {each.reason}" for each in noting.refused]
        return Seen(customer=customer, session=which, line=line, context=context, refused=tuple(refused))

    async def serve(self, everybody: list[Customer], turns: int) -> list[Seen]:
        """Everybody's first session, then everybody's second, then the third; `turns` in all."""
        each, more = divmod(turns, len(everybody) * len(SESSIONS))
        seen: list[Seen] = []
        for which in SESSIONS:
            for customer in everybody:
                size = each + (more if (customer, which) == (everybody[-1], SESSIONS[-1]) else 0)
                async with await (self.open or self._open)(customer, which) as thread:
                    seen += [await self.turn(thread, customer, which, line) for line in session(customer, which, size)]
        return seen


def tell(turn: Seen) -> None:
    """A turn as `lumina show` would tell it, shortened."""
    receipt = turn.context.receipt
    print(f"\n=== {turn.customer.id}, {turn.session} session: {turn.line.question}")
    print(turn.memory.strip() or "(nothing is noted yet)")
    parts = ", ".join(f"{part} {tokens}" for part, tokens in receipt.tokens.items())
    print(f"--- {turn.context.tokens} of {receipt.budget} tokens: {parts}")
    print(f"--- window: {receipt.window_reason} recalled: {receipt.recall_reason}")
    for reason in turn.refused:
        print(f"--- refused: {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("database", nargs="?", default="support_desk.db", help="a SQLite file, made when missing")
    parser.add_argument("--turns", type=int, default=216, help="of all conversations together; at least 24 each")
    parser.add_argument("--customers", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.turns < chosen.customers * len(SESSIONS) * 24:
        parser.error(f"{chosen.customers} customers need at least {chosen.customers * len(SESSIONS) * 24} turns")
    seen = asyncio.run(Desk(database=chosen.database).serve(customers(chosen.customers), chosen.turns))
    for turn in seen:
        if turn.line.checks or turn.refused:
            tell(turn)
    print(f"\n{len(seen)} turns, at most {max(turn.context.tokens for turn in seen)} tokens each.")


if __name__ == "__main__":
    main()
