"""An endpoint's faults end as errors that say what to do, and none of them quotes what was sent."""

import dataclasses
import json
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lumina.adapters.embedders import openai_compatible
from lumina.adapters.embedders.openai_compatible import OpenAICompatible
from lumina.adapters.net.doors import configured_door
from lumina.agent.ports import Answered
from lumina.memory.embedding import EmbedderError, dot
from lumina.memory.errors import ProviderError, UsageError

SECRET = "my card is 4111"
Answer = Answered | ProviderError | Callable[[dict], Answered]


@dataclass
class ScriptedDoor:
    """Gives these answers in turn, the last one for ever, and keeps what was asked."""

    answers: list[Answer]
    asked: list[dict] = field(default_factory=list)

    async def send(self, method: str, url: str, *, headers: Mapping = {}, json=None, limit=0, seconds=0) -> Answered:
        self.asked.append({"method": method, "url": url, "headers": headers, "json": json, "seconds": seconds})
        now = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(now, ProviderError):
            raise now
        answer = now if isinstance(now, Answered) else now(json)
        return Answered(
            url=url, status=answer.status, headers=answer.headers, body=answer.body[:limit],
            cut=len(answer.body) > limit,
        )  # fmt: skip


def answering(*answers: Answer, **fields):
    """An embedder whose endpoint gives these answers; and its requests and pauses."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    door = ScriptedDoor(list(answers))
    values = {"model": "small", "url": "http://endpoint.test/v1", "width": 2, "key": "sk-secret", **fields}
    return OpenAICompatible(door=door, pause=pause, **values), door.asked, pauses


def said(status: int, body: bytes | str | object = b"", **headers: str) -> Answered:
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answered(url="http://endpoint.test", status=status, headers=named, body=body)


def failing(text: str, *, retry: bool) -> ProviderError:
    return ProviderError(f"endpoint.test {text}.", provider="endpoint.test", retry=retry)


def vectors(*found: object, **more: object) -> Answered:
    return said(200, {"data": [{"index": at, "embedding": one} for at, one in enumerate(found)], **more})


def echo(body: dict) -> Answered:
    """The number in each text, as a direction."""
    return vectors(*[[math.cos(int(text) / 100), math.sin(int(text) / 100)] for text in body["input"]])


async def test_texts_go_in_batches_and_come_back_in_order() -> None:
    embedder, requests, _ = answering(echo)
    found = await embedder.embed([str(n) for n in range(150)], kind="passage")
    assert [round(math.atan2(two, one) * 100) for one, two in found] == list(range(150))
    assert [len(request["json"]["input"]) for request in requests] == [64, 64, 22]
    assert {(request["method"], request["url"]) for request in requests} == {
        ("POST", "http://endpoint.test/v1/embeddings")
    }
    assert requests[0]["headers"] == {"authorization": "Bearer sk-secret"}
    assert set(requests[0]["json"]) == {"model", "input", "encoding_format"}


async def test_vectors_that_come_in_another_order_are_put_right_and_brought_to_length_one() -> None:
    rows = [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 0]}]
    embedder, _, _ = answering(said(200, {"data": rows}))
    assert [list(one) for one in await embedder.embed(["a", "b"], kind="passage")] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (vectors([1, 0]), "1 vectors for 2 texts"),
        (vectors([1, 0], [1, 0], [1, 0]), "3 vectors for 2 texts"),
        (said(200, {"data": [{"index": 0, "embedding": [1, 0]}] * 2}), "not one for each"),
        (vectors([1, 0], [1, 0, 0]), "3 dimensions, not 2"),
        (vectors([1, 0], [0, 0]), "without a direction"),
        (said(200, b'{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 0]}]}'), "direction"),
        (said(200, b'{"data": [{"embedding": [1e999, 1]}, {"embedding": [1, 0]}]}'), "direction"),
        (vectors(["a", "b"], [1, 0]), "without a direction"),
        (vectors("AAAA", [1, 0]), "not one for each"),
        (said(200, b"<html>my card is 4111</html>"), "holds no vectors"),
        (said(200, b"[" * 100_000), "holds no vectors"),
        (said(200, {"data": None}), "holds no vectors"),
        (said(200, [1]), "holds no vectors"),
        (said(200, {"data": ["my card is 4111", 2]}), "holds no vectors"),
        (said(200, b" " * 1_100_000), "more than vectors could be"),
        (said(401, SECRET), "refused the key"),
        (said(404, SECRET), "no such model"),
        (said(400, SECRET), "refused the request"),
        (failing("was not asked: it leads away", retry=False), "cannot be asked"),
        (said(301, location="http://elsewhere.test"), "elsewhere"),
    ],
)
async def test_what_is_wrong_is_told_at_once_and_quotes_nothing(answer: Answer, why: str) -> None:
    embedder, requests, _ = answering(answer)
    with pytest.raises(EmbedderError, match=why) as told:
        await embedder.embed([SECRET, "b"], kind="passage")
    assert not told.value.retry
    assert len(requests) == 1
    assert "4111" not in str(told.value)
    assert "sk-secret" not in f"{told.value} {embedder!r}"


@pytest.mark.parametrize(
    "passing",
    [
        said(429),
        said(500, SECRET),
        said(503),
        failing("could not be reached", retry=True),
        failing("did not answer in time", retry=True),
    ],
)
async def test_what_may_pass_is_tried_again_a_few_times(passing: Answer) -> None:
    embedder, requests, pauses = answering(passing, passing, vectors([1, 0]))
    assert len(await embedder.embed(["a"], kind="question")) == 1
    assert pauses == [0.5, 1.0]
    embedder, requests, pauses = answering(passing)
    with pytest.raises(EmbedderError, match="4 times") as told:
        await embedder.embed([SECRET], kind="question")
    assert told.value.retry
    assert len(requests) == 4
    assert pauses == [0.5, 1.0, 2.0]
    assert "4111" not in str(told.value)


async def test_a_pause_that_the_server_asks_for_is_kept_up_to_a_cap() -> None:
    asks = [said(429, retry_after=after) for after in ("7", "86400", "Wed, 21 Oct 2026")]
    embedder, _, pauses = answering(*asks, vectors([1, 0]))
    await embedder.embed(["a"], kind="question")
    assert pauses == [7.0, 20.0, 2.0]


async def test_an_empty_or_endless_text_is_sent_as_what_endpoints_take() -> None:
    embedder, requests, _ = answering(vectors([1, 0], [1, 0], [1, 0]))
    await embedder.embed(["", "x" * 50_000, "\ud800"], kind="passage")
    assert [len(text) for text in requests[0]["json"]["input"]] == [1, openai_compatible.LONGEST, 1]


async def test_dimensions_are_asked_for_only_where_a_model_can_give_fewer() -> None:
    assert (
        OpenAICompatible(door=ScriptedDoor([]), model="text-embedding-3-small", key="k").name
        == "openai:text-embedding-3-small/1536"
    )
    embedder, requests, _ = answering(vectors([1, 0]), model="text-embedding-3-small")
    await embedder.embed(["a"], kind="question")
    assert requests[0]["json"]["dimensions"] == 2


def test_an_embedder_that_cannot_work_is_refused_when_it_is_made() -> None:
    for fields, why in (
        ({"model": " ", "width": 2}, "no name"),
        ({"model": "m", "width": 2, "url": "ftp://a"}, "not one"),
        ({"model": "m", "url": "http://a"}, "openai:m/768"),
        ({"model": "text-embedding-3-small"}, "OPENAI_API_KEY"),
    ):
        with pytest.raises(UsageError, match=why):
            OpenAICompatible(door=ScriptedDoor([]), **fields)


async def test_a_real_server_on_this_machine_is_asked() -> None:
    asked: list[dict] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            rows = [{"index": n, "embedding": [len(text), 1.0]} for n, text in enumerate(asked[-1]["input"])]
            body = json.dumps({"data": rows}).encode()
            self.send_response(200 if self.path == "/v1/embeddings" else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            embedder = OpenAICompatible(door=configured_door(address), model="small", url=f"{address}/v1/", width=2)
            one, two = await embedder.embed(["a", "aaaa"], kind="passage")
            with pytest.raises(EmbedderError, match="not at this address"):
                await dataclasses.replace(embedder, url=address).embed(["a"], kind="question")
            with pytest.raises(EmbedderError, match="away from the address"):
                await dataclasses.replace(embedder, url="http://127.0.0.1:9").embed(["a"], kind="question")
        finally:
            server.shutdown()
    assert dot(one, two) == pytest.approx(5 / (2**0.5 * 17**0.5), abs=1e-6)
    assert asked[0]["input"] == ["a", "aaaa"]
