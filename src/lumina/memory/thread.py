"""A conversation, for whoever builds an agent: build a context, record the answer, note what changed.

    thread = await open_thread("support.db", subject="customer-17", thread="ticket-4")
    context = await thread.context(question, budget=8000)     # .openai(), .anthropic(), .receipt
    request = await thread.delta_request()                    # optional: ask any model what changed ...
    await thread.apply(reply)                                 # ... code checks it and folds it into the state

The thread asks the store for rows and hands them to the pure parts of `lumina.memory`; it decides nothing itself and
never calls a model.
"""

import asyncio
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lumina.memory import noting
from lumina.memory.budget import DEFAULT_BUDGET, Counter, ScriptCounter
from lumina.memory.context import Context, Inputs, Recollection, build_context
from lumina.memory.delta import DeltaRequest, Refused
from lumina.memory.embedding import Embedder
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.incoming import check_budget, check_text, exchanges_of
from lumina.memory.looking_back import recollect
from lumina.memory.meaning import Meaning
from lumina.memory.passages import passages_of
from lumina.memory.scope import ThreadScope
from lumina.memory.showing import Shown, show_turn
from lumina.memory.state import State
from lumina.memory.store import Store, StoredReceipt
from lumina.memory.turns import (
    Message,
    NewTurn,
    RecentTurns,
    SourceName,
    Status,
    ThreadInfo,
    Turn,
    TurnEnd,
    Unreadable,
)
from lumina.memory.window import READ, choose_window

Clock = Callable[[], datetime]
CLOSING_SECONDS = 2.0
MEMORY_OFF = "Memory is off: the question stands alone."


def utc_now() -> datetime:
    return datetime.now(UTC)


