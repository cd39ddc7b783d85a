"""Promise 10, for what is carried elsewhere: a subject's export covers its threads, profile, documents and texts, and
an import that is killed at any point leaves nothing behind.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from lumina.memory.noting import load_profile
from lumina.memory.scope import SubjectScope
from lumina.stores.opening import open_store
from lumina.testing.document_suite import about
from lumina.testing.store_examples import thread_of
from lumina.testing.store_suite_transfer import exported, imported, lived_in

ME = SubjectScope(tenant="local", subject="me")

CHILD = """
import asyncio, os, signal, sys

from lumina.memory.scope import SubjectScope
from lumina.memory.transfer import import_from
from lumina.stores.opening import open_store

path, file, at = sys.argv[1:]


def told(turns):
    if turns == int(at):
        os.kill(os.getpid(), signal.SIGKILL)


async def main():
    store = await open_store(path)
    with open(file, "rb") as opened:
        await import_from(store, SubjectScope(tenant="local", subject="me"), opened, told=told)
    await store.close()


asyncio.run(main())
"""


def run_child(path: Path, file: Path, at: int) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", CHILD, str(path), str(file), str(at)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("at", [1, 3, 6])
async def test_m1_an_import_that_is_killed_leaves_nothing_and_can_be_run_again(tmp_path: Path, at: int) -> None:
    store = await open_store(None)
    await lived_in(store)
    await lived_in(store, thread_of(thread="other"), 1)
    whole = await exported(store, ME)
    (tmp_path / "file").write_bytes(whole)
    path = tmp_path / "lumina.db"
    child = run_child(path, tmp_path / "file", at)
    assert child.returncode == -9, child.stderr
    there = await open_store(path)
    assert await there.threads(ME) == []
    assert await exported(there, ME) == await exported(await open_store(None), ME)
    await imported(there, ME, whole)
    assert await exported(there, ME) == whole
    await there.close()


async def test_an_export_of_a_subject_covers_all_that_is_kept_of_it(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "lumina.db")
    await lived_in(store)
    await lived_in(store, thread_of(thread="other"), 1)
    await store.put_documents(ME, [about("mine", "needle")], own=True)  # type: ignore[attr-defined]
    await store.put_documents(ME, [about("ours", "hay")])  # type: ignore[attr-defined]
    copy = await open_store(None)
    await imported(copy, ME, await exported(store, ME))
    assert await copy.threads(ME) == await store.threads(ME)
    assert (await load_profile(copy, ME)).state == (await load_profile(store, ME)).state
    assert [one.locator for one in await copy.documents(ME)] == ["mine"]  # type: ignore[attr-defined]
    for source in await store.sources(thread_of()):
        assert await copy.text(ME, source.digest) == await store.text(ME, source.digest)
    await store.close()
