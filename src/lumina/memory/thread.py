"""A conversation, for whoever builds an agent: build a context, record the answer, note what changed.

    thread = await open_thread("support.db", subject="customer-17", thread="ticket-4")
    context = await thread.context(question, budget=8000)     # .openai(), .anthropic(), .receipt
    request = await thread.delta_request()                    # optional: ask any model what changed ...
    await thread.apply(reply)                                 # ... code checks it and folds it into the state

The thread asks the store for rows and hands them to the pure parts of `lumina.memory`; it decides nothing itself and
never calls a model.
"""

import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lumina.memory import noting
from lumina.memory.budget import DEFAULT_BUDGET, Counter, ScriptCounter, Shares
from lumina.memory.context import Context, Inputs, Recollection, build_context
from lumina.memory.delta import DeltaRequest, Refused
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.incoming import check_budget, check_text, exchanges_of
from lumina.memory.looking_back import Nearest, RecallMode, recollect
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
MEMORY_OFF = "Memory is off: the question stands alone."


def utc_now() -> datetime:
    return datetime.now(UTC)


class Thread:
    """One conversation. Made by `lumina.open_thread`; several may be open on one store.

    `zone` is the asker's time zone (IANA name): days shown to a model are days there. `clock` gives aware UTC times.
    `counter` counts tokens; the default needs no tokenizer. With `remembers=False` each question stands alone: turns
    are kept, but nothing that came before is read for a context, and nothing is noted. `recall`: earlier turns are
    fetched when the question points at them, or also a few for every question ("always small"), or never ("off").
    With `other_threads` the subject's other threads are searched for every question; else only when it asks for them.
    `nearest` is an embedder's word on which passages are like the question.
    """

    def __init__(
        self, *, store: Store, scope: ThreadScope, info: ThreadInfo, zone: str = "UTC", clock: Clock = utc_now,
        counter: Counter | None = None, remembers: bool = True, recall: RecallMode = "when pointed",
        other_threads: bool = False, nearest: Nearest | None = None,
    ) -> None:  # fmt: skip
        self.store = store
        self.scope = scope
        self.remembers = remembers
        if recall not in get_args(RecallMode):
            allowed = ", ".join(map(repr, get_args(RecallMode)))
            raise UsageError(f"recall is {recall!r}; it can be {allowed}.")
        self.recall: RecallMode = recall
        self.other_threads = other_threads
        self.nearest = nearest
        self._may_leave = not getattr(info, "temporary", False)
        self.deltas = info.deltas and remembers
        self.zone = zone
        self.clock = clock
        self.counter = counter or ScriptCounter()
        try:
            self._zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):  # OSError: a folder of zones, an endless name
            raise UsageError(
                f"{zone!r} is not a known time zone. Use an IANA name such as Europe/Berlin, or UTC."
            ) from None

    def __repr__(self) -> str:
        return f"<Thread {self.scope.thread!r} of {self.scope.subject!r} in {self.scope.tenant!r}>"

    async def close(self) -> None:
        """Closes the store. A thread that is used as an async context manager closes itself."""
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
            share=Shares(total=budget).recall, mode=self.recall, nearest=self.nearest,
            other_threads=self.other_threads, may_leave=self._may_leave,
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
        return await self.store.record_turn(self.scope, new, end, context.receipt.to_json())

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
        """Applies every delta that a model has answered and code has not."""
        return await noting.settle(self.store, self.scope) if self.deltas else []

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
