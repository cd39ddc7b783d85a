"""`stale`: people change their minds; does the memory block show all that holds now, and nothing that held before?

Each dialogue of Schema-Guided Dialogue is a thread whose gold changes are applied turn by turn, as a model's replies
that code checks. Where the value stands in the user's words the reply quotes them; where the user accepts an offer it
quotes consent and offer; a date or number may be in plain form; and where the value stands nowhere ("one person" for
1), an operator corrects. The table counts each.

Then the conversation goes on for twelve turns of nothing, so that all of it has left the window, and is asked about
each slot that was replaced. Shown as current: the lines of the memory block. A recalled passage may hold an old value
only with its mark, "(replaced at turn 9)". Beside it: facts that are only appended, and a search over turns by likeness
of words.

At last the same changes are applied to a twin of the thread in another order, after all turns, and each twice: the
state must be the same bytes.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lumina.evals.baselines import Bm25, best_first
from lumina.evals.files import read_files
from lumina.evals.loaders import sgd
from lumina.evals.loaders.sgd import Dialogue, Exchange, SlotChange
from lumina.evals.parallel import Progress, for_each, limited
from lumina.evals.replay import Replay, Where, memory_block_of, opened
from lumina.evals.reports import Report, Table, Target, at_least, count_of, exactly, percent
from lumina.evals.scenarios import Options
from lumina.evals.slots import Slot, is_of, slots_of
from lumina.memory import noting
from lumina.memory.consent import assents
from lumina.memory.context import Context
from lumina.memory.delta import correct, dump_changes
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.evidence import Passage, normalised, same, sentences, verbatim
from lumina.memory.store import AppliedDelta
from lumina.memory.turns import Turn

NOTHING = ("Thanks, give me a moment.", "Of course, take your time.")
MARK = " (replaced at turn "
KINDS = ("the words that set it", "words that repeat it", "the same letters about something else")
AFTER = 12  # turns of nothing
TOP = 5  # turns that the search by likeness sends
HOW = ("quoted", "plain form of the quote", "accepted offer", "corrected by an operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work of one process: some dialogues. `where`: the kind of store."""

    dialogues: tuple[Dialogue, ...]
    where: Where
    seed: int


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was counted; sums over dialogues."""

    how: Counter[str] = field(default_factory=Counter)
    slots: int = 0
    replaced: int = 0
    stored: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        self.how += other.how
        self.counts += other.counts
        self.slots += other.slots
        self.replaced += other.replaced
        self.stored += other.stored


def load(options: Options) -> list[Dialogue]:
    """The dialogues in the files; a file of schemas is passed over. UsageError for a file of another kind."""
    found: list[Dialogue] = []
    for file in read_files(options.paths):
        if sgd.is_sgd(file):
            found += sgd.dialogues(file)
        elif not sgd.is_schema(file):
            raise UsageError(f"{file.path} is not SGD: a list of objects with `dialogue_id` and `turns` is wanted.")
    return found


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    dialogues = limited(load(options), options.limit, "dialogue")
    jobs = [
        Job(dialogues=tuple(dialogues[at : at + 20]), where=options.where, seed=options.seed)
        for at in range(0, len(dialogues), 20)
    ]
    total = Tally()
    for tally in for_each(measure, jobs, processes=options.processes, progress=progress, what="twenty dialogues each"):
        total.add(tally)
    return _report(dialogues, total)


def measure(job: Job) -> Tally:
    """Every dialogue of one job."""
    return asyncio.run(_measure(job))


async def _measure(job: Job) -> Tally:
    total = Tally()
    for dialogue in job.dialogues:
        total.add(await _one(dialogue, job))
    return total


async def _one(dialogue: Dialogue, job: Job) -> Tally:
    tally = Tally()
    slots = slots_of(dialogue)
    async with opened(job.where) as store:
        replay = await Replay.open(store, deltas=True)
        for seq, exchange in enumerate(dialogue.exchanges, 1):
            turn = await replay.record(exchange.question, exchange.answer)
            before = dialogue.exchanges[seq - 2].answer if seq > 1 else ""
            await apply(replay, turn, exchange, before, tally.how)
        state = await replay.thread.state()
        changed = [slot for slot in slots if slot.old]
        tally.slots, tally.replaced = len(slots), len(changed)
        tally.stored = sum(_is(entry.value, slot.now) for slot in slots if (entry := state.get(slot.key)))
        await _look(replay, slots, changed, tally)
        tally.counts["changed by applying again"] += await _again(replay, dialogue)
    tally.counts["changed by order"] += await _late(dialogue, job, state.to_json())
    _append_only(changed, tally)
    _by_likeness(dialogue, changed, tally)
    return tally


# Gold changes as replies


async def apply(replay: Replay, turn: Turn, exchange: Exchange, before: str, how: Counter[str]) -> None:
    """Applies a turn's gold changes; those that code refuses are put right by an operator."""
    thread, scope = replay.thread, replay.thread.scope
    ops = {change.key: op_of(change, exchange.question, before, turn.day) for change in exchange.changes}
    reply = {"ops": [op for op, _ in ops.values() if op]}
    noted = await thread.apply(reply, seq=turn.seq)
    if noted.again:  # a key that nearly equals another is asked back once
        noted = await thread.apply(reply, seq=turn.seq)
    accepted = {outcome.change.key for outcome in noted.outcomes}
    how.update(way for key, (_, way) in ops.items() if key in accepted)
    left = [change for change in exchange.changes if change.key not in accepted]
    if left:
        how[HOW[3]] += len(left)
        held = await noting.load_state(thread.store, scope)
        changes = [
            correct("set", change.key, change.spellings[0], turn=turn, correction=1, by="gold", day=turn.day)
            for change in left
        ]
        delta = AppliedDelta(
            seq=turn.seq, attempt=turn.attempt, correction=1, number=turn.number, changes=dump_changes(changes)
        )
        await thread.store.apply_delta(scope, delta, held.next(held.state.merge(changes)[0]), None)


