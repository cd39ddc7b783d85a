"""One turn, from the question that was kept to the end that is committed. Read `answer_turn` from top to bottom.

Whatever happens on the way (a stop, a limit, a model that breaks off, a search that fails) the turn ends, in a status
with a reason for people, and keeps what was written: complete, partial or failed (promise 9). Only a store that can no
longer write leaves it running; it is then ended as interrupted when the thread is opened next.
"""

import asyncio
import json
import logging
from collections.abc import Sequence

from lumina.agent.desk import Desk
from lumina.agent.draft import Draft
from lumina.agent.events import ContextBuilt, Notice, TurnFinished, TurnStarted, to_json
from lumina.agent.ledger import Ledger
from lumina.agent.loop import Loop, Outcome, partial
from lumina.agent.model_errors import explain
from lumina.agent.query_guard import QueryGuard
from lumina.agent.run import Work
from lumina.agent.toolbox import Toolbox
from lumina.agent.tools import Tools
from lumina.agent.turn_log import TurnLog, read_event, thread_log
from lumina.agent.unbroken import unbroken
from lumina.memory.context import Context
from lumina.memory.passages import passages_of
from lumina.memory.showing import recalled_elsewhere
from lumina.memory.state import State
from lumina.memory.thread import Thread
from lumina.memory.turns import Searched, Status, ToolRecord, Turn, TurnEnd

STOPPED = "stopped"
INTERRUPTED = "interrupted"
ASKER_STEPS = 3  # of the event loop, until `ask` has returned: a store in memory never lets others go on
logger = logging.getLogger(__name__)


async def answer_turn(desk: Desk, thread: Thread, turn: Turn, work: Work, *, instructions: str, budget: int) -> Turn:
    """Answers a turn that was begun, and returns it as it is stored at its end."""
    # 1, 2. The question is kept and acknowledged. Whoever follows the turn or its thread hears of it.
    answering = Answering(desk, thread, turn)
    clock = asyncio.timeout(desk.limits.turn)
    try:
        answering.tell_start()
        with work.stoppable():
            for _ in range(ASKER_STEPS):  # who asked may stop it at once: then no model is asked
                await asyncio.sleep(0)
            async with clock:
                # 3. What the model will see is decided; the receipt is stored with the turn.
                context = await thread.context(
                    turn.question, budget=budget, instructions=instructions, model=desk.model.model_name, turn=turn,
                    look_back=True,
                )  # fmt: skip
                await answering.tell_context(context)
                # 4, 5, 6. Model and tools; citations are checked in the stream; events are stored, then read.
                outcome = await answering.exchange(context)
    except asyncio.CancelledError:
        outcome = partial(STOPPED)
        if task := asyncio.current_task():
            task.uncancel()  # the turn has yet to be ended
    except Exception as error:
        late = f"stopped: the turn took longer than {desk.limits.turn:g} seconds"
        outcome = partial(late if clock.expired() else explain(error, desk.model.model_name))
    # 7. Answer, status, citations, passages, the delta job and the terminal event are committed together.
    return await answering.end(outcome)
    # 8. What changed is asked afterwards, beside the next turn: lumina.agent.delta_step.


