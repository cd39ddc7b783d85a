"""What happens to words that go: in turns that stay, in tool calls, in logs and in titles.

A quote is masked where it was said, and in what was copied from that very place: the turn's log, a caller's tool
messages, a look back of a later turn, a search that was refused because it carried a noted value. What only says the
same is not touched; `lumina.memory.elsewhere` lists it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from lumina.memory.change import Change
from lumina.memory.redaction import (
    Event,
    Span,
    forgotten_event,
    mask,
    mask_copies,
    mask_log,
    mask_message,
    mask_record,
    read_log,
    without_passages,
    write_event,
)
from lumina.memory.removal import Held, HeldDelta, MaskedTurn, TurnKey
from lumina.memory.turns import Citation, Part, ToolRecord, Turn
from lumina.memory.words import content_words

LETTERS = 3  # a copy of fewer characters may be any word's part
THREAD_LOG: TurnKey = (0, 0)
CARRIED = "which is remembered and is not in the question"  # lumina.agent.tools says so of a search it refused

Spans = Mapping[Part, list[Span]]


class Blanks:
    """Gathers what is to be written in place of words. Of a tool call or an event the last word counts."""

    def __init__(self, held: Held, day: str) -> None:
        self.masked: list[MaskedTurn] = []
        self.calls: dict[tuple[str, TurnKey, int], ToolRecord] = {}
        self.events: dict[tuple[str, TurnKey, int], str] = {}
        self._held = held
        self._day = day
        self._mark = f"[forgotten on {day}]"

    def mask_turn(self, thread: str, turn: Turn, spans: Spans) -> set[str]:
        """Masks stretches of a turn and their copies; returns the words that were masked."""
        key = (turn.seq, turn.attempt)
        asked, told = spans.get("question", []), spans.get("answer", [])
        question, answer = mask(turn.question, asked), mask(turn.answer, told)
        quoted = {turn.question[a:b] for a, b in asked} | {turn.answer[a:b] for a, b in told}
        copies = {words for words in quoted if len(words) >= LETTERS}
        self.masked.append(MaskedTurn(
            thread=thread, key=key, question=question, answer=answer,
            exchanges=tuple(mask_message(message, copies) for message in turn.exchanges),
            followups=tuple(mask_copies(text, copies) for text in self._held.followups(thread).get(key, ())),
            citations=tuple(_without_missing(one, told) for one in self._held.citations(thread, key)),
        ))  # fmt: skip
        self._rewrite(thread, key, lambda record: mask_record(record, copies))
        rows = self._held.log(thread, key)
        for number, body in mask_log(rows, question=question, answer=(turn.answer, answer), words=copies):
            self.events[thread, key, number] = body
        self._in_thread_log(thread, lambda event: _started(event, turn, question, copies))
        flat = [" ".join(words.split()) for words in copies]
        self._look_backs(thread, {turn.seq: lambda text: any(words in text for words in flat)})
        return quoted

    def lose_turns(self, thread: str, keys: Collection[TurnKey]) -> None:
        """What other rows of the thread show of turns that go."""
        seqs = {seq for seq, _ in keys}
        self._in_thread_log(thread, lambda event: self._gone(thread, event) if event.get("turn") in seqs else event)
        self._look_backs(thread, dict.fromkeys(seqs, lambda text: True), but=keys)

    def lose_values(self, threads: Collection[str], gone: Collection[tuple[HeldDelta, Change]], *, whole: bool) -> None:
        """Events that tell of changes which are gone, or show their value as the old one. `whole`: every event about
        their keys goes."""
        values: dict[tuple[str, str], set[str]] = {}
        for _, change in gone:
            values.setdefault((change.key, change.about), set()).add(change.value)
        told = {(one.thread, change.seq, change.key, change.about) for one, change in gone}

        def without(thread: str, event: Event) -> Event:
            place = (str(event.get("key")), str(event.get("about")))
            if event.get("kind") != "state.changed" or place not in values:
                return event
            if whole or (thread, event.get("turn"), *place) in told:
                return self._gone(thread, event)
            return {**event, "old": None} if event.get("old") in values[place] else event

        for thread in threads:
            self._in_thread_log(thread, partial(without, thread))

    def lose_refused_queries(self, thread: str, values: Collection[str]) -> None:
        """A search that would have carried a noted value out was refused in words that hold it."""
        values = {value for value in values if len(value) >= LETTERS}
        for key in self._held.turn_keys(thread) if values else ():
            records = self._records(thread, key)
            if not any(CARRIED in record.result and mask_record(record, values) != record for record in records):
                continue
            self._rewrite(thread, key, lambda one: mask_record(one, values) if CARRIED in one.result else one)
            for number, event in read_log(self._log(thread, key)):
                if str(event.get("kind")).startswith("search."):
                    told = {
                        name: mask_copies(str(event[name]), values) for name in ("query", "reason") if name in event
                    }
                    self.events[thread, key, number] = write_event({**event, **told})

    def lose_title(self, thread: str, words: Collection[str], seqs: Collection[int]) -> bool:
        """Whether the thread's title goes: it shares a word with `words`, or one of the turns `seqs` is the first one
        or brought it. What the log says of titles then goes, too."""
        info = next(info for info in self._held.threads() if info.thread == thread)
        titled = [(number, event) for number, event in read_log(self._log(thread, THREAD_LOG))
                  if event.get("kind") == "title"]  # fmt: skip
        brought = any(event.get("turn") in seqs for _, event in titled)
        if not (brought or 1 in seqs or not set(content_words(info.title)).isdisjoint(words)):
            return False
        for number, event in titled:
            self.events[thread, THREAD_LOG, number] = write_event(self._gone(thread, event))
        return bool(info.title)

    def _gone(self, thread: str, event: Event) -> Event:
        turn = event.get("turn")
        return forgotten_event(thread, turn if isinstance(turn, int) else 0, self._day)

    def _look_backs(
        self, thread: str, touched: Mapping[int, Callable[[str], bool]], but: Collection[TurnKey] = ()
    ) -> None:
        for key in self._held.turn_keys(thread):
            if key[0] > min(touched, default=0) and key not in but:
                self._rewrite(thread, key, lambda record: without_passages(record, touched, self._mark))

    def _records(self, thread: str, key: TurnKey) -> list[ToolRecord]:
        return [self.calls.get((thread, key, one.index), one) for one in self._held.tool_calls(thread, key)]

    def _rewrite(self, thread: str, key: TurnKey, change: Callable[[ToolRecord], ToolRecord]) -> None:
        for record in self._records(thread, key):
            told = change(record)
            if told != record:
                self.calls[thread, key, record.index] = told

    def _log(self, thread: str, key: TurnKey) -> list[tuple[int, str]]:
        return [(number, self.events.get((thread, key, number), body)) for number, body in self._held.log(thread, key)]

    def _in_thread_log(self, thread: str, change: Callable[[Event], Event]) -> None:
        for number, event in read_log(self._log(thread, THREAD_LOG)):
            told = change(event)
            if told != event:
                self.events[thread, THREAD_LOG, number] = write_event(told)


def _without_missing(one: Citation, told: Collection[Span]) -> Citation:
    """What the source lacks of a sentence is told in the sentence's words; they go with it."""
    apart = all(end <= one.sentence_start or one.sentence_end <= start for start, end in told)
    return one if apart else replace(one, missing=())


def _started(event: Event, turn: Turn, question: str, copies: Collection[str]) -> Event:
    if event.get("turn") != turn.seq:
        return event
    if event.get("kind") == "turn.started" and event.get("attempt") == turn.attempt:
        return {**event, "question": question}
    if event.get("kind") == "followups" and isinstance(event.get("questions"), list):
        return {**event, "questions": [mask_copies(str(text), copies) for text in event["questions"]]}
    if event.get("kind") in ("notice", "state.changed"):
        return {**event, **{name: mask_copies(event[name], copies) for name in ("text", "quote")
                            if isinstance(event.get(name), str)}}  # fmt: skip
    return event
