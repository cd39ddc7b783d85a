"""Promises 7, 8 and 10, where a conversation travels without the one that it recalled: its receipts show none of the
other's words, whatever bears the other's name where it arrives or later."""

import io

import pytest

from lumina.memory.forgotten import forget_thread
from lumina.memory.receipt import NOWHERE, as_text
from lumina.memory.scope import SubjectScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.transfer import export_to, import_from
from support.forgetting import ME, play, thread_at

ASKED = "Which hotel did you recommend last time?"
OTHERS = "The Zyxwvut hotel, of course."
YOU = SubjectScope(tenant="local", subject="you")


async def recalled_from_trip(store: Store) -> bytes:
    """A conversation `today` that recalls one named `trip`, exported alone."""
    await play(await thread_at(store, ME.thread("trip")), "Which hotel in Lisbon?", "The Pombal hotel.", ops=[])
    await play(await thread_at(store, ME.thread("today")), ASKED, "The Pombal hotel.", ops=[])
    assert "Pombal" in await seen(await thread_at(store, ME.thread("today")))
    file = io.BytesIO()
    assert (await export_to(store, ME.thread("today"), file.write)).unproved == 1
    return file.getvalue()


async def seen(thread: Thread) -> str:
    return "\n".join(as_text(call.messages) for call in await thread.show(1) if call.receipt.purpose == "answer")


async def exported(store: Store, thread: str) -> bytes:
    file = io.BytesIO()
    await export_to(store, YOU.thread(thread), file.write)
    return b"\n".join(file.getvalue().splitlines()[1:-1])


@pytest.mark.parametrize("before", [True, False])
async def test_a_conversation_of_the_same_name_is_not_the_one_that_was_recalled(store: Store, before: bool) -> None:
    """It may be there already, or be begun afterwards; it may even be the imported one, under a new name."""
    file = await recalled_from_trip(store)
    assert b"trip" not in file
    other = YOU.thread("trip")
    if before:
        await play(await thread_at(store, other), "Which hotel?", OTHERS, ops=[])
    await import_from(store, YOU, io.BytesIO(file))
    if not before:
        await play(await thread_at(store, other), "Which hotel?", OTHERS, ops=[])
    thread = await thread_at(store, YOU.thread("today"))
    shown = await seen(thread)
    assert "[forgotten]" in shown
    assert not {"Pombal", "Lisbon", "Zyxwvut"} & set(shown.replace(".", " ").split())
    calls = [call for call in await thread.show(1) if call.receipt.purpose == "answer"]
    assert [call.same for call in calls] == [None]
    assert all(call.forgotten for call in calls)


async def test_a_new_name_that_is_the_recalled_ones_does_not_make_it_recall_itself(store: Store) -> None:
    file = await recalled_from_trip(store)
    await import_from(store, YOU, io.BytesIO(file), name="trip")
    shown = await seen(await thread_at(store, YOU.thread("trip")))
    assert "Pombal" not in shown
    assert "[forgotten]" in shown


async def test_of_a_subjects_file_a_conversation_that_is_left_out_is_not_taken_for_the_one_that_is_here(store) -> None:
    await recalled_from_trip(store)
    file = io.BytesIO()
    await export_to(store, ME, file.write)
    await play(await thread_at(store, YOU.thread("trip")), "Which hotel?", OTHERS, ops=[])
    done = await import_from(store, YOU, file, skip=True)
    assert done.there_already == ("trip",)
    shown = await seen(await thread_at(store, YOU.thread("today")))
    assert "Zyxwvut" not in shown
    assert "[forgotten]" in shown


async def test_a_subjects_file_keeps_what_its_conversations_recalled_from_each_other(store: Store) -> None:
    await recalled_from_trip(store)
    file = io.BytesIO()
    assert (await export_to(store, ME, file.write)).unproved == 0
    await import_from(store, YOU, file)
    thread = await thread_at(store, YOU.thread("today"))
    (call, *_) = await thread.show(1)
    assert "Pombal" in as_text(call.messages)
    assert call.receipt.sent


async def test_what_was_recalled_from_a_forgotten_conversation_does_not_come_back_under_its_name(store: Store) -> None:
    await recalled_from_trip(store)
    today = await thread_at(store, ME.thread("today"))
    await forget_thread(store, ME.thread("trip"))
    await play(await thread_at(store, ME.thread("trip")), "Which hotel?", OTHERS, ops=[])
    shown = await seen(today)
    assert "Zyxwvut" not in shown
    assert "[forgotten on " in shown
    (call, *_) = await today.show(1)
    assert {item.thread for item in call.items if item.kind == "recalled"} == {NOWHERE}
    assert call.same is None


async def test_an_imported_conversation_exports_the_same_bytes_again(store: Store) -> None:
    file = await recalled_from_trip(store)
    await import_from(store, YOU, io.BytesIO(file))
    assert await exported(store, "today") == b"\n".join(file.splitlines()[1:-1])
