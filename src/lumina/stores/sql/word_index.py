"""The word index: what a search asks of a database beyond plain tables, and which module answers it.

The words come folded from `lumina.memory.words`. A database's module keeps them so that one form is one entry, equal
only to itself, in any script, and reads from an index only what belongs to the asked thread or owner.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from sqlalchemy import Connection

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.stores.sql.portable import on_sqlite


class WordIndex(Protocol):
    """What `words_sqlite` and `words_postgresql` both have."""

    def add_turn(self, connection: Connection, handle: int, words: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Indexes passages of the thread with `handle`: (passage id, its words)."""
        ...

    def take_out(self, connection: Connection, handle: int, ids: Sequence[int]) -> None:
        """Takes passages of the thread out of the index."""
        ...

    def take_out_between(self, connection: Connection, handle: int, first: int, end: int) -> None:
        """The same for all with `first` <= id < `end`."""
        ...

    def mend(self, connection: Connection) -> None:
        """Rebuilds the index from what it keeps itself, where that can be."""
        ...

    def newest(
        self, connection: Connection, handle: int, words: Sequence[str], end: int, cap: int
    ) -> dict[str, Sequence[int]]:
        """For each word the newest `cap` ids below `end` of the thread's passages that hold it."""
        ...

    def around(self, connection: Connection, scope: ThreadScope, ids: Sequence[int], around: int) -> Iterable[Any]:
        """Rows (id, seq, attempt, part, start, end, day, text) of the passages with `ids` that are there and of
        `around` passages of live turns on both sides of each."""
        ...

    def form(self, word: str) -> str:
        """How a word stands in the table document_words."""
        ...

    def add_documents(self, connection: Connection, words: Sequence[tuple[int, str, int, bytes]]) -> None:
        """Rows of document_words: (owner, form, document, postings)."""
        ...

    def hits(self, connection: Connection, scope: SubjectScope, places: Sequence[tuple[int, int]]) -> Iterable[Any]:
        """The passages at `places` (document, ordinal), in their order, with the columns of a found passage."""
        ...


def index_of(connection: Connection) -> WordIndex:
    if on_sqlite(connection):
        from lumina.stores.sql import words_sqlite as index
    else:
        from lumina.stores.sql import words_postgresql as index
    return cast(WordIndex, index)
