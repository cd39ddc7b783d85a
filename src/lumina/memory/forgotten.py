"""Forgets, and says what was forgotten.

    forgotten = await forget_entry(store, scope, "home.city", by="ana")
    forgotten.elsewhere       # places that hold the same words and stay until they are forgotten, too
    forgotten.bytes_gone      # False: another program still reads the database; run `finish` later

What a model has answered about a turn is applied first, so that it is forgotten with the rest; then the rule of
`lumina.memory.forgetting` is carried out in one transaction. Whatever comes after finds it gone: a job that still waits
brings nothing back.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from lumina.memory import forgetting, noting
from lumina.memory.change import About
from lumina.memory.elsewhere import MOST_THREADS, Elsewhere, same_words
from lumina.memory.errors import NotFound, StoreError, UsageError
from lumina.memory.incoming import check_text
from lumina.memory.keys import normal_key
from lumina.memory.removal import Held, NewAudit, Removal, Rule
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store, VersionConflict

What = Literal["entry", "turn", "thread", "subject"]
TRIES = 20
LONGEST_NAME = 200  # code points of who did it


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What went. Counts are of rows: `turns` blanked, `masked` turns that lost a quote, `changes` of state and profile,
    `receipts` that showed it, `events` of logs that told of it, `sources` that only it had read, `threads`.

    Nothing there, nothing gone: all counts are 0. `elsewhere` lists where the same words still stand. `bytes_gone`
    says whether the database's own file holds nothing of it any more.
    """

    what: What
    day: str
    thread: str = ""
    seq: int = 0
    key: str = ""
    turns: int = 0
    masked: int = 0
    changes: int = 0
    receipts: int = 0
    events: int = 0
    sources: int = 0
    threads: int = 0
    elsewhere: tuple[Elsewhere, ...] = ()
    bytes_gone: bool = True


async def forget_entry(
    store: Store, scope: ThreadScope, key: str, *, about: About = "thread", by: str = "", now: datetime | None = None,
    preview: bool = False,
) -> Forgotten:  # fmt: skip
    """Forgets all that was ever said under `key`, of the thread or (about the subject) of the person: every value, its
    history, and the quoted words in their turns. NotFound when nothing is noted under it. `preview` only says what
    would go."""
    path = normal_key(key) if isinstance(key, str) else None
    if path is None:
        raise UsageError(f"{str(key)[:100]!r} is not a key. Keys look like home.city; the state lists them.")
    if about not in ("thread", "subject"):
        raise UsageError("about is thread or subject.")
    step = _Step(store, scope.of_subject, by, now, preview)
    info = await store.thread_info(scope)  # NotFound for a thread that is not there
    threads = [info.thread] if about == "thread" else await step.names()
    rule = forgetting.forget_entry(scope.thread, path, about=about, day=step.day)
    found = await step.carry_out(rule, "entry", threads, "" if about == "subject" else scope.thread)
    if found is None:
        whose = "about the person" if about == "subject" else f"in thread {scope.thread}"
        raise NotFound(f"Nothing is noted under {path} {whose}. Nothing was forgotten.")
    return await step.told(replace(found, thread=scope.thread if about == "thread" else "", key=path))


async def forget_turn(
    store: Store, scope: ThreadScope, seq: int, *, by: str = "", now: datetime | None = None, preview: bool = False
) -> Forgotten:
    """Forgets turn `seq` with all its attempts: words, answer, what was noted from it. Its number and the day stay.
    NotFound when the thread has no such turn; one that was forgotten before is left as it is."""
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise UsageError(f"A turn is named by its number, not by {seq!r}.")
    step = _Step(store, scope.of_subject, by, now, preview)
    info = await store.thread_info(scope)
    if not 1 <= seq <= info.turns:
        raise NotFound(f"Thread {scope.thread} has no turn {seq}. Nothing was forgotten.")
    rule = forgetting.forget_turn(scope.thread, seq, day=step.day)
    found = await step.carry_out(rule, "turn", [info.thread], info.thread)
    empty = Forgotten(what="turn", day=step.day)
    return await step.told(replace(found or empty, thread=scope.thread, seq=seq))


