"""The in-memory document store ranks by BM25 and shows a subject only what it may read."""

import math

import pytest

from lumina.adapters.documents.memory_index import MemoryDocumentStore
from lumina.agent.ports import NewDocument, PassageSpan
from lumina.memory.errors import NotFound
from lumina.memory.scope import SubjectScope

ME = SubjectScope(tenant="local", subject="me")
YOU = SubjectScope(tenant="local", subject="you")
OTHER = SubjectScope(tenant="elsewhere", subject="me")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def new(locator: str, *bodies: str, digest: str = "1") -> NewDocument:
    text, spans = "", []
    for body in bodies:
        start = len(text)
        text += body + "\n"
        spans.append(PassageSpan(start=start, end=start + len(body), heading="h", words=tuple(body.split())))
    return NewDocument(
        locator=locator, url="", title="T", digest=digest, text=text, passages=tuple(spans), size=len(text)
    )


async def found(store: MemoryDocumentStore, scope: SubjectScope, *words: str) -> list[str]:
    return [hit.body for hit in (await store.find_passages(scope, words, limit=10)).hits]


async def test_passages_come_back_by_bm25_and_frequencies_are_counted():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:a", "wheel turns", "wheel wheel turns round", "brake stops it now")])
    matches = await store.find_passages(ME, ("wheel", "brake", "none"), limit=10)
    assert [(hit.body, hit.rank, hit.ordinal) for hit in matches.hits] == [
        ("brake stops it now", 0, 2),
        ("wheel wheel turns round", 1, 1),
        ("wheel turns", 2, 0),
    ]
    assert matches.frequency == {"wheel": 2, "brake": 1, "none": 0}
    assert matches.passages == 3
    # brake: idf of one in three, average length 10/3, its own length 4
    assert math.log(1 + 2.5 / 1.5) > math.log(1 + 1.5 / 2.5)


async def test_a_document_put_again_replaces_the_kept_one_and_its_passages():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:a", "old words")])
    await store.put_documents(ME, [new("doc:a", "new words", digest="2")])
    assert await found(store, ME, "old", "words") == ["new words"]
    assert [info.digest for info in await store.documents(ME)] == ["2"]


async def test_a_subject_sees_its_tenants_documents_and_its_own_and_no_others():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:shared", "shared wheel")])
    await store.put_documents(ME, [new("doc:mine", "my wheel")], own=True)
    assert sorted(await found(store, ME, "wheel")) == ["my wheel", "shared wheel"]
    assert await found(store, YOU, "wheel") == ["shared wheel"]
    assert await found(store, OTHER, "wheel") == []
    assert (await store.find_passages(YOU, ("wheel",), limit=9)).frequency == {"wheel": 1}
    mine = next(info.id for info in await store.documents(ME) if info.own)
    for stranger in (YOU, OTHER):
        with pytest.raises(NotFound):
            await store.document_text(stranger, mine)
        assert await store.remove_documents(stranger, [mine]) == 0
    assert await store.document_text(ME, mine) == "my wheel\n"


async def test_removed_documents_leave_nothing_to_find():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:a", "wheel one"), new("doc:b", "wheel two")])
    first = (await store.documents(ME))[0]
    assert await store.remove_documents(ME, [first.id, first.id, 99]) == 1
    assert await found(store, ME, "wheel", "one") == ["wheel two"]
    assert (await store.find_passages(ME, ("one",), limit=9)).frequency == {"one": 0}


async def test_documents_are_listed_in_the_order_of_their_locators_under_a_prefix():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:/b/2", "x"), new("doc:/a/1", "x"), new("doc:/b/1", "x")])
    assert [info.locator for info in await store.documents(ME, under="doc:/b/")] == ["doc:/b/1", "doc:/b/2"]


async def test_equal_passages_keep_the_order_in_which_they_were_added():
    store = MemoryDocumentStore()
    await store.put_documents(ME, [new("doc:b", "wheel"), new("doc:a", "wheel")])
    hits = (await store.find_passages(ME, ("wheel",), limit=9)).hits
    assert [hit.locator for hit in hits] == ["doc:b", "doc:a"]
