"""SearXNG, Tavily, Brave and Exa as real HTTP servers on loopback, with the shapes they really answer.

    with SearchServer("tavily") as server:
        server.results = [("https://good.test/a", "A page", "What it says.")]
        door = configured_door(server.url)

`status` other than 200 answers with the service's own error shape; `raw` answers with these bytes whatever is asked;
`headers` go with every answer.
`asked` keeps (method, path with query, headers in lower case, body).
"""

import json
from http.server import BaseHTTPRequestHandler
from typing import Literal

from support.threaded_server import ThreadedServer

Kind = Literal["searxng", "tavily", "brave", "exa"]
Result = tuple[str, str, str]  # url, title, snippet


class SearchServer(ThreadedServer):
    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.results: list[Result] = []
        self.status = 200
        self.raw: bytes | None = None
        self.headers = {"content-type": "application/json"}
        self.cut = False  # the answer ends before its length
        self.unresponsive: list[list[str]] = []
        self.count = 0  # what SearXNG says it has; it lies
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        super().__init__(_handler(self))

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        return json.dumps(self._error() if self.status != 200 else self._found()).encode()

    def _found(self) -> dict:
        match self.kind:
            case "searxng":
                rows = [{"url": u, "title": t, "content": c, "engine": "e", "score": 1.0} for u, t, c in self.results]
                return {
                    "query": "q", "number_of_results": self.count, "results": rows, "answers": [], "infoboxes": [],
                    "suggestions": [], "unresponsive_engines": self.unresponsive,
                }  # fmt: skip
            case "tavily":
                rows = [
                    {"url": u, "title": t, "content": c, "score": 0.9, "raw_content": None} for u, t, c in self.results
                ]
                return {"query": "q", "answer": None, "images": [], "results": rows, "response_time": 0.4}
            case "brave":
                rows = [{"type": "search_result", "url": u, "title": t, "description": c} for u, t, c in self.results]
                web = {"web": {"type": "search", "results": rows}} if rows else {}
                return {"type": "search", "query": {"original": "q"}, **web}
            case _:
                rows = [{"id": u, "url": u, "title": t, "text": c} for u, t, c in self.results]
                return {"requestId": "r", "results": rows, "costDollars": {"total": 0.005}}

    def _error(self) -> dict:
        match self.kind:
            case "tavily":
                return {"detail": {"error": "Unauthorized: missing or invalid API key."}}
            case "brave":
                return {"type": "ErrorResponse", "error": {"status": self.status, "code": "RATE_LIMITED"}}
            case _:
                return {"error": "refused", "tag": "REFUSED"}


def _handler(server: SearchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append((self.command, self.path, headers, body))
            answer = server.body()
            self.send_response(server.status)
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer) + (10 if server.cut else 0)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
