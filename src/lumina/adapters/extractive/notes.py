"""Answers the delta step from the patterns of `rules`, over the question alone; never from the answer or a source.

It knows no language, so it would rather note nothing than note wrongly: what becomes of a statement depends on the keys
that stand already. A value comes back under the key that holds its kind, a correction finds the key by the old value,
and a problem is closed only if it is the one that is open.
"""

import json
from dataclasses import asdict, dataclass

from lumina.adapters.extractive.rules import PERSONAL
from lumina.adapters.extractive.statements import Statement, stated
from lumina.adapters.extractive.values import SEPARATES, slug
from lumina.memory.delta import DeltaRequest

MAX_TITLE = 60
ISSUE = ".fails"  # how the keys of open issues end
UNNAMED = "it"  # an open issue whose thing was not named
# First parts under which other note takers may keep the same thing about the person.
SAME_PERSON = frozenset("user person profile me self customer personal contact".split())
SAME = {
    "user.name": ("name", SAME_PERSON),
    "home.city": ("city", SAME_PERSON | {"home", "location", "address", "residence"}),
    "work.employer": ("employer", SAME_PERSON | {"work", "job"}),
    "work.job": ("job", SAME_PERSON | {"work"}),
    "user.age": ("age", SAME_PERSON),
}
NAMES = {
    "live": "home.city",
    "city": "home.city",
    "work": "work.employer",
    "employer": "work.employer",
    "job": "work.job",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One operation as the delta step reads it."""

    op: str
    key: str
    value: str
    quote: str
    about: str
    offer: str = ""
    source: None = None


class ExtractiveNotes:
    """A note taker without a language model: what is not plainly said is not noted. It makes no follow-up questions."""

    name = "extractive"

    async def note(self, request: DeltaRequest) -> str:
        ops = operations(request.question, request.keys)
        title = title_of(request.question) if request.title_wanted else ""
        return json.dumps({"ops": [asdict(op) for op in ops], "followups": [], "title": title}, ensure_ascii=False)


def title_of(question: str) -> str:
    """The question on one line, cut at a word to MAX_TITLE characters."""
    line = " ".join(question.split())
    if len(line) <= MAX_TITLE:
        return line
    cut = line[: MAX_TITLE - 1].rpartition(" ")[0]
    return f"{cut or line[: MAX_TITLE - 1]}…"


def operations(question: str, keys: dict[str, str]) -> list[Op]:
    """What `question` changes, where `keys` are the current keys with their values."""
    ops: list[Op] = []
    standing = dict(keys)
    for statement in stated(question):
        quote = question[statement.start : statement.end]
        for op in _changes(statement, quote, standing):
            if all((op.op, op.key, op.value) != (other.op, other.key, other.value) for other in ops):
                ops.append(op)
            if op.op in ("retract", "resolve"):
                standing.pop(op.key, None)
            else:
                standing[op.key] = op.value
    return ops


def _changes(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    if statement.kind == "correct":
        return _correct(statement, quote, keys)
    if statement.kind == "forget":
        return _forget(statement, quote, keys)
    rule = statement.rule
    if rule is None:
        return []
    if rule.does == "set":
        return _set(statement, quote, keys)
    if rule.does == "decide":
        return _decide(statement, quote, keys)
    if rule.does == "retract value":
        return [_retract(key, quote) for key in _holding(statement, keys)]
    return _issue(statement, quote, keys)


def _set(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    assert statement.rule is not None
    values = _each(statement) if statement.rule.key.startswith("allergy.") else [statement.value]
    ops = []
    for value in values:
        key = _key(statement, value)
        if key:
            key = _standing(key, keys)
            about = "" if key in keys else statement.rule.about
            ops.append(Op(op="set", key=key, value=value, quote=quote, about=about))
    return ops


def _each(statement: Statement) -> list[str]:
    """Allergies are kept one by one, so that a new one never takes the place of another."""
    return [part for part in SEPARATES.split(statement.value) if part]


def _key(statement: Statement, value: str) -> str:
    """The rule's key with its blanks filled; "" when the value has no letter that a key may hold."""
    assert statement.rule is not None
    name = slug(_without_version(value)) if statement.rule.key.endswith("uses.{value}") else slug(value)
    noun = slug(statement.noun) or UNNAMED
    key = statement.rule.key.replace("{value}", name).replace("{noun}", noun)
    return "" if key.endswith(".") else key


def _without_version(value: str) -> str:
    """`Python 3.11` is kept under python, so that the next version takes its place."""
    words = [word for word in value.split() if not word[0].isdigit()]
    return " ".join(words) or value


def _standing(key: str, keys: dict[str, str]) -> str:
    """The key under which the same thing stands already, if there is exactly one."""
    if key in keys or key not in SAME:
        return key
    last, firsts = SAME[key]
    same = {last, *(f"{first}.{last}" for first in firsts)}
    others = [other for other in keys if other in same]
    return others[0] if len(others) == 1 else key


def _decide(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    """A decision's key is its topic; without one it is the value, or the one choice that it takes the place of."""
    key = slug(statement.topic) if statement.topic else _key(statement, statement.value)
    if statement.old:
        held = [other for other, value in keys.items() if _same(value, statement.old)]
        key = held[0] if len(held) == 1 else key
    elif statement.instead and not statement.topic:
        choices = [other for other in keys if other.startswith("choice.")]
        key = choices[0] if len(choices) == 1 else key
    return [Op(op="decide", key=key, value=statement.value, quote=quote, about="thread")] if key else []


def _issue(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    """Opens under the thing's name. "It" is the one issue that is open; so is what has no name when it is solved."""
    assert statement.rule is not None
    issues = [key for key in keys if key.endswith(ISSUE)]
    named = f"{slug(statement.noun)}{ISSUE}" if statement.noun else ""
    if statement.rule.does == "open":
        key = named or (issues[0] if len(issues) == 1 else f"{UNNAMED}{ISSUE}")
        return [Op(op="open", key=key, value=statement.value, quote=quote, about="thread")]
    closed = [named] if named in issues else issues if not named and len(issues) == 1 else []
    return [Op(op="resolve", key=key, value="", quote=quote, about="thread") for key in closed]


def _correct(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    """Sets the one key that holds the old value."""
    held = [key for key, value in keys.items() if _same(value, statement.old) and not key.endswith(ISSUE)]
    if len(held) != 1:
        return []
    op = "decide" if held[0].startswith("choice.") else "set"
    return [Op(op=op, key=held[0], value=statement.value, quote=quote, about="")]


def _forget(statement: Statement, quote: str, keys: dict[str, str]) -> list[Op]:
    if statement.rule is not None:
        return [_retract(key, quote) for key in _holding(statement, keys)]
    key = NAMES.get(statement.noun, "")
    key = _standing(key, keys) if key else ""
    if key in keys:
        return [_retract(key, quote)]
    last = slug(statement.noun)
    held = [
        other for other in keys if other.rpartition(".")[2] == last and other.split(".")[0] in PERSONAL | SAME_PERSON
    ]
    return [_retract(held[0], quote)] if len(held) == 1 else []


def _holding(statement: Statement, keys: dict[str, str]) -> list[str]:
    """The key that the statement takes back: its own, if it holds that very value now."""
    key = _standing(_key(statement, statement.value), keys)
    return [key] if key in keys and _same(keys[key], statement.value) else []


def _retract(key: str, quote: str) -> Op:
    return Op(op="retract", key=key, value="", quote=quote, about="")


def _same(one: str, other: str) -> bool:
    return slug(one) == slug(other) != ""