def op_of(change: SlotChange, question: str, before: str, day: str) -> tuple[dict[str, str] | None, str]:
    """A change as the operation that a good model would write, and how it is grounded; None where no words hold it."""
    asked = [*(question[span.start : span.end].strip() for span in sentences(question)), question]
    for way, stands in ((HOW[0], verbatim), (HOW[1], lambda value, text: normalised(value, text, day))):
        for spelling in change.spellings:
            for sentence in asked:
                if stands(spelling, sentence):
                    return _op(change.key, spelling, sentence), way
    consent = next((question[s.start : s.end].strip() for s in sentences(question) if assents(question, s)), "")
    for offer in (before[span.start : span.end].strip() for span in sentences(before)):
        for spelling in change.spellings if consent else ():
            if verbatim(spelling, offer):
                return {**_op(change.key, spelling, consent), "offer": offer}, HOW[2]
    return None, ""


def _op(key: str, value: str, quote: str) -> dict[str, str]:
    return {"op": "set", "key": key, "value": value, "quote": quote}


# What is shown


async def _look(replay: Replay, slots: Sequence[Slot], changed: Sequence[Slot], tally: Tally) -> None:
    """Asks at the end of the dialogue, and, where something was replaced, after all of it has left the window."""
    await _asked(replay, "What have we settled so far?", slots, tally)
    if not changed:
        return
    for _ in range(AFTER):
        turn = await replay.record(*NOTHING)
        await replay.thread.apply({"ops": []}, seq=turn.seq)
    for slot in changed:
        said = slot.old[-1][1]
        context = await _asked(
            replay, f"What did I say earlier about the {slot.words}, {said} or something else?", slots, tally
        )
        _recalled(context, slot, slots, tally)


