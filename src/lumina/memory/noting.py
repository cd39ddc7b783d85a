"""Noting what changed: asks for a turn's delta, takes the reply, lets code decide, folds it in.

A job is waiting until a model has answered, answered until code has applied it, applied or set aside for ever after. A
reply is kept before anything is made of it, so that a process that dies in between loses nothing and doubles nothing:
whoever opens the thread next applies what was answered. Folding is guarded by the version of what was read; whoever
lost the race reads again and folds again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lumina.memory.change import Change
from lumina.memory.delta import (
    Checked,
    DeltaRequest,
    Note,
    Refused,
    check,
    delta_request,
    dump_changes,
    load_changes,
    parse_note,
)
from lumina.memory.errors import LuminaError, NotFound, StoreError, UsageError
from lumina.memory.note import system_text
from lumina.memory.nothing_said import why_not_asked
from lumina.memory.receipt import Item, Receipt, digest
from lumina.memory.rendering import RENDERING, entry_item
from lumina.memory.schema import NOTHING_DECLARED, Schema
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.state import Outcome, State, fold
from lumina.memory.store import DROPPED, AppliedDelta, DeltaJob, Snapshot, Store, StoredReceipt, VersionConflict
from lumina.memory.turns import DeltaStatus, Turn, TurnPage
from lumina.memory.unsaying import under_stone

MAX_TRIES = 3
MAX_REASON = 300  # characters of an unexpected fault
FIRST_NUMBERS = range(1, 101)  # of sources: where none of them is, none was read
MAX_RACES = 20  # folds again after a lost race; each loss is somebody else's success


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting:
    """What one turn's reply did: what each change did to state or profile, what was refused and why.

    `again`: nothing was applied yet, because a refused operation may be accepted when the model is told the reason:
    ask once more with `delta_request(seq, refused=noting.refused)`.
    """

    seq: int
    attempt: int
    outcomes: tuple[Outcome, ...] = ()
    refused: tuple[Refused, ...] = ()
    followups: tuple[str, ...] = ()
    title: str = ""
    again: bool = False
    set_aside: str = ""  # why the turn's delta was given up


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A state with its version. `unreadable`: the stored snapshot, where it could not be read and the state was folded
    anew from the deltas; it is written back as it was found."""

    version: int
    state: State
    unreadable: str = ""

    def next(self, state: State) -> Snapshot:
        return Snapshot(version=self.version + 1, body=self.unreadable or state.to_json())


async def load_state(store: Store, scope: ThreadScope) -> Loaded:
    """The state of a thread. One that was dropped is folded anew and stored."""
    snapshot = await store.state(scope)
    if snapshot.body == DROPPED:
        state = fold([load_changes(delta.changes) for delta in await store.deltas(scope)])
        new = Snapshot(version=snapshot.version + 1, body=state.to_json())
        try:
            await store.put_state(scope, new)
        except VersionConflict:
            return await load_state(store, scope)  # somebody was faster: the deltas may be others by now
        return Loaded(version=new.version, state=state)
    try:
        return Loaded(version=snapshot.version, state=State.from_json(snapshot.body))
    except StoreError:
        state = fold([load_changes(delta.changes) for delta in await store.deltas(scope)])
        return Loaded(version=snapshot.version, state=state, unreadable=snapshot.body)


async def load_profile(store: Store, scope: SubjectScope) -> Loaded:
    """The same for a subject."""
    snapshot = await store.profile(scope)
    if snapshot.body == DROPPED:
        state = fold([load_changes(delta.changes) for delta in await store.subject_deltas(scope)], about="subject")
        new = Snapshot(version=snapshot.version + 1, body=state.to_json())
        try:
            await store.put_profile(scope, new)
        except VersionConflict:
            return await load_profile(store, scope)
        return Loaded(version=new.version, state=state)
    try:
        return Loaded(version=snapshot.version, state=State.from_json(snapshot.body, about="subject"))
    except StoreError:
        state = fold([load_changes(delta.changes) for delta in await store.subject_deltas(scope)], about="subject")
        return Loaded(version=snapshot.version, state=state, unreadable=snapshot.body)


