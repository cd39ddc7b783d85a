"""A long conversation written by a program, in which it is known after every turn what holds and what no longer does.

The same script can be played through any memory. As JSON Lines, one line a turn:

    {"turn": 57, "day": "2026-01-20", "question": "...", "answer": "...",
     "delta": [{"op": "set", "key": "router.model", "value": "Heron-4821", "quote": "..."}],
     "asks": ["router.model"],                      keys that the question is about: their values must be at hand
     "facts": {"router.model": "Heron-4821", ...},  all that holds when the question is asked, before the turn's delta
     "replaced": {"router.model": ["Otter-1203"]}}  of the asked keys: values that held once and do not any more

`delta` is what a perfect note taker writes after the turn. Every value is a word and four digits that occur in no other
value, so that finding it in a text is no matter of judgement. A key is asked about only when its last change is at
least SETTLED turns ago: what the question needs has left every window of the usual size.

The first turns plant one fact each, then one decision each; from there on facts are overwritten, decisions changed,
problems opened and solved, keys asked about, and most turns are chatter. Every twelfth answer is a long one. So what is
noted grows early and then stays about as long, and tokens per turn can be compared between turn 50 and the last.
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from lumina.evals.files import read_file, write_lines
from lumina.memory.errors import UsageError

SETTLED = 25  # turns since a key's last change before it is asked about
PLANTED = 40  # facts, one a turn from the first
DECIDED = 8  # decisions, after them
MOST_OPEN = 3  # problems at a time
BEGAN = date(2026, 1, 1)
TURNS_A_DAY = 4
LONG_EVERY = 12  # turns

FACTS = """account.number account.tariff router.model modem.serial home.city home.street phone.mobile bank.name
bank.branch invoice.reference contract.ending solar.panel battery.pack heating.boiler meter.code car.plate garage.door
alarm.panel printer.ink laptop.brand tablet.case camera.lens bicycle.lock tent.size kitchen.oven fridge.shelf
garden.pump pool.filter dentist.clinic doctor.practice insurance.policy school.class teacher.surname dog.breed cat.vet
hotel.booking train.seat
flight.gate museum.ticket library.card""".split()
DECISIONS = (
    "backup.plan cable.route paint.shade menu.choice parcel.carrier meeting.place payment.way holiday.target".split()
)
PROBLEMS = "washer dryer doorbell thermostat projector scanner speaker microwave vacuum sprinkler".split()
WORDS = (
    "Heron Otter Falcon Badger Marten Osprey Lynx Beaver Plover Curlew Bittern Stoat Petrel Gannet Sable Ibex".split()
)
CHATTER = (
    "Thanks, that helps.", "Could you say that in other words?", "What would you suggest for a rainy afternoon?",
    "And how long does such a thing usually take?", "Fine, let us go on.", "Is there anything else to consider?",
    "Tell me something cheerful.", "How do people normally handle that?",
)  # fmt: skip
REPLIES = (
    "With pleasure.", "It depends on the day, but an hour is a good guess.", "A walk, a book or a long lunch.",
    "Most people wait for the weekend and then do it in one go.", "Nothing that could not wait.",
)  # fmt: skip
LONG = "People do this in many ways, and none of them is wrong. Some begin early and rest at noon. Others wait. "


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """One line of a script; fields as in the module's docstring."""

    turn: int
    day: str
    question: str
    answer: str
    delta: tuple[Mapping[str, str], ...] = ()
    asks: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, ensure_ascii=False)


def write_script(seed: int, turns: int) -> list[ScriptedTurn]:
    """The script of a seed: the same for everybody."""
    writer = _Writer(random.Random(seed))
    return [writer.turn(at) for at in range(1, turns + 1)]


def save_script(script: Iterable[ScriptedTurn], path: Path) -> None:
    """As JSON Lines. UsageError when the file cannot be written."""
    write_lines(path, (turn.to_json() for turn in script))


def load_script(path: Path) -> list[ScriptedTurn]:
    """UsageError, with the line, for what is no script."""
    file = read_file(path)
    if file.kind != "jsonl" or not file.content:
        raise UsageError(f"{path} is no script: JSON Lines with one turn each are wanted.")
    return [_turn(row, at, path) for at, row in enumerate(file.content, 1)]


