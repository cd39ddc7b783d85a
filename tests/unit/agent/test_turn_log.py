"""The log: order, one commit for what was gathered, readers that miss nothing."""

import asyncio

import pytest

from lumina.agent.events import Notice, Text, Thinking, TurnFinished, to_json
from lumina.agent.turn_log import Bell, TurnLog, follow
from lumina.agent.unbroken import unbroken
from lumina.memory.thread import Thread


@pytest.fixture
async def turn(store, scope):
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False))
    return (await thread.begin("Hello?"))[0]


@pytest.fixture
def bell():
    return Bell()


@pytest.fixture
def log(store, scope, turn, bell):
    return TurnLog(store=store, bell=bell, scope=scope, seq=turn.seq, attempt=turn.attempt)


def text(words):
    return Text(thread="main", turn=1, text=words)


def notice(words):
    return Notice(thread="main", turn=1, text=words)


END = TurnFinished(thread="main", turn=1, status="complete")


async def bodies(store, scope):
    return [body for _, body in await store.events(scope, 1, 1)]


async def test_neighbouring_text_becomes_one_event_and_order_is_kept(store, scope, log):
    log.gather(text("a"))
    log.gather(text("b"))
    log.gather(Thinking(thread="main", turn=1, text="hm"))
    log.gather(text("c"))
    await log.write(notice("n"))
    expected = [text("ab"), Thinking(thread="main", turn=1, text="hm"), text("c"), notice("n")]
    assert await bodies(store, scope) == [to_json(event) for event in expected]


async def test_what_is_left_goes_into_the_last_transaction_once(store, scope, log):
    log.gather(text("a"))
    last = await log.last_bodies(END)
    assert last == (to_json(text("a")), to_json(END))
    await log.flush()
    assert await bodies(store, scope) == []


async def test_a_stop_during_a_commit_loses_no_text(store, scope, log, monkeypatch):
    append = store.append_events
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(*args):
        begun.set()
        await may_end.wait()
        return await append(*args)

    monkeypatch.setattr(store, "append_events", slow)
    log.gather(text("kept"))
    task = asyncio.create_task(log.flush())
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await bodies(store, scope) == [to_json(text("kept"))]


async def test_a_commit_that_fails_in_the_background_is_raised_at_the_next_one(store, scope, log, monkeypatch):
    async def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(store, "append_events", full)
    log.gather(text("x" * 5000))
    with pytest.raises(OSError, match="disk full"):
        await log.write(notice("n"))


async def test_a_reader_hears_of_events_of_another_process_without_a_bell(store, scope, turn, monkeypatch):
    """Nobody rings: the reader looks again by itself."""
    from lumina.agent import turn_log

    monkeypatch.setattr(turn_log, "POLL", 0.001)
    reading = asyncio.create_task(_read(store, scope, Bell()))
    elsewhere = TurnLog(store=store, bell=Bell(), scope=scope, seq=1, attempt=1)
    await elsewhere.write(text("a"))
    await elsewhere.write(END)
    assert [event.kind for event in await reading] == ["text", "turn.finished"]


async def test_readers_that_come_and_go_leave_nothing_behind(store, scope, log, bell):
    await log.write(text("a"), END)
    for _ in range(3):
        assert len(await _read(store, scope, bell)) == 2
    assert bell._ears == {}


async def test_d8_an_event_that_cannot_be_read_hides_no_other(store, scope, turn, bell):
    await store.append_events(scope, 1, 1, [to_json(text("a")), '{"kind":"from.the.future"}', to_json(END)])
    events = await _read(store, scope, bell)
    assert [event.kind for event in events] == ["text", "notice", "turn.finished"]
    assert [event.seq for event in events] == [1, 2, 3]


async def test_a_write_goes_to_its_end_and_the_stop_comes_after_it():
    done = []
    may_end = asyncio.Event()

    async def write():
        await may_end.wait()
        done.append(True)

    task = asyncio.create_task(unbroken(write()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == [True]


async def _read(store, scope, bell):
    return [event async for event in follow(store, bell, scope, 1, 1)]


async def test_words_that_come_while_a_commit_is_on_its_way_are_committed_after_it(store, scope):
    """Nothing more may come for a long time: a reader must not wait for it."""
    await store.open_thread(scope, deltas=False)
    begun, go_on, append = asyncio.Event(), asyncio.Event(), store.append_events

    async def slow(*given):
        begun.set()
        await go_on.wait()
        return await append(*given)

    store.append_events = slow
    log = TurnLog(store=store, bell=Bell(), scope=scope, seq=0, attempt=0)
    log.gather(Notice(thread="main", turn=1, text="begins"))
    await begun.wait()
    log.gather(Text(thread="main", turn=1, text="It "))
    due = asyncio.Event()
    asyncio.get_running_loop().call_later(0, lambda: asyncio.get_running_loop().call_later(0, due.set))
    await due.wait()  # the timer of the first words has fired by now
    go_on.set()
    async with asyncio.timeout(60):  # instead of waiting for ever
        async for event in follow(store, log._bell, scope, 0, 0):
            if event.kind == "text":
                break
