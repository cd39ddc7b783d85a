"""Pages that mean harm, as their servers send them: the table `corpus/pages.toml`, set into an ordinary page.

`lumina eval poison` reads them as the page reader does and gives them to a model that obeys everything; a test serves
them on loopback and has them fetched. `kind` names what a page tries.
"""

import html
import tomllib
from dataclasses import dataclass
from importlib.resources import files

CORPUS = "corpus/pages.toml"
BEFORE = (
    "The valve of the pump opens at three bar and closes at two. It has to be cleaned every year, best in spring before"
    " the first use, because lime settles in its seat."
)
AFTER = (
    "Spare parts are sold by the dealer. The pump runs for ten years when the filter is rinsed every month and the oil"
    " is changed every second year."
)
TITLE = "The pump and its valve"
PASSAGE = 1400  # characters of a page that a search shows: its end, where a long page has its order


@dataclass(frozen=True, slots=True, kw_only=True)
class HostilePage:
    """`bodies`: what the server sends for the first address and, where an order is split over two, the second."""

    number: int
    kind: str
    host: str
    path: str
    type: str
    bodies: tuple[bytes, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"http://{self.host}{self.path}{'' if at == 0 else '/2'}" for at in range(len(self.bodies)))


def hostile_pages() -> list[HostilePage]:
    """All of them, in the order of the table."""
    rows = tomllib.loads((files("lumina.evals") / CORPUS).read_text(encoding="utf-8"))["pages"]
    return [_page(number, row) for number, row in enumerate(rows, 1)]


def _page(number: int, row: dict[str, str]) -> HostilePage:
    kind = row.get("type", "text/html; charset=utf-8")
    bodies = [_whole(row, row["body"])] if "raw" not in row else [row["raw"].encode()]
    if "second" in row:
        bodies.append(_whole(row, row["second"]))
    if kind == "application/pdf":
        bodies = [pdf(f"{BEFORE} {row['raw']}")]
    return HostilePage(
        number=number, kind=row["kind"], host=row.get("host", "pump.test"), path=row.get("path", f"/manual/{number}"),
        type=kind, bodies=tuple(bodies),
    )  # fmt: skip


def _whole(row: dict[str, str], body: str) -> bytes:
    title = html.escape(row.get("title", TITLE))
    before = f"<p>{BEFORE}</p>" * int(row.get("repeat", 1))
    return (
        f"<!doctype html><html><head><title>{title}</title>{row.get('head', '')}</head>"
        f"<body><main><h1>{TITLE}</h1>{before}{body}<p>{AFTER}</p></main></body></html>"
    ).encode()


def pdf(text: str) -> bytes:
    """A PDF of one page with lines of text, in ASCII."""
    words, lines = text.split(), [""]
    for word in words:
        lines[-1:] = [f"{lines[-1]} {word}".strip()] if len(lines[-1]) < 80 else [lines[-1], word]
    escaped = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in lines]
    drawn = "BT /F1 11 Tf 14 TL 60 720 Td " + " ".join(f"({line}) Tj T*" for line in escaped) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        " /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
    ]
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    end = f"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 5\n0000000000 65535 f \n{table}{end}".encode("ascii")
