"""Takes changes out of the deltas, and sees to it that no older one comes back in their place.

Where a change that goes had stood on an older one (whosever words that was, whether its delta is there or still to
come), a change marked `forgotten`, a stone, takes its place: the key stays empty until it is said again. A stone
carries the key's name and nothing else, and only where an older change has that name anyway or a delta that is still to
come may bring it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lumina.memory.change import About, Change, Kind, dump_changes, load_changes
from lumina.memory.removal import Held, HeldDelta, TurnKey
from lumina.memory.state import KINDS, fold
from lumina.memory.turns import Turn

DeltaKey = tuple[str, int, int, int]  # thread, seq, attempt, correction
Goes = Callable[[HeldDelta, Change], bool]


def under_stone(change: Change, stones: Iterable[Change]) -> bool:
    """Whether what `change` says was forgotten after it had been said: its delta comes too late."""
    return any(
        stone.forgotten
        and (stone.key, stone.about) == (change.key, change.about)
        and stone.turn > change.turn
        and stone.lane in ("person", change.lane)
        and stone.kind in _kinds(change)
        for stone in stones
    )


class Deltas:
    """The deltas of a subject while a forget is decided. `gone`: what was taken out, each with its delta. `waiting`:
    turns whose delta is still to come, in any thread."""

    def __init__(self, held: Held) -> None:
        self.gone: list[tuple[HeldDelta, Change]] = []
        self.waiting: list[tuple[str, TurnKey]] = []
        self._held = held
        self._turns: dict[str, Mapping[TurnKey, Turn]] = {}
        self._kept = {_key(one): (one, list(load_changes(one.changes))) for one in held.deltas()}
        for info in held.threads():
            self.waiting += [(info.thread, (job.seq, job.attempt)) for job in held.jobs(info.thread)
                             if job.status in ("waiting", "answered")]  # fmt: skip

    def take(self, goes: Goes) -> None:
        """Takes out each change for which `goes(delta, change)`."""
        for one, changes in self._kept.values():
            self.gone += [(one, change) for change in changes if goes(one, change)]
            changes[:] = [change for change in changes if not goes(one, change)]

    def lay_stones(self) -> None:
        """A stone in the place of each change that was taken out and had an older one below it."""
        for one, change in self.gone:
            for kind in _kinds(change):
                if one.live and self._has_older(one, change, kind):
                    self._put(one, _stone(change, kind))

    def lay_stones_elsewhere(self, thread: str) -> None:
        """The same for the profile when `thread` goes: in another thread, after the newest turn that came before."""
        for one, change in self.gone:
            for kind in _kinds(change):
                if one.live and change.about == "subject" and self._has_older(one, change, kind):
                    before = [place for place in self._places(thread) if place[0] < change.number]
                    if before:
                        row = self._after(*max(before))
                        self._put(row, _stone_after(row, kind, change.key, "subject", change.day))

    def lay_stone_after_all(self, thread: str, key: str, about: About, day: str) -> None:
        """A stone after the newest turn, so that no delta that is still to come brings `key` back."""
        places = [place for place in self._places("") if about == "subject" or place[1] == thread]
        row = self._after(*max(places))
        for kind in KINDS:
            self._put(row, _stone_after(row, kind, key, about, day))

    def drop_thread(self, thread: str) -> None:
        self._kept = {at: value for at, value in self._kept.items() if value[0].thread != thread}

    @property
    def changed(self) -> tuple[HeldDelta, ...]:
        """The deltas that are to be stored anew."""
        now = [replace(one, changes=dump_changes(changes)) for one, changes in self._kept.values()]
        return tuple(one for one in now if one != self._kept[_key(one)][0])

    def names(self) -> set[str]:
        """Every key that something is still said of."""
        return {each.key for _, changes in self._kept.values() for each in changes if not each.forgotten}

    def state(self, thread: str) -> str:
        """The snapshot of a thread's state, folded anew."""
        return fold(changes for one, changes in self._kept.values() if one.live and one.thread == thread).to_json()

    def profile(self) -> str:
        return fold((changes for one, changes in self._kept.values() if one.live), about="subject").to_json()

    def _has_older(self, one: HeldDelta, change: Change, kind: Kind) -> bool:
        def near(thread: str) -> bool:
            return change.about == "subject" or thread == one.thread

        older = (
            each
            for other, changes in self._kept.values()
            if other.live and near(other.thread)
            for each in changes
            if (each.key, each.about) == (change.key, change.about) and each.turn < change.turn
        )
        if any(kind in _kinds(each) for each in older):
            return True
        late = (self._place(thread, key, change.about) for thread, key in self.waiting if near(thread))
        return any(place < change.turn[0] for place in late)

    def _place(self, thread: str, key: TurnKey, about: About) -> int:
        turn = self._of(thread).get(key)
        return key[0] if about == "thread" else turn.number if turn else 0

    def _places(self, without: str) -> list[tuple[int, str, TurnKey]]:
        return [
            (turn.number, info.thread, key)
            for info in self._held.threads()
            if info.thread != without
            for key, turn in self._of(info.thread).items()
        ]

    def _of(self, thread: str) -> Mapping[TurnKey, Turn]:
        if thread not in self._turns:
            self._turns[thread] = self._held.turns(thread)
        return self._turns[thread]

    def _after(self, number: int, thread: str, at: TurnKey) -> HeldDelta:
        """The place of the next correction after a turn."""
        there = [one.correction for one, _ in self._kept.values() if (one.thread, one.seq) == (thread, at[0])]
        return HeldDelta(
            thread=thread, seq=at[0], attempt=at[1], correction=max(there, default=0) + 1, number=number, changes="",
            live=True,
        )  # fmt: skip

    def _put(self, at: HeldDelta, stone: Change) -> None:
        self._kept.setdefault(_key(at), (at, []))[1].append(stone)


def _kinds(change: Change) -> tuple[Kind, ...]:
    return tuple(kind for kind, _, _ in change.registers)


def _key(one: HeldDelta) -> DeltaKey:
    return (one.thread, one.seq, one.attempt, one.correction)


def _stone(change: Change, kind: Kind) -> Change:
    return Change(
        op="resolve" if kind == "issue" else "retract", kind=kind, key=change.key, said_by=change.said_by,
        seq=change.seq, attempt=change.attempt, day=change.day, about=change.about, number=change.number,
        correction=change.correction, position=change.position, thread=change.thread, forgotten=True,
    )  # fmt: skip


def _stone_after(row: HeldDelta, kind: Kind, key: str, about: About, day: str) -> Change:
    return Change(
        op="resolve" if kind == "issue" else "retract", kind=kind, key=key, said_by="operator", seq=row.seq,
        attempt=row.attempt, day=day, about=about, number=row.number, correction=row.correction,
        thread=row.thread if about == "subject" else "", forgotten=True,
    )  # fmt: skip
