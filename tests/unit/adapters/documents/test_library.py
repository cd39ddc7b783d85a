"""The library keeps a scope's documents equal to the files that were added, and tells what it did."""

import os
import sys
from pathlib import Path

import pytest

from lumina.adapters.documents import reading
from lumina.adapters.documents.document_text import Refused
from lumina.adapters.documents.library import Library, Progress, Report
from lumina.adapters.documents.memory_index import MemoryDocumentStore
from lumina.adapters.documents.readers import MAX_BYTES
from lumina.memory.scope import SubjectScope

ME = SubjectScope(tenant="local", subject="me")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "a.md": "# Wheel\n\nTurns.", "deep/b.txt": "Brakes stop.", "deep/er/c.html": "<h1>Bell</h1><p>Rings.</p>",
        ".hidden/d.md": "secret", ".git/e.txt": "secret", "node_modules/f.md": "secret", "_sources/g.rst.txt": "copy",
        "venv/pyvenv.cfg": "x", "venv/h.txt": "secret", "photo.png": "x",
    }.items():  # fmt: skip
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "docs"


def names(paths: list[str]) -> list[str]:
    return sorted(Path(path).name for path in paths)


def reasons(report: Report) -> dict[str, str]:
    return {Path(one.path).name: one.reason for one in report.skipped}


async def texts(store: MemoryDocumentStore) -> dict[str, str]:
    return {Path(info.locator).name: await store.document_text(ME, info.id) for info in await store.documents(ME)}


async def test_a_folder_stands_for_its_documents_and_not_for_hidden_or_installed_ones(folder: Path):
    store = MemoryDocumentStore()
    report = await Library(store).add(ME, [folder])
    assert names(report.added) == ["a.md", "b.txt", "c.html"]
    assert report.other == 1
    assert await texts(store) == {"a.md": "Wheel\n\nTurns.", "b.txt": "Brakes stop.", "c.html": "Bell\n\nRings."}
    info = (await store.documents(ME))[0]
    assert info.locator == f"doc:{folder.as_posix()}/a.md"
    assert (info.url, info.title) == ((folder / "a.md").as_uri(), "Wheel")


