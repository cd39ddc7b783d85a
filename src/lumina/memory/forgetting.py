"""The rules of forgetting: what has to go for an entry, a turn, a thread or a subject to be gone.

Each function gives a rule for `Store.forget`. It reads what is held and answers with all that goes in one transaction:
the words themselves; what was derived from them (index, snapshots, logs, a model's stored answers); and, in the receipt
of every context that showed them, the hash and the names, so that it can be shown again and says so.

Forget never revives (`lumina.memory.unsaying`). A turn goes with all its attempts, and takes a later confirmation of an
offer that stood in it, because that entry's value is a copy of its words; what an operator corrected after it was
written by somebody else and stays. A thread's title goes with the first turn, with the turn that brought it, and with
words that it shares.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from lumina.memory.blanking import Blanks
from lumina.memory.change import About, Change
from lumina.memory.errors import TurnConflict
from lumina.memory.forgotten_receipts import Touched, blank_receipts
from lumina.memory.removal import Held, HeldDelta, Removal, Rule, TurnKey
from lumina.memory.rendering import change_ref
from lumina.memory.store import VersionConflict
from lumina.memory.turns import Part
from lumina.memory.unsaying import Deltas
from lumina.memory.words import content_words

DIGEST = re.compile(r'"digest": ?"([0-9a-f]{64})"')


def forget_entry(thread: str, key: str, *, about: About, day: str) -> Rule:
    """Every change of `key`, in the thread or (about the subject) in all threads. None when nothing is said of it."""

    def rule(held: Held) -> Removal | None:
        names = _threads(held)
        threads = [name for name in names if about == "subject" or name == thread]
        sweep = _Sweep(held, day, threads)
        sweep.deltas.take(
            lambda one, change: (change.key, change.about) == (key, about) and one.thread in threads
        )  # fmt: skip
        return sweep.entry(thread, key, about) if sweep.deltas.gone else None

    return rule


def forget_turn(thread: str, seq: int, *, day: str) -> Rule:
    """All attempts of turn `seq`. None when there is no such turn, or nothing of it is left."""

    def rule(held: Held) -> Removal | None:
        keys = [key for key in held.turn_keys(thread) if key[0] == seq] if thread in _threads(held) else []
        known = held.turns(thread) if keys else {}
        if all(key in known and known[key].forgotten for key in keys):
            return None
        return _Sweep(held, day, [thread]).turn(thread, keys)

    return rule


def forget_thread(thread: str, *, day: str) -> Rule:
    """The thread, and what its turns put into the profile. None when there is no such thread."""

    def rule(held: Held) -> Removal | None:
        return _Sweep(held, day, [thread]).thread(thread) if thread in _threads(held) else None

    return rule


def forget_subject(*, day: str) -> Rule:
    """Everything of the subject. None when it has no thread, text, document or count."""

    def rule(held: Held) -> Removal | None:
        if not held.anything():
            return None
        threads = _threads(held)
        _check_quiet(held, threads)
        turns = sum(len(held.turn_keys(thread)) for thread in threads)
        return Removal(
            day=day, whole=True, threads=tuple(threads), detail={"threads": len(threads), "turns": turns}
        )  # fmt: skip

    return rule


def _threads(held: Held) -> list[str]:
    return [info.thread for info in held.threads()]


def _check_quiet(held: Held, threads: Collection[str]) -> None:
    for info in held.threads():
        if info.thread in threads and info.running:
            raise TurnConflict(
                f"Turn {info.running} of thread {info.thread} is still being answered, from what is to be forgotten. "
                "Nothing was forgotten. Wait for it, or stop it, and forget then.",
                running=info.running,
            )


class _Sweep:
    """One forget while it is decided. In `threads` words are touched: no turn may run there, and what a model has
    answered about their turns is applied before, so that it goes with the rest."""

    def __init__(self, held: Held, day: str, threads: Sequence[str]) -> None:
        _check_quiet(held, threads)
        for thread in threads:
            for job in held.jobs(thread):
                if job.status == "answered":
                    raise VersionConflict(f"Turn {job.seq} was noted meanwhile. Nothing was forgotten; try again.")
        self.held, self.day, self.threads = held, day, threads
        self.deltas = Deltas(held)
        self.blanks = Blanks(held, day)

    def entry(self, thread: str, key: str, about: About) -> Removal:
        changes = [change for _, change in self.deltas.gone]
        if any(place in self.threads for place, _ in self.deltas.waiting):
            self.deltas.lay_stone_after_all(thread, key, about, self.day)
        words = {change.value for change in changes}
        for (place, turn_key), spans in _quoted(self.deltas.gone).items():
            turn = self.held.turns(place).get(turn_key)
            if turn and not turn.forgotten:
                words |= self.blanks.mask_turn(place, turn, spans)
        self.blanks.lose_values(self.threads, self.deltas.gone, whole=True)
        self._lose_refused_queries()
        shared = {word for text in words for word in content_words(text)}
        titles = [place for place in self.threads if self.blanks.lose_title(place, shared, ())]
        return self._removal(titles=titles, words=words)

    def turn(self, thread: str, keys: Sequence[TurnKey]) -> Removal:
        own = set(keys)
        self.deltas.take(lambda one, change: one.thread == thread and _stands_on(change, one, own))
        self.deltas.lay_stones()
        sources = self._sources_of(thread, own)
        texts = [turn for key, turn in self.held.turns(thread).items() if key in own]
        self.blanks.lose_turns(thread, own)
        self.blanks.lose_values(_threads(self.held), self.deltas.gone, whole=False)
        self._lose_refused_queries()
        shared = {word for turn in texts for word in content_words(f"{turn.question}\n{turn.answer}")}
        titles = [thread] if self.blanks.lose_title(thread, shared, {seq for seq, _ in keys}) else []
        words = {change.value for _, change in self.deltas.gone}
        return self._removal(titles=titles, turns=[(thread, key) for key in keys], sources=sources, words=words)

    def thread(self, thread: str) -> Removal:
        self.deltas.take(lambda one, change: one.thread == thread)
        self.deltas.lay_stones_elsewhere(thread)
        self.deltas.drop_thread(thread)
        others = [name for name in _threads(self.held) if name != thread]
        self.blanks.lose_values(others, self.deltas.gone, whole=False)
        self._lose_refused_queries(going=thread)
        return self._removal(going=thread, turns=[(thread, key) for key in self.held.turn_keys(thread)])

    def _lose_refused_queries(self, going: str = "") -> None:
        """In every thread, because recall may have shown the words there; not where a turn is being answered."""
        values = {change.value for _, change in self.deltas.gone}
        for info in self.held.threads():
            if info.thread != going and not info.running:
                self.blanks.lose_refused_queries(info.thread, values)

    def _sources_of(self, thread: str, own: set[TurnKey]) -> list[tuple[str, int]]:
        """Sources that only turns which go, or are gone, have read or cite."""
        left = {key: turn for key, turn in self.held.turns(thread).items() if key not in own and not turn.forgotten}
        used = {n for turn in left.values() for n in turn.cited}
        used |= {n for key, n in self.held.readings(thread) if key in left}
        return [(thread, n) for n in sorted({n for key, n in self.held.readings(thread) if key in own} - used)]

    def _texts(self, going: str) -> frozenset[str]:
        """Instructions that receipts name. These are read without being parsed: a long thread has thousands."""
        bodies = (row.body for row in self.held.receipts() if row.thread != going)
        return frozenset(digest for body in bodies for digest in DIGEST.findall(body))

    def _removal(
        self, *, titles: Sequence[str] = (), turns: Sequence[tuple[str, TurnKey]] = (),
        sources: Sequence[tuple[str, int]] = (), words: Collection[str] = (), going: str = "",
    ) -> Removal:  # fmt: skip
        changes = [change for _, change in self.deltas.gone]
        names = self.deltas.names()
        touched = Touched(
            day=self.day,
            turns={*turns, *((one.thread, one.key) for one in self.blanks.masked)},
            lost=set(turns),
            entries={change_ref(change) for change in changes},
            keys={change.key for change in changes} - names,
            sources=set(sources),
            calls=set(self.blanks.calls),
            threads={going} if going else set(),
        )
        receipts = blank_receipts(self.held.receipts(), touched)
        stay = [name for name in self.threads if name != going]
        subject = any(change.about == "subject" for change in changes)
        running = any(info.running for info in self.held.threads())
        blanks = self.blanks
        return Removal(
            day=self.day,
            turns=() if going else tuple(turns),
            masked=tuple(blanks.masked),
            calls=tuple((thread, key, record) for (thread, key, _), record in sorted(blanks.calls.items())),
            sources=tuple(sources),
            events=tuple((thread, key, number, body) for (thread, key, number), body in sorted(blanks.events.items())),
            jobs=tuple(stay),
            deltas=self.deltas.changed,
            receipts=tuple(receipts),
            titles=tuple(titles),
            threads=(going,) if going else (),
            states=tuple((name, self.deltas.state(name)) for name in stay),
            profile=self.deltas.profile() if subject else None,
            # A turn that is being answered may have kept a text that nothing names yet.
            texts=self._texts(going) if turns and not running else None,
            detail={
                "turns": len(turns), "masked": len(blanks.masked),
                "changes": sum(not change.forgotten for change in changes), "receipts": len(receipts),
                "events": len(blanks.events), "sources": len(sources),
                **({"threads": 1} if going else {}),
            },
            words=tuple(sorted(filter(None, words))),
        )  # fmt: skip


def _quoted(gone: Iterable[tuple[HeldDelta, Change]]) -> dict[tuple[str, TurnKey], dict[Part, list[tuple[int, int]]]]:
    """Where the words stand that changes quote, by thread and turn."""
    places: dict[tuple[str, TurnKey], dict[Part, list[tuple[int, int]]]] = {}
    for one, change in gone:
        for quote in (change.quote, change.offer):
            if quote:
                place = (one.thread, (quote.seq, quote.attempt))
                places.setdefault(place, {}).setdefault(quote.part, []).append((quote.start, quote.end))
    return dict(sorted(places.items()))


def _stands_on(change: Change, one: HeldDelta, own: set[TurnKey]) -> bool:
    quoted = {(quote.seq, quote.attempt) for quote in (change.quote, change.offer) if quote}
    return bool(own & quoted) or ((one.seq, one.attempt) in own and not one.correction)
