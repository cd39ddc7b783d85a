"""`evidence`: asked at the end of a conversation, does recall bring every message that the answer needs?

Two measures on the same questions. The first gives the budget to recall alone: Lumina's ranking on a real store beside
the baselines, each message at the price of the very line that Lumina would send ("#3 user: ..."), the heading of its
day paid once, so that headings are counted in every row. "Recall alone" spends all of it, as a model that looks back by
itself can; the rows with the gate stop where a context does, at passages far behind the best. The second is a whole
context by `Thread.context`, with window, memory block and recall in the budget: a needed message counts when it stands
there word for word.

A message that was cut into passages counts as sent when all of its passages are; the second table is lenient and asks
for one passage of every needed message, which is what an assistant's long answer can give. Gold words (a quote) count
when they stand in what is sent.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from lumina.evals.baselines import Bm25, best_first, last_messages, sent_within
from lumina.evals.files import read_files
from lumina.evals.likeness import FUSED, NAIVE, Likeness, all_made
from lumina.evals.loaders import locomo, own
from lumina.evals.measures import paired_difference
from lumina.evals.parallel import Progress, for_each, limited
from lumina.evals.replay import LOCAL, Replay, Where, opened
from lumina.evals.reports import Report, Table, at_least, at_most, count_of, percent
from lumina.evals.scenarios import Options, budgets_of
from lumina.evals.talks import Asked, Gold, Line, Talk
from lumina.evals.tokens import token_counter
from lumina.memory import recall
from lumina.memory.context import Context
from lumina.memory.embedding import Vector
from lumina.memory.errors import UsageError
from lumina.memory.evidence import Passage
from lumina.memory.looking_back import look_back
from lumina.memory.meaning import NOTHING, Meaning
from lumina.memory.passages import passages_of
from lumina.memory.ranking import Pick, Speakers
from lumina.memory.receipt import Item
from lumina.memory.rendering import Material, day_heading, recalled_line
from lumina.memory.state import State
from lumina.memory.store import Store, StoredPassage
from lumina.memory.thread import Thread
from lumina.memory.turns import IndexedPassage
from lumina.memory.visible_text import clean
from lumina.wiring import NO_EMBEDDER, find_embedder

BUDGETS = (1000, 2000, 4000)
NEIGHBOURS = "BM25 +-1"
LUMINA = "Lumina, recall alone"
GATED = "Lumina, behind the gate"
SMALL = "Lumina, always a small recall"
WITH_VECTORS = "Lumina, recall alone, with vectors"
WHOLE = "Lumina, whole context"

Span = tuple[int, str, int, int]  # seq, part, start, end of a passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work of one process: a conversation and what to measure on it."""

    talk: Talk
    budgets: tuple[int, ...]
    where: Where
    embedder: str = ""


Cell = tuple[str, int]  # row, budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question's result: the cells in which all that it needs was sent, and in which some of each was.
    `reaches_back`: some of it is older than the window; `fired`: recall did."""

    inside: frozenset[Cell]
    some: frozenset[Cell]
    reaches_back: bool
    fired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What of a conversation was sent: ids of whole messages, ids of messages of which a part was, the words."""

    whole: frozenset[str]
    partly: frozenset[str]
    words: Mapping[str, str]  # of each message of which something was sent

    def holds(self, gold: Gold) -> bool:
        if not gold.quote:
            return gold.id in self.whole
        return gold.id in self.whole or Passage(self.words.get(gold.id, "")).find(gold.quote) is not None