async def test_adding_again_reads_only_what_changed_and_removes_what_vanished(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    await library.add(ME, [folder])
    (folder / "a.md").write_text("# Wheel\n\nStops.")
    (folder / "deep/b.txt").unlink()
    (folder / "new.txt").write_text("Fresh.")
    report = await library.add(ME, [folder])
    assert names(report.added) == ["new.txt"]
    assert names(report.changed) == ["a.md"]
    assert names(report.unchanged) == ["c.html"]
    assert report.removed == [f"{folder.as_posix()}/deep/b.txt"]
    assert await texts(store) == {"a.md": "Wheel\n\nStops.", "c.html": "Bell\n\nRings.", "new.txt": "Fresh."}


async def test_an_unchanged_file_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    library = Library(MemoryDocumentStore())
    await library.add(ME, [folder])
    monkeypatch.setattr(reading, "prepare", lambda path: pytest.fail(f"{path} was read again"))
    assert len((await library.add(ME, [folder])).unchanged) == 3


async def test_a_new_version_of_the_readers_reads_everything_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    library = Library(MemoryDocumentStore())
    await library.add(ME, [folder])
    monkeypatch.setattr(reading, "READER", "next")
    assert len((await library.add(ME, [folder])).changed) == 3


async def test_only_what_lies_below_the_given_folder_can_vanish(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    beside = folder.parent / "docs-two"
    beside.mkdir()
    (beside / "x.txt").write_text("Beside.")
    await library.add(ME, [folder, beside])
    (beside / "x.txt").unlink()
    assert (await library.add(ME, [folder])).removed == []
    assert "x.txt" in await texts(store)


async def test_a_folder_that_is_not_there_removes_nothing(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    await library.add(ME, [folder])
    os.rename(folder, folder.parent / "moved")
    report = await library.add(ME, [folder])
    assert (report.removed, reasons(report)) == ([], {"docs": "there is no such file or folder"})
    assert len(await texts(store)) == 3


async def test_a_file_that_can_no_longer_be_read_as_text_is_reported_and_its_old_text_is_gone(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    await library.add(ME, [folder])
    (folder / "a.md").write_bytes(b"\x00\x01binary")
    report = await library.add(ME, [folder])
    assert "binary" in reasons(report)["a.md"]
    assert names(report.removed) == ["a.md"]
    assert "a.md" not in await texts(store)


async def test_files_that_cannot_be_read_are_named_with_the_reason_and_the_rest_is_read(folder: Path):
    (folder / "empty.txt").write_text("")
    (folder / "broken.pdf").write_text("no pdf")
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (folder / "outside.txt").symlink_to("/etc/hostname")
    (folder / "inside.md").symlink_to(folder / "a.md")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    report = await Library(MemoryDocumentStore()).add(ME, [folder, folder / "photo.png", folder / "none.md"])
    told = reasons(report)
    assert "empty" in told["empty.txt"]
    assert "PDF" in told["broken.pdf"]
    assert "20 MB" in told["huge.txt"]
    assert "link" in told["outside.txt"]
    assert "kind of file" in told["photo.png"]
    assert "no such file" in told["none.md"]
    assert "inside.md" not in told
    assert names(report.added) == ["a.md", "b.txt", "c.html"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any bytes as a name")
async def test_a_file_name_that_is_no_text_is_skipped_with_the_reason(folder: Path):
    bad = folder / os.fsdecode(b"bad\xff.txt")
    bad.write_text("words")
    report = await Library(MemoryDocumentStore()).add(ME, [folder])
    assert reasons(report)["bad\ufffd.txt"] == "its name is not valid UTF-8; rename it"


async def test_a_guessed_encoding_is_noted(folder: Path):
    (folder / "latin.txt").write_bytes("Grüße".encode("latin-1"))
    report = await Library(MemoryDocumentStore()).add(ME, [folder])
    assert [(Path(one.path).name, "Windows-1252" in one.reason) for one in report.noted] == [("latin.txt", True)]


async def test_progress_counts_every_file_once(folder: Path):
    library = Library(MemoryDocumentStore())
    seen: list[Progress] = []
    await library.add(ME, [folder, folder / "a.md"], progress=seen.append)
    (folder / "a.md").write_text("changed")
    await library.add(ME, [folder], progress=seen.append)
    assert [(one.done, one.total) for one in seen] == [(1, 3), (2, 3), (3, 3)] * 2
    assert {Path(one.name).name for one in seen[:3]} == {"a.md", "b.txt", "c.html"}


async def test_own_documents_and_the_tenants_are_kept_apart(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    await library.add(ME, [folder / "a.md"])
    report = await library.add(ME, [folder / "a.md"], own=True)
    assert names(report.added) == ["a.md"]
    assert [info.own for info in await library.documents(ME)] == [False, True]
    removal = await library.remove(ME, [str(folder)], own=True)
    assert len(removal.removed) == 1
    assert [info.own for info in await library.documents(ME)] == [False]


async def test_documents_are_removed_by_path_folder_and_number_even_after_the_files_are_gone(folder: Path):
    store = MemoryDocumentStore()
    library = Library(store)
    await library.add(ME, [folder])
    first = (await library.documents(ME))[0]
    (folder / "deep/er/c.html").unlink()
    removal = await library.remove(ME, [str(folder / "deep/er"), f"#{first.id}", str(folder / "none")])
    assert sorted(Path(info.locator).name for info in removal.removed) == ["a.md", "c.html"]
    assert removal.unknown == (str(folder / "none"),)
    assert list(await texts(store)) == ["b.txt"]


async def test_many_files_are_read_in_processes_with_the_same_result(folder: Path):
    one, two = MemoryDocumentStore(), MemoryDocumentStore()
    plain = await Library(one, workers=0).add(ME, [folder])
    pooled = await Library(two, workers=2).add(ME, [folder])
    assert await texts(one) == await texts(two)
    assert (plain.passages, names(plain.added)) == (pooled.passages, names(pooled.added))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name, to stand for a file that never ends")
async def test_a_file_that_never_ends_is_refused_and_the_others_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "SECONDS", 1)
    os.mkfifo(folder / "endless.txt")
    paths = [folder / "a.md", folder / "endless.txt", folder / "deep/b.txt", folder / "deep/er/c.html"]
    outcomes = {path.name: outcome async for path, outcome in reading.prepare_all(paths, workers=1)}
    refused = outcomes.pop("endless.txt")
    assert isinstance(refused, Refused)
    assert "more than 1 seconds" in refused.reason
    assert [name for name, one in outcomes.items() if isinstance(one, reading.Prepared)] == ["a.md", "b.txt", "c.html"]


async def test_files_are_read_without_processes_where_none_can_be_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def none(*args: object, **kwargs: object) -> None:
        raise OSError("no semaphores here")

    monkeypatch.setattr(reading, "ProcessPoolExecutor", none)
    report = await Library(MemoryDocumentStore(), workers=2).add(ME, [folder])
    assert names(report.added) == ["a.md", "b.txt", "c.html"]
