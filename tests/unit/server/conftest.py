"""A server on a real port of loopback, in the loop of the test."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvicorn

from lumina.server.app import create_app
from lumina.server.gate import hosts_of
from lumina.server.serving import Server, listening
from support.serving import SUBJECT, Client, whose


@pytest.fixture
async def serving(make_agent):
    """`async with serving(model) as client`: a server that answers with the model."""

    @asynccontextmanager
    async def serve(model, *, person: str = "me", **more):
        agent = make_agent(model, **more)
        opened = listening("127.0.0.1", 0)
        port = opened.getsockname()[1]
        app = create_app(agent, hosts=hosts_of("127.0.0.1", port), whose=whose)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=10)
        up = asyncio.Event()
        server = Server(config, agent, app.state.closing, up.set)
        running = asyncio.create_task(server.serve(sockets=[opened]))
        await up.wait()
        try:
            async with httpx2.AsyncClient(headers={SUBJECT: person}, trust_env=False) as http:
                yield Client(http=http, address=f"http://127.0.0.1:{port}", server=server, agent=agent)
        finally:
            server.should_exit = True
            await running
            opened.close()

    return serve
