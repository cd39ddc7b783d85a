"""From a place and a name to a conversation: how a library user begins."""

import os

from lumina.memory.budget import Counter
from lumina.memory.embedding import Embedder
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Clock, Thread, utc_now
from lumina.stores.opening import open_store


async def open_thread(
    where: str | os.PathLike[str] | None = None,
    *,
    subject: str = "me",
    thread: str = "main",
    tenant: str = "local",
    deltas: bool = False,
    zone: str = "UTC",
    counter: Counter | None = None,
    clock: Clock = utc_now,
    embedder: Embedder | None = None,
) -> Thread:
    """Opens a conversation in the SQLite file `where` (made when missing; None keeps it in memory).

    `subject` is the customer or user: nothing of one subject is ever visible to another. `thread` names the
    conversation, `tenant` the installation. With `deltas=True` each recorded turn waits for a delta
    (`Thread.delta_request`, `Thread.apply`), and turns that leave the window without one are named in the context;
    a thread keeps what it was opened with first. `zone` is the asker's time zone.

    With an `embedder` (`lumina.adapters.embedders`, or your own) recall finds by meaning too.

    A turn that was left running by a process that is gone ends as partial (interrupted).
    """
    scope = ThreadScope(tenant=tenant, subject=subject, thread=thread)
    store = await open_store(where)
    try:
        info = await store.open_thread(scope, deltas=deltas)
        return Thread(store=store, scope=scope, info=info, zone=zone, counter=counter, clock=clock, embedder=embedder)
    except BaseException:
        await store.close()
        raise
