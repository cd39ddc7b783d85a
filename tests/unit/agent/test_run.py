"""The handle of a run: whoever follows it always comes to an end."""

import anyio
import pytest

from lumina.memory.errors import StoreError


async def test_following_a_turn_whose_end_cannot_be_stored_raises_instead_of_waiting(make_agent, store, scope) -> None:
    """CASES D7: the disk is full when the turn is to be ended; no last event will ever come."""
    agent = make_agent(["It keeps 128 results."])

    async def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    store.finish_turn = full
    run = await agent.ask(scope, "How many?")
    with pytest.raises(StoreError, match="full"), anyio.fail_after(30):
        async for _ in run.events():
            pass
    with pytest.raises(StoreError, match="full"):
        await run.ended()


async def test_a_reader_may_leave_in_the_middle_and_another_reads_all(make_agent, scope) -> None:
    run = await make_agent(["It keeps 128 results."]).ask(scope, "How many?")
    async for event in run.events():
        assert event.kind == "turn.started"
        break
    assert [event.kind async for event in run.events()][-1] == "turn.finished"
    assert [event.seq async for event in run.events(after=1)][:1] == [2]
