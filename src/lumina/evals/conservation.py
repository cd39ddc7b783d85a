"""`conservation`: after hundreds of turns, is every planted fact still there, and no replaced one?

A script (`lumina.evals.script`) is played through a thread of the library: a context for every question, the answer
recorded, the script's delta applied as a model's reply. After every turn the stored state must be the script's, no more
and no less; whenever a question asks for a key, its value must stand in what is sent, and no old one without its mark.
Tokens per turn must not grow, and the beginning of what is sent must stay the same bytes as far as the layout allows:
everything before the last message (memory block and question), in each step in which the window did not drop.

Any other memory can be scored on the same script: `--write-script FILE`, play it, `--score FILE`
(`lumina.evals.scoring`).
"""

import asyncio
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lumina.evals.measures import common_prefix
from lumina.evals.parallel import Progress
from lumina.evals.replay import Replay, Where, opened, text_of, tokens_of
from lumina.evals.reports import Report, Table, Target, at_least, at_most, exactly
from lumina.evals.scenarios import Options
from lumina.evals.scoring import COLUMNS, EARLY, SPAN, Played, Score, load_played, save_played, score
from lumina.evals.script import ScriptedTurn, load_script, save_script, write_script
from lumina.evals.tokens import token_counter
from lumina.memory.context import Context
from lumina.memory.errors import UsageError

TURNS = (200, 1000)
BUDGET = 8000
PARTS = ("instructions", "window", "noted", "recalled", "question")
GROWTH, SAME = 1.1, 95.0
INSTRUCTIONS = "You help a household with its contracts and devices. Answer in one or two sentences."


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A script that was played. `parts` and `ordinary`: mean tokens from turn EARLY on and at the end, by part of what
    is sent (window, noted, recalled ...) and of turns in which recall did not fire. `strayed`: turns after which the
    state was not the script's. `allowed`: of each step in which the window stayed, the share of the bytes before the
    last message that the next prompt begins with."""

    score: Score
    played: tuple[Played, ...]
    parts: Mapping[str, tuple[float, float]]
    ordinary: tuple[float, float]
    strayed: tuple[int, ...]
    refused: int
    allowed: tuple[float, ...]
    drops: int


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module."""
    scripts = _scripts(options)
    if options.write_script is not None:
        save_script(scripts[-1], options.write_script)
    if options.score is not None:
        scored = score(scripts[-1], load_played(options.score))
        table = Table(
            title=f"{options.score.name} on the script", columns=COLUMNS, rows=(scored.row(options.score.name),)
        )
        return Report(scenario="conservation", data=_data([scripts[-1]], options), tables=(table,))
    total, done, runs = sum(map(len, scripts)), 0, []
    for script in scripts:
        runs.append(asyncio.run(play(script, options.where, _counting(progress, done, total))))
        done += len(script)
    if options.write_sent is not None:
        save_played(runs[-1].played, options.write_sent)
    return _report(scripts, runs, options)


def _counting(progress: Progress, done: int, total: int) -> Callable[[int], object]:
    return lambda turn: progress(done + turn, total, "turns")


def _scripts(options: Options) -> list[list[ScriptedTurn]]:
    if len(options.paths) > 1:
        raise UsageError("conservation plays one script: give one file, or none to have it written from --seed.")
    if options.paths:
        return [load_script(options.paths[0])[: options.limit or None]]
    return [
        write_script(options.seed, turns) for turns in options.turns or (options.limit and (options.limit,)) or TURNS
    ]


async def play(script: Sequence[ScriptedTurn], where: Where, told: Callable[[int], object]) -> Run:
    """Plays the script through a thread of the library and looks at every context; `told` gets each turn's number."""
    played: list[Played] = []
    strayed: list[int] = []
    allowed: list[float] = []
    refused = drops = 0
    before: Context | None = None
    contexts: list[Sent] = []
    async with opened(where) as store:
        replay = await Replay.open(store, deltas=True)
        thread = replay.thread
        for turn in script:
            replay.days.day = turn.day
            state = {entry.key: entry.value for entry in (await thread.state()).current()}
            if state != dict(turn.facts):
                strayed.append(turn.turn)
            context = await thread.context(turn.question, budget=BUDGET, instructions=INSTRUCTIONS)
            contexts.append((turn.turn, context.receipt.tokens, context.receipt.recall_fired))
            played.append(Played(turn=turn.turn, text=text_of(context), tokens=tokens_of(context)))
            if before is not None and before.window_start == context.window_start:
                allowed.append(_kept(before, context))
            drops += before is not None and before.window_start != context.window_start
            recorded = await thread.record(context, turn.answer)
            reply = {"ops": list(turn.delta)}
            noted = await thread.apply(reply, seq=recorded.seq)
            if noted.again:
                noted = await thread.apply(reply, seq=recorded.seq)
            refused += len(noted.refused)
            before = context
            told(turn.turn)
    early = [each for each in contexts if EARLY <= each[0] < EARLY + SPAN]
    return Run(
        score=score(script, played),
        played=tuple(played),
        parts={part: (_part(early, part), _part(contexts[-SPAN:], part)) for part in PARTS},
        ordinary=(_ordinary(early), _ordinary(contexts[-SPAN:])),
        strayed=tuple(strayed),
        refused=refused,
        allowed=tuple(allowed),
        drops=drops,
    )


