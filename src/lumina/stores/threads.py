"""From a place and a name to a conversation: how a library user begins."""

import os

from lumina.memory.budget import Counter
from lumina.memory.embedding import Embedder
from lumina.memory.looking_back import RecallMode
from lumina.memory.schema import Schema
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import TEMPORARY_FOR, Clock, Thread, utc_now
from lumina.stores.opening import open_store


async def open_thread(
    where: str | os.PathLike[str] | None = None,
    *,
    subject: str = "me",
    thread: str = "main",
    tenant: str = "local",
    deltas: bool = False,
    temporary: bool = False,
    zone: str = "UTC",
    counter: Counter | None = None,
    clock: Clock = utc_now,
    embedder: Embedder | None = None,
    schema: Schema | None = None,
    recall: RecallMode = "when pointed",
    other_threads: bool = False,
) -> Thread:
    """Opens a conversation in the SQLite file `where` (made when missing; None keeps it in memory).

    `subject` is the customer or user: nothing of one subject is ever visible to another. `thread` names the
    conversation, `tenant` the installation. With `deltas=True` each recorded turn waits for a delta
    (`Thread.delta_request`, `Thread.apply`), and turns that leave the window without one are named in the context;
    a thread keeps what it was opened with first. `zone` is the asker's time zone.

    With `temporary=True` a thread that is made reads and writes no profile, and is deleted a day later, when one of
    the subject's threads is opened or listed; an existing thread keeps what it is.

    With an `embedder` (`lumina.adapters.embedders`, or your own) recall finds by meaning too.

    `schema` declares keys and what must never be stored (`Schema.from_toml`); it holds for this opening, so give it
    every time.

    `recall` says when passages of earlier turns are fetched: "when pointed" at by the question, "always small" (a few
    for every question, all that fit when it points back), or "off". With `other_threads=True` the subject's other
    threads are searched too for every question, and not only for one that asks for them ("in our last conversation").

    A turn that was left running by a process that is gone ends as partial (interrupted).
    """
    scope = ThreadScope(tenant=tenant, subject=subject, thread=thread)
    store = await open_store(where)
    try:
        now = clock()
        expires = now + TEMPORARY_FOR if temporary else None
        info = await store.open_thread(scope, deltas=deltas, expires_at=expires, now=now)
        return Thread(
            store=store, scope=scope, info=info, zone=zone, counter=counter, clock=clock, embedder=embedder,
            schema=schema, recall=recall, other_threads=other_threads,
        )  # fmt: skip
    except BaseException:
        await store.close()
        raise
