"""Web search without a key, by the package `ddgs` (extra `web`): it reads the result pages of public search engines.

The package brings an HTTP client of its own, which shows itself as a browser; it takes no other. So this is the one
adapter that does not go through a door. What that costs is bounded: the package asks fixed hosts of search engines and
nothing that a page or a model names, only the query goes in, results are read like any stranger's, and pages are
fetched by the guarded client all the same. It works in a thread, with a limit; engines may answer with captchas, and
then the search has failed and says so.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from lumina.adapters.search.answers import Row, found, listed
from lumina.agent.ports import Empty, Failed, SearchResult
from lumina.memory.errors import UsageError
from lumina.memory.scope import SubjectScope
from lumina.memory.visible_text import one_line

SECONDS = 8  # for one engine
NOTHING = "No results found"
# An engine that shows a captcha instead of results looks to the package like one that has none.
EMPTY = "The search engines gave nothing for these words; asked without a key, they do not always say why."
Ask = Callable[[str, int], list[dict[str, Any]]]


class DDGS:
    """`ask` returns rows with `href`, `title` and `body`, or raises; the package's search by default. UsageError when
    the package is not installed."""

    name = "ddgs"

    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask or _by_package()

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        try:
            rows = await asyncio.to_thread(self._ask, query, limit)
        except Exception as error:  # the package raises whatever its engines do
            return _ended(self.name, error)
        read = (Row(url=each.get("href"), title=each.get("title"), text=each.get("body")) for each in listed(rows))
        return found(self.name, read, limit=limit, looked_through=EMPTY)


def _by_package() -> Ask:
    try:
        from ddgs import DDGS as Package
    except ImportError as error:
        raise UsageError(
            "Searching the web without a key needs the package ddgs, which is not installed: "
            "pip install 'lumina-search[web]'."
        ) from error

    def ask(query: str, limit: int) -> list[dict[str, Any]]:
        return Package(timeout=SECONDS).text(query, max_results=limit)

    return ask


def _ended(provider: str, error: Exception) -> SearchResult:
    kind, said = type(error).__name__, one_line(str(error), 200)
    if said.startswith(NOTHING):
        return Empty(provider=provider, reason=EMPTY)
    if kind == "RatelimitException":
        return Failed(provider=provider, reason="The search engines take no more searches for now.", retry=True)
    if kind in ("TimeoutException", "TimeoutError"):
        return Failed(provider=provider, reason="The search engines did not answer in time.", retry=True)
    return Failed(
        provider=provider, retry=True,
        reason="No search engine could be asked: perhaps there is no network, or they want a captcha.",
    )  # fmt: skip