def load(options: Options) -> list[Talk]:
    """The conversations in the files. UsageError for a file of another kind."""
    talks: list[Talk] = []
    for file in read_files(options.paths):
        if own.is_own(file):
            talks += own.talks(file)
        elif locomo.is_locomo(file):
            talks += locomo.talks(file)
        else:
            raise UsageError(
                f"{file.path} is neither LoCoMo-shaped (objects with `conversation` and `qa`) nor JSON Lines of "
                "conversations with `messages` and `questions`."
            )
    return talks


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    budgets = budgets_of(options, BUDGETS)
    talks = limited(load(options), options.limit, "conversation")
    find_embedder(options.embedder or NO_EMBEDDER)  # one that cannot be had is refused before the work begins
    jobs = [Job(talk=talk, budgets=budgets, where=options.where, embedder=options.embedder) for talk in talks]
    found = for_each(measure, jobs, processes=options.processes, progress=progress, what="conversations")
    answered = [each for one in found for each in one]
    if not answered:
        raise UsageError("No question in the files names evidence that is there. Nothing was measured.")
    return _report(talks, answered, budgets, options)


def measure(job: Job) -> list[Answered]:
    """Every question of one conversation."""
    return asyncio.run(_measure(job))


async def _measure(job: Job) -> list[Answered]:
    async with opened(job.where) as store:
        replay = await Replay.open(store)
        await replay.play(job.talk.lines)
        material = await _material(store, job.talk)
        embedder = find_embedder(job.embedder or NO_EMBEDDER)
        meaning = Meaning(store=store, scope=LOCAL, embedder=embedder) if embedder else None
        if meaning is not None:
            await all_made(meaning)
        desk = _Desk(job=job, thread=replay.thread, material=material, places=_places(job.talk), meaning=meaning)
        costs = {line.id: _cost(_whole_line(line), material) for line in job.talk.lines}
        plain = Baselines(job.talk, costs, await Likeness.of(job.talk, embedder) if embedder else None)
        return [await _answered(asked, desk, plain) for asked in job.talk.asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """One conversation, laid out. `places`: the passages of each message, as the store has cut it."""

    job: Job
    thread: Thread
    material: Material
    places: Mapping[str, tuple[IndexedPassage, ...]]
    meaning: Meaning | None

    def sent(self, spans: Collection[Span]) -> Sent:
        """What of the conversation stands in passages, each (seq, part, start, end)."""
        whole, partly, words = set(), set(), {}
        for line in self.job.talk.lines:
            places = self.places[line.id]
            held = [p for p in places if (line.seq, line.part, p.start, p.end) in spans]
            if held:
                partly.add(line.id)
                words[line.id] = "\n".join(line.text[p.start : p.end] for p in held)
            if held and len(held) == len(places):
                whole.add(line.id)
        return Sent(whole=frozenset(whole), partly=frozenset(partly), words=words)


async def _answered(asked: Asked, desk: _Desk, plain: "Baselines") -> Answered:
    inside: set[Cell] = set()
    some: set[Cell] = set()

    def note(name: str, budget: int, sent: Sent) -> None:
        if all(sent.holds(gold) for gold in asked.evidence):
            inside.add((name, budget))
        if all(gold.id in sent.partly for gold in asked.evidence):
            some.add((name, budget))

    job, thread = desk.job, desk.thread
    speakers = Speakers(user=job.talk.user, assistant=job.talk.assistant)
    before = job.talk.turns + 1
    near = await desk.meaning.near(asked.question, before=before) if desk.meaning else NOTHING
    contexts = {budget: await thread.context(asked.question, budget=budget) for budget in job.budgets}
    last = contexts[max(job.budgets)]
    for budget in job.budgets:
        for name, ids in plain.sent(asked.question, near.vector, budget).items():
            note(name, budget, Sent(whole=ids, partly=ids, words={}))
        asks = partial(ranked, thread.store, asked.question, before=before, speakers=speakers, budget=budget)
        picks = await asks()
        fired = last.receipt.recall_fired
        for name, share in _shares(fired).items():
            within = picks if name == LUMINA else _unasked(picks, fired)
            note(name, budget, desk.sent(_chosen(within, int(share * budget), desk.material)))
        if desk.meaning is not None:
            alike = await asks(meaning=desk.meaning)
            note(WITH_VECTORS, budget, desk.sent(_chosen(alike, budget, desk.material)))
        note(WHOLE, budget, _sent_of(contexts[budget], desk))
    seqs = {line.id: line.seq for line in job.talk.lines}
    return Answered(
        inside=frozenset(inside), some=frozenset(some), fired=last.receipt.recall_fired,
        reaches_back=any(seqs[gold.id] < last.window_start for gold in asked.evidence),
    )  # fmt: skip


def _shares(fired: bool) -> dict[str, float]:
    """How much of the budget each of Lumina's rows may spend on recall."""
    return {LUMINA: 1.0, GATED: 1.0 if fired else 0.0, SMALL: 1.0 if fired else recall.SMALL_SHARE}


def _unasked(picks: Sequence[Pick], fired: bool) -> Sequence[Pick]:
    """What of the ranking is sent without being asked for, as a context does: passages far behind the best are not."""
    extent = "full" if fired else "small"
    return recall.worth_sending(recall.Recalled(fire=fired, extent=extent, reason="", picks=tuple(picks)))


def _chosen(picks: Sequence[Pick], budget: int, material: Material) -> set[Span]:
    considered = recall.considered(picks, budget)
    chosen = recall.pick_within(
        considered, budget, lambda passage: _cost(_item(passage), material), lambda passage: _heading(passage.day)
    )
    return {_span(pick.passage) for pick in chosen}


async def ranked(
    store: Store, question: str, *, before: int, speakers: Speakers, budget: int, meaning: Meaning | None = None
) -> Sequence[Pick]:
    """Lumina's ranking of what was said before turn `before`, for so many tokens, the gate left out."""
    found = await look_back(
        store, LOCAL, question, before=before, state=State(), share=budget, meaning=meaning, speakers=speakers
    )
    return found.picks


def _sent_of(context: Context, desk: _Desk) -> Sent:
    """What of the conversation stands word for word in a context."""
    items = [item for item in context.receipt.items if item.included]
    sent = desk.sent({(i.seq, i.part, i.start, i.end) for i in items if i.kind == "recalled" and i.part})
    turns = {item.seq for item in items if item.kind == "turn"}
    shown = "\n".join(message.content for message in context.messages)
    lines = [line for line in desk.job.talk.lines if line.seq in turns]
    whole = frozenset(line.id for line in lines if clean(line.text).strip() in shown)
    return Sent(whole=sent.whole | whole, partly=sent.partly | {line.id for line in lines}, words=sent.words)


class Baselines:
    """The rows that Lumina is compared with, on one conversation. `costs`: tokens of each message with its heading."""

    def __init__(self, talk: Talk, costs: Mapping[str, int], likeness: Likeness | None) -> None:
        self._likeness = likeness
        self._lines = talk.lines
        self._costs = costs
        self._bm25 = Bm25([line.text for line in talk.lines])

    def sent(self, question: str, vector: Vector | None, budget: int) -> dict[str, frozenset[str]]:
        """Ids of the messages that each row sends."""
        order = best_first(self._bm25.scores(question))
        orders = self._likeness.orders(question, vector) if self._likeness and vector is not None else {}
        return {
            "last 20 messages": self._within(last_messages(self._lines), budget),
            "BM25": self._within(order, budget),
            NEIGHBOURS: self._within(order, budget, 1),
            **{name: self._within(places, budget) for name, places in orders.items()},
        }

    def _within(self, order: Sequence[int], budget: int, reach: int = 0) -> frozenset[str]:
        return frozenset(sent_within(order, self._lines, budget, self._costs, reach, _heading))


# Lines and their prices


def _places(talk: Talk) -> dict[str, tuple[IndexedPassage, ...]]:
    """The passages that recall can find of each message, by the rule that `record` applies."""
    parts = {line.id: ((line.text, "") if line.part == "question" else ("", line.text)) for line in talk.lines}
    return {id: passages_of(*texts) for id, texts in parts.items()}


async def _material(store: Store, talk: Talk) -> Material:
    keys = [(seq, 1) for seq in range(1, talk.turns + 1)]
    return Material(question="", instructions="", turns=await store.turns(LOCAL, keys))


def _whole_line(line: Line) -> Item:
    return Item(kind="recalled", seq=line.seq, attempt=1, part=line.part, start=0, end=len(line.text))


def _item(passage: StoredPassage) -> Item:
    return Item(kind="recalled", seq=passage.seq, attempt=1, part=passage.part, start=passage.start, end=passage.end)


def _span(passage: StoredPassage) -> Span:
    return passage.seq, passage.part, passage.start, passage.end


def _cost(item: Item, material: Material) -> int:
    """Tokens of the line as it is sent, its heading included."""
    return token_counter().count(recalled_line(item, material) + "\n")


@cache
def _heading(day: str) -> int:
    """Tokens of the heading above what was said on one day."""
    return token_counter().count(day_heading(day, elsewhere=False) + "\n")


# The report


def _report(talks: Sequence[Talk], answered: Sequence[Answered], budgets: Sequence[int], options: Options) -> Report:
    rows = ["last 20 messages", "BM25", NEIGHBOURS, LUMINA, GATED, SMALL, WHOLE]
    if options.embedder:
        rows[3:3], rows[-3:-3] = [NAIVE, FUSED], [WITH_VECTORS]
    older = [each for each in answered if each.reaches_back]
    opens = percent(sum(each.fired for each in older), len(older))
    tables = (
        _table(
            f"All that the question needs is sent, % of {len(answered)} questions", rows, budgets, answered, "inside"
        ),
        _table("Some of each needed message is sent, %", rows, budgets, answered, "some"),
        _differences(answered, budgets, options.seed, NEIGHBOURS, (LUMINA, GATED, SMALL, WHOLE)),
    )
    if options.embedder:
        tables += (_differences(answered, budgets, options.seed, FUSED, (WITH_VECTORS, LUMINA)),)
    targets = [at_least("recall fires where evidence is older than the window", 93, opens)] if opens is not None else []
    for budget in budgets:
        loss = _mean(answered, (LUMINA, budget)) - _mean(answered, (SMALL, budget))
        targets.append(at_most(f"lost by always a small recall, at {budget}", 1.5, round(loss, 2), unit="points"))
    passed = sum(talk.passed_over for talk in talks)
    data = f"{count_of(talks, 'conversation')}, {len(answered):,} questions" + (
        f" ({passed} more name no evidence that is there)" if passed else ""
    )
    figures = {
        "tokens": token_counter().name,
        "recall fires, % of questions with older evidence": opens,
        "questions with evidence older than the window": len(older),
    }
    return Report(scenario="evidence", data=f"{data}; tokens by {token_counter().name}, headings counted in every row",
                  tables=tables, targets=tuple(targets), figures=figures)  # fmt: skip


def _mean(answered: Sequence[Answered], cell: Cell, measure: str = "inside") -> float:
    return 100 * sum(cell in getattr(each, measure) for each in answered) / len(answered)


def _table(
    title: str, names: Sequence[str], budgets: Sequence[int], answered: Sequence[Answered], measure: str
) -> Table:
    rows = tuple((name, *(_mean(answered, (name, budget), measure) for budget in budgets)) for name in names)
    note = f"{WHOLE}: window, memory and recall share the budget, of which recall has at most a quarter."
    return Table(title=title, columns=("what is sent", *(f"{b} tokens" for b in budgets)), rows=rows, note=note)


def _differences(
    answered: Sequence[Answered], budgets: Sequence[int], seed: int, beside: str, names: Sequence[str]
) -> Table:
    """Rows against a baseline, question by question."""

    def difference(row: str, budget: int) -> str:
        one, other = ([(name, budget) in each.inside for each in answered] for name in (row, beside))
        return str(paired_difference(one, other, seed=seed))

    rows = tuple((row, *(difference(row, budget) for budget in budgets)) for row in names)
    return Table(
        title=f"Points over dated {beside}, with the 95 % interval of a paired bootstrap",
        columns=("row", *(f"{b} tokens" for b in budgets)),
        rows=rows,
    )
