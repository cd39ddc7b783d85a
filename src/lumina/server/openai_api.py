"""/v1: Lumina for clients that speak as OpenAI's do.

A question is kept and answered as any other; the client reads the answer, and may go away. Its system message is an
instruction for this question, behind Lumina's own, and no part of the memory. What a client asks for itself (a title,
tags) is put to the model alone and not recorded.
"""

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, StreamingResponse

from lumina.agent.model_errors import explain
from lumina.agent.model_messages import model_messages
from lumina.agent.run import Run
from lumina.agent.search_agent import SearchAgent
from lumina.memory.errors import LuminaError, NotFound, ProviderError, TurnConflict
from lumina.memory.scope import MAX_ID, SubjectScope, ThreadScope
from lumina.memory.turns import Message as Said
from lumina.server.ids import thread_id, thread_name
from lumina.server.inert import Inert, inert
from lumina.server.openai_answers import Shape, about, annotations_of, finish_of, line, page_of, shown, usage_of
from lumina.server.openai_requests import Asked, Completion, sorted_out
from lumina.server.openai_threads import begin_with, find_thread
from lumina.server.problems import of_anything, of_lumina, of_request
from lumina.server.streams import HEADERS
from lumina.server.whose import Agent, Subject

MODELS = {"lumina": False, "lumina-research": True}  # the second plans, searches more and reads pages
DONE = b"data: [DONE]\n\n"


class OpenAIRoute(APIRoute):
    """Says what went wrong in the shape that such clients read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except LuminaError as error:
                return _reshaped(await of_lumina(request, error))
            except RequestValidationError as error:
                return _reshaped(await of_request(request, error), status=400)
            except Exception as error:
                return _reshaped(await of_anything(request, error))

        return handled


router = APIRouter(tags=["OpenAI-compatible"], route_class=OpenAIRoute)


@router.get("/models")
async def list_models() -> dict[str, Any]:
    """What can be named as `model`: `lumina` answers after a quick look, `lumina-research` takes more time."""
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@router.get("/models/{model}")
async def show_model(model: str) -> dict[str, Any]:
    """One of them."""
    _known(model)
    return _model(model)


@router.post("/chat/completions", response_model=None)
async def complete(
    agent: Agent, subject: Subject, sent: Completion,
    x_lumina_thread: Annotated[str, Header(max_length=1100, description="id of the conversation; made if new")] = "",
    idempotency_key: Annotated[str, Header(max_length=MAX_ID, description="the same one makes one turn")] = "",
) -> Response:  # fmt: skip
    """Answers the last message, with citations as `url_citation` annotations."""
    _known(sent.model)
    asked = sorted_out(sent)
    shape = Shape(name=secrets.token_hex(12), model=sent.model, created=int(time.time()))
    usage = bool(sent.stream_options and sent.stream_options.include_usage)
    if asked.task:
        text, tokens = await _alone(agent, asked)
        if sent.stream:
            return StreamingResponse(_short(shape, text, tokens, usage), media_type="text/event-stream")
        return JSONResponse(shape.whole(text, [], finish="stop", usage=tokens))
    run = await _ask(agent, subject, asked, sent, x_lumina_thread, idempotency_key)
    headers = {"x-lumina-thread": thread_id(run.scope.thread), "x-lumina-turn": str(run.seq)}
    if sent.stream:
        return StreamingResponse(
            _pieces(agent, run, shape, usage), media_type="text/event-stream", headers={**HEADERS, **headers}
        )
    await run.ended()
    page = await page_of(agent.store, run)
    if page.status == "failed":
        raise ProviderError(_failed(page.reason), provider=agent.model_name, retry=True)
    annotations = await annotations_of(agent.store, run, page)
    body = shape.whole(
        shown(page), annotations, finish=finish_of(page), usage=usage_of(json.loads(page.usage)),
        lumina=about(run, page),
    )  # fmt: skip
    return JSONResponse(body, headers=headers)


async def _ask(
    agent: SearchAgent, subject: SubjectScope, asked: Asked, sent: Completion, named: str, key: str
) -> Run:  # fmt: skip
    async def ask(scope: ThreadScope) -> Run:
        return await agent.ask(
            scope, asked.question, client_id=key or secrets.token_hex(16), research=MODELS[sent.model],
            also=asked.instructions,
        )  # fmt: skip

    if named:
        return await ask(subject.thread(thread_name(named)))
    if found := await find_thread(agent, subject, asked.earlier):
        try:
            return await ask(found)
        except TurnConflict:
            pass  # another client goes on from the same place, and was first
    scope = subject.new_thread(agent.today())
    if asked.earlier:
        await begin_with(agent, scope, asked.earlier)
    return await ask(scope)


async def _pieces(agent: SearchAgent, run: Run, shape: Shape, usage: bool) -> AsyncIterator[bytes]:
    yield shape.chunk({"role": "assistant", "content": ""})
    reading = Inert()
    async for event in run.events():
        if event.kind == "text" and (text := reading.feed(event.text)):
            yield shape.chunk({"content": text})
    if text := reading.end():
        yield shape.chunk({"content": text})
    page = await page_of(agent.store, run)
    if page.status == "failed":
        error = {"message": _failed(page.reason), "type": "server_error", "param": None, "code": "provider_failed"}
        yield line({"error": error})
        return
    annotations = await annotations_of(agent.store, run, page)
    yield shape.chunk({"annotations": annotations}, finish_of(page), lumina=about(run, page))
    if usage:
        yield shape.usage_chunk(usage_of(json.loads(page.usage)))
    yield DONE


async def _short(shape: Shape, text: str, tokens: dict[str, Any], usage: bool) -> AsyncIterator[bytes]:
    yield shape.chunk({"role": "assistant", "content": text})
    yield shape.chunk({}, "stop")
    if usage:
        yield shape.usage_chunk(tokens)
    yield DONE


async def _alone(agent: SearchAgent, asked: Asked) -> tuple[str, dict[str, Any]]:
    """What the model says to the message alone: no search, no memory, nothing recorded."""
    from pydantic_ai.messages import TextPart
    from pydantic_ai.models import ModelRequestParameters

    messages = [Said(role="user", content=asked.question)]
    if asked.instructions:
        messages.insert(0, Said(role="system", content=asked.instructions))
    try:
        response = await agent.desk.model.request(model_messages(messages), None, ModelRequestParameters())
    except Exception as error:
        reason = explain(error, agent.model_name)
        raise ProviderError(reason, provider=agent.model_name, retry=True) from None
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    tokens = {"input": response.usage.input_tokens, "output": response.usage.output_tokens}
    return inert(text), usage_of(tokens)


def _failed(reason: str) -> str:
    return f"The question is kept, but it could not be answered: {reason or 'the model failed'}."


def _known(model: str) -> None:
    if model not in MODELS:
        raise NotFound(f"There is no model of that name here. There are {' and '.join(MODELS)}.")


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "lumina"}


def _reshaped(response: Response, *, status: int = 0) -> Response:
    status = status or response.status_code
    error = json.loads(bytes(response.body))["error"]
    kind = "server_error" if status >= 500 else "invalid_request_error"
    body = {"message": error["message"], "type": kind, "param": None, "code": error["code"]}
    return JSONResponse({"error": body}, status_code=status)
