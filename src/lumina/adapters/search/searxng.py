"""SearXNG: a search engine of one's own, which asks others.

It answers in JSON only where its settings allow that format, and refuses with 403 otherwise. When the engines that it
asks do not answer, it still answers with an empty list and names them: that is a failure, and not "nothing there".
"""

from urllib.parse import urlencode

from lumina.adapters.search.answers import NotAnswered, Row, ask, found, listed
from lumina.agent.ports import Door, Empty, Failed, SearchResult
from lumina.memory.scope import SubjectScope
from lumina.memory.visible_text import one_line

NAMED = 5  # engines that are named in a reason


class SearXNG:
    """Asks the instance at `url`, through the door to it."""

    name = "searxng"

    def __init__(self, door: Door, url: str) -> None:
        self._door = door
        self._url = url.rstrip("/")

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        asked = urlencode({"q": query, "format": "json", "safesearch": "1"})
        try:
            answer = await ask(self._door, self.name, "GET", f"{self._url}/search?{asked}",
                               headers={"accept": "application/json"})  # fmt: skip
        except NotAnswered as error:
            return _explained(error.result)
        rows = (Row(url=each.get("url"), title=each.get("title"), text=each.get("content"))
                for each in listed(answer.get("results")))  # fmt: skip
        result = found(self.name, rows, limit=limit, looked_through="None of its engines has anything.")
        silent = _silent(answer.get("unresponsive_engines"))
        if isinstance(result, Empty) and silent:
            return Failed(provider=self.name, reason=f"The engines that it asks did not answer: {silent}.", retry=True)
        return result


def _explained(result: Failed) -> Failed:
    if "(403)" not in result.reason:
        return result
    reason = "It refuses answers in JSON (403). In its settings.yml add `json` under search: formats:, and restart it."
    return Failed(provider=result.provider, reason=reason, retry=False)


def _silent(value: object) -> str:
    if not isinstance(value, list):
        return ""
    told = []
    for each in value[:NAMED]:
        parts = each if isinstance(each, list | tuple) else [each]
        words = [one_line(part, 60) for part in parts if isinstance(part, str)]
        told.append(f"{words[0]} ({words[1]})" if len(words) > 1 else " ".join(words))
    return ", ".join(word for word in told if word)
