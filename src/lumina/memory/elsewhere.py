"""Where the same words stand elsewhere, after something was forgotten.

Whoever forgets a value wants to know where else it was said: in other turns, under other keys, in a title, in sources
and documents. These places are listed and stay until they are forgotten, too. Words are compared as evidence is: give
or take case, white space and typography, whole words only.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from lumina.memory.change import load_changes
from lumina.memory.errors import StoreError
from lumina.memory.evidence import folded
from lumina.memory.redaction import MASK
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import Store
from lumina.memory.turns import TurnPage
from lumina.memory.words import UNSPACED

Where = Literal["question", "answer", "tool call", "follow-up", "entry", "title", "source", "document"]
SHORTEST = 2  # characters of a value that is looked for
MOST_THREADS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A place that still holds words which were forgotten. `what` names it: a key, a source's number, a document's
    title. `count`: how often they stand there."""

    where: Where
    count: int
    thread: str = ""
    seq: int = 0
    what: str = ""


class _Documents(Protocol):
    async def documents(self, scope: SubjectScope) -> list[Any]: ...

    async def document_text(self, scope: SubjectScope, document: int) -> str: ...


async def same_words(store: Store, scope: SubjectScope, words: Collection[str]) -> tuple[Elsewhere, ...]:
    """Every place of the subject that holds one of `words`, and of documents those that the subject may read."""
    sought = _Words(words)
    if not sought.wanted:
        return ()
    found: list[Elsewhere] = []
    for info in await store.threads(scope, limit=MOST_THREADS):
        if count := sought.count(info.title):
            found.append(Elsewhere(where="title", thread=info.thread, count=count))
        found += await _in_thread(store, scope.thread(info.thread), sought)
    found += await _in_documents(store, scope, sought)
    return tuple(found)


class _Words:
    def __init__(self, words: Collection[str]) -> None:
        forms = {folded(word) for word in words if MASK not in word}
        self.wanted = sorted(form for form in forms if len(form) >= SHORTEST and any(map(str.isalnum, form)))

    def count(self, text: str) -> int:
        if not text:
            return 0
        plain = folded(text)
        return sum(_count(plain, form) for form in self.wanted)


def _count(text: str, form: str) -> int:
    count, at = 0, text.find(form)
    while at >= 0:
        end = at + len(form)
        count += not _splits(text, at) and not _splits(text, end)
        at = text.find(form, end)
    return count


def _splits(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not UNSPACED.match(before) and not UNSPACED.match(after)


async def _in_thread(store: Store, scope: ThreadScope, sought: _Words) -> list[Elsewhere]:
    found: list[Elsewhere] = []

    def add(where: Where, text: str, seq: int = 0, what: str = "") -> None:
        if count := sought.count(text):
            found.append(Elsewhere(where=where, thread=scope.thread, seq=seq, what=what, count=count))

    for page in await store.page(scope):
        if not isinstance(page, TurnPage):
            continue
        add("question", page.question, page.seq)
        add("answer", page.answer, page.seq)
        add("follow-up", "\n".join(page.followups), page.seq)
        turn = (await store.turns(scope, [(page.seq, page.attempt)])).get((page.seq, page.attempt))
        told = [message.content + "".join(call.arguments for call in message.tool_calls)
                for message in (turn.exchanges if turn else ())]  # fmt: skip
        for record in await store.tool_calls(scope, page.seq, page.attempt):
            told += [record.said, record.arguments, record.result]
        add("tool call", "\n".join(told), page.seq)
    for delta in await store.deltas(scope):
        for change in load_changes(delta.changes):
            add("entry", f"{change.value}\n{change.why}", delta.seq, change.key)
    for source in await store.sources(scope):
        text = await store.text(scope.of_subject, source.digest)
        add("source", f"{source.title}\n{text}", what=f"[{source.n}] {source.title}")
    return found


async def _in_documents(store: Store, scope: SubjectScope, sought: _Words) -> list[Elsewhere]:
    if not hasattr(store, "documents"):
        return []  # a store of threads alone
    library = cast("_Documents", store)
    found: list[Elsewhere] = []
    for info in await library.documents(scope):
        try:
            count = sought.count(f"{info.title}\n{await library.document_text(scope, info.id)}")
        except StoreError:
            continue  # what cannot be read cannot be searched either
        if count:
            found.append(Elsewhere(where="document", count=count, what=info.title))
    return found
