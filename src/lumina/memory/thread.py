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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from lumina.memory import noting
from lumina.memory.budget import DEFAULT_BUDGET, Calibration, Counter, Shares
from lumina.memory.context import Context, Inputs, Recollection, build_context
from lumina.memory.embedding import Embedder
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.incoming import check_budget, check_text, exchanges_of
from lumina.memory.looking_back import RecallMode, recollect
from lumina.memory.meaning import Meaning
from lumina.memory.noted_thread import Clock, NotedThread
from lumina.memory.passages import passages_of
from lumina.memory.schema import Schema
from lumina.memory.scope import ThreadScope
from lumina.memory.showing import Shown, show_turn
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

TEMPORARY_FOR = timedelta(days=1)  # how long a temporary thread is kept
CLOSING_SECONDS = 2.0
MEMORY_OFF = "Memory is off: the question stands alone."


def utc_now() -> datetime:
    return datetime.now(UTC)


class Thread(NotedThread):
    """One conversation. Made by `lumina.open_thread`; several may be open on one store.

    `zone` is the asker's time zone (IANA name): days shown to a model are days there. `clock` gives aware UTC times.
    `counter` counts tokens; without one they are counted by script, by a `calibration` that `calibrate` teaches.
    `embedder` makes vectors, beside the turns. `schema` declares keys, and what is masked in every text before it is
    kept or sent. With `remembers=False` each question stands alone: turns are kept, but nothing that came before is
    read for a context, and nothing is noted. A temporary thread reads and writes no profile and is deleted a day after
    it was made. `recall`: earlier turns are fetched when the question points at them, or also a few for every question
    ("always small"), or never ("off"). With `other_threads`, or when the schema says so, the subject's other threads
    are searched for every question; else only when it asks for them.
    """

    def __init__(
        self, *, store: Store, scope: ThreadScope, info: ThreadInfo, zone: str = "UTC", clock: Clock = utc_now,
        counter: Counter | None = None, calibration: Calibration | None = None, remembers: bool = True,
        embedder: Embedder | None = None, schema: Schema | None = None, recall: RecallMode = "when pointed",
        other_threads: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            store=store, scope=scope, info=info, zone=zone, clock=clock, remembers=remembers, schema=schema
        )
        if recall not in get_args(RecallMode):
            allowed = ", ".join(map(repr, get_args(RecallMode)))
            raise UsageError(f"recall is {recall!r}; it can be {allowed}.")
        self.recall: RecallMode = recall
        self.calibration = calibration or Calibration()
        self._counter = counter
        self.other_threads = other_threads or self.schema.recall_other_threads
        self.meaning = Meaning(store=store, scope=scope, embedder=embedder) if embedder and remembers else None
        self._embedding: asyncio.Task[int] | None = None

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

    @property
    def counter(self) -> Counter:
        """What the next context is counted with."""
        return self._counter or self.calibration.counter

    def calibrate(self, context: Context, input_tokens: int) -> None:
        """Learns from the number of input tokens that a provider reported for `context`, so that the next count by
        script comes closer. The factor stands in each receipt."""
        self.calibration.learn(context.receipt.counter, context.tokens, input_tokens)

    # A turn

    async def begin(self, question: str, *, client_id: str = "", instead_of: int = 0) -> tuple[Turn, bool]:
        """Commits the question as a running turn. The same `client_id` never makes two: the second call returns the
        first one's turn and False. TurnConflict while another turn of this thread runs. With `instead_of` it is the
        next attempt of that turn, and what came after it is superseded; NotFound when there is no such live turn."""
        return await self.store.begin_turn(self.scope, self._new_turn(question, client_id), instead_of=instead_of)

    async def context(
        self, question: str, *, budget: int = DEFAULT_BUDGET, instructions: str = "", model: str = "",
        turn: Turn | None = None, look_back: bool = False, instead_of: int = 0,
    ) -> Context:  # fmt: skip
        """What to send a model for `question`, and the account of it.

        `budget` in tokens, for everything that is sent. `instructions` become the system message. With `turn` (from
        `begin`) the receipt is stored now; without, `record` stores it. Deltas that a model has answered are applied
        first; nothing here waits for a model. Raises DoesNotFit when instructions and question alone are too long.

        With `instead_of`, a seq, the context is built as if that turn and all after it had never been: the same
        question is a regenerate, another one an edit. `record` then makes it the next attempt of that turn and
        supersedes the rest. NotFound when there is no such turn that has ended.
        """
        check_text("question", question)
        check_text("instructions", instructions)
        check_text("model", model)
        check_budget(budget)
        question = self.schema.mask(question)
        await self.settle()
        seq, attempt = (turn.seq, turn.attempt) if turn else await self._place(instead_of)
        recent = await self.store.recent_turns(self.scope, limit=READ, before=turn.seq if turn else instead_of)
        if not self.remembers:
            recent = RecentTurns(turns=())
        state, profile = await self._noted(0 if turn else instead_of)
        window = choose_window(recent.turns)
        recalled = await recollect(
            self.store, self.scope, question, before=window.start, window=window.turns, state=state, profile=profile,
            share=Shares(total=budget).recall, mode=self.recall, meaning=self.meaning,
            other_threads=self.other_threads, may_leave=not self.temporary,
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
            declared=self.schema.of,
        ))  # fmt: skip
        if turn is not None:
            await self.save_receipt(turn, context)
            return context
        return replace(context, instead_of=instead_of)

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
        exchanges = self.schema.masks.messages(exchanges_of(messages, answer))
        answer = self.schema.mask(answer)
        end = TurnEnd(
            seq=0,
            attempt=0,
            answer=answer,
            status=status,
            reason=reason,
            exchanges=exchanges,
            passages=passages_of(new.question, answer),
            window_start=context.window_start,
            delta="waiting" if self.deltas else "none",
        )
        receipt = context.receipt.to_json()
        turn = await self.store.record_turn(self.scope, new, end, receipt, instead_of=context.instead_of)
        self._embed_beside()
        return turn

    # What changed

    async def settle(self) -> list[noting.Noting]:
        """Applies every delta that a model has answered and code has not. Vectors that are missing are made beside."""
        self._embed_beside()
        return await noting.settle(self.store, self.scope, schema=self.schema) if self.deltas else []

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

    async def show(self, seq: int = 0, *, attempt: int = 0) -> list[Shown]:
        """Every model call of turn `seq` (0: the last one) as it was, rendered again from its receipt. `attempt` (0:
        the newest) names a superseded one."""
        if not isinstance(seq, int) or not isinstance(attempt, int):
            raise UsageError(f"A turn is named by its number, not by {seq!r} or {attempt!r}.")
        recent = await self.store.recent_turns(self.scope, limit=1)
        if not seq:
            seq = _last_seq(recent)
        page = await self.store.page(self.scope, first=seq, last=seq, superseded=True)
        if not seq or not page:
            raise NotFound(f"Thread {self.scope.thread} has no turn {seq}." if seq else "The thread has no turn yet.")
        if attempt:
            return await show_turn(self.store, self.scope, seq, attempt)
        row = page[-1]
        if isinstance(row, Unreadable):
            raise StoreError(f"Turn {seq} cannot be read ({row.reason}). It was left as it is.")
        return await show_turn(self.store, self.scope, seq, row.attempt)

    # Inside

    async def _place(self, instead_of: int) -> tuple[int, int]:
        """Seq and attempt of the turn to come."""
        if not isinstance(instead_of, int) or instead_of < 0:
            raise UsageError(f"A turn is named by its number, not by {instead_of!r}.")
        if not instead_of:
            return (await self.store.thread_info(self.scope)).turns + 1, 1
        known = (await self.store.recent_turns(self.scope, limit=1, before=instead_of + 1)).turns
        if not known or known[-1].seq != instead_of or known[-1].forgotten:
            raise NotFound(
                f"Thread {self.scope.thread} has no turn {instead_of} that could be asked again. Nothing was stored."
            )
        return instead_of, known[-1].attempt + 1

    def _new_turn(self, question: str, client_id: str) -> NewTurn:
        check_text("question", question)
        now, question = self.clock(), self.schema.mask(question)
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
