"""The server's application: routes, errors, the gate in front.

    app = create_app(agent, hosts=hosts_of("127.0.0.1", 8080))

The agent is opened and closed by whoever makes the app (`lumina.server.serving`), in the loop that serves it.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse, Response

from lumina.agent.search_agent import SearchAgent
from lumina.memory.errors import LuminaError
from lumina.memory.scope import SubjectScope
from lumina.server import memory_api, openai_api, threads_api, turns_api, usage_api
from lumina.server.gate import Gate
from lumina.server.problems import HANDLERS, Problem, of_request
from lumina.server.whose import LOCAL

Whose = Callable[[Request], SubjectScope]
ROUTERS = (threads_api.router, turns_api.router, memory_api.router, usage_api.router)
PROBLEMS: dict[int | str, dict[str, object]] = {
    404: {"model": Problem, "description": "There is no such thing, or it belongs to somebody else."},
    "4XX": {"model": Problem, "description": "The request cannot be carried out as it was made."},
    "5XX": {"model": Problem, "description": "It failed; what was stored is kept."},
}


def of_this_machine(_: Request) -> SubjectScope:
    """One person, on a machine of their own."""
    return LOCAL


def create_app(agent: SearchAgent, *, hosts: Collection[str], whose: Whose = of_this_machine) -> FastAPI:
    """The application. `hosts`: the names by which the server is known; a request by another one is turned away.
    `whose`: from who is asking, the scope that they may touch."""
    app = FastAPI(
        title="Lumina", version="1", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json",
        description="A search agent that streams cited answers, with a memory that can be read.",
    )  # fmt: skip
    app.state.agent = agent
    app.state.whose = whose
    app.state.closing = asyncio.Event()  # set when the server ends: streams end then
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_exception_handler(RequestValidationError, of_request)
    app.add_middleware(Gate, hosts=hosts)
    for router in ROUTERS:
        app.include_router(router, prefix="/api", responses=PROBLEMS)
    app.include_router(openai_api.router, prefix="/v1")
    app.add_api_route("/healthz", alive, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/readyz", ready, methods=["GET", "HEAD"], include_in_schema=False)
    return app


def description() -> dict[str, Any]:
    """The API as OpenAPI describes it; the same whatever agent answers."""
    return create_app(cast(SearchAgent, None), hosts=()).openapi()


async def alive() -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """The database can be read."""
    try:
        await request.app.state.agent.store.secret()
    except (LuminaError, OSError):
        return JSONResponse({"status": "the database cannot be read"}, status_code=503)
    return JSONResponse({"status": "ok"})