class Thread:
    """One conversation. Made by `lumina.open_thread`; several may be open on one store.

    `zone` is the asker's time zone (IANA name): days shown to a model are days there. `clock` gives aware UTC times.
    `counter` counts tokens; the default needs no tokenizer. `embedder` makes vectors, beside the turns. With
    `remembers=False` each question stands alone: turns are kept, but nothing that came before is read for a context,
    and nothing is noted.
    """

    def __init__(
        self, *, store: Store, scope: ThreadScope, info: ThreadInfo, zone: str = "UTC", clock: Clock = utc_now,
        counter: Counter | None = None, remembers: bool = True, embedder: Embedder | None = None,
    ) -> None:  # fmt: skip
        self.store = store
        self.scope = scope
        self.remembers = remembers
        self.deltas = info.deltas and remembers
        self.zone = zone
        self.clock = clock
        self.counter = counter or ScriptCounter()
        self.meaning = Meaning(store=store, scope=scope, embedder=embedder) if embedder and remembers else None
        self._embedding: asyncio.Task[int] | None = None
        try:
            self._zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):  # OSError: a folder of zones, an endless name
            raise UsageError(
                f"{zone!r} is not a known time zone. Use an IANA name such as Europe/Berlin, or UTC."
            ) from None

    def __repr__(self) -> str:
        return f"<Thread {self.scope.thread!r} of {self.scope.subject!r} in {self.scope.tenant!r}>"

    async def close(self) -> None:
        """Closes the store. A thread that is used as an async context manager closes itself. Vectors that are being
        made get a moment; what is left is made up for when the thread is used next."""
        if self._embedding is not None and not self._embedding.done():
            await asyncio.wait({self._embedding}, timeout=CLOSING_SECONDS)
            self._embedding.cancel()
            await asyncio.wait({self._embedding})
        await self.store.close()

    async def __aenter__(self) -> "Thread":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def today(self) -> str:
        return self.clock().astimezone(self._zone).date().isoformat()

    # A turn

    async def begin(self, question: str, *, client_id: str = "") -> tuple[Turn, bool]:
        """Commits the question as a running turn. The same `client_id` never makes two: the second call returns the
        first one's turn and False. TurnConflict while another turn of this thread runs."""
        return await self.store.begin_turn(self.scope, self._new_turn(question, client_id))

    async def context(
        self, question: str, *, budget: int = DEFAULT_BUDGET, instructions: str = "", model: str = "",
        turn: Turn | None = None, look_back: bool = False,
    ) -> Context:  # fmt: skip
        """What to send a model for `question`, and the account of it.

        `budget` in tokens, for everything that is sent. `instructions` become the system message. With `turn` (from
        `begin`) the receipt is stored now; without, `record` stores it. Deltas that a model has answered are applied
        first; nothing here waits for a model. Raises DoesNotFit when instructions and question alone are too long.
        """
        check_text("question", question)
        check_text("instructions", instructions)
        check_text("model", model)
        check_budget(budget)
        await self.settle()
        recent = await self.store.recent_turns(self.scope, limit=READ, before=turn.seq if turn else 0)
        seq, attempt = (turn.seq, turn.attempt) if turn else (_last_seq(recent) + 1, 1)
        if not self.remembers:
            recent = RecentTurns(turns=())
        state, profile = await self.state(), await self.profile()
        window = choose_window(recent.turns)
        recalled = await recollect(
            self.store, self.scope, question, before=window.start, window=window.turns, state=state, profile=profile,
            meaning=self.meaning,
        ) if self.remembers else Recollection(reason=MEMORY_OFF)  # fmt: skip
        context = build_context(Inputs(
            question=question,
            instructions=instructions,
            instructions_digest=await self.store.put_text(self.scope.of_subject, instructions) if instructions else "",
            recent=recent,
            state=state,
            profile=profile,
            memory_id=await self._memory_id(seq, attempt),
            day=self.today(),
            budget=budget,
            counter=self.counter,
            model=model,
            recalled=recalled,
            names=await self._names(recent.turns, recalled),
            unnoted=await self.store.unnoted(self.scope, before=window.start) if self.deltas else (),
            look_back=look_back and self.remembers,
        ))  # fmt: skip
        if turn is not None:
            await self.save_receipt(turn, context)
        return context

    async def save_receipt(self, turn: Turn, context: Context) -> None:
        receipt = context.receipt
        await self.store.put_receipt(self.scope, StoredReceipt(
            seq=turn.seq, attempt=turn.attempt, call=receipt.call, purpose=receipt.purpose, body=receipt.to_json(),
        ))  # fmt: skip

    async def record(
        self, context: Context, answer: str, *, messages: Sequence[Message | Mapping[str, Any]] = (),
        status: Status = "complete", reason: str = "", client_id: str = "",
    ) -> Turn:  # fmt: skip
        """Keeps the turn: question, answer, receipt and what recall can find, in one transaction.

        `messages` are your own tool exchanges between question and answer, in OpenAI's form or as `Message`; they are
        kept whole or, where a call has no result, sent to no model again. `status` is complete, partial or failed,
        with a `reason` for the latter two. With a `client_id`, recording twice keeps one turn.
        """
        check_text("answer", answer)
        if not isinstance(context, Context):
            raise UsageError(f"record takes what context() returned and the answer, not {type(context).__name__}.")
        if status == "running":
            raise UsageError("A recorded turn has ended: status is complete, partial or failed.")
        new = self._new_turn(context.question, client_id)
        end = TurnEnd(
            seq=0,
            attempt=0,
            answer=answer,
            status=status,
            reason=reason,
            exchanges=exchanges_of(messages, answer),
            passages=passages_of(context.question, answer),
            window_start=context.window_start,
            delta="waiting" if self.deltas else "none",
        )
        turn = await self.store.record_turn(self.scope, new, end, context.receipt.to_json())
        self._embed_beside()
        return turn

    # What changed

    async def state(self) -> State:
        """Facts, open issues, decisions and findings of this thread, as folded so far; none if it does not remember."""
        if not self.remembers:
            return State()
        return (await noting.load_state(self.store, self.scope)).state

    async def profile(self) -> State:
        """The same for the subject, across threads."""
        if not self.remembers:
            return State(about="subject")
        return (await noting.load_profile(self.store, self.scope.of_subject)).state

    async def delta_request(self, seq: int = 0, *, refused: Sequence[Refused] = ()) -> DeltaRequest | None:
        """The question what changed in turn `seq` (0: the oldest turn that nobody was asked about), for any model.
        None when nothing waits. `refused`: what a first reply got wrong (`Noting.again`)."""
        return await noting.ask(self.store, self.scope, seq=seq, refused=refused)

    async def apply(self, reply: str | Mapping[str, Any], *, seq: int = 0) -> noting.Noting:
        """Takes a model's reply to `delta_request` for turn `seq` (0: the oldest that waits), checks it and folds it
        in: JSON text, or the dictionary that it stands for. Says what changed and what was refused, with reasons. A
        reply that cannot be read raises UsageError, counts as a try, and after three the delta is set aside."""
        if isinstance(reply, Mapping):
            reply = json.dumps(dict(reply))
        if not isinstance(reply, str):
            raise UsageError(f"The reply must be the model's text, not {type(reply).__name__}. Nothing was applied.")
        return await noting.take(self.store, self.scope, reply, seq=seq)

    async def settle(self) -> list[noting.Noting]:
        """Applies every delta that a model has answered and code has not. Vectors that are missing are made beside."""
        self._embed_beside()
        return await noting.settle(self.store, self.scope) if self.deltas else []

    # Vectors

    async def embed(self) -> int:
        """Makes vectors for passages that have none (a bounded number), after what is being made already; returns how
        many. They are made beside every turn: this is for who wants to wait. What failed stands in `meaning.trouble`;
        without an embedder, and in a thread that has another embedder's vectors, there is nothing to make."""
        if self._embedding is not None:
            await self._embedding
        return await self.meaning.catch_up() if self.meaning else 0

    def _embed_beside(self) -> None:
        if self.meaning and (self._embedding is None or self._embedding.done()):
            self._embedding = asyncio.create_task(self.meaning.catch_up())

    # What the model saw

    async def show(self, seq: int = 0) -> list[Shown]:
        """Every model call of turn `seq` (0: the last one) as it was, rendered again from its receipt."""
        if not isinstance(seq, int):
            raise UsageError(f"A turn is named by its number, not by {seq!r}.")
        recent = await self.store.recent_turns(self.scope, limit=1)
        if not seq:
            seq = _last_seq(recent)
        page = await self.store.page(self.scope, first=seq, last=seq)
        if not seq or not page:
            raise NotFound(f"Thread {self.scope.thread} has no turn {seq}." if seq else "The thread has no turn yet.")
        row = page[0]
        if isinstance(row, Unreadable):
            raise StoreError(f"Turn {seq} cannot be read ({row.reason}). It was left as it is.")
        return await show_turn(self.store, self.scope, seq, row.attempt)

    # Inside

    def _new_turn(self, question: str, client_id: str) -> NewTurn:
        check_text("question", question)
        now = self.clock()
        return NewTurn(client_id=client_id or uuid.uuid4().hex, question=question, asked_at=now.astimezone(UTC),
                       zone=self.zone, day=now.astimezone(self._zone).date().isoformat())  # fmt: skip

    async def _memory_id(self, seq: int, attempt: int) -> str:
        """Unguessable, and the same when asked again: nobody's text can close the block it names."""
        names = [self.scope.tenant, self.scope.subject, self.scope.thread, seq, attempt]
        return hmac.new(await self.store.secret(), json.dumps(names).encode(), hashlib.sha256).hexdigest()[:16]

    async def _names(self, turns: Sequence[Turn], recalled: Recollection) -> dict[int, SourceName]:
        numbers = sorted({n for turn in (*turns, *recalled.turns.values()) for n in turn.cited})
        return {name.n: name for name in await self.store.source_names(self.scope, numbers)} if numbers else {}


def _last_seq(recent: RecentTurns) -> int:
    return max([turn.seq for turn in recent.turns] + [row.seq for row in recent.unreadable], default=0)
