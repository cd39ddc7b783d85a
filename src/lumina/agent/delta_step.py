"""After the answer: what changed in this turn (the delta step).

A note taker is asked once; what it answers is kept before anything is made of it, then code checks it and folds it in
(`lumina.memory.noting`). Tries are counted in the turn's delta job, over all processes; after the last one the delta is
set aside, visibly, and the turn itself is safe. What changed, follow-up questions and a title go to the thread's log.
"""

import asyncio
import logging
from dataclasses import replace

from lumina.agent.desk import Desk
from lumina.agent.events import Event, FollowUps, Notice, StateChanged, Titled
from lumina.agent.ports import NoteReply
from lumina.agent.spending import NOTE, Spending
from lumina.agent.storable import storable
from lumina.agent.turn_log import thread_log
from lumina.memory import noting
from lumina.memory.delta import Refused
from lumina.memory.errors import LuminaError, NotFound, ProviderError, UsageError
from lumina.memory.noting import Noting
from lumina.memory.state import Outcome
from lumina.memory.thread import Thread
from lumina.memory.turns import Turn

CHANGES = ("new", "replaces", "closes")  # outcomes that a person would call a change
logger = logging.getLogger(__name__)


async def waiting_turns(thread: Thread) -> list[Turn]:
    """Turns whose delta nobody has answered: of a process that ended before it was asked, or of one that is at it."""
    if not thread.deltas:
        return []
    jobs = await thread.store.delta_jobs(thread.scope, "waiting")
    keys = [(job.seq, job.attempt) for job in jobs]
    return list((await thread.store.turns(thread.scope, keys)).values()) if keys else []


async def note_turn(desk: Desk, thread: Thread, turn: Turn) -> Noting | None:
    """Asks what changed in `turn` and applies it. None when there is nothing to ask (a greeting, thanks), or another
    process was faster."""
    refused: tuple[Refused, ...] = ()
    pause = desk.limits.note_pause
    while True:
        done = await _try(desk, thread, turn, refused)
        if not isinstance(done, Again):
            if done is not None:
                await _tell(desk, thread, turn, done)
            return done
        refused = done.refused
        if not refused:  # it failed; when something was refused, the model is told at once
            await asyncio.sleep(pause)
            pause *= 2


class Again:
    """One more try: `refused` is what the first reply got wrong, empty when there was no reply to speak of."""

    def __init__(self, refused: tuple[Refused, ...] = ()) -> None:
        self.refused = refused


async def _try(desk: Desk, thread: Thread, turn: Turn, refused: tuple[Refused, ...]) -> Noting | Again | None:
    try:
        request = await thread.delta_request(
            turn.seq, attempt=turn.attempt, refused=refused, model=desk.notes.name, instructions=desk.prompts.note
        )  # fmt: skip
    except LuminaError as error:  # the turn cannot be read: it must not be asked about for ever
        return await _failed(thread, turn, str(error))
    if request is None:
        return None
    try:
        async with asyncio.timeout(desk.limits.one_note):
            answered = await desk.notes.note(request)
    except Exception as error:
        reason = f"{desk.notes.name} did not answer ({type(error).__name__})"
        logger.warning("noting turn %s: %s", turn.seq, reason, exc_info=error)
        return await _failed(thread, turn, str(error) if isinstance(error, ProviderError) else reason)
    reply = answered if isinstance(answered, NoteReply) else NoteReply(text=answered)
    if reply.model:
        spending = Spending(thread, turn)
        spending.add(NOTE, reply.model, reply.tokens)
        await spending.write()
    if reply.problem:
        return await _failed(thread, turn, reply.problem)
    now = (await thread.store.turns(thread.scope, [(turn.seq, turn.attempt)])).get((turn.seq, turn.attempt))
    if now is None or now.forgotten or now.number != turn.number:  # another thread may have its name by now
        return None
    try:
        noted = await thread.apply(storable(reply.text), seq=turn.seq, attempt=turn.attempt)
    except NotFound:
        return None
    except UsageError as error:
        jobs = await thread.store.delta_jobs(thread.scope, "waiting")
        if any((job.seq, job.attempt) == (turn.seq, turn.attempt) for job in jobs):
            return Again()
        return Noting(seq=turn.seq, attempt=turn.attempt, set_aside=str(error))
    if noted.again:
        return Again(noted.refused)
    return noted if request.title_wanted else replace(noted, title="")


async def _failed(thread: Thread, turn: Turn, reason: str) -> Noting | Again | None:
    """Counts the try. After the last one the delta is set aside."""
    jobs = await thread.store.delta_jobs(thread.scope, "waiting")
    job = next((job for job in jobs if (job.seq, job.attempt) == (turn.seq, turn.attempt)), None)
    if job is None:
        return None
    given_up = await noting.give_up(thread.store, thread.scope, job, reason)
    return Noting(seq=turn.seq, attempt=turn.attempt, set_aside=given_up) if given_up else Again()


async def _tell(desk: Desk, thread: Thread, turn: Turn, noted: Noting) -> None:
    place = {"thread": thread.scope.thread, "turn": turn.seq}
    events: list[Event] = [_changed(outcome, turn, place) for outcome in noted.outcomes if outcome.kind in CHANGES]
    if noted.followups:
        events.append(FollowUps.model_validate({**place, "questions": noted.followups}))
    if noted.title:
        events.append(Titled.model_validate({**place, "title": noted.title}))
    if noted.set_aside:
        text = f"What turn {turn.seq} changed could not be noted and was set aside: {noted.set_aside}"
        events.append(Notice.model_validate({**place, "text": text}))
    if events:
        await thread_log(desk.store, desk.bell, thread.scope).write(*events)


def _changed(outcome: Outcome, turn: Turn, place: dict[str, object]) -> Event:
    change, quote = outcome.change, outcome.change.quote
    ends = change.op in ("retract", "resolve")
    own = quote is not None and (quote.seq, quote.attempt) == (turn.seq, turn.attempt)
    text = turn.question if quote is not None and quote.part == "question" else turn.answer
    return StateChanged.model_validate({
        **place,
        "op": change.op,
        "key": change.key,
        "about": change.about,
        "old": outcome.old or None,
        "new": None if ends else change.value,
        "quote": text[quote.start : quote.end] if quote is not None and own else "",
        "said_by": change.said_by,
    })  # fmt: skip
