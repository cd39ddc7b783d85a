"""Promise 10 on generated conversations: import(export(x)) is x, byte for byte, whatever was asked again, edited,
corrected or forgotten before, and the copy remembers and shows what the original does."""

import io

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.forgotten import forget_thread
from lumina.memory.noting import load_profile
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.thread import Thread
from lumina.memory.transfer import export_to, import_from
from lumina.memory.turns import TurnPage
from lumina.stores.opening import open_store
from lumina.testing.store_examples import NOON
from support.forgetting import ME

KEYS = ("home.city", "order.size", "pet.name")
VALUES = ("York", "Leeds", "12", "天気", "<!--SOURCES:[1]-->")
turn = st.tuples(
    st.sampled_from(["record", "record", "record", "regenerate", "edit"]), st.sampled_from(["main", "side"]),
    st.integers(0, 3), st.sampled_from(KEYS), st.sampled_from(VALUES), st.sampled_from(["thread", "subject", "late"]),
)  # fmt: skip
change = st.tuples(
    st.sampled_from(["correct", "correct", "retract", "forget entry", "forget turn", "forget thread"]),
    st.sampled_from(["main", "main", "side"]), st.integers(1, 4), st.sampled_from(KEYS), st.sampled_from(VALUES),
    st.sampled_from(["thread", "subject"]),
)  # fmt: skip
Step = tuple[str, str, int, str, str, str]


async def thread_on(store: Store, scope: ThreadScope) -> Thread:
    return Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=True), clock=lambda: NOON)


async def live(thread: Thread) -> list[TurnPage]:
    rows = [row for row in await thread.store.page(thread.scope) if isinstance(row, TurnPage)]
    return [row for row in rows if not row.forgotten]


async def take(store: Store, step: Step) -> None:
    """One step of a life. What cannot be done there (nothing noted, no such turn) is not done."""
    what, name, at, key, value, about = step
    thread = await thread_on(store, ME.thread(name))
    match what:
        case "record" | "regenerate" | "edit":
            rows = await live(thread)
            again = rows[-1 - at % len(rows)] if rows and what != "record" else None
            edited = f"Earlier you said something; my {key} is {value}."
            question = again.question if again and what == "regenerate" else edited
            context = await thread.context(question, instructions="Be brief.", instead_of=again.seq if again else 0)
            kept = await thread.record(context, f"Noted: {value} ({what} {at}).")
            if about == "late":
                return
            op = {"op": "set", "key": key, "value": value, "quote": f"my {key} is {value}", "about": about}
            await thread.delta_request(kept.seq)
            await thread.apply({"ops": [op], "title": value, "followups": [f"Why {value}?"]}, seq=kept.seq)
        case "correct" | "retract":
            op = "set" if what == "correct" else "retract"
            await thread.correct(op, key, value if op == "set" else "", by="Ann", why="told", about=about)
        case "forget entry":
            await thread.forget_entry(key, about=about)
        case "forget turn":
            await thread.forget_turn(at)
        case _:
            await forget_thread(store, thread.scope, now=NOON)


async def lived(steps: list[Step]) -> Store:
    store = await open_store(None)
    for name in ("main", "side"):
        await thread_on(store, ME.thread(name))
    for step in steps:
        try:
            await take(store, step)
        except (NotFound, UsageError):
            continue
    return store


async def file_of(store: Store) -> bytes:
    file = io.BytesIO()
    await export_to(store, ME, file.write, now=NOON)
    return file.getvalue()


async def remembered(store: Store) -> list[object]:
    """States, profile, histories, and which turns there are."""
    told: list[object] = [(await load_profile(store, ME)).state]
    for info in await store.threads(ME):
        thread = await thread_on(store, ME.thread(info.thread))
        rows = await store.page(thread.scope, superseded=True)
        told += [info, await thread.state(), [(row.seq, getattr(row, "attempt", 0)) for row in rows]]
        told += [await thread.history(key) for key in KEYS]
    return told


async def shown(store: Store) -> list[object]:
    """Every attempt of every turn, and every model call rendered again."""
    told: list[object] = []
    for info in await store.threads(ME):
        thread = await thread_on(store, ME.thread(info.thread))
        for row in await store.page(thread.scope, superseded=True):
            calls = await thread.show(row.seq, attempt=getattr(row, "attempt", 0))
            assert all(call.same is not False for call in calls)
            told += [row, *((call.messages, call.same, call.forgotten) for call in calls)]
    return told


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(turn, turn, change), min_size=1, max_size=14))
@example([
    ("record", "main", 0, "home.city", "York", "subject"), ("record", "side", 0, "pet.name", "天気", "subject"),
    ("record", "main", 0, "order.size", "12", "thread"), ("correct", "main", 1, "home.city", "Leeds", "subject"),
    ("edit", "main", 0, "home.city", "Leeds", "thread"), ("regenerate", "main", 1, "home.city", "York", "late"),
    ("forget entry", "main", 1, "home.city", "York", "subject"), ("record", "main", 0, "pet.name", "12", "late"),
    ("forget turn", "main", 1, "pet.name", "York", "thread"), ("edit", "side", 0, "pet.name", "12", "subject"),
])  # fmt: skip
async def test_m1_whatever_became_of_a_thread_its_copy_exports_the_same_bytes(steps: list[Step]) -> None:
    store = await lived(steps)
    whole = await file_of(store)
    copy = await open_store(None)
    await import_from(copy, ME, io.BytesIO(whole), now=NOON)
    assert await file_of(copy) == whole
    assert await remembered(copy) == await remembered(store)
    assert await shown(copy) == await shown(store)
    # And the copy goes on as the original would: the next turn has the same number, and folds the same.
    for each in (store, copy):
        await take(each, ("record", "main", 0, "home.city", "Leeds", "subject"))
    assert await remembered(copy) == await remembered(store)


async def test_m1_the_same_through_a_database(tmp_path) -> None:
    """One life with everything in it, through the file of a database on disk."""
    steps: list[Step] = [
        ("record", "main", 0, "home.city", "York", "subject"), ("record", "main", 0, "order.size", "12", "thread"),
        ("edit", "main", 0, "order.size", "天気", "thread"), ("correct", "main", 0, "home.city", "Leeds", "subject"),
        ("regenerate", "main", 1, "home.city", "York", "subject"), ("record", "side", 0, "pet.name", "12", "late"),
        ("forget turn", "main", 2, "home.city", "York", "thread"), ("record", "main", 0, "pet.name", "York", "thread"),
    ]  # fmt: skip
    store = await lived(steps)
    whole = await file_of(store)
    copy = await open_store(tmp_path / "copy.db")
    await import_from(copy, ME, io.BytesIO(whole), now=NOON)
    assert await file_of(copy) == whole
    assert await remembered(copy) == await remembered(store)
    assert await shown(copy) == await shown(store)
    await copy.close()
