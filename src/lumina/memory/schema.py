"""The declared schema: which keys a state has, what may stand under them, and what must never be kept.

A schema is optional; without one every key is taken as it comes. With one, code holds every delta to it: a declared key
has a type, may have a list of allowed values, and may belong to the subject or to the thread; whether other keys are
accepted is the schema's rule. `never` names what is masked wherever it stands (`lumina.memory.masking`) and refused in
a delta.

    schema = Schema.from_toml("schema.toml")
    thread = await open_thread("support.db", subject="customer-17", thread="ticket-4", deltas=True, schema=schema)
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast, get_args

from lumina.memory.change import MAX_VALUE, About, Kind
from lumina.memory.errors import UsageError
from lumina.memory.evidence import CONTROLS, in_one_line, normalised, plain_line, same, verbatim
from lumina.memory.keys import is_key
from lumina.memory.masking import Masks
from lumina.memory.never import BUILT_IN, MARK, shape

ValueType = Literal["text", "number", "date", "yes/no", "one of"]
TYPES: tuple[ValueType, ...] = get_args(ValueType)
PLAIN_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
YES, NO = frozenset(("yes", "true")), frozenset(("no", "false"))
MAX_DECLARED = 200  # keys; all of them are shown in the delta step
FIELDS = ("undeclared", "never", "patterns", "recall_other_threads", "issues_follow", "keys")
KEY_FIELDS = ("type", "values", "about", "meaning")


class SchemaError(UsageError):
    """The schema cannot be used as it is written; the message names the file, the line and the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredKey:
    """A key, or all keys below one (`device.*`). `values`: all that may stand there, for the type `one of`.

    `about` is where it belongs: to the subject, to the thread, or "" where the delta says. `meaning` is told to the
    model in the delta step.
    """

    key: str
    type: ValueType = "text"
    values: tuple[str, ...] = ()
    about: About | Literal[""] = ""
    meaning: str = ""

    def __post_init__(self) -> None:
        if not is_key(self.key.removesuffix(".*")):
            raise SchemaError(f"{self.key!r} is not a key: write a dotted lower-case path, such as home.city or home.*")
        if self.type not in TYPES:
            raise SchemaError(f"{self.key}: the type {self.type!r} is none of {', '.join(TYPES)}")
        if (self.type == "one of") != bool(self.values):
            raise SchemaError(f"{self.key}: `values` are for the type `one of`, which needs them")
        if self.about not in ("", "thread", "subject"):
            raise SchemaError(f"{self.key}: about is {self.about!r}; it can be thread or subject")
        for value in self.values:
            if not 0 < len(value) <= MAX_VALUE or CONTROLS.search(value) or value != in_one_line(value):
                raise SchemaError(f"{self.key}: the value {value!r} is not a line of 1 to {MAX_VALUE} characters")
        if len(self.meaning) > MAX_VALUE or CONTROLS.search(self.meaning):
            raise SchemaError(f"{self.key}: its meaning is not a line of at most {MAX_VALUE} characters")

    @property
    def below(self) -> str:
        """What the keys begin with that a pattern stands for, or ""."""
        return self.key[:-1] if self.key.endswith(".*") else ""

    def allows(self) -> str:
        """What may stand here, in a few words."""
        return {
            "text": "text",
            "number": "a number such as 1200.5",
            "date": "a date such as 2026-03-05",
            "yes/no": "yes or no",
            "one of": "one of: " + ", ".join(self.values),
        }[self.type]

    def quoted(self, written: str, texts: Iterable[str], day: str) -> str | None:
        """`written` as it is kept, if one of `texts`, the quoted words, carries it; None if none does.

        A choice (`one of`, `yes/no`) needs a quote but need not stand in it. A number or date is kept in plain form.
        """
        if self.type in ("one of", "yes/no"):
            return self.typed(written)
        for text in filter(None, texts):
            plain = normalised(written, text, day)
            if self.type in ("number", "date"):
                if plain and self.typed(plain):
                    return plain
            elif value := verbatim(written, text) or plain:
                return value
        return None

    def typed(self, written: str) -> str | None:
        """`written` as it is kept, if it is of this type; None if it is not."""
        match self.type:
            case "one of":
                return next((value for value in self.values if same(value, written)), None)
            case "yes/no":
                plain = written.strip().casefold()
                return "yes" if plain in YES else "no" if plain in NO else None
            case "number":
                return written if PLAIN_NUMBER.fullmatch(written) else None
            case "date":
                return written if _is_day(written) else None
            case _:
                return written


