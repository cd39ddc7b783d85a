"""What changed this turn: the delta, as a model or a person writes it and as code accepts it.

A model proposes (`lumina.memory.note`), code decides. Every operation must bring a quote, and where the quote stands
says who spoke: in the question the person did, in the answer the assistant. Only the person's words make facts, take
them back or close an issue; from an answer come at most a decision or an open issue, and only if the turn read no
source, and findings from sentences that carry the source's number (promise 6). The rule holds whatever the model
was talked into, because none of it rests on what the model says about itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lumina.memory.change import MAX_VALUE, About, Change, Kind, Operation, Quote, SaidBy, dump_changes, load_changes
from lumina.memory.consent import assents, goes_on, only_assents
from lumina.memory.errors import UsageError
from lumina.memory.evidence import (
    CONTROLS,
    MARKER,
    Shown,
    Span,
    in_one_line,
    overlapping,
    plain_line,
    sentences,
)
from lumina.memory.keys import MAX_KEY, near_key, normal_key
from lumina.memory.note import DeltaRequest, Note, NoteError, Op, Refused, delta_request, parse_note
from lumina.memory.schema import DeclaredKey, Schema
from lumina.memory.state import State
from lumina.memory.turns import Part, Turn
from lumina.memory.words import content_words

__all__ = [
    "Change",
    "Checked",
    "DeltaRequest",
    "Note",
    "NoteError",
    "Op",
    "Refused",
    "check",
    "correct",
    "delta_request",
    "dump_changes",
    "load_changes",
    "parse_note",
]

MAX_QUOTE = 1_000  # code points
KIND_OF: dict[Operation, Kind] = {
    "set": "fact",
    "retract": "fact",
    "open": "issue",
    "resolve": "issue",
    "decide": "decision",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What of a note was accepted, in the note's order, and what was not. `again`: worth asking once more."""

    changes: tuple[Change, ...]
    refused: tuple[Refused, ...]

    @property
    def again(self) -> bool:
        return any(each.again for each in self.refused)


def check(
    note: Note,
    *,
    turn: Turn,
    state: State,
    profile: State | None = None,
    previous: Turn | None = None,
    read_sources: bool,
    near_sources: bool = False,
    thread: str = "",
    cited: Sequence[tuple[int, int, int]] | None = None,
    schema: Schema | None = None,
    second_try: bool = False,
) -> Checked:
    """What of `note` may be believed about `turn`.

    `read_sources`: whether this turn read any. `near_sources`: whether its answer, or the one before, was written where
    the words of a source may have stood: in the turn itself, or in an answer that was shown to the model.

    `profile` is None where none is read or written; everything then stays in the thread. `thread` is its id, kept
    with what goes to the profile. `cited`: (n, start, end) of each cited sentence in the answer, found here if None.
    `schema`: what is declared, and what may never be stored. `second_try`: new keys that nearly equal others are
    accepted.
    """
    desk = _Desk(
        turn=turn,
        previous=previous,
        state=state,
        profile=profile,
        near_sources=near_sources or read_sources or (previous is not None and previous.read_sources),
        after_sources=near_sources,
        read_sources=read_sources,
        thread=thread,
        cited=cited,
        schema=schema or Schema(),
        second_try=second_try,
    )
    accepted: dict[int, Change] = {}
    refused = list(note.refused)
    # Resolutions come last: each needs a quote that no other operation stands on.
    for place, op in sorted(enumerate(note.ops), key=lambda item: item[1].op == "resolve"):
        try:
            accepted[place] = desk.accept(op, place, accepted.values())
        except _No as no:
            refused.append(Refused(op=op.op, key=plain_line(op.key, MAX_KEY), reason=no.reason, again=no.again))
        except UsageError as error:
            refused.append(Refused(op=op.op, key=plain_line(op.key, MAX_KEY), reason=str(error)))
    told = tuple(replace(no, key=desk.schema.mask(no.key), reason=desk.schema.mask(no.reason)) for no in refused)
    return Checked(changes=tuple(accepted[place] for place in sorted(accepted)), refused=told)


def correct(
    op: Operation,
    key: str,
    value: str = "",
    *,
    turn: Turn,
    correction: int,
    by: str,
    day: str,
    why: str = "",
    about: About = "thread",
    thread: str = "",
    schema: Schema | None = None,
) -> Change:
    """A person's correction after `turn`, the `correction`-th there (from 1). Raises UsageError; `schema` holds for
    whoever corrects too."""
    path, text = normal_key(key), in_one_line(value)
    if path is None:
        raise UsageError(f"{plain_line(key, MAX_KEY)!r} is not a key. Write it like home.city.")
    if schema is not None:
        text = _declared_value(schema, op, path, text, (by, why))
    return Change(
        op=op,
        kind=KIND_OF[op],
        key=path,
        value=text,
        about=about,
        said_by="operator",
        seq=turn.seq,
        attempt=turn.attempt,
        number=turn.number,
        correction=correction,
        day=day,
        thread=thread if about == "subject" else "",
        by=in_one_line(by),
        why=in_one_line(why),
    )


