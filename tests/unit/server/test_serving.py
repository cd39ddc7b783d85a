"""The server begins and ends in order."""

import signal

from lumina.server.serving import listening, serve


async def test_the_signal_that_ends_the_server_is_returned_and_cuts_no_closing_off(make_agent):
    agent = make_agent(["Yes."])

    async def opened():
        return agent

    with listening("127.0.0.1", 0) as port:
        ended_by = await serve(
            opened, port, host="127.0.0.1", told=lambda _: signal.raise_signal(signal.SIGINT)
        )  # fmt: skip
    assert ended_by == signal.SIGINT