async def forget_thread(
    store: Store, scope: ThreadScope, *, by: str = "", now: datetime | None = None, preview: bool = False
) -> Forgotten:
    """Forgets a thread, and what its turns put into the profile. A missing one is no error: all counts are 0."""
    step = _Step(store, scope.of_subject, by, now, preview)
    rule = forgetting.forget_thread(scope.thread, day=step.day)
    try:
        await store.thread_info(scope)
        found = await step.carry_out(rule, "thread", [scope.thread], scope.thread)
    except NotFound:
        found = None
    empty = Forgotten(what="thread", day=step.day)
    return await step.told(replace(found or empty, thread=scope.thread))


async def forget_subject(
    store: Store, scope: SubjectScope, *, by: str = "", now: datetime | None = None, preview: bool = False
) -> Forgotten:
    """Forgets everything of a subject: threads, profile, texts, own documents. One row of the audit stays."""
    step = _Step(store, scope, by, now, preview)
    found = await step.carry_out(forgetting.forget_subject(day=step.day), "subject", await step.names(), "")
    return await step.told(found or Forgotten(what="subject", day=step.day))


async def finish(store: Store) -> bool:
    """Takes what was forgotten out of the database's own file, where that was not possible at once. Whether it is."""
    return await store.scrub()


class _Step:
    """One forget, from what is settled first to what is reported last."""

    def __init__(self, store: Store, scope: SubjectScope, by: str, now: datetime | None, preview: bool) -> None:
        check_text("name of who forgets", by)
        if len(by) > LONGEST_NAME:
            raise UsageError(f"`by` has {len(by)} characters; at most {LONGEST_NAME} are kept.")
        self.store, self.scope, self.by, self.preview = store, scope, by, preview
        self.words: tuple[str, ...] = ()  # that went
        self.now = (now or datetime.now(UTC)).astimezone(UTC)
        self.day = (now or self.now).date().isoformat()

    async def names(self) -> list[str]:
        return [info.thread for info in await self.store.threads(self.scope, limit=MOST_THREADS)]

    async def carry_out(self, rule: Rule, what: What, threads: Sequence[str], thread: str) -> Forgotten | None:
        audit = NewAudit(action=f"forget {what}", by=self.by, at=self.now.isoformat(), thread=thread)
        for _ in range(TRIES):
            await self._settle(threads, apply=what != "subject")  # of a subject nothing stays that could be noted
            try:
                removal = await self.store.forget(self.scope, _only_shown(rule) if self.preview else rule, audit)
            except VersionConflict:
                continue  # a model's answer came in between: it is applied, and goes with the rest
            except _Preview as shown:
                removal = shown.removal
            self.words = removal.words if removal else ()
            return _counted(what, self.day, removal.detail) if removal else None
        raise StoreError(f"Notes kept coming in {TRIES} times while forgetting. Nothing was forgotten; try again.")

    async def told(self, forgotten: Forgotten) -> Forgotten:
        elsewhere = await same_words(self.store, self.scope, self.words) if not self.preview else ()
        gone = True if self.preview else await self.store.scrub()
        return replace(forgotten, elsewhere=elsewhere, bytes_gone=gone)

    async def _settle(self, threads: Sequence[str], *, apply: bool) -> None:
        for name in threads:
            scope = self.scope.thread(name)
            with suppress(NotFound):  # somebody else forgot it meanwhile
                info = await self.store.thread_info(scope)
                if info.running:  # of a process that is gone, perhaps: opening ends such a turn
                    await self.store.open_thread(scope, deltas=info.deltas)
                if apply:
                    await noting.settle(self.store, scope)


def _counted(what: What, day: str, rows: Mapping[str, int]) -> Forgotten:
    return Forgotten(
        what=what, day=day, turns=rows.get("turns", 0), masked=rows.get("masked", 0), changes=rows.get("changes", 0),
        receipts=rows.get("receipts", 0), events=rows.get("events", 0), sources=rows.get("sources", 0),
        threads=rows.get("threads", 0),
    )  # fmt: skip


class _Preview(Exception):
    """Carries out of the transaction what would go, so that nothing goes."""

    def __init__(self, removal: Removal) -> None:
        super().__init__()
        self.removal = removal


def _only_shown(rule: Rule) -> Rule:
    def shown(held: Held) -> Removal | None:
        removal = rule(held)
        if removal is not None:
            raise _Preview(removal)
        return None

    return shown