async def state_as_of(store: Store, scope: ThreadScope, seq: int) -> State:
    """The state of a thread after turn `seq`, corrections after that turn included."""
    _check_seq(seq)
    return fold([load_changes(delta.changes) for delta in await store.deltas(scope)], as_of=seq)


async def profile_as_of(store: Store, scope: ThreadScope, seq: int) -> State:
    """The profile after turn `seq` of this thread: all that was said in any thread of the subject until then."""
    _check_seq(seq)
    before = (await store.recent_turns(scope, limit=1, before=seq + 1)).turns
    number = before[-1].number if before else 0
    deltas = [load_changes(delta.changes) for delta in await store.subject_deltas(scope.of_subject)]
    return fold(deltas, about="subject", as_of=number)


def _check_seq(seq: object) -> None:
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1:
        raise UsageError(f"as_of is the number of a turn, from 1, not {seq!r}.")


async def ask(
    store: Store, scope: ThreadScope, *, seq: int = 0, attempt: int = 0, refused: Sequence[Refused] = (),
    model: str = "", instructions: str = "", schema: Schema = NOTHING_DECLARED,
) -> DeltaRequest | None:  # fmt: skip
    """The question about the turn `seq`, or the oldest one that waits; None when none does. Its receipt is kept.

    A turn that says nothing (`lumina.memory.nothing_said`) is not asked about: an empty delta is applied, and a
    receipt says why. `instructions` takes the place of the built-in prompt.
    """
    while job := await _job(store, scope, seq, "waiting", attempt):
        turn, previous = await _turns(store, scope, job)
        reason = "" if job.tries or refused else why_not_asked(turn, previous)
        if not reason:
            return await _ask(
                store, scope, turn, previous, refused=refused, model=model, instructions=instructions, schema=schema
            )
        await _skip(store, scope, job, turn, reason, schema)
        if seq:
            break
    return None


async def _ask(
    store: Store, scope: ThreadScope, turn: Turn, previous: Turn | None, *, refused: Sequence[Refused], model: str,
    instructions: str, schema: Schema,
) -> DeltaRequest:  # fmt: skip
    info = await store.thread_info(scope)
    state, wanted = (await load_state(store, scope)).state, not info.title
    profile = State(about="subject") if info.temporary else (await load_profile(store, scope.of_subject)).state
    system = system_text(instructions, declares=schema.declares)
    request = delta_request(
        turn, state=state, profile=profile, previous=previous, read_sources=turn.read_sources, title_wanted=wanted,
        refused=refused, schema=schema, system=system,
    )  # fmt: skip
    # What the model was told can be shown again, whatever becomes of the files.
    items = [Item(kind="instructions", digest=await store.put_text(scope.of_subject, system))]
    if schema.declares:
        items.append(Item(kind="schema", digest=await store.put_text(scope.of_subject, schema.to_json())))
    items.append(Item(kind="turn noted", seq=turn.seq, attempt=turn.attempt))
    if previous is not None:
        items.append(Item(kind="turn", seq=previous.seq, attempt=previous.attempt))
    items += [entry_item(entry) for entry in (*profile.current(), *state.current())]
    items += [Item(kind="refused", said_by=each.op, key=each.key, text=each.reason) for each in refused]
    await _put_receipt(store, scope, turn, Receipt(
        rendering=RENDERING, purpose="delta", model=model, day=turn.day, title_wanted=wanted, items=tuple(items),
        sent=digest(request.messages),
    ))  # fmt: skip
    return request


async def _put_receipt(store: Store, scope: ThreadScope, turn: Turn, receipt: Receipt) -> None:
    """Keeps it as the next call of the turn."""
    earlier = await store.receipts(scope, turn.seq, turn.attempt)
    receipt = receipt.model_copy(update={"call": max((row.call for row in earlier), default=0) + 1})
    await store.put_receipt(
        scope,
        StoredReceipt(seq=turn.seq, attempt=turn.attempt, call=receipt.call, purpose="delta", body=receipt.to_json()),
    )


