"""The turn's view of the thread's sources: one number, one source, for the life of the thread (promise 4).

The store gives the numbers. Here is kept which of them this turn may cite: what it has read, what the memory block
lists, what it has opened. A source is committed, with its number, before anybody hears of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lumina.agent.ports import Hit
from lumina.memory.errors import NotFound
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.turns import NewSource, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """The stored text of a source, for matching a sentence with it. `digest` names it."""

    digest: str
    title: str
    url: str
    text: str


class Ledger:
    """`citable` holds the numbers that may be cited; it only grows during a turn. Without `snippets_count` a source of
    which only a search's excerpt was read is not among them."""

    def __init__(
        self, *, store: Store, scope: ThreadScope, seq: int, attempt: int, citable: Iterable[int] = (),
        snippets_count: bool = True,
    ) -> None:  # fmt: skip
        self.citable = set(citable)
        self._snippets_count = snippets_count
        self._store = store
        self._scope = scope
        self._seq = seq
        self._attempt = attempt
        self._texts: dict[int, StoredText] = {}

    async def register(self, hit: Hit) -> Source:
        """The hit's source under its number, committed; from now on it may be cited."""
        return await self._read(
            NewSource(
                locator=hit.locator, url=hit.url, title=hit.title, host=hit.host, depth=hit.depth, text=hit.stored
            )
        )

    async def open(self, n: int) -> tuple[Source, str]:
        """Source `n` and its stored text; from now on it may be cited. NotFound when the thread has no such number."""
        found = await self._store.sources(self._scope, [n])
        if not found:
            raise NotFound(f"This conversation has no source {n}.")
        source = found[0]
        text = await self._store.text(self._scope.of_subject, source.digest)
        again = NewSource(
            locator=source.locator, url=source.url, title=source.title, host=source.host, depth=source.depth, text=text
        )
        return await self._read(again), text

    async def text_of(self, n: int) -> StoredText | None:
        """What is stored of a source; None when it is gone. The text stays the same for the whole turn."""
        if n not in self._texts:
            found = await self._store.sources(self._scope, [n])
            if not found:
                return None
            text = await self._store.text(self._scope.of_subject, found[0].digest)
            self._keep(found[0], text)
        return self._texts[n]

    async def _read(self, new: NewSource) -> Source:
        source = await self._store.register_source(self._scope, self._seq, self._attempt, new)
        if self._snippets_count or source.depth == "page":
            self.citable.add(source.n)
        # A page that was read before stays what is stored, whatever excerpt a search shows of it later.
        kept = new.text if source.depth == new.depth else await self._store.text(self._scope.of_subject, source.digest)
        self._keep(source, kept)
        return source

    def _keep(self, source: Source, text: str) -> None:
        self._texts[source.n] = StoredText(digest=source.digest, title=source.title, url=source.url, text=text)