def _turn(row: Any, at: int, path: Path) -> ScriptedTurn:
    try:
        return ScriptedTurn(
            turn=int(row["turn"]), day=date.fromisoformat(row["day"]).isoformat(), question=str(row["question"]),
            answer=str(row["answer"]), delta=tuple(dict(op) for op in row.get("delta") or ()),
            asks=tuple(row.get("asks") or ()), facts=dict(row.get("facts") or {}),
            replaced={key: tuple(values) for key, values in (row.get("replaced") or {}).items()},
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}, line {at} is no turn of a script: {error!r}.") from None


class _Writer:
    """Writes turn after turn and keeps what holds."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._facts: dict[str, str] = {}
        self._old: dict[str, list[str]] = {}
        self._changed: dict[str, int] = {}
        self._open: list[str] = []
        self._numbers = draw.sample(range(1000, 10_000), 9000)

    def turn(self, at: int) -> ScriptedTurn:
        facts = dict(self._facts)
        question, answer, delta, asks = self._said(at)
        if at % LONG_EVERY == 0:
            answer = f"{answer}\n\n{LONG * 20}"
        day = (BEGAN + timedelta(days=(at - 1) // TURNS_A_DAY)).isoformat()
        replaced = {key: tuple(self._old[key]) for key in asks if self._old.get(key)}
        return ScriptedTurn(
            turn=at, day=day, question=question, answer=answer, delta=tuple(delta), asks=tuple(asks), facts=facts,
            replaced=replaced,
        )  # fmt: skip

    def _said(self, at: int) -> tuple[str, str, list[dict[str, str]], list[str]]:
        if at <= PLANTED:
            return self._set(FACTS[at - 1], at)
        if at <= PLANTED + DECIDED:
            return self._decide(DECISIONS[at - PLANTED - 1], at)
        chance = self._draw.random()
        if chance < 0.12:
            return self._set(self._draw.choice(FACTS), at)
        if chance < 0.16:
            return self._decide(self._draw.choice(DECISIONS), at)
        if chance < 0.24:
            return self._problem(at)
        settled = [key for key in (*FACTS, *DECISIONS) if at - self._changed[key] >= SETTLED]
        if chance < 0.50 and settled:
            return self._ask(self._draw.choice(settled))
        return self._draw.choice(CHATTER), self._draw.choice(REPLIES), [], []

    def _set(self, key: str, at: int) -> tuple[str, str, list[dict[str, str]], list[str]]:
        again, value = key in self._facts, self._hold(key, at)
        said = f"my {_plain(key)} is {'now ' if again else ''}{value}"
        question = f"A correction: {said}." if again else f"For your notes, {said}."
        answer = f"Noted: your {_plain(key)} is {value}." if self._draw.random() < 0.5 else "Noted, thank you."
        return question, answer, [_op("set", key, value, said)], []

    def _decide(self, key: str, at: int) -> tuple[str, str, list[dict[str, str]], list[str]]:
        value = self._hold(key, at)
        said = f"let us take {value} for the {_plain(key)}"
        return f"After some thought, {said}.", "Agreed.", [_op("decide", key, value, said)], []

    def _problem(self, at: int) -> tuple[str, str, list[dict[str, str]], list[str]]:
        if self._open and (len(self._open) >= MOST_OPEN or self._draw.random() < 0.5):
            key = self._open.pop(0)
            self._facts.pop(key)
            said = f"the {key.partition('.')[0]} works as it should"
            return f"Good news, {said}.", "I am glad to hear it.", [_op("resolve", key, "", said)], []
        thing = self._draw.choice([each for each in PROBLEMS if f"{each}.fault" not in self._open])
        key = f"{thing}.fault"
        value = self._hold(key, at)
        self._open.append(key)
        said = f"the {thing} stopped with the code {value}"
        return f"Something is wrong: {said}.", "I will look into it.", [_op("open", key, value, said)], []

    def _ask(self, key: str) -> tuple[str, str, list[dict[str, str]], list[str]]:
        forms = (
            f"What is my {_plain(key)}?", f"Which {_plain(key)} do we have on record?",
            f"What did I tell you earlier about the {_plain(key)}?",
        )  # fmt: skip
        return self._draw.choice(forms), f"It is {self._facts[key]}.", [], [key]

    def _hold(self, key: str, at: int) -> str:
        value = f"{self._draw.choice(WORDS)}-{self._numbers.pop()}"
        if key in self._facts:
            self._old.setdefault(key, []).append(self._facts[key])
        self._facts[key] = value
        self._changed[key] = at
        return value


def _op(op: str, key: str, value: str, quote: str) -> dict[str, str]:
    return {"op": op, "key": key, "value": value, "quote": quote}


def _plain(key: str) -> str:
    return key.replace(".", " ")
