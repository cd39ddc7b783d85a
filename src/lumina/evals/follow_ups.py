"""`follow-ups`: what a follow-up leans on, is it inside what is sent, at how many tokens? And does recall fire rightly?

What a turn needs: the content words (`memory.words.content_words`) of the question as a person resolved it, less those
of the question as it was asked, as far as they stand in an earlier exchange of the conversation at all. A follow-up
counts when at least one such word is left; it is covered when all of them stand in what is sent besides the question:
the window, the memory block. By this definition the last 1 / 2 / 4 / 6 / 10 exchanges word for word cover 61 / 78 / 91
/ 96 / 99 % of the follow-ups of CAsT 2021 and iKAT. The second measure adds the words that stand in the person's
profile alone (iKAT), which no window can hold.

Where the window stands is not the conversation's doing: it holds 6 to 10 turns, in a cycle. So every conversation is
played five times, once for each place in the cycle, and the figures are means. The thread's state is empty, or, in a
row of its own, filled by the extractive note taker from the questions. The profile is iKAT's list of statements, each
said by the person in an earlier thread.

Right and wrong for recall: a follow-up of CAsT or iKAT needs something older when a needed word stands in none of the
window's exchanges; one of TopiOCQA when its topic was left and is taken up again from before the window.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lumina.adapters.extractive.notes import ExtractiveNotes
from lumina.evals.files import read_files
from lumina.evals.loaders.search_topics import Kind, Topic, topics
from lumina.evals.parallel import Progress, for_each, limited
from lumina.evals.profiles import SUBJECT, tell_profile
from lumina.evals.replay import Replay, Where, opened, text_of, tokens_of
from lumina.evals.reports import Report, Table, Target, at_least, at_most, count_of, percent
from lumina.evals.scenarios import Options
from lumina.evals.tokens import token_counter
from lumina.memory.context import Context
from lumina.memory.words import content_words, vocabulary

CYCLE = (6, 7, 8, 9, 10)  # turns that the window can hold
TEN = 10
VERBATIM = (1, 2, 4, 6, 10)
TEN_AND_PROFILE = "last 10 turns word for word, and the profile"
EMPTY, NOTED = "Lumina, state empty", "Lumina, extractive deltas"
BUDGET = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work of one process: a conversation, with the window at one place in its cycle."""

    topic: Topic
    window: int
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """One follow-up with the window at one place. `covered` and `tokens` by row; `needs` is False where it leans on
    nothing; `with_profile`: whether all words are there, those of the profile included."""

    kind: Kind
    needs: bool
    older_needed: bool
    older_there: bool
    fired: bool
    helped: bool  # recall fired, and what it brought completed what was needed
    answers: bool  # whether the data has the answers' text
    judged: bool  # whether what it needs is known
    covered: Mapping[str, bool]
    with_profile: Mapping[str, bool]
    tokens: Mapping[str, int]


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    found = limited(topics(read_files(options.paths)), options.limit, "conversation")
    jobs = [Job(topic=topic, window=window, where=options.where) for topic in found for window in CYCLE]
    rows = for_each(measure, jobs, processes=options.processes, progress=progress, what="conversations, five times")
    return _report(found, [each for row in rows for each in row])


def measure(job: Job) -> list[FollowUp]:
    """Every turn but the first of one conversation."""
    return asyncio.run(_measure(job))


async def _measure(job: Job) -> list[FollowUp]:
    async with opened(job.where) as store:
        await tell_profile(store, job.topic.profile)
        plain = await Replay.open(store, SUBJECT.thread("plain"))
        noted = await Replay.open(store, SUBJECT.thread("noted"), deltas=True)
        notes = ExtractiveNotes()
        found: list[FollowUp] = []
        for at, turn in enumerate(job.topic.turns):
            if at:
                contexts = {EMPTY: await plain.thread.context(turn.question, budget=BUDGET)}
                if any(each.answer for each in job.topic.turns) and job.topic.kind != "TopiOCQA":
                    contexts[NOTED] = await noted.thread.context(turn.question, budget=BUDGET)
                found.append(_judge(job, at, contexts))
            start = max(1, at + 2 - job.window)  # so that the next context holds `window` turns
            await plain.record(turn.question, turn.answer, window_start=start)
            recorded = await noted.record(turn.question, turn.answer, window_start=start)
            request = await noted.thread.delta_request(recorded.seq)
            if request is not None:
                reply = await notes.note(request)
                if (await noted.thread.apply(reply, seq=recorded.seq)).again:
                    await noted.thread.apply(reply, seq=recorded.seq)
        return found


