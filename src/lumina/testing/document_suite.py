"""What every store of documents must do: a subclass of `DocumentSuite` with a fixture `library` runs it."""

from collections.abc import Sequence

import pytest

from lumina.agent.ports import DocumentStore, NewDocument, PassageSpan
from lumina.memory.errors import NotFound, UsageError
from lumina.memory.words import forms
from lumina.testing.capabilities import Capable, needs
from lumina.testing.store_examples import HOSTILE, ODD, subject_of

ME, YOU = subject_of("me"), subject_of("you")


def about(locator: str, *bodies: str, title: str = "A title", heading: str = "Head") -> NewDocument:
    """A document of some passages, one line each."""
    spans: list[PassageSpan] = []
    at = 0
    for body in bodies:
        spans.append(PassageSpan(start=at, end=at + len(body), heading=heading, words=tuple(forms(body))))
        at += len(body) + 1
    text = "\n".join(bodies)
    return NewDocument(
        locator=locator, url=f"file:///{locator}", title=title, digest=f"digest of {len(text)} {text!r}", text=text,
        passages=tuple(spans), size=len(text),
    )  # fmt: skip


async def bodies(library: DocumentStore, scope: object, words: Sequence[str], limit: int = 99) -> list[str]:
    found = await library.find_passages(scope, words, limit=limit)  # type: ignore[arg-type]
    return [hit.body for hit in found.hits]


