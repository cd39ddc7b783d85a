"""A conversation as Markdown, for people: questions, answers with their [n], and the sources under the same numbers.

Nothing of how it is stored is in it: no marker, no id, no status but what a reader must know.
"""

from lumina.cli.screen import flat, safe
from lumina.memory.scope import ThreadScope
from lumina.memory.store import Store
from lumina.memory.turns import TurnPage

AT_ONCE = 100  # turns
SPECIAL = str.maketrans({c: "\\" + c for c in "\\`*_[]<>#"})


async def markdown_of(store: Store, scope: ThreadScope) -> tuple[str, int]:
    """The text, and how many turns it has."""
    info = await store.thread_info(scope)
    out = [f"# {_line(info.title or info.thread)}\n"]
    count = 0
    for first in range(1, info.turns + 1, AT_ONCE):
        for page in await store.page(scope, first=first, last=first + AT_ONCE - 1):
            count += 1
            out.append(_turn(page) if isinstance(page, TurnPage) else f"## (turn {page.seq} cannot be read)\n")
    sources = await store.sources(scope)
    if sources:
        out.append("## Sources\n")
        out += [f"{_source(source.n, source.title, source.host, source.url)}\n" for source in sources]
    return "\n".join(out), count


def _turn(page: TurnPage) -> str:
    if page.forgotten:
        return f"## (forgotten on {page.forgotten})\n"
    asked = safe(page.question).split("\n")
    head, rest = _line(asked[0]) or "…", "\n".join(asked[1:]).strip()
    ending = {"partial": f"*(stopped here: {_line(page.reason)})*", "failed": "*(no answer was given)*",
              "running": "*(still being answered)*"}.get(page.status, "")  # fmt: skip
    parts = [f"## {head}", rest, safe(page.answer).strip(), ending]
    return "\n\n".join(part for part in parts if part) + "\n"


def _source(n: int, title: str, host: str, url: str) -> str:
    where = f" ({_line(host)})" if host else ""
    link = f" <{safe(url)}>" if url.startswith(("http://", "https://")) and not set(url) & set("<> \n\t") else ""
    return f"[{n}] {_line(title)}{where}{link}"


def _line(text: str) -> str:
    return flat(text).strip().translate(SPECIAL)