def _judge(job: Job, at: int, contexts: Mapping[str, Context]) -> FollowUp:
    topic, turn = job.topic, job.topic.turns[at]
    said = [vocabulary(f"{each.question}\n{each.answer}") for each in topic.turns[:at]]
    lacking = set(content_words(turn.resolved)).difference(content_words(turn.question))
    told = vocabulary("\n".join(topic.profile.values()))
    needed = lacking.intersection(*[set().union(*said)])
    wanted = lacking & (needed | told)
    shown = {name: vocabulary(text_of(context).removesuffix(turn.question)) for name, context in contexts.items()}
    near: set[str] = set().union(*said[-job.window :])
    plain = contexts[EMPTY].receipt
    older = said[: -job.window]
    return FollowUp(
        kind=topic.kind,
        needs=bool(needed),
        older_needed=_returns(topic, at, job.window) if topic.kind == "TopiOCQA" else not needed <= near,
        older_there=bool(older),
        fired=plain.recall_fired,
        helped=plain.recall_fired and needed <= shown[EMPTY] and not needed <= near,
        answers=any(each.answer for each in topic.turns),
        judged=topic.kind == "TopiOCQA" or bool(turn.resolved),
        covered={
            **{name: needed <= words for name, words in shown.items()},
            **{f"last {n}": needed <= set().union(*said[-n:]) for n in VERBATIM},
            TEN_AND_PROFILE: needed <= set().union(*said[-TEN:], told),
        },
        with_profile={
            **{name: wanted <= words for name, words in shown.items()},
            f"last {TEN}": wanted <= set().union(*said[-TEN:]),
            TEN_AND_PROFILE: wanted <= set().union(*said[-TEN:], told),
        },
        tokens={
            **{name: tokens_of(context) for name, context in contexts.items()},
            **{f"last {n}": _verbatim_tokens(topic, at, n) for n in VERBATIM},
            TEN_AND_PROFILE: _verbatim_tokens(topic, at, TEN) + _profile_tokens(topic),
        },
    )


def _returns(topic: Topic, at: int, window: int) -> bool:
    """Whether the turn takes up a topic that was last spoken of before the window."""
    before = [turn.topic for turn in topic.turns[:at]]
    about = topic.turns[at].topic
    return about in before and about not in before[-window:]


def _profile_tokens(topic: Topic) -> int:
    """The statements as a plain list."""
    return token_counter().count("".join(f"- {said}\n" for said in topic.profile.values()))


def _verbatim_tokens(topic: Topic, at: int, n: int) -> int:
    count = token_counter().count
    said = sum(count(turn.question) + count(turn.answer) for turn in topic.turns[max(0, at - n) : at])
    return said + count(topic.turns[at].question)


# The report


def _report(found: Sequence[Topic], rows: Sequence[FollowUp]) -> Report:
    told = [row for row in rows if row.answers and row.kind != "TopiOCQA"]
    covering = [row for row in told if row.needs]
    late = [row for row in covering if row.older_there]
    tables: list[Table] = []
    targets: list[Target] = []
    if covering:
        names = [*(f"last {n}" for n in VERBATIM), TEN_AND_PROFILE, EMPTY, NOTED]
        tables.append(_covered("Follow-ups that lean on earlier words", names, covering))
        ten, lumina = _mean_tokens(covering, TEN_AND_PROFILE), _mean_tokens(covering, EMPTY)
        share = percent(sum(row.covered[EMPTY] for row in covering), len(covering)) or 0.0
        targets += [
            at_least("covered by window, profile and recall", 97, round(share, 1)),
            at_most("tokens, beside ten verbatim turns and the profile", round(ten), round(lumina), unit="tokens"),
        ]
    if late:
        names = [*(f"last {n}" for n in VERBATIM), TEN_AND_PROFILE, EMPTY, NOTED]
        tables.append(_covered("Those of them where turns are older than the window", names, late))
    with_profile = [row for row in told if row.kind == "iKAT"]
    if with_profile:
        tables.append(_profile_words(with_profile))
    gate = [row for row in rows if row.judged]
    if gate:
        tables.append(_gate(gate))
        targets += _gate_targets(gate)
    kinds = ", ".join(
        f"{sum(topic.kind == kind for topic in found)} of {kind}" for kind in dict.fromkeys(t.kind for t in found)
    )
    return Report(
        scenario="follow-ups",
        data=f"{count_of(found, 'conversation')} ({kinds}), each with the window at five places; tokens by "
        f"{token_counter().name}",
        tables=tuple(tables),
        targets=tuple(targets),
        figures={"follow-ups": len(rows), "leaning on earlier words": len(covering)},
    )