def _declared_value(schema: Schema, op: Operation, key: str, value: str, beside: Iterable[str]) -> str:
    """A corrected value as the schema keeps it. UsageError with the reason."""
    ends = op in ("retract", "resolve")
    if why := schema.forbids(key, value, *beside) or ("" if ends else schema.refuses(key)):
        raise UsageError(f"The correction cannot be made: {why}. Nothing was changed.")
    declared = schema.of(key)
    if ends or declared is None:
        return value
    kept = declared.typed(value)
    if kept is None:
        raise UsageError(
            f"{key} must be {declared.allows()[:200]}, not {plain_line(value, 100)!r}. Nothing was changed."
        )
    return kept


class _No(Exception):
    """An operation is refused."""

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """Who said it, and in which words. `offered`: the words of an accepted offer."""

    said_by: SaidBy
    quote: Quote
    words: str
    offer: Quote | None = None
    offered: str = ""


@dataclass(slots=True, kw_only=True)
class _Desk:
    """One turn, laid out for checking."""

    turn: Turn
    previous: Turn | None
    state: State
    profile: State | None
    read_sources: bool
    near_sources: bool
    after_sources: bool
    thread: str
    cited: Sequence[tuple[int, int, int]] | None
    schema: Schema
    second_try: bool
    question: Shown = field(init=False)
    answer: Shown = field(init=False)
    before: Shown = field(init=False)

    def __post_init__(self) -> None:
        self.question = Shown(self.turn.question)
        self.answer = Shown(self.turn.answer)
        self.before = Shown(self.previous.answer if self.previous else "")

    def accept(self, op: Op, place: int, others: Iterable[Change]) -> Change:
        hides = self.schema.hides(op.value) if op.op == "set" else ""
        if why := self.schema.forbids(op.key, op.value) or hides:
            raise _No(why)
        # The turn was masked before it was kept, so its words are sought as they read there.
        op = op.model_copy(update={"quote": self.schema.mask(op.quote), "offer": self.schema.mask(op.offer)})
        key = self._key(op, {other.key for other in others})
        said = self._evidence(op, key)
        if said.said_by == "user" and not said.offer and only_assents(said.words):
            raise _No("its quote only agrees; quote the offer that it accepts, too", again=True)
        if op.op == "resolve":
            _check_resolution(said, others)
        if op.op in ("retract", "resolve") and self.near_sources and not self._is_named(key, said):
            raise _No(f"its quote names neither {key} nor its value, and once sources were read nothing less counts")
        about = self._about(op, key, said.said_by)
        value = self._value(op, key, said)
        if why := self.schema.forbids(value):
            raise _No(why)
        return Change(
            op=op.op,
            kind="finding" if said.said_by == "source" else self._kind(op, key),
            key=key,
            value=value,
            about=about,
            said_by=said.said_by,
            seq=self.turn.seq,
            attempt=self.turn.attempt,
            number=self.turn.number,
            position=place,
            day=self.turn.day,
            thread=self.thread if about == "subject" else "",
            quote=said.quote,
            offer=said.offer,
            source=op.source or 0 if said.said_by == "source" else 0,
        )

    def _key(self, op: Op, others: set[str]) -> str:
        key = normal_key(op.key)
        if key is None:
            raise _No("its key is not a dotted lower-case path such as home.city", again=True)
        standing = self.state.keys() | (self.profile.keys() if self.profile else set())
        near = near_key(key, others | standing | self.schema.names())
        if near and not self.second_try:
            raise _No(f"its key nearly equals {near}: use that one, or repeat yours if it is another thing", again=True)
        if (why := self.schema.refuses(key)) and not (op.op in ("retract", "resolve") and key in standing):
            raise _No(why)
        return key

    def _evidence(self, op: Op, key: str) -> _Evidence:
        if not 0 < len(op.quote.strip()) <= MAX_QUOTE:
            raise _No(f"it has no quote of 1 to {MAX_QUOTE} characters", again=True)
        asked, told = self.question.find(op.quote), self.answer.find(op.quote)
        if op.source and op.op == "set" and told and self._carries(op.source, told):
            return _Evidence(said_by="source", **self._quoted("answer", told))
        if asked:
            return self._said_by_person(op, key, asked)
        if not told:
            raise _No("its quote stands neither in the question nor in the answer", again=True)
        if op.op == "set" and op.source:
            raise _No(f"the sentence it quotes does not carry [{op.source}]", again=True)
        if op.op not in ("open", "decide"):
            raise _No(f"its quote stands in the answer only, and only a person's words can {op.op}")
        if self.read_sources or self.after_sources:
            raise _No(f"its quote stands in the answer only, and once sources were read no answer can {op.op}")
        return _Evidence(said_by="assistant", **self._quoted("answer", told))

    def _said_by_person(self, op: Op, key: str, asked: Span) -> _Evidence:
        quoted = self._quoted("question", asked)
        plain = _Evidence(said_by="user", **quoted)
        if not op.offer.strip() or (op.value.strip() and self._find_value(op.value, key, (plain.words,))):
            return plain
        accepted = self.before.find(op.offer) if len(op.offer) <= MAX_QUOTE else None
        if not accepted or not self.previous:
            raise _No("the offer it accepts does not stand in the answer before", again=True)
        if self.previous.read_sources or self.after_sources:
            raise _No("the offer it accepts was made where an answer had read sources, and may be their words")
        if not assents(self.turn.question, asked):
            raise _No("its quote does not accept an offer")
        offer = Quote(
            seq=self.previous.seq, attempt=self.previous.attempt, part="answer", start=accepted.start, end=accepted.end
        )
        return _Evidence(
            said_by="user", **quoted, offer=offer, offered=self.previous.answer[accepted.start : accepted.end]
        )

    def _is_named(self, key: str, said: _Evidence) -> bool:
        """Whether the quoted words share a word with the key or with what stands under it."""
        standing = [place.get(key) for place in (self.state, self.profile) if place]
        named = " ".join([key.replace(".", " ").replace("_", " "), *(entry.value for entry in standing if entry)])
        return not set(content_words(named)).isdisjoint(content_words(f"{said.words} {said.offered}"))

    def _quoted(self, part: Part, span: Span) -> dict:
        text = self.turn.question if part == "question" else self.turn.answer
        quote = Quote(seq=self.turn.seq, attempt=self.turn.attempt, part=part, start=span.start, end=span.end)
        return {"quote": quote, "words": text[span.start : span.end]}

    def _carries(self, source: int, told: Span) -> bool:
        """Whether the sentence that holds `told` in the answer carries the number of a source that was accepted."""
        if source not in self.turn.cited:
            return False
        if self.cited is not None:
            return any(n == source and start <= told.start and told.end <= end for n, start, end in self.cited)
        text = self.turn.answer
        around = overlapping(sentences(text), told)
        return all(str(source) in MARKER.findall(text[span.start : span.end]) for span in around)

    def _kind(self, op: Op, key: str) -> Kind:
        """A retraction takes back what has the key; its kind says which was meant, for whoever reads it."""
        if op.op != "retract":
            return KIND_OF[op.op]
        for place in (self.state, self.profile):
            entry = place.get(key) if place else None
            if entry and entry.kind in ("fact", "decision"):  # a finding is a source's: no person's kind
                return entry.kind
        return "fact"

    def _about(self, op: Op, key: str, said_by: SaidBy) -> About:
        if self.profile is None or said_by != "user":
            return "thread"
        here, there = self.state.get(key), self.profile.get(key)
        ends = op.op in ("retract", "resolve")
        if ends and bool(here) != bool(there):
            return "thread" if here else "subject"
        if about := self.schema.about(key, "issue" if op.op in ("open", "resolve") else "fact"):
            return about
        if not op.about and bool(here) != bool(there):
            return "thread" if here else "subject"
        return op.about or "thread"

    def _value(self, op: Op, key: str, said: _Evidence) -> str:
        if op.op in ("retract", "resolve"):
            return ""
        written = in_one_line(op.value)
        if not written and op.op in ("open", "decide"):
            written = in_one_line(said.offered or said.words)
        if not 0 < len(written) <= MAX_VALUE:
            raise _No(f"its value has {len(written)} characters; 1 to {MAX_VALUE} are kept", again=True)
        if CONTROLS.search(written):
            raise _No("its value holds a control character")
        value = self._find_value(written, key, (said.words, said.offered))
        declared = self.schema.of(key)
        if value is None and declared is not None and declared.type != "text":
            where = "" if declared.typed(written) is None else ", which its quote says"
            raise _No(f"its value must be {declared.allows()[:200]}{where}", again=True)
        if value is None:
            raise _No("its value does not stand in its quote", again=True)
        return value

    def _find_value(self, written: str, key: str, texts: Iterable[str]) -> str | None:
        return (self.schema.of(key) or DeclaredKey(key=key)).quoted(written, texts, self.turn.day)


def _check_resolution(said: _Evidence, others: Iterable[Change]) -> None:
    """Small models close issues that go on: the quote must be about the end, and about nothing else."""
    for other in others:
        theirs = other.quote
        if other.op == "resolve" or theirs is None or theirs.part != said.quote.part:
            continue
        if said.quote.start < theirs.end and theirs.start < said.quote.end:
            raise _No(f"a resolve needs a quote of its own; this one is that of {other.op} {other.key}", again=True)
    if goes_on(said.words):
        raise _No("its quote says that it goes on")
