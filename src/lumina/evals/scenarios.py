"""The scenarios by name, and how one is run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lumina.evals.parallel import Progress, silent
from lumina.evals.replay import Where
from lumina.evals.reports import Report
from lumina.memory.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for. `limit` 0: all of the data. `processes` 0: as the machine has. `embedder`: "" for none."""

    paths: tuple[Path, ...] = ()
    budgets: tuple[int, ...] = ()
    limit: int = 0
    seed: int = 1
    where: Where = "memory"
    processes: int = 0
    turns: tuple[int, ...] = ()
    embedder: str = ""
    write_script: Path | None = None
    write_sent: Path | None = None
    score: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`reads`: the data it takes, "" when it makes its own."""

    name: str
    asks: str
    reads: str


SCENARIOS = (
    Scenario(
        name="evidence",
        asks="does recall bring every message that an answer needs, within a budget of tokens",
        reads="LoCoMo, REALTALK, or your own conversations with evidence",
    ),
    Scenario(
        name="stale",
        asks="are current values shown and replaced ones not, after every change that people made",
        reads="Schema-Guided Dialogue",
    ),
    Scenario(
        name="follow-ups",
        asks="is what a follow-up leans on inside what is sent, at how many tokens; when does recall fire",
        reads="CAsT 2019-2021, iKAT, TopiOCQA",
    ),
    Scenario(
        name="profile",
        asks="are the statements about a person that a turn needs inside what is sent",
        reads="iKAT",
    ),
    Scenario(
        name="conservation",
        asks="is every planted fact there after hundreds of turns, and no replaced one",
        reads="",
    ),
    Scenario(
        name="isolation",
        asks="does anything of one tenant, customer or conversation reach another",
        reads="",
    ),
    Scenario(
        name="poison",
        asks="can a document write into the memory, through a model that obeys it",
        reads="",
    ),
    Scenario(
        name="citations",
        asks="is every marker of an answer resolved rightly and all else left alone, however it is cut",
        reads="",
    ),
    Scenario(
        name="support",
        asks="does the shown passage carry the cited sentence, and is what is missing told",
        reads="WiCE, BEGIN",
    ),
)

Run = Callable[[Options, Progress], Report]


def scenario(name: str) -> Scenario:
    """UsageError, with the names that there are, for an unknown one."""
    found = next((each for each in SCENARIOS if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in SCENARIOS)
        raise UsageError(f"There is no scenario {name!r}. There are: {names}.")
    return found


def run_scenario(name: str, options: Options, progress: Progress = silent) -> Report:
    """Runs one scenario. UsageError for data or options that it cannot use."""
    chosen = scenario(name)
    if chosen.reads and not options.paths:
        raise UsageError(f"{name} needs data: give files or folders of {chosen.reads}. Nothing is downloaded.")
    return _runner(name)(options, progress)


def _runner(name: str) -> Run:
    if name == "evidence":
        return import_module("lumina.evals.evidence").run
    if name == "stale":
        return import_module("lumina.evals.stale").run
    if name == "follow-ups":
        return import_module("lumina.evals.follow_ups").run
    if name == "profile":
        return import_module("lumina.evals.profile").run
    if name == "conservation":
        return import_module("lumina.evals.conservation").run
    if name == "isolation":
        return import_module("lumina.evals.isolation").run
    if name == "citations":
        return import_module("lumina.evals.citations").run
    if name == "support":
        return import_module("lumina.evals.support").run
    return import_module("lumina.evals.poison").run


def budgets_of(options: Options, default: Sequence[int]) -> tuple[int, ...]:
    """The budgets asked for, smallest first, or the scenario's own."""
    return tuple(sorted(set(options.budgets))) or tuple(default)