async def _asked(replay: Replay, question: str, slots: Sequence[Slot], tally: Tally) -> Context:
    context = await replay.thread.context(question)
    noted = noted_in(memory_block_of(context))
    for slot in slots:
        tally.counts["current wanted"] += 1
        tally.counts["current shown"] += _is(noted.get(slot.key, ""), slot.now)
        tally.counts["old shown"] += any(same(noted.get(slot.key, ""), old) for _, old in slot.old)
    return context


def noted_in(block: str) -> dict[str, str]:
    """Key -> value of the entries in a memory block, recalled passages left out."""
    noted: dict[str, str] = {}
    for line in block.partition("\nFrom earlier turns:")[0].splitlines():
        head, found, rest = line.removeprefix("- ").partition(": ")
        if line.startswith("- ") and found:
            noted[head.partition(" ")[2].partition(" (")[0]] = rest
    return noted


def _recalled(context: Context, slot: Slot, slots: Sequence[Slot], tally: Tally) -> None:
    """Recalled passages with an old value of `slot`: of the turn that set it, of another that repeats it, or with the
    same letters about something else. And marked ones in which no old value of any slot stands."""
    said_at = {seq for seq, _ in slot.old}
    for line in memory_block_of(context).partition("From earlier turns:\n")[2].splitlines():
        head, _, text = line.partition(": ")
        if not head.startswith("#"):
            continue
        text, marked, _ = text.partition(MARK)
        if marked:
            held = any(Passage(text).find(old) for each in slots for _, old in each.old)
            tally.counts["marked passages"] += 1
            tally.counts["marked without an old value"] += not held
        old = [value for _, value in slot.old if Passage(text).find(value)]
        if not old:
            continue
        seq, _, by = head.removeprefix("#").partition(" ")
        own = int(seq) in said_at and by == "user"
        kind = KINDS[0] if own else KINDS[1] if is_of(slot, old, slots, text) else KINDS[2]
        tally.counts[f"recalled: {kind}"] += 1
        tally.counts[f"marked: {kind}"] += bool(marked)


# Applied again, and late


async def _again(replay: Replay, dialogue: Dialogue) -> int:
    """Applies every reply and every stored delta once more. 1 if that changed the state."""
    thread = replay.thread
    before = (await thread.state()).to_json()
    for seq in range(1, len(dialogue.exchanges) + 1):
        try:
            await thread.apply({"ops": []}, seq=seq)
        except NotFound:
            continue
    for delta in await thread.store.deltas(thread.scope):
        held = await noting.load_state(thread.store, thread.scope)
        await thread.store.apply_delta(thread.scope, delta, held.next(held.state), None)
    return int((await thread.state()).to_json() != before)


async def _late(dialogue: Dialogue, job: Job, wanted: str) -> int:
    """The twin: all turns first, then the deltas in another order. 1 if its state is another one."""
    async with opened(job.where) as store:
        replay = await Replay.open(store, deltas=True)
        turns = [await replay.record(each.question, each.answer) for each in dialogue.exchanges]
        order = list(range(len(turns)))
        random.Random(f"{job.seed} {dialogue.name}").shuffle(order)
        for at in order:
            before = dialogue.exchanges[at - 1].answer if at else ""
            await apply(replay, turns[at], dialogue.exchanges[at], before, Counter())
        return int((await replay.thread.state()).to_json() != wanted)


# The others


def _append_only(changed: Sequence[Slot], tally: Tally) -> None:
    """Facts that are added and never taken away: what their list shows of the slots that were replaced."""
    for slot in changed:
        listed = [f"{slot.key}: {change.spellings[0]}" for _, change in slot.values]
        tally.counts["append: current"] += any(_is(line.partition(": ")[2], slot.now) for line in listed)
        tally.counts["append: old"] += any(same(line.partition(": ")[2], old) for line in listed for _, old in slot.old)


