"""What of a thread was noted: read, corrected, asked about, applied, checked, forgotten.

The other half of `lumina.memory.thread.Thread`, which is about turns and contexts. Everything here goes through the
deltas; nothing is written to a state by hand.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lumina.memory import forgotten, noting, refolding
from lumina.memory.change import About, Operation
from lumina.memory.correcting import correct_state
from lumina.memory.delta import DeltaRequest, Refused
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.incoming import check_text
from lumina.memory.keys import normal_key
from lumina.memory.schema import NOTHING_DECLARED, Schema
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Outcome, State
from lumina.memory.store import Store
from lumina.memory.telling import Told, tell_history
from lumina.memory.turns import ThreadInfo

Clock = Callable[[], datetime]  # gives aware times


class NotedThread:
    """The half of a thread that is about what was noted, and about whose day it is. Parameters as in `Thread`."""

    def __init__(
        self, *, store: Store, scope: ThreadScope, info: ThreadInfo, zone: str, clock: Clock, remembers: bool,
        schema: Schema | None,
    ) -> None:  # fmt: skip
        self.store = store
        self.scope = scope
        self.schema = schema or NOTHING_DECLARED
        self.remembers = remembers
        self.deltas = info.deltas and remembers
        self.temporary = info.temporary
        self.zone = zone
        self.clock = clock
        try:
            self._zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):  # OSError: a folder of zones, an endless name
            raise UsageError(
                f"{zone!r} is not a known time zone. Use an IANA name such as Europe/Berlin, or UTC."
            ) from None

    def now(self) -> datetime:
        """The time in the asker's zone."""
        return self.clock().astimezone(self._zone)

    def today(self) -> str:
        """The asker's day, ISO 8601."""
        return self.now().date().isoformat()

    async def state(self, *, as_of: int = 0) -> State:
        """Facts, open issues, decisions and findings of this thread, as folded so far; none if it does not remember.
        `as_of`: as they stood after that turn, corrections after it included."""
        if not self.remembers:
            return State()
        if as_of:
            return await noting.state_as_of(self.store, self.scope, as_of)
        return (await noting.load_state(self.store, self.scope)).state

    async def profile(self, *, as_of: int = 0) -> State:
        """The same for the subject, across threads; `as_of` a turn of this thread. Empty in a temporary thread."""
        if not self.remembers or self.temporary:
            return State(about="subject")
        if as_of:
            return await noting.profile_as_of(self.store, self.scope, as_of)
        return (await noting.load_profile(self.store, self.scope.of_subject)).state

    async def history(self, key: str, *, about: About = "thread") -> list[Told]:
        """Every value that `key` ever had here, or in the profile (`about="subject"`), by kind, oldest first: who said
        it, when, with which words, and what became of it. `str()` of one is a sentence. A temporary thread reads no
        profile, so it has no history of one."""
        if about == "subject" and self.temporary:
            return []
        if about == "subject":
            deltas = await self.store.subject_deltas(self.scope.of_subject)
        else:
            deltas = await self.store.deltas(self.scope)
        return await tell_history(self.store, self.scope, deltas, normal_key(key) or key, about)

    async def correct(
        self, op: Operation, key: str, value: str = "", *, by: str, why: str = "", about: About | Literal[""] = "",
        after: int = 0,
    ) -> tuple[Outcome, ...]:  # fmt: skip
        """A person's correction: set, retract, open, resolve or decide, by whom and why. Says what it did.

        It stands right after turn `after` (0: the last that has ended), whatever becomes of that turn's attempt, and
        is undone by another one. `about` is where the key belongs: thread or subject; by default where it stands, or
        as the schema says, or the thread. UsageError when it cannot be, and nothing was changed.
        """
        for name, text in (("key", key), ("value", value), ("reason", why)):
            check_text(name, text)
        if not self.remembers:
            raise UsageError("Memory is off: there is nothing to correct. Nothing was changed.")
        return await correct_state(
            self.store, self.scope, op, key, value, by=by, why=why, day=self.today(), about=about, after=after,
            schema=self.schema,
        )  # fmt: skip

    async def delta_request(
        self, seq: int = 0, *, attempt: int = 0, refused: Sequence[Refused] = (), instructions: str = "",
        model: str = "",
    ) -> DeltaRequest | None:  # fmt: skip
        """The question what changed in turn `seq` (0: the oldest turn that nobody was asked about), for any model.
        None when nothing waits, or nothing is remembered. `refused`: what a first reply got wrong (`Noting.again`).
        `attempt` (0: the live one) asks only while that attempt is live. A turn that says nothing ("thanks!") is not
        asked about; it is settled, and its receipt says why. `instructions` takes the place of Lumina's own, `model` is
        who will be asked; both go to the receipt."""
        if not self.remembers:
            return None
        return await noting.ask(
            self.store, self.scope, seq=seq, attempt=attempt, refused=refused, model=model, instructions=instructions,
            schema=self.schema,
        )  # fmt: skip

    async def apply(self, reply: str | Mapping[str, Any], *, seq: int = 0, attempt: int = 0) -> noting.Noting:
        """Takes a model's reply to `delta_request` for turn `seq` (0: the oldest that waits), checks it and folds it
        in: JSON text, or the dictionary that it stands for. Says what changed and what was refused, with reasons. A
        reply that cannot be read raises UsageError, counts as a try, and after three the delta is set aside. With the
        request's `attempt`, a reply that comes when the turn was asked again is kept without effect."""
        if not self.remembers:
            raise NotFound("This thread does not remember: nothing is noted from it. Nothing was applied.")
        if isinstance(reply, Mapping):
            reply = json.dumps(dict(reply))
        if not isinstance(reply, str):
            raise UsageError(f"The reply must be the model's text, not {type(reply).__name__}. Nothing was applied.")
        return await noting.take(self.store, self.scope, reply, seq=seq, attempt=attempt, schema=self.schema)

    async def ask_again(self, seq: int) -> None:
        """Puts the delta of turn `seq`, which was set aside, back to waiting, with all its tries before it. NotFound
        when none of that turn was set aside."""
        jobs = await self.store.delta_jobs(self.scope, "set aside")
        job = next((job for job in jobs if job.seq == seq), None)
        if job is None or not await self.store.retry_delta(self.scope, job.seq, job.attempt):
            raise NotFound(f"No delta of turn {seq} was set aside. Nothing was changed.")

    async def verify_state(self) -> refolding.Compared:
        """Compares the stored state and profile with the fold of their deltas, byte for byte."""
        return await refolding.compare(self.store, self.scope)

    async def rebuild_state(self) -> refolding.Compared:
        """Folds state and profile anew where they are not what their deltas fold to, or are damaged, and stores them
        over what is there. Returns what was found."""
        return await refolding.rebuild(self.store, self.scope)

    async def forget_entry(self, key: str, *, about: About = "thread", by: str = "") -> forgotten.Forgotten:
        """Forgets all that was ever said under `key`, with its history and its quoted words; `about="subject"`: of the
        person, in all threads. Nothing brings it back until it is said again. NotFound when nothing is noted there,
        TurnConflict while a turn is being answered. `by` goes to the audit."""
        return await forgotten.forget_entry(self.store, self.scope, key, about=about, by=by, now=self.now())

    async def forget_turn(self, seq: int, *, by: str = "") -> forgotten.Forgotten:
        """Forgets turn `seq` with all its attempts and what was noted from it; its number and the day stay."""
        return await forgotten.forget_turn(self.store, self.scope, seq, by=by, now=self.now())

    async def _noted(self, instead_of: int) -> tuple[State, State]:
        if not instead_of or not self.remembers:
            return await self.state(), await self.profile()
        state, profile = await refolding.before(self.store, self.scope, instead_of)
        return state, await self.profile() if self.temporary else profile
