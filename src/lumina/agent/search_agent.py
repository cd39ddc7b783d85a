"""The search agent: takes a question, answers it in a task of its own, and lets anybody follow.

    run = await agent.ask(scope, "How large is the cache of lru_cache?")    # kept: it will be answered
    async for event in run.events():                                        # lumina.agent.events
        ...
    turn = await run.ended()
    noting = await run.notes()                                              # what changed, follow-ups, a title

An agent holds no state that matters: threads, turns and events are in the store, and another process may go on.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any
from zoneinfo import ZoneInfo

from lumina.agent.delta_step import note_turn, waiting_turns
from lumina.agent.desk import Desk
from lumina.agent.events import AnyEvent
from lumina.agent.run import Run, Work
from lumina.agent.turn import answer_turn, end_interrupted
from lumina.agent.turn_log import follow
from lumina.memory.budget import DEFAULT_BUDGET, MESSAGE_OVERHEAD, Counter
from lumina.memory.errors import DoesNotFit, NotFound, UsageError
from lumina.memory.incoming import check_text
from lumina.memory.looking_back import RecallMode
from lumina.memory.schema import Schema
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import CLOSING_SECONDS, TEMPORARY_FOR, Clock, Thread, utc_now
from lumina.memory.turns import ThreadInfo, Turn
from lumina.memory.visible_text import clean

logger = logging.getLogger(__name__)
Key = tuple[ThreadScope, int, int]  # a turn: thread, seq, attempt


class SearchAgent:
    """Made by `lumina.wiring.open_agent`. `zone` is the asker's time zone. With `memory=False` each
    question stands alone: no earlier turn, state or profile is read for it, and nothing is noted from it. `schema`
    declares keys and what is masked before it is kept or sent."""

    def __init__(
        self, desk: Desk, *, zone: str = "UTC", clock: Clock = utc_now, memory: bool = True,
        recall: RecallMode = "when pointed", schema: Schema | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.desk = desk
        self.zone = zone
        self._clock = clock
        self._memory = memory
        self._recall: RecallMode = recall
        self._works: dict[Key, Work] = {}
        self._noting: set[Key] = set()
        self._at_work: set[Work] = set()
        self._beside: set[asyncio.Task[Any]] = set()  # what is noted beside the turns
        self._embedding: set[asyncio.Task[int]] = set()  # of these, those that make vectors
        self._quiet = False
        self._unended: dict[ThreadScope, Turn] = {}  # turns whose end could not be committed

    @property
    def store(self) -> Store:
        return self.desk.store

    @property
    def model_name(self) -> str:
        return self.desk.model.model_name

    async def __aenter__(self) -> "SearchAgent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """`quiet`, and closes what the desk names and the store. Vectors that are being made of what was said get a
        moment before."""
        if self._embedding:
            await asyncio.wait(set(self._embedding), timeout=CLOSING_SECONDS)
        await self.quiet()
        try:
            for close in self.desk.closing:
                await close()
        finally:
            await self.store.close()

    async def quiet(self) -> None:
        """Stops what runs (each turn ends as partial and keeps its text) and leaves open what was to be noted: whoever
        opens the thread next goes on with it."""
        self._quiet = True
        for work in self._at_work:
            work.stop()
        if self._at_work:
            await asyncio.wait({work.task for work in self._at_work})
        for task in self._beside:
            task.cancel()
        if self._beside:
            await asyncio.wait(set(self._beside))

    async def noted(self) -> None:
        """Waits until nothing is being noted any more: of turns of this process, and of those that were taken up."""
        while self._beside:
            await asyncio.wait(set(self._beside))

    # Threads

    async def thread(self, scope: ThreadScope, *, temporary: bool = False) -> Thread:
        """The thread, made when there is none (`temporary`: to be deleted after a day, without a profile); a turn
        whose process is gone is ended as interrupted. The thread shares the agent's store: do not close it."""
        now = self._clock()
        expires = now + TEMPORARY_FOR if temporary else None
        info = await self.store.open_thread(scope, deltas=self._memory, expires_at=expires, now=now)
        thread = Thread(
            store=self.store, scope=scope, info=info, zone=self.zone, clock=self._clock, remembers=self._memory,
            calibration=self.desk.calibration, embedder=self.desk.embedder, schema=self.schema, recall=self._recall,
        )  # fmt: skip
        if turn := self._unended.get(scope):
            await end_interrupted(self.desk, thread, turn)
            self._unended.pop(scope, None)
        return thread

    def today(self) -> str:
        """The asker's day, ISO 8601."""
        return self._clock().astimezone(ZoneInfo(self.zone)).date().isoformat()

    async def threads(self, scope: SubjectScope, *, limit: int = 50) -> list[ThreadInfo]:
        """The subject's threads, the one asked last first."""
        return await self.store.threads(scope, limit=limit, now=self._clock())

    # Turns

    async def ask(
        self, scope: ThreadScope, question: str, *, client_id: str = "", budget: int = DEFAULT_BUDGET,
        instead_of: int = 0, temporary: bool = False, research: bool = False, also: str = "",
    ) -> Run:  # fmt: skip
        """Keeps the question and starts to answer it. When this returns, the question is stored.

        The same `client_id` never makes two turns: the second call returns the first one's run. `budget` in tokens,
        for what the first model call is sent. Raises UsageError for a question that cannot be kept, DoesNotFit for
        one that is too long (nothing is stored then), TurnConflict while another turn of the thread runs.

        `research`: a plan of several searches, and pages read, instead of a quick look. `also`: instructions of
        whoever asks, for this question; the model gets them behind Lumina's own.

        With `instead_of`, a seq, it is the next attempt of that turn: what stood there and after is superseded, and
        stays to be shown. NotFound when no live turn has that seq. `temporary` as in `thread`.
        """
        check_text("instructions", also)
        instructions = self.desk.prompts.instructions(self.today(), research=research)
        instructions = f"{instructions}\n\n{also.strip()}" if also.strip() else instructions
        desk = self.desk.researching() if research else self.desk
        check_question(question, instructions, budget, self.desk.calibration.counter)
        thread = await self.thread(scope, temporary=temporary)
        begun: asyncio.Future[tuple[Turn, bool]] = asyncio.get_running_loop().create_future()
        begun.add_done_callback(_seen)  # the asker may be gone
        work = Work()
        asked = thread.begin(question, client_id=client_id, instead_of=instead_of)
        task = work.start(self._answer(desk, thread, asked, budget, instructions, work, begun))
        task.add_done_callback(_seen)
        self._at_work.add(work)
        task.add_done_callback(lambda _: self._at_work.discard(work))
        turn, new = await asyncio.shield(begun)
        return self._run(scope, turn, new=new, work=work if new else self._works.get(_key(scope, turn)))

    async def regenerate(
        self, scope: ThreadScope, seq: int = 0, *, client_id: str = "", budget: int = DEFAULT_BUDGET,
        research: bool = False,
    ) -> Run:  # fmt: skip
        """Answers the question of turn `seq` (0: the last one) again, in its place. NotFound when there is none."""
        known = (await self.store.recent_turns(scope, limit=1, before=seq + 1 if seq else 0)).turns
        if not known or (seq and known[-1].seq != seq):
            raise NotFound(f"Thread {scope.thread} has no turn{f' {seq}' if seq else ''} that could be asked again.")
        turn = known[-1]
        if turn.forgotten:
            raise NotFound(
                f"Turn {turn.seq} of thread {scope.thread} was forgotten on {turn.forgotten}: its question is gone. "
                "Nothing was asked. Ask a new one."
            )
        return await self.ask(
            scope, turn.question, client_id=client_id, budget=budget, instead_of=turn.seq, research=research
        )

    def stop(self, scope: ThreadScope, seq: int, attempt: int) -> bool:
        """Ends a turn that this process answers as partial ("stopped"), with the text so far. Returns at once; False
        when nothing runs here under that number."""
        work = self._works.get((scope, seq, attempt))
        if work is None:
            return False
        work.stop()
        return True

    def follow(self, scope: ThreadScope, seq: int, attempt: int, *, after: int = 0) -> AsyncGenerator[AnyEvent, None]:
        """The events of a turn after number `after`: stored ones, then live ones, to `turn.finished`. Whether this
        process answers the turn or another does, or it ended long ago, makes no difference. NotFound (while reading)
        when there is no such turn in this scope."""
        return follow(self.store, self.desk.bell, scope, seq, attempt, after=after)

    def thread_events(self, scope: ThreadScope, *, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The thread's own log, which never ends: turns started and finished, what changed, follow-ups, titles."""
        return follow(self.store, self.desk.bell, scope, 0, 0, after=after)

    # Inside

    async def _answer(
        self, desk: Desk, thread: Thread, asked: Coroutine[Any, Any, tuple[Turn, bool]], budget: int,
        instructions: str, work: Work,
        begun: asyncio.Future[tuple[Turn, bool]],
    ) -> Turn:  # fmt: skip
        try:
            turn, new = await asked
        except BaseException as error:
            begun.set_exception(error)
            raise
        if not new:
            begun.set_result((turn, new))
            return turn
        key = _key(thread.scope, turn)
        self._works[key] = work
        begun.set_result((turn, new))
        try:
            self._do_beside(self._take_up(thread))
            turn = await answer_turn(desk, thread, turn, work, instructions=instructions, budget=budget)
            work.noting = self._note(thread, turn)
            if thread.meaning and not self._quiet:
                task = self._do_beside(thread.embed())
                self._embedding.add(task)
                task.add_done_callback(self._embedding.discard)
            return turn
        except Exception:
            self._unended[thread.scope] = turn
            raise
        finally:
            del self._works[key]

    async def _take_up(self, thread: Thread) -> None:
        """Notes what a process that ended has left open, beside the turn."""
        for turn in await waiting_turns(thread):
            self._note(thread, turn)

    def _note(self, thread: Thread, turn: Turn) -> "asyncio.Task[Any] | None":
        """Starts the delta step of a turn, unless this process is at it."""
        key = _key(thread.scope, turn)
        if not thread.deltas or self._quiet or key in self._noting:
            return None
        self._noting.add(key)
        task = self._do_beside(note_turn(self.desk, thread, turn))
        task.add_done_callback(lambda _: self._noting.discard(key))
        return task

    def _do_beside(self, noting: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(noting)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        task.add_done_callback(_seen)
        return task

    def _run(self, scope: ThreadScope, turn: Turn, *, new: bool, work: Work | None) -> Run:
        def read() -> Coroutine[Any, Any, Turn]:
            return self._turn(scope, turn.seq, turn.attempt)

        return Run(scope=scope, turn=turn, new=new, work=work, follow=self.follow, read=read)

    async def _turn(self, scope: ThreadScope, seq: int, attempt: int) -> Turn:
        turn = (await self.store.turns(scope, [(seq, attempt)])).get((seq, attempt))
        if turn is None:
            raise NotFound(f"Thread {scope.thread} has no turn {seq} (attempt {attempt}).")
        return turn


def _seen(done: "asyncio.Future[Any]") -> None:
    """Nobody may be waiting for it; whoever is gets the error all the same. The log has it for whoever runs this."""
    if not done.cancelled() and (error := done.exception()) and not isinstance(error, UsageError):
        logger.error("a task of the agent failed", exc_info=error)


def _key(scope: ThreadScope, turn: Turn) -> Key:
    return (scope, turn.seq, turn.attempt)


def check_question(question: str, instructions: str, budget: int, counter: Counter) -> None:
    """Refuses, before anything is stored, what could not be kept or sent."""
    check_text("question", question)
    if not question.strip():
        raise UsageError("The question is empty. Ask something.")
    need = counter.count(instructions) + counter.count(clean(question)) + 2 * MESSAGE_OVERHEAD
    if need > budget:
        raise DoesNotFit(
            f"The question is too long: with the instructions it needs {need} tokens and the budget is {budget}. "
            "Nothing was stored. Shorten it or give a larger budget.",
            need=need,
            budget=budget,
        )