def _covered(title: str, names: Sequence[str], rows: Sequence[FollowUp]) -> Table:
    return Table(
        title=f"{title} ({len(rows):,}): all of them sent",
        columns=("what is sent", "covered, %", "tokens"),
        rows=tuple(
            (_named(name), percent(sum(row.covered[name] for row in rows), len(rows)),
             round(_mean_tokens(rows, name)))
            for name in names
        ),
        note="Tokens are the mean of what is sent, the question included; Lumina's include the profile (iKAT) and "
        "everything in the memory block.",
    )  # fmt: skip


def _named(row: str) -> str:
    return f"{row} turns word for word" if row.removeprefix("last ").isdecimal() else row


def _profile_words(rows: Sequence[FollowUp]) -> Table:
    leaning = [row for row in rows if any(not ok for ok in row.with_profile.values()) or row.needs]
    names = (f"last {TEN}", TEN_AND_PROFILE, EMPTY, NOTED)
    return Table(
        title=f"iKAT, words of the profile counted as needed too ({len(leaning):,} follow-ups)",
        columns=("what is sent", "covered, %"),
        rows=tuple(
            (_named(name), percent(sum(row.with_profile[name] for row in leaning), len(leaning)))
            for name in names
        ),
    )  # fmt: skip


def _gate(rows: Sequence[FollowUp]) -> Table:
    cells = []
    for name, some in _groups(rows).items():
        idle, back = [r for r in some if not r.older_needed], [r for r in some if r.older_needed]
        there = [row for row in idle if row.older_there]
        cells.append((
            name, len(some), percent(_fired(idle), len(idle)), percent(_fired(there), len(there)), len(back),
            percent(_fired(back), len(back)), percent(sum(row.helped for row in back), len(back)),
        ))  # fmt: skip
    return Table(
        title="When recall fires",
        columns=("data", "follow-ups", "fires, nothing older needed, %", "of those with older turns, %",
                 "something older needed", "fires there, %", "and completes it, %"),
        rows=tuple(cells),
        note="With an empty state. For TopiOCQA nobody says which words are needed, so nothing is completed there.",
    )  # fmt: skip


def _gate_targets(rows: Sequence[FollowUp]) -> list[Target]:
    targets: list[Target] = []
    for name, some in _groups(rows).items():
        idle = [row for row in some if not row.older_needed]
        there = [row for row in idle if row.older_there]
        wanted = 6 if name == "TopiOCQA" else 4
        if idle:
            fired = round(percent(_fired(idle), len(idle)) or 0.0, 1)
            targets.append(at_most(f"recall fires though nothing older is needed, {name}", wanted, fired))
        if there and name != "TopiOCQA":
            fired = round(percent(_fired(there), len(there)) or 0.0, 1)
            targets.append(at_most(f"the same where older turns exist, {name}", 9, fired))
    return targets


def _groups(rows: Sequence[FollowUp]) -> dict[str, list[FollowUp]]:
    groups = {
        "CAsT and iKAT": [row for row in rows if row.kind != "TopiOCQA"],
        "of these, with answers": [row for row in rows if row.kind != "TopiOCQA" and row.answers],
        "TopiOCQA": [row for row in rows if row.kind == "TopiOCQA"],
    }
    return {name: some for name, some in groups.items() if some}


def _fired(rows: Sequence[FollowUp]) -> int:
    return sum(row.fired for row in rows)


def _mean_tokens(rows: Sequence[FollowUp], name: str) -> float:
    return sum(row.tokens[name] for row in rows) / len(rows) if rows else 0.0