class Answering:
    """One turn while it is answered: its log, its sources, and the draft that is kept whatever happens."""

    def __init__(self, desk: Desk, thread: Thread, turn: Turn) -> None:
        self._desk = desk
        self._thread = thread
        self._turn = turn
        self._log = TurnLog(
            store=desk.store, bell=desk.bell, scope=thread.scope, seq=turn.seq, attempt=turn.attempt
        )  # fmt: skip
        self._thread_log = thread_log(desk.store, desk.bell, thread.scope)
        self._ledger = Ledger(store=desk.store, scope=thread.scope, seq=turn.seq, attempt=turn.attempt,
                              snippets_count=desk.snippets_count)  # fmt: skip
        self._draft = Draft(log=self._log, ledger=self._ledger, masks=thread.schema.masks)
        self._context: Context | None = None
        self._remembered: asyncio.Task[tuple[State, QueryGuard]] | None = None
        self._tools: Tools | None = None
        self._loop: Loop | None = None

    @property
    def _place(self) -> dict[str, object]:
        return {"thread": self._thread.scope.thread, "turn": self._turn.seq}

    def tell_start(self) -> None:
        started = TurnStarted.model_validate(
            {**self._place, "attempt": self._turn.attempt, "question": self._turn.question}
        )
        # Both are committed a moment later, while the model is at work: nobody's first word waits for the disk.
        self._log.gather(started)
        self._thread_log.gather(started)

    async def tell_context(self, context: Context) -> None:
        self._context = context
        self._ledger.citable.update(await self._may_be_cited(context.receipt.citable))
        items = context.receipt.items
        built = ContextBuilt.model_validate({
            **self._place,
            "tokens": context.receipt.tokens,
            "budget": context.receipt.budget,
            "items_in": sum(item.included for item in items),
            "items_out": sum(not item.included for item in items),
            "recall": context.receipt.recall_reason,
        })  # fmt: skip
        self._log.gather(built)
        if self._desk.notice:
            self._log.gather(Notice.model_validate({**self._place, "text": self._desk.notice}))

    async def _may_be_cited(self, numbers: Sequence[int]) -> Sequence[int]:
        """Of the numbers that the memory block lists, those that count."""
        if self._desk.snippets_count or not numbers:
            return numbers
        return [
            source.n for source in await self._desk.store.sources(self._thread.scope, numbers) if source.depth == "page"
        ]

    async def exchange(self, context: Context) -> Outcome:
        """Model and tools, until the answer is there or a limit is reached."""
        self._remembered = asyncio.create_task(self._read_remembered(context))  # beside the model; tools wait for it
        self._tools = Tools(
            desk=self._desk, thread=self._thread, context=context, remembered=self._remembered, ledger=self._ledger,
            log=self._log,
        )  # fmt: skip
        toolbox = Toolbox(self._tools.all(), keep=self._keep_call, limit=self._desk.limits.tool_calls)
        self._loop = Loop(
            model=self._desk.model, thread=self._thread, turn=self._turn, context=context, toolbox=toolbox,
            draft=self._draft, citable=self._ledger.citable, limits=self._desk.limits, tell=self._tell,
            chance=self._desk.chance,
        )  # fmt: skip
        return await self._loop.run()

    async def _read_remembered(self, context: Context) -> tuple[State, QueryGuard]:
        """The state, and what a search may not carry."""
        state, profile = await self._thread.state(), await self._thread.profile()
        shown = await self._shown(context)
        guard = QueryGuard.of(profile=profile, state=state, question=self._turn.question, context=context, turns=shown)
        guard.recall(await recalled_elsewhere(self._desk.store, self._thread.scope, context.receipt))
        return state, guard

    async def _tell(self, text: str, now: bool) -> None:
        await self._log.write(Notice.model_validate({**self._place, "text": text, "now": now}))

    async def end(self, outcome: Outcome) -> Turn:
        """Commits the end of the turn, and tells it."""
        if self._remembered:
            self._remembered.cancel()
            await asyncio.wait({self._remembered})
        try:
            await self._draft.close()
        except Exception:  # a citation that cannot be matched must not keep the turn from ending
            logger.exception("the citations of turn %s could not be matched", self._turn.seq)
        status, reason = verdict(outcome, self._draft.answer)
        usage = self._loop.usage if self._loop else {}
        if self._loop:
            await self._loop.spending.write()
        searched: Searched = self._tools.searched if self._tools else "not needed"
        finished = TurnFinished.model_validate(
            {**self._place, "status": status, "reason": reason, "searched": searched, "usage": usage}
        )
        turn = await unbroken(self._desk.store.finish_turn(self._thread.scope, TurnEnd(
            seq=self._turn.seq,
            attempt=self._turn.attempt,
            answer=self._draft.answer,
            status=status,
            reason=reason,
            searched=searched,
            cited=self._draft.cited,
            citations=tuple(self._draft.citations),
            passages=passages_of(self._turn.question, self._draft.answer),
            window_start=await self._window_start(),
            delta="waiting" if self._thread.deltas else "none",
            usage=json.dumps(usage),
            events=await self._log.last_bodies(finished),
        )))  # fmt: skip
        if (turn.status, turn.reason) != (status, reason):
            return turn  # another process found this one gone and has ended the turn: what is stored counts
        self._log.ring()
        await self._thread_log.write(finished)
        return turn

    async def _shown(self, context: Context) -> dict[tuple[int, int], Turn]:
        keys = [
            (item.seq, item.attempt)
            for item in context.receipt.items
            if item.kind in ("turn", "recalled") and not item.thread
        ]
        return await self._desk.store.turns(self._thread.scope, keys) if keys else {}

    async def _keep_call(self, record: ToolRecord) -> None:
        await self._desk.store.add_tool_call(self._thread.scope, self._turn.seq, self._turn.attempt, record)

    async def _window_start(self) -> int:
        return self._context.window_start if self._context else await window_start(self._thread, self._turn)


async def end_interrupted(desk: Desk, thread: Thread, turn: Turn) -> None:
    """Ends a turn whose end could not be committed (a full disk), with the text that its log holds."""
    bodies = await desk.store.events(thread.scope, turn.seq, turn.attempt)
    events = [read_event(thread.scope, turn.seq, number, body) for number, body in bodies]
    text = "".join(event.text for event in events if event.kind == "text")
    finished = TurnFinished(thread=thread.scope.thread, turn=turn.seq, status="partial", reason=INTERRUPTED)
    await desk.store.finish_turn(thread.scope, TurnEnd(
        seq=turn.seq, attempt=turn.attempt, answer=text, status="partial", reason=INTERRUPTED,
        passages=passages_of(turn.question, text), window_start=await window_start(thread, turn),
        delta="waiting" if thread.deltas else "none", events=(to_json(finished),),
    ))  # fmt: skip
    await thread_log(desk.store, desk.bell, thread.scope).write(finished)


async def window_start(thread: Thread, turn: Turn) -> int:
    """Where the window of the turn before began: a turn without a context leaves it there."""
    before = (await thread.store.recent_turns(thread.scope, limit=1, before=turn.seq)).turns
    return before[-1].window_start if before else 1


def verdict(outcome: Outcome, answer: str) -> tuple[Status, str]:
    """The turn's status and reason. Without a word of an answer a turn has failed, unless it was stopped on purpose."""
    if answer.strip() or outcome.reason == STOPPED:
        return outcome.status, outcome.reason
    return "failed", outcome.reason or "The model gave an empty answer. Ask again."