Sent = tuple[int, Mapping[str, int], bool]  # turn, tokens by part, whether recall fired


def _part(sent: Sequence[Sent], part: str) -> float:
    return statistics.fmean(tokens.get(part, 0) for _, tokens, _ in sent) if sent else 0.0


def _ordinary(sent: Sequence[Sent]) -> float:
    plain = [sum(tokens.values()) for _, tokens, fired in sent if not fired]
    return statistics.fmean(plain) if plain else 0.0


def _kept(before: Context, now: Context) -> float:
    """Of the bytes before the last message of a prompt, the share with which the next prompt begins, in percent."""
    whole, last = text_of(before), before.messages[-1]
    head = whole.removesuffix(f"{last.role}: {last.content}").encode("utf-8")
    return 100 * common_prefix(head, text_of(now).encode("utf-8")) / len(head) if head else 100.0


def _report(scripts: Sequence[Sequence[ScriptedTurn]], runs: Sequence[Run], options: Options) -> Report:
    rows = tuple(played.score.row("Lumina") for played in runs)
    prefix = tuple(
        (played.score.turns, statistics.median(played.allowed) if played.allowed else None,
         sum(share >= SAME for share in played.allowed), len(played.allowed), played.drops)
        for played in runs
    )  # fmt: skip
    tables = (
        Table(
            title="The script through Lumina",
            columns=COLUMNS,
            rows=rows,
            note='"Old one there": of asked keys that had another value before. "Same prefix": of the whole prompt.',
        ),
        Table(
            title="The beginning of the prompt, in steps in which the window stayed",
            columns=(
                "turns",
                "same bytes, median, %",
                f"steps with at least {SAME:g} %",
                "steps",
                "drops of the window",
            ),
            rows=prefix,
            note="Of all bytes before the last message, which holds the memory block and the question. A long answer "
            "that is shortened when it gets older breaks the run once.",
        ),
        *(_parts(played) for played in runs),
    )
    targets: list[Target] = []
    for played in runs:
        targets += _targets(played)
    return Report(
        scenario="conservation",
        data=_data(scripts, options),
        tables=tables,
        targets=tuple(targets),
        figures={"strayed": [played.strayed[:20] for played in runs], "refused": [played.refused for played in runs]},
    )


def _parts(played: Run) -> Table:
    rows = [(part, *map(round, pair)) for part, pair in played.parts.items()]
    rows.append(("all, where recall did not fire", *map(round, played.ordinary)))
    return Table(
        title=f"Tokens by part, {played.score.turns:,} turns",
        columns=("part", f"from turn {EARLY} on", "at the end"),
        rows=tuple(rows),
        note=f"Means of {SPAN} turns, as the receipts counted them. What is recalled grows until there is enough to "
        "recall, and never beyond a quarter of the budget.",
    )


def _targets(played: Run) -> list[Target]:
    found, of = played.score, f"{played.score.turns} turns"
    targets = [
        exactly(f"turns after which the state was not the script's, {of}", 0, len(played.strayed)),
        exactly(f"operations refused, {of}", 0, played.refused),
    ]
    if found.current is not None:
        targets.append(exactly(f"asked values in the context, {of}", 100, found.current, unit="%"))
    if found.stale is not None:
        targets.append(exactly(f"old values in the context without their mark, {of}", 0, found.stale, unit="%"))
    if found.turns > 2 * EARLY:
        early, late = played.ordinary
        plain = round(late / early, 3) if early else 0.0
        told = f"tokens at the end, times turn {EARLY}"
        targets.append(at_most(f"{told}, where recall did not fire, {of}", GROWTH, plain, unit=""))
        targets.append(at_most(f"{told}, all turns, {of}", GROWTH, round(found.growth, 3), unit=""))
    if played.allowed:
        same = round(statistics.median(played.allowed), 1)
        targets.append(at_least(f"same prefix, median, of what the layout allows, {of}", SAME, same))
    return targets


def _data(scripts: Sequence[Sequence[ScriptedTurn]], options: Options) -> str:
    made = options.paths[0].name if options.paths else f"seed {options.seed}"
    asked = " and ".join(
        f"{len(script):,} turns with {sum(len(t.asks) for t in script)} asked keys" for script in scripts
    )
    return f"script of {made}: {asked}; store: {options.where}; tokens by {token_counter().name}"