def _is_day(written: str) -> bool:
    try:
        return len(written) == 10 and bool(date.fromisoformat(written))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """`undeclared`: whether a key that is not declared is accepted or refused, issues and decisions included.

    `never`: what is masked and refused: card_number, iban, us_ssn, email, or a name in `patterns`, whose shapes are
    written as `lumina.memory.never.shape` has them. `issues_follow`: open issues are about the subject, so that they
    follow a customer into the next thread. `recall_other_threads`: recall may search the subject's other threads.
    """

    keys: tuple[DeclaredKey, ...] = ()
    undeclared: Literal["accept", "refuse"] = "accept"
    never: tuple[str, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    recall_other_threads: bool = False
    issues_follow: bool = False
    masks: Masks = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.undeclared not in ("accept", "refuse"):
            raise SchemaError(f"undeclared is {self.undeclared!r}; it can be accept or refuse")
        names = [each.key for each in self.keys]
        if len(names) > MAX_DECLARED:
            raise SchemaError(f"{len(names)} keys are declared; at most {MAX_DECLARED} are shown to a model")
        if twice := next((name for at, name in enumerate(names) if name in names[:at]), ""):
            raise SchemaError(f"{twice} is declared twice")
        for name in self.patterns:
            if name in BUILT_IN:
                raise SchemaError(f"the pattern {name!r} has the name of a built-in one")
        if unknown := next((name for name in self.never if name not in (*BUILT_IN, *self.patterns)), ""):
            known = ", ".join((*BUILT_IN, *self.patterns))
            raise SchemaError(f"never names {unknown!r}, which is none of {known}")
        try:
            own = {name: shape(name, written) for name, written in self.patterns.items()}
        except UsageError as error:
            raise SchemaError(str(error)) from None
        # A pattern of one's own is written to be used: it need not be named a second time.
        chosen = dict.fromkeys((*self.never, *own))
        rules = tuple(own[name] if name in own else BUILT_IN[name] for name in chosen)
        object.__setattr__(self, "masks", Masks(rules=rules))

    @property
    def declares(self) -> bool:
        """Whether it says anything about keys, which the delta step has to be told."""
        return bool(self.keys) or self.undeclared == "refuse"

    def of(self, key: str) -> DeclaredKey | None:
        """What is declared for `key`: by its own name, else by the longest pattern."""
        found = [each for each in self.keys if each.key == key or (each.below and key.startswith(each.below))]
        return max(found, key=lambda each: (not each.below, len(each.key)), default=None)

    def about(self, key: str, kind: Kind) -> About | Literal[""]:
        """Where `key` belongs as far as the schema says."""
        declared = self.of(key)
        if declared and declared.about:
            return declared.about
        return "subject" if kind == "issue" and self.issues_follow else ""

    def names(self) -> frozenset[str]:
        """The declared keys, without patterns."""
        return frozenset(each.key for each in self.keys if not each.below)

    def refuses(self, key: str) -> str:
        """Why `key` cannot be used, or ""."""
        if self.undeclared == "accept" or self.of(key):
            return ""
        declared = ", ".join(each.key for each in self.keys)
        return f"its key is not declared; there are: {declared[:400]}"

    def forbids(self, *texts: str) -> str:
        """Why none of `texts` may be kept, or ""."""
        names = dict.fromkeys(name for text in texts for name in self.masks.found(text))
        return f"it holds what is never stored here ({', '.join(names)})" if names else ""

    def hides(self, value: str) -> str:
        """Why a masked value says nothing, or ""."""
        return "its value was masked, and what it hides is never stored here" if MARK in value else ""

    def mask(self, text: str) -> str:
        """`text` as it may be kept: of the same length."""
        return self.masks.text(text)

    def told(self) -> dict[str, object]:
        """What the delta step tells a model."""
        rows = []
        for each in self.keys:
            row = {"key": each.key, "value": each.allows(), "about": each.about, "meaning": each.meaning}
            rows.append({name: text for name, text in row.items() if text})
        return {"declared_keys": rows, "other_keys": "refused" if self.undeclared == "refuse" else "accepted"}

    def to_json(self) -> str:
        """Canonical: equal schemas give equal bytes, ASCII only. `from_json` reads it."""
        keys = {
            each.key: {
                name: list(value) if isinstance(value, tuple) else value
                for name in KEY_FIELDS
                if (value := getattr(each, name))
            }
            for each in self.keys
        }
        whole = {"undeclared": self.undeclared, "never": list(self.never), "patterns": dict(self.patterns),
                 "recall_other_threads": self.recall_other_threads, "issues_follow": self.issues_follow}  # fmt: skip
        return json.dumps({"keys": keys, **{name: value for name, value in whole.items() if value}})

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        """SchemaError, with the key, for what is no schema."""
        try:
            return cls.of_mapping(json.loads(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, SchemaError):
                raise
            raise SchemaError(f"The schema is not JSON: {error}.") from None

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> "Schema":
        """The schema in a TOML file (JSON where the name ends so). SchemaError with file, line and key."""
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8")
            data = json.loads(text) if place.suffix == ".json" else tomllib.loads(text)
        except OSError as error:
            raise SchemaError(f"The schema {place} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError) as error:  # both parsers name the line
            raise SchemaError(f"The schema {place} cannot be read: {error}.") from None
        try:
            return cls.of_mapping(data)
        except SchemaError as error:
            line = _line(text, str(error))
            raise SchemaError(f"The schema {place}{f', line {line}' if line else ''}: {error}.") from None

    @classmethod
    def of_mapping(cls, data: object) -> "Schema":
        """The schema that TOML or JSON stands for."""
        whole = _table(data, "the schema", FIELDS)
        keys = _table(whole.get("keys", {}), "keys", None)
        patterns = _table(whole.get("patterns", {}), "patterns", None)
        return cls(
            keys=tuple(_declared(key, each) for key, each in keys.items()),
            undeclared=cast(Any, _text(whole, "undeclared") or "accept"),
            never=_texts(whole, "never"),
            patterns={name: _text(patterns, name) for name in patterns},
            recall_other_threads=_flag(whole, "recall_other_threads"),
            issues_follow=_flag(whole, "issues_follow"),
        )


NOTHING_DECLARED = Schema()


def _declared(key: str, data: object) -> DeclaredKey:
    row = _table(data, key, None)
    if unknown := next((name for name in row if name not in KEY_FIELDS), ""):
        nested = f' Write the whole key in quotes: [keys."{key}.{unknown}"]' if isinstance(row[unknown], dict) else ""
        raise SchemaError(f"{key}: {unknown!r} is not known; there are: {', '.join(KEY_FIELDS)}.{nested}")
    return DeclaredKey(
        key=key,
        type=cast(Any, _text(row, "type", key) or ("one of" if "values" in row else "text")),
        values=_texts(row, "values", key),
        about=cast(Any, _text(row, "about", key)),
        meaning=_text(row, "meaning", key),
    )


def _table(data: object, name: str, known: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise SchemaError(f"{name} is {type(data).__name__}, not a table")
    for key in data:
        if known is not None and key not in known:
            raise SchemaError(f"{plain_line(key, 60)!r} is not known in {name}; there are: {', '.join(known)}")
    return data


def _text(row: Mapping[str, Any], name: str, of: str = "") -> str:
    value = row.get(name, "")
    if not isinstance(value, str):
        raise SchemaError(f"{f'{of}: ' if of else ''}{name} is {type(value).__name__}, not text")
    return value


def _texts(row: Mapping[str, Any], name: str, of: str = "") -> tuple[str, ...]:
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SchemaError(f"{f'{of}: ' if of else ''}{name} is not a list of texts")
    return tuple(value)


def _flag(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise SchemaError(f"{name} is {type(value).__name__}; it can be true or false")
    return value


def _line(text: str, complaint: str) -> int:
    """The line that the complaint is about: the first that holds the name it begins with or quotes; 0 if none does."""
    quoted = complaint.split("'")[1:2]
    for name in (complaint.partition(":")[0], *quoted, complaint.partition(" ")[0]):
        for number, line in enumerate(text.splitlines(), start=1):
            if name and name in line.partition("#")[0]:
                return number
    return 0