def _by_likeness(dialogue: Dialogue, changed: Sequence[Slot], tally: Tally) -> None:
    """The TOP turns most like the question, by words; of equals the newest."""
    newest_first = list(enumerate(dialogue.exchanges, 1))[::-1]
    search = Bm25([f"{each.question}\n{each.answer}" for _, each in newest_first])
    for slot in changed:
        order = [newest_first[at][0] for at in best_first(search.scores(f"What is the {slot.words}?"))]
        now, old = slot.values[-1][0], {seq for seq, _ in slot.old}
        tally.counts["likeness: current"] += now in order[:TOP]
        tally.counts["likeness: old"] += bool(old.intersection(order[:TOP]))
        tally.counts["likeness: old first"] += min(order.index(seq) for seq in old) < order.index(now)


def _is(value: str, change: SlotChange) -> bool:
    return any(same(value, spelling) for spelling in change.spellings)


# The report


def _report(dialogues: Sequence[Dialogue], total: Tally) -> Report:
    counts, changes = total.counts, sum(total.how.values())
    with_old = sum(any(slot.old for slot in slots_of(dialogue)) for dialogue in dialogues)
    rows = (
        ("facts only appended", percent(counts["append: current"], total.replaced),
         percent(counts["append: old"], total.replaced), None),
        (f"turns by likeness of words, best {TOP}", percent(counts["likeness: current"], total.replaced),
         percent(counts["likeness: old"], total.replaced), percent(counts["likeness: old first"], total.replaced)),
        ("Lumina, memory block", percent(counts["current shown"], counts["current wanted"]),
         percent(counts["old shown"], counts["current wanted"]), None),
    )  # fmt: skip
    tables = (
        Table(
            title=f"What is shown of the {total.replaced:,} slots that were replaced (Lumina: of all slots, each time)",
            columns=("memory", "current value, %", "old value, %", "old before current, %"),
            rows=rows,
        ),
        Table(
            title=f"How the {changes:,} gold changes were grounded",
            columns=("way", "changes", "%"),
            rows=tuple((way, total.how[way], percent(total.how[way], changes)) for way in HOW),
        ),
        Table(
            title="Recalled passages in which an old value stands",
            columns=("passage", "recalled", "marked as replaced, %"),
            rows=tuple(
                (kind, counts[f"recalled: {kind}"],
                 percent(counts[f"marked: {kind}"], counts[f"recalled: {kind}"]))
                for kind in KINDS
            ),
            note="A repetition is, for example, the assistant's confirmation. A value of one or two characters, or one "
            "that holds for another slot now, counts as repeated where a word of the slot's name stands in the passage "
            f"(\"2 seats\"), else as something else (\"4:30 pm\"). Of {counts['marked passages']} marked passages, "
            f"{counts['marked without an old value']} hold no old value in a spelling of the gold.",
        ),
    )  # fmt: skip
    return Report(
        scenario="stale",
        data=f"{count_of(dialogues, 'dialogue')}, {total.slots:,} slots, of which {with_old} dialogues replace some",
        tables=tables,
        targets=_targets(total),
        figures={"counts": dict(counts), "slots": total.slots, "replaced": total.replaced, "stored": total.stored},
    )


def _targets(total: Tally) -> tuple[Target, ...]:
    counts = total.counts
    kinds: Mapping[str, float] = {
        "current values in the stored state, %": percent(total.stored, total.slots) or 0.0,
        "current values in the memory block, %": percent(counts["current shown"], counts["current wanted"]) or 0.0,
    }
    own, again = ((counts[f"recalled: {kind}"], counts[f"marked: {kind}"]) for kind in KINDS[:2])
    return (
        *(exactly(what, 100, value) for what, value in kinds.items()),
        exactly("old values in the memory block", 0, counts["old shown"]),
        exactly("recalled words of an old value without their mark", 0, own[0] - own[1]),
        at_least("recalled words that repeat an old value, marked", 100, percent(again[1], again[0]) or 100.0),
        exactly("dialogues whose state changed when everything was applied again", 0,
                counts["changed by applying again"]),
        exactly("dialogues whose state depends on the order of arrival", 0, counts["changed by order"]),
    )  # fmt: skip
