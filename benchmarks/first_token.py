"""What does Lumina add to the first word of a model's answer?

A server in a process of its own streams an answer as OpenAI does, its first word at once. In one run and by turns, a
bare client reads the stream, and Lumina answers a turn on a SQLite file that holds 200 turns: from the call of `ask` to
the first `text` event that a reader gets. The server notes when each request arrives, which tells how much lies before
the request (question kept, context built, receipt stored) and how much after it (stream read, text committed, read).
The question stays with the last turns, so that nothing is recalled.

    python benchmarks/first_token.py [--turns 200] [--times 60] [--json]
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

WORDS = "Lumina keeps the last turns word for word and a small state beside them. ".split(" ")


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(delta: dict, finish: str | None = None) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}  # fmt: skip
    data = b"data: " + json.dumps(body).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def serve(told: Connection) -> None:
    """Answers every request in the same way, and says when it came."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
                await reader.readexactly(length)
                came = time.perf_counter()
                writer.write(HEAD)
                writer.write(chunk({"role": "assistant", "content": ""}) + chunk({"content": WORDS[0] + " "}))
                await writer.drain()
                told.send(came)
                for word in WORDS[1:]:
                    writer.write(chunk({"content": word + " "}))
                writer.write(chunk({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def bare(url: str, told: Connection) -> tuple[float, float]:
    """Seconds to the request at the server, and from there to the first word."""
    import httpx2

    messages = [{"role": "user", "content": "How large is the cache? " * 300}]
    body = {"model": "m", "stream": True, "messages": messages}
    async with httpx2.AsyncClient(trust_env=False) as client:
        began = time.perf_counter()
        async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
            async for line in response.aiter_lines():
                if WORDS[0] in line:
                    break
        first = time.perf_counter()
    came = told.recv()
    return came - began, first - came


async def measured(turns: int, times: int, url: str, told: Connection) -> dict[str, list[tuple[float, float]]]:
    from lumina.memory.scope import ThreadScope
    from lumina.testing import RecordedSearch, ScriptedNotes
    from lumina.wiring import open_agent

    scope = ThreadScope(tenant="local", subject="me", thread="main")
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "lumina": []}
    with tempfile.TemporaryDirectory() as folder:
        async with await open_agent(
            database=Path(folder) / "lumina.db", model="openai:m", model_url=url, search=RecordedSearch([]),
            notes=ScriptedNotes(),
        ) as agent:  # fmt: skip
            for n in range(turns):
                await (await agent.ask(scope, f"Case k{n}: it reads r{n} today, is that fine?")).ended()
                await agent.noted()
                told.recv()
            for _ in range(times):
                found["bare"].append(await bare(url, told))
                began = time.perf_counter()
                run = await agent.ask(scope, "Thank you. And what would you do next?")
                first = 0.0
                async for event in run.events():
                    if event.kind == "text" and not first:
                        first = time.perf_counter()
                came = told.recv()
                found["lumina"].append((came - began, first - came))
                await agent.noted()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    found = asyncio.run(measured(options.turns, options.times, url, ours))
    server.terminate()
    rows = {}
    for name, times in found.items():
        columns = [[before for before, _ in times], [after for _, after in times], [sum(each) for each in times]]
        rows[name] = [round(1000 * statistics.median(column), 1) for column in columns]
        rows[name].append(round(1000 * statistics.quantiles(columns[2], n=20)[-1], 1))
    pairs = zip(found["lumina"], found["bare"], strict=True)
    added = round(statistics.median(1000 * (sum(ours) - sum(bare)) for ours, bare in pairs), 1)
    if options.json:
        print(json.dumps({"turns": options.turns, "times": options.times, "ms": rows, "added_median_ms": added}))
        return
    print("| | to the request, ms | from there to the first word, ms | in all, ms | 95 of 100 within, ms |")
    print("|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(map(str, row)) + " |")
    print(f"\nadded, median of pairs: {added} ms")


if __name__ == "__main__":
    main()
