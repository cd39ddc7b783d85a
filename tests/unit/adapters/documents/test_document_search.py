"""Documents answer a search as found, empty or failed, with passages at exact places."""

from pathlib import Path

import pytest

from lumina.adapters.documents import builtin
from lumina.adapters.documents import search as searching
from lumina.adapters.documents.builtin import OWN_SCOPE, documentation_folder, own_documentation
from lumina.adapters.documents.library import Library
from lumina.adapters.documents.memory_index import MemoryDocumentStore
from lumina.adapters.documents.search import OF_ONE_DOCUMENT, OWN_DOCUMENTATION, DocumentSearch
from lumina.agent.ports import Empty, Failed, Found, PassageMatches
from lumina.memory.errors import StoreError
from lumina.memory.scope import SubjectScope

ME = SubjectScope(tenant="local", subject="me")
YOU = SubjectScope(tenant="local", subject="you")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def library(folder: Path, files: dict[str, str], *, own: bool = False) -> MemoryDocumentStore:
    store = MemoryDocumentStore()
    for name, text in files.items():
        (folder / name).write_text(text)
    await Library(store).add(ME, [folder], own=own)
    return store


async def found(store: MemoryDocumentStore, query: str, limit: int = 5) -> Found:
    result = await DocumentSearch(store).search(ME, query, limit=limit)
    assert isinstance(result, Found), result
    return result


async def test_a_hit_is_a_place_in_the_whole_text_of_its_document(tmp_path: Path):
    store = await library(
        tmp_path, {"a.md": "# Bike\n\nIntro.\n\n## Care\n\nOil the chain weekly.", "b.md": "# Tea\n\nHot."}
    )
    hit = (await found(store, "How often do I oil the chain?")).hits[0]
    assert hit.text == "Oil the chain weekly."
    assert hit.stored == "Bike\n\nIntro.\n\nCare\n\nOil the chain weekly."
    assert (hit.title, hit.heading, hit.host, hit.depth) == ("Bike", "Care", "documents", "page")
    assert hit.locator == f"doc:{(tmp_path / 'a.md').as_posix()}"
    assert hit.url == (tmp_path / "a.md").as_uri()


async def test_two_passages_of_one_document_share_its_locator(tmp_path: Path):
    store = await library(tmp_path, {"a.md": "# Bike\n\n## One\n\nOil chain.\n\n## Two\n\nChain oil again."})
    hits = (await found(store, "oil chain")).hits
    assert len(hits) == 2
    assert len({hit.locator for hit in hits}) == 1


async def test_the_first_five_show_a_second_document_where_there_is_one(tmp_path: Path):
    long = "# Chain oil\n\n" + "\n\n".join(f"## Chain oil {n}\n\nChain oil and chain oil {n}." for n in range(8))
    store = await library(tmp_path, {"a.md": long, "b.md": "# Notes\n\nSome chain here, some oil there, and so on."})
    hits = (await found(store, "chain oil")).hits
    assert len({hit.locator for hit in hits}) == 2
    assert sum(hit.locator.endswith("a.md") for hit in hits) == OF_ONE_DOCUMENT


async def test_copies_of_a_passage_are_shown_once(tmp_path: Path):
    store = await library(tmp_path, {"a.md": "# One\n\nOil the chain.", "b.md": "# Two\n\nOil  the\nchain."})
    assert len((await found(store, "oil chain")).hits) == 1


async def test_limit_is_kept(tmp_path: Path):
    store = await library(tmp_path, {f"{n}.txt": f"chain number {n}" for n in range(9)})
    assert len((await found(store, "chain", limit=3)).hits) == 3


async def test_words_of_two_characters_are_found_in_chinese(tmp_path: Path):
    store = await library(tmp_path, {"a.txt": "今天天气很好。", "b.txt": "Nothing here."})
    assert (await found(store, "天气")).hits[0].text == "今天天气很好。"


async def test_nothing_found_is_empty_and_says_what_was_looked_through(tmp_path: Path):
    store = await library(tmp_path, {"a.txt": "chain"})
    result = await DocumentSearch(store).search(ME, "zeppelin", limit=5)
    assert isinstance(result, Empty)
    assert "the only passage of the documents" in result.reason
    nothing = await DocumentSearch(store).search(ME, "?!", limit=5)
    assert isinstance(nothing, Empty)


@pytest.mark.parametrize("query", ['chain" OR "x', "chain*", "NEAR(chain", "chain NOT", "\x00chain", "-chain"])
async def test_marks_of_a_query_language_are_only_text(tmp_path: Path, query: str):
    store = await library(tmp_path, {"a.txt": "chain"})
    assert (await found(store, query)).hits[0].text == "chain"


@pytest.mark.parametrize(("error", "retry"), [(StoreError("a row is torn"), False), (OSError("locked"), True)])
async def test_a_store_that_fails_is_a_failed_search_and_not_an_empty_one(error: Exception, retry: bool):
    class Broken(MemoryDocumentStore):
        async def find_passages(self, *args: object, **kwargs: object) -> PassageMatches:
            raise error

    result = await DocumentSearch(Broken()).search(ME, "chain", limit=5)
    assert isinstance(result, Failed)
    assert result.retry is retry
    assert result.reason


async def test_a_document_replaced_between_search_and_reading_gives_no_wrong_quote(tmp_path: Path):
    class Replaced(MemoryDocumentStore):
        async def document_text(self, scope: SubjectScope, document: int) -> str:
            return "Something else stands here now."

    store = Replaced()
    (tmp_path / "a.txt").write_text("Oil the chain.")
    await Library(store).add(ME, [tmp_path])
    assert (await found(store, "chain")).hits[0].text == "Oil the chain."


async def test_another_subjects_own_documents_are_not_found(tmp_path: Path):
    store = await library(tmp_path, {"a.txt": "chain canary"}, own=True)
    result = await DocumentSearch(store).search(YOU, "canary", limit=5)
    assert not isinstance(result, Found) or all("canary" not in hit.stored for hit in result.hits)


async def test_without_documents_luminas_own_documentation_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "start").mkdir()
    (tmp_path / "start/first.md").write_text("# First steps\n\nRun lumina ask to get an answer.")
    monkeypatch.setattr(builtin, "documentation_folder", lambda: tmp_path)
    result = await DocumentSearch(MemoryDocumentStore()).search(ME, "How do I get an answer?", limit=5)
    assert isinstance(result, Found)
    assert result.provider == OWN_DOCUMENTATION
    assert result.hits[0].locator == "doc:lumina/start/first.md"
    assert result.hits[0].text == "Run lumina ask to get an answer."


async def test_own_documentation_is_left_alone_once_there_is_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = await library(tmp_path, {"a.txt": "chain"})
    monkeypatch.setattr(searching, "own_documentation", lambda: pytest.fail("it was asked"))
    assert isinstance(await DocumentSearch(store).search(ME, "lumina", limit=5), Empty)


async def test_an_installation_without_documentation_says_how_to_add_documents(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(builtin, "documentation_folder", lambda: None)
    result = await DocumentSearch(MemoryDocumentStore()).search(ME, "chain", limit=5)
    assert isinstance(result, Empty)
    assert "lumina docs add" in result.reason


async def test_the_documentation_of_this_checkout_is_found():
    folder = documentation_folder()
    assert folder is None or (folder.is_dir() and folder.name in ("docs", "_docs"))
    store = await own_documentation()
    assert all(info.locator.startswith("doc:lumina/") for info in await store.documents(OWN_SCOPE))
