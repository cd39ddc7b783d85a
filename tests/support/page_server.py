"""Pages of the web as a real HTTP server on loopback; what it does not have is 404, its robots.txt too."""

from http.server import BaseHTTPRequestHandler

from support.threaded_server import ThreadedServer


class PageServer(ThreadedServer):
    """`asked` holds the paths that were asked for. `place` is host and port, as LUMINA_WEB_ALLOW takes them."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages
        self.asked: list[str] = []
        super().__init__(_handler(self))


def article(title: str, *paragraphs: str) -> str:
    inner = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{inner}</article></body></html>"


def _handler(server: PageServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            page = server.pages.get(self.path)
            body = (page or "").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
