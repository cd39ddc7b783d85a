"""`profile`: the statements about a person that a turn needs, are they inside what is sent, at how many tokens?

iKAT's people have 10 to 20 statements about themselves each, and for every turn somebody marked which the answer
leans on (`ptkb_provenance`). The statements are the profile: said in an earlier thread, noted by deltas. Then the
conversation is played, and for every turn that needs a statement the context is looked at. Beside it: the three
statements most like the question, by words.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lumina.evals.baselines import Bm25, best_first
from lumina.evals.files import read_files
from lumina.evals.loaders.search_topics import Topic, topics
from lumina.evals.parallel import Progress, for_each, limited
from lumina.evals.profiles import SUBJECT, key_of, tell_profile
from lumina.evals.replay import Replay, Where, memory_block_of, opened
from lumina.evals.reports import Report, Table, at_least, count_of, percent
from lumina.evals.scenarios import Options, budgets_of
from lumina.evals.tokens import token_counter
from lumina.memory.context import Context
from lumina.memory.errors import UsageError

BUDGETS = (2000, 8000)
TOP = 3
WHOLE = "the whole list, as it was written"
LIKENESS = f"the {TOP} statements most like the question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work of one process: a conversation with a profile."""

    topic: Topic
    budgets: tuple[int, ...]
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Needing:
    """A turn that needs `needed` statements: how many were sent, and the tokens of what the profile took, by row."""

    needed: int
    sent: Mapping[str, int]
    tokens: Mapping[str, int]


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    with_profile = [topic for topic in topics(read_files(options.paths)) if topic.profile]
    if not with_profile:
        raise UsageError("The files hold no conversation with a profile (`ptkb`). iKAT's topics are wanted.")
    found = limited(with_profile, options.limit, "conversation with a profile")
    budgets = budgets_of(options, BUDGETS)
    jobs = [Job(topic=topic, budgets=budgets, where=options.where) for topic in found]
    rows = for_each(measure, jobs, processes=options.processes, progress=progress, what="conversations")
    return _report(found, [each for row in rows for each in row], budgets)


def measure(job: Job) -> list[Needing]:
    """Every turn of one conversation that needs a statement."""
    return asyncio.run(_measure(job))


async def _measure(job: Job) -> list[Needing]:
    async with opened(job.where) as store:
        await tell_profile(store, job.topic.profile)
        replay = await Replay.open(store, SUBJECT.thread("talk"))
        found: list[Needing] = []
        for turn in job.topic.turns:
            needed = [number for number in dict.fromkeys(turn.statements) if number in job.topic.profile]
            if needed:
                contexts = {budget: await replay.thread.context(turn.question, budget=budget) for budget in job.budgets}
                found.append(_look(job.topic, turn.question, needed, contexts))
            await replay.record(turn.question, turn.answer)
        return found


def _look(topic: Topic, question: str, needed: Sequence[str], contexts: Mapping[int, Context]) -> Needing:
    count = token_counter().count
    said = list(topic.profile.items())
    best = [said[at] for at in best_first(Bm25([text for _, text in said]).scores(question))[:TOP]]
    sent = {WHOLE: len(needed), LIKENESS: len({number for number, _ in best}.intersection(needed))}
    tokens = {
        name: count("".join(f"- {text}\n" for _, text in rows)) for name, rows in ((WHOLE, said), (LIKENESS, best))
    }
    for budget, context in contexts.items():
        # The conversation's own state is empty: all before the first note is the profile, its headings included.
        lines = list(takewhile(_of_entries, memory_block_of(context).splitlines()))
        sent[_row(budget)] = sum(any(f" {key_of(n)}: " in line for line in lines) for n in needed)
        tokens[_row(budget)] = count("\n".join(lines))
    return Needing(needed=len(needed), sent=sent, tokens=tokens)


def _of_entries(line: str) -> bool:
    return line.startswith(("About the user", "- "))


def _row(budget: int) -> str:
    return f"Lumina, budget of {budget}"


def _report(found: Sequence[Topic], rows: Sequence[Needing], budgets: Sequence[int]) -> Report:
    if not rows:
        raise UsageError("No turn in the files says which statements it needs (`ptkb_provenance`).")
    total = sum(row.needed for row in rows)
    names = [WHOLE, LIKENESS, *map(_row, budgets)]
    table = Table(
        title=f"Needed statements that were sent: {total:,}, in {len(rows):,} turns",
        columns=("what is sent of the profile", "statements, %", "turns with all of theirs, %", "tokens"),
        rows=tuple(
            (name, percent(sum(row.sent[name] for row in rows), total),
             percent(sum(row.sent[name] == row.needed for row in rows), len(rows)),
             round(sum(row.tokens[name] for row in rows) / len(rows)))
            for name in names
        ),
        note="Tokens of the profile's part alone, in the mean; Lumina's lines carry a key and the day they were said.",
    )  # fmt: skip
    targets = tuple(
        at_least(f"needed statements sent, {_row(budget)}", 99,
                 round(percent(sum(row.sent[_row(budget)] for row in rows), total) or 0.0, 1))
        for budget in budgets
    )  # fmt: skip
    turns = sum(len(topic.turns) for topic in found)
    return Report(
        scenario="profile",
        data=f"{count_of(found, 'conversation')}, {turns:,} turns, {len(rows):,} of which need a statement; tokens by "
        f"{token_counter().name}",
        tables=(table,),
        targets=targets,
    )
