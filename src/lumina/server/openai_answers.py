"""An answer in the shapes of OpenAI's chat completions, whole and in pieces.

Citations are annotations of the kind `url_citation`; their indexes are code points of the text that was sent, the end
behind the closing bracket of the marker.
"""

import json
from typing import Any

from lumina.agent.run import Run
from lumina.memory.store import Store
from lumina.memory.turns import TurnPage
from lumina.server.ids import thread_id
from lumina.server.inert import inert

Json = dict[str, Any]


class Shape:
    """What all objects of one answer share. `created` in seconds since 1970."""

    def __init__(self, *, name: str, model: str, created: int) -> None:
        self._shared: Json = {"id": f"chatcmpl-{name}", "created": created, "model": model}

    def chunk(self, delta: Json, finish: str | None = None, **more: object) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return line({**self._shared, "object": "chat.completion.chunk", "choices": [choice], **more})

    def usage_chunk(self, usage: Json) -> bytes:
        return line({**self._shared, "object": "chat.completion.chunk", "choices": [], "usage": usage})

    def whole(self, text: str, annotations: list[Json], *, finish: str, usage: Json, **more: object) -> Json:
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": annotations}
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return {**self._shared, "object": "chat.completion", "choices": [choice], "usage": usage, **more}


def line(body: Json) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


async def page_of(store: Store, run: Run) -> TurnPage:
    """The turn of a run that has ended, as a person sees it."""
    rows = await store.page(run.scope, first=run.seq, last=run.seq, superseded=True)
    return next(row for row in rows if isinstance(row, TurnPage) and row.attempt == run.attempt)


async def annotations_of(store: Store, run: Run, page: TurnPage) -> list[Json]:
    numbers = sorted({citation.n for citation in page.citations})
    sources = {source.n: source for source in await store.sources(run.scope, numbers)} if numbers else {}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": citation.position, "end_index": citation.position + len(f"[{citation.n}]"),
                "title": sources[citation.n].title, "url": sources[citation.n].url,
            },
        }
        for citation in page.citations if citation.n in sources
    ]  # fmt: skip


def about(run: Run, page: TurnPage) -> Json:
    """What OpenAI's shape has no place for, under `lumina`."""
    return {
        "thread": thread_id(run.scope.thread), "turn": run.seq, "status": page.status, "reason": page.reason,
        "searched": page.searched,
    }  # fmt: skip


def shown(page: TurnPage) -> str:
    return inert(page.answer)


def finish_of(page: TurnPage) -> str:
    """`stop` for an answer that is whole; `length` for one that is not."""
    return "stop" if page.status == "complete" else "length"


def usage_of(tokens: Json) -> Json:
    """`tokens` as the model's provider reported them; 0 where it reported nothing."""
    sent, made = tokens.get("input", 0), tokens.get("output", 0)
    return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