@needs("documents")
class DocumentSuite(Capable):
    """Kept, replaced, found, removed; always within the scope."""

    async def test_documents_are_listed_by_locator(self, library: DocumentStore) -> None:
        await library.put_documents(ME, [about("b/2", "x"), about("a/1", "x", "y"), about("b/1", "x")])
        await library.put_documents(ME, [about("b/3", "mine")], own=True)
        listed = await library.documents(ME)
        assert [(one.locator, one.passages, one.own) for one in listed] == [
            ("a/1", 2, False), ("b/1", 1, False), ("b/2", 1, False), ("b/3", 1, True),
        ]  # fmt: skip
        assert [one.locator for one in await library.documents(ME, under="b/")] == ["b/1", "b/2", "b/3"]
        assert [one.locator for one in await library.documents(ME, under="B/")] == []
        assert [one.locator for one in await library.documents(ME, under="%")] == []
        assert await library.document_text(ME, listed[0].id) == "x\ny"

    async def test_a_replaced_document_keeps_its_id_and_nothing_else(self, library: DocumentStore) -> None:
        await library.put_documents(ME, [about("a", "old words", "more old"), about("z", "old")])
        before = await library.documents(ME)
        await library.put_documents(ME, [about("a", "new words")])
        after = await library.documents(ME)
        assert [one.id for one in after] == [one.id for one in before]
        assert [one.passages for one in after] == [1, 1]
        assert await library.document_text(ME, after[0].id) == "new words"
        found = await library.find_passages(ME, ["old", "new", "more"], limit=9)
        assert found.frequency == {"old": 1, "new": 1, "more": 0}
        assert found.passages == 2

    async def test_a_locator_given_twice_at_once_is_kept_once(self, library: DocumentStore) -> None:
        await library.put_documents(ME, [about("a", "first"), about("a", "second")])
        assert [one.digest for one in await library.documents(ME)] == ["digest of 6 'second'"]
        assert await bodies(library, ME, ["first", "second"]) == ["second"]

    async def test_the_best_passage_comes_first(self, library: DocumentStore) -> None:
        await library.put_documents(
            ME,
            [
                about("a", "the cat sat", "cat cat cat", "a dog and a cat and many other words that make it long"),
                about("b", "nothing here", "the rare zebra and the cat"),
            ],
        )
        found = await library.find_passages(ME, ["cat", "zebra"], limit=3)
        assert [(hit.locator, hit.ordinal, hit.rank) for hit in found.hits] == [("b", 1, 0), ("a", 1, 1), ("a", 0, 2)]
        assert (found.frequency, found.passages) == ({"cat": 4, "zebra": 1}, 5)
        hit = found.hits[0]
        assert (hit.title, hit.heading, hit.url, hit.body) == (
            "A title", "Head", "file:///b", "the rare zebra and the cat",
        )  # fmt: skip
        assert (await library.document_text(ME, hit.document))[hit.start : hit.end] == hit.body

    async def test_nothing_asked_or_nothing_there_is_nothing_found(self, library: DocumentStore) -> None:
        empty = await library.find_passages(ME, ["cat"], limit=9)
        assert (empty.hits, empty.passages) == ((), 0)
        await library.put_documents(ME, [about("a", "cat"), about("empty")])
        assert (await library.find_passages(ME, [], limit=9)).hits == ()
        assert (await library.find_passages(ME, ["cat"], limit=0)).hits == ()
        hostile = ['"', "*", "NEAR(", "cat OR dog", "", "ca*"]
        assert (await library.find_passages(ME, hostile, limit=9)).hits == ()

    async def test_words_of_two_characters_are_found_without_spaces(self, library: DocumentStore) -> None:
        await library.put_documents(ME, [about("a", "今日の天気はどう", "東京は晴れ")])
        assert await bodies(library, ME, ["天気"]) == ["今日の天気はどう"]
        assert await bodies(library, ME, ["東京"]) == ["東京は晴れ"]

    async def test_a_subject_reads_its_tenants_and_its_own(self, library: DocumentStore) -> None:
        elsewhere = subject_of("me", tenant="elsewhere")
        await library.put_documents(ME, [about("same", "needle tenant")])
        await library.put_documents(ME, [about("same", "needle mine")], own=True)
        await library.put_documents(YOU, [about("same", "needle yours")], own=True)
        await library.put_documents(elsewhere, [about("same", "needle elsewhere")])
        assert sorted(await bodies(library, ME, ["needl"])) == ["needle mine", "needle tenant"]
        assert sorted(await bodies(library, YOU, ["needl"])) == ["needle tenant", "needle yours"]
        assert await bodies(library, elsewhere, ["needl"]) == ["needle elsewhere"]
        for scope, count in ((ME, 2), (YOU, 2), (elsewhere, 1), (subject_of("nobody", tenant="nowhere"), 0)):
            found = await library.find_passages(scope, ["needl", "yours", "elsewher"], limit=9)
            assert found.frequency["needl"] == found.passages == count
            assert len(await library.documents(scope)) == count

    async def test_another_subjects_document_is_as_one_that_is_not_there(self, library: DocumentStore) -> None:
        await library.put_documents(YOU, [about("a", "yours")], own=True)
        (theirs,) = await library.documents(YOU)
        with pytest.raises(NotFound):
            await library.document_text(ME, theirs.id)
        assert await library.remove_documents(ME, [theirs.id, 99]) == 0
        assert await library.document_text(YOU, theirs.id) == "yours"

    async def test_what_others_keep_does_not_move_the_order(self, library: DocumentStore) -> None:
        mine = [about("a", "cat " * n + "dog " * (9 - n) + "tail " * n) for n in (4,)]
        await library.put_documents(ME, [*mine, about("b", "cat dog", "dog dog cat"), about("c", "cat")])
        before = await library.find_passages(ME, ["cat", "dog"], limit=9)
        others = [about(f"o{n}", "cat " * 5, "cat", "dog word") for n in range(20)]
        await library.put_documents(YOU, others, own=True)
        await library.put_documents(subject_of("x", tenant="elsewhere"), others)
        assert await library.find_passages(ME, ["cat", "dog"], limit=9) == before

    async def test_removed_documents_are_gone_with_their_words(self, library: DocumentStore) -> None:
        await library.put_documents(ME, [about(f"d{n}", f"cat {n}") for n in range(5)])
        ids = [one.id for one in await library.documents(ME)]
        assert await library.remove_documents(ME, [ids[0], ids[0], ids[3], 12345]) == 2
        found = await library.find_passages(ME, ["cat"], limit=9)
        assert (found.frequency, found.passages) == ({"cat": 3}, 3)
        with pytest.raises(NotFound):
            await library.document_text(ME, ids[0])
        await library.put_documents(ME, [about("new", "cat new")])
        assert max(one.id for one in await library.documents(ME)) > max(ids), "numbers are not given out again"

    async def test_odd_names_and_texts_come_back_to_the_code_point(self, library: DocumentStore) -> None:
        documents = [
            about(f"odd:{name}", text, title=text, heading=text) for name, text in zip(HOSTILE, ODD, strict=False)
        ]
        await library.put_documents(ME, documents)
        listed = {one.locator: one for one in await library.documents(ME)}
        assert set(listed) == {document.locator for document in documents}
        for document in documents:
            assert listed[document.locator].title == document.title
            assert await library.document_text(ME, listed[document.locator].id) == document.text

    @pytest.mark.parametrize("bad", ["a\ud800", "a\0b"])
    async def test_text_that_no_database_keeps_is_refused_and_nothing_is_stored(
        self, library: DocumentStore, bad: str
    ) -> None:
        with pytest.raises(UsageError, match="text"):
            await library.put_documents(ME, [about("fine", "x"), about("a", bad)])
        assert await library.documents(ME) == []