async def _skip(store: Store, scope: ThreadScope, job: DeltaJob, turn: Turn, reason: str, schema: Schema) -> None:
    """Settles a turn without asking. Should the process end before, the next one comes here again."""
    noted = Item(kind="turn noted", seq=turn.seq, attempt=turn.attempt, included=False, reason=reason)
    await _put_receipt(
        store, scope, turn,
        Receipt(rendering=RENDERING, purpose="delta", day=turn.day, skipped=reason, items=(noted,)),
    )  # fmt: skip
    await _apply(store, scope, job, "{}", schema)


async def take(
    store: Store, scope: ThreadScope, reply: str, *, seq: int = 0, attempt: int = 0, schema: Schema = NOTHING_DECLARED
) -> Noting:
    """Keeps a model's reply about turn `seq` (or the oldest that waits) and applies it.

    NoteError when the reply cannot be read: that counts as a try, and after MAX_TRIES the delta is set aside. NotFound
    when no turn waits for a reply. A reply about a superseded attempt is kept and has no effect.
    """
    job = await _job(store, scope, seq, "waiting", attempt)
    if job is None and attempt and await _is_superseded(store, scope, seq, attempt):
        await store.answer_delta(scope, seq, attempt, reply)
        return Noting(seq=seq, attempt=attempt)
    if job is None:
        raise NotFound(
            f"Turn {seq} waits for no delta: it was applied or set aside before, or its thread has no delta step."
            if seq
            else "No turn of this thread waits for a delta."
        )
    try:
        parse_note(reply)
    except UsageError as error:
        await give_up(store, scope, job, schema.mask(str(error)))
        raise
    await store.answer_delta(scope, job.seq, job.attempt, schema.masks.json_text(reply))
    job = await _job(store, scope, job.seq, "answered", job.attempt) or job
    return await _apply(store, scope, job, reply, schema)


async def settle(store: Store, scope: ThreadScope, *, schema: Schema = NOTHING_DECLARED) -> list[Noting]:
    """Applies what was answered and not applied: by a process that died, or by another one a moment ago."""
    return [await _apply(store, scope, job, job.answer, schema) for job in await store.delta_jobs(scope, "answered")]


async def give_up(store: Store, scope: ThreadScope, job: DeltaJob, reason: str) -> str:
    """Counts a failed try; sets the job aside after MAX_TRIES and returns why, else ""."""
    last = job.tries + 1 >= MAX_TRIES
    await store.fail_delta(scope, job.seq, job.attempt, reason, set_aside=last)
    return reason if last else ""


async def _apply(store: Store, scope: ThreadScope, job: DeltaJob, reply: str, schema: Schema) -> Noting:
    try:
        note = parse_note(reply)
        note.title, note.followups = schema.mask(note.title), [schema.mask(each) for each in note.followups]
        for _ in range(MAX_RACES):
            noting = await _fold(store, scope, job, note, schema)
            if noting is not None:
                return noting
        raise StoreError(f"Turn {job.seq}'s delta lost {MAX_RACES} races for the state; it stays for the next opening.")
    except LuminaError as error:
        # A reply that can never be applied must not hold the thread up (CASES D5).
        aside = await give_up(store, scope, job, schema.mask(str(error)))
        return Noting(seq=job.seq, attempt=job.attempt, set_aside=aside)
    except Exception as fault:  # nor one that this program stumbles over
        aside = await give_up(store, scope, job, f"applying it failed: {fault!r}"[:MAX_REASON])
        return Noting(seq=job.seq, attempt=job.attempt, set_aside=aside)


