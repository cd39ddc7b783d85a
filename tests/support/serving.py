"""What tests of the server speak through: a client that is one person, and how a stream is read."""

import json
from dataclasses import dataclass
from typing import Any

import httpx2

from lumina.memory.scope import SubjectScope

JSON = {"content-type": "application/json"}
SUBJECT = "x-test-subject"  # stands for whatever tells who is asking


def whose(request) -> SubjectScope:
    return SubjectScope(tenant="local", subject=request.headers.get(SUBJECT, "me"))


@dataclass(kw_only=True)
class Client:
    """Speaks to the server as one person."""

    http: httpx2.AsyncClient
    address: str
    server: Any
    agent: Any

    async def get(self, path: str, **more):
        return await self.http.get(self.address + path, **more)

    async def send(self, method: str, path: str, body: object = None, **headers: str):
        content = b"" if body is None else json.dumps(body).encode()
        return await self.http.request(
            method, self.address + path, content=content, headers={**JSON, **headers}, timeout=60
        )

    async def begin(self) -> str:
        return (await self.send("POST", "/api/threads", {})).json()["id"]

    async def ask(self, thread: str, question: str, **more) -> dict:
        body = {"question": question, "client_id": question, **more}
        answer = await self.send("POST", f"/api/threads/{thread}/turns", body)
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def noted(self, thread: str) -> None:
        """Waits until the last turn's note is told in the conversation's own log."""
        scope = SubjectScope(tenant="local", subject="me").thread(thread)
        async for event in self.agent.thread_events(scope):
            if event.kind in ("title", "state.changed"):
                break
        await self.agent.noted()

    async def stream(self, path: str, last: str = "") -> bytes:
        """The whole body of a stream, as it came."""
        headers = {"last-event-id": last} if last else {}
        async with self.http.stream("GET", self.address + path, headers=headers, timeout=60) as response:
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            return b"".join([piece async for piece in response.aiter_raw()])


def told(body: bytes) -> list[tuple[str, dict]]:
    """The id and the data of every event of a stream."""
    found = []
    for block in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if fields:
            found.append((fields.get("id", ""), json.loads(fields["data"])))
    return found


def as_person(client: Client, person: str) -> Client:
    http = httpx2.AsyncClient(headers={SUBJECT: person}, trust_env=False)
    return Client(http=http, address=client.address, server=client.server, agent=client.agent)
