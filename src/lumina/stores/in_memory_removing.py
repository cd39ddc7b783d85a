"""The in-memory twin of `lumina.stores.sql.removing`."""

from datetime import datetime

from lumina.stores.checks import has_expired
from lumina.stores.in_memory_kept import KeptSubject, KeptThread


def remove_thread(subject: KeptSubject, name: str) -> None:
    """A thread with all that is kept of it, and the source texts that only it had."""
    gone = _digests(subject.threads.pop(name))
    kept = {digest for thread in subject.threads.values() for digest in _digests(thread)}
    bodies = [
        receipt.body
        for thread in subject.threads.values()
        for turn in thread.turns.values()
        for receipt in turn.receipts.values()
    ]
    for digest in gone - kept:
        if not any(digest in body for body in bodies):
            subject.texts.pop(digest, None)


def remove_expired(subject: KeptSubject, now: datetime | None) -> None:
    """The subject's temporary threads whose time has come; not one whose turn is being answered."""
    for name, thread in list(subject.threads.items()):
        if now and has_expired(thread.info.expires_at, now) and not thread.info.running:
            remove_thread(subject, name)


def _digests(thread: KeptThread) -> set[str]:
    cited = {citation.digest for kept in thread.turns.values() for citation in kept.page.citations}
    return cited | {source.digest for source in thread.sources.values()}