async def _fold(store: Store, scope: ThreadScope, job: DeltaJob, note: Note, schema: Schema) -> Noting | None:
    """One try. None when somebody else was faster."""
    turn, previous = await _turns(store, scope, job)
    info = await store.thread_info(scope)
    held = await load_state(store, scope)
    held_profile = None if info.temporary else await load_profile(store, scope.of_subject)
    state, profile = held.state, held_profile.state if held_profile else None
    checked = check(
        note, turn=turn, state=state, profile=profile, previous=previous, read_sources=turn.read_sources,
        near_sources=await _near_sources(store, scope, turn, previous), thread=scope.thread, second_try=job.tries > 0,
        schema=schema,
    )  # fmt: skip
    if checked.again and not job.tries:
        await store.fail_delta(scope, job.seq, job.attempt, "refused in part: asked again", set_aside=False)
        return Noting(seq=job.seq, attempt=job.attempt, refused=checked.refused, again=True)
    changes = await _not_forgotten(store, scope, checked.changes)
    state, outcomes = state.merge(changes)
    profile, more = profile.merge(changes) if profile else (None, [])
    delta = AppliedDelta(
        seq=job.seq, attempt=job.attempt, correction=0, number=turn.number, changes=dump_changes(changes)
    )  # fmt: skip
    next_profile = held_profile.next(profile) if held_profile and profile and more else None
    try:
        if not await store.apply_delta(scope, delta, held.next(state), next_profile):
            return Noting(seq=job.seq, attempt=job.attempt)  # another was faster, or the turn is superseded by now
    except VersionConflict:
        return None
    if note.followups:
        await store.set_followups(scope, job.seq, job.attempt, note.followups)
    if note.title and not info.title:
        await store.set_title(scope, note.title, turn=(job.seq, job.attempt))
    return _noting(job, note, checked, (*outcomes, *more))


async def _near_sources(store: Store, scope: ThreadScope, turn: Turn, previous: Turn | None) -> bool:
    """Whether words of a source may stand in the answer of `turn` or of the one before: the thread has read one, or
    they were shown what was said in another thread. An answer repeats what it was shown, the next one repeats it."""
    if await store.sources(scope, FIRST_NUMBERS):
        return True
    for each in (turn, previous):
        for row in await store.receipts(scope, each.seq, each.attempt) if each else ():
            if row.purpose == "answer" and any(
                item.thread and item.included for item in Receipt.from_json(row.body).items
            ):
                return True
    return False


async def _not_forgotten(store: Store, scope: ThreadScope, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Without what was forgotten after it had been said: a delta that comes late brings nothing back."""
    if not changes or not any(row.action.startswith("forget") for row in await store.audit(scope.of_subject)):
        return tuple(changes)
    deltas = [*await store.deltas(scope), *await store.subject_deltas(scope.of_subject)]
    stones = [each for delta in deltas for each in load_changes(delta.changes) if each.forgotten]
    return tuple(change for change in changes if not under_stone(change, stones))


def _noting(job: DeltaJob, note: Note, checked: Checked, outcomes: tuple[Outcome, ...]) -> Noting:
    return Noting(
        seq=job.seq, attempt=job.attempt, outcomes=outcomes, refused=checked.refused,
        followups=tuple(note.followups), title=note.title,
    )  # fmt: skip


async def _job(store: Store, scope: ThreadScope, seq: int, status: DeltaStatus, attempt: int = 0) -> DeltaJob | None:
    jobs = await store.delta_jobs(scope, status)
    if seq:
        return next((job for job in jobs if job.seq == seq and attempt in (0, job.attempt)), None)
    for job in jobs:  # a turn that cannot be read must not hold the later ones up
        if await store.turns(scope, [(job.seq, job.attempt)]):
            return job
    return None


async def _is_superseded(store: Store, scope: ThreadScope, seq: int, attempt: int) -> bool:
    rows = await store.page(scope, first=seq, last=seq, superseded=True)
    return any(isinstance(row, TurnPage) and row.attempt == attempt and row.superseded for row in rows)


async def _turns(store: Store, scope: ThreadScope, job: DeltaJob) -> tuple[Turn, Turn | None]:
    turn = (await store.turns(scope, [(job.seq, job.attempt)])).get((job.seq, job.attempt))
    if turn is None:
        raise StoreError(f"Turn {job.seq} cannot be read, so what it changed cannot be noted. It was left as it is.")
    before = await store.recent_turns(scope, limit=1, before=job.seq)
    # The live turn before it; where that cannot be read, no older one is taken for it.
    return turn, before.turns[-1] if before.turns and not before.unreadable else None
