"""Brave Search, with a key."""

from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import urlencode

from lumina.adapters.search.answers import NotAnswered, Row, ask, found, listed
from lumina.agent.ports import Door, SearchResult
from lumina.memory.scope import SubjectScope

ADDRESS = "https://api.search.brave.com"
KEY = "BRAVE_API_KEY"
OTHER_KEY = "BRAVE_SEARCH_API_KEY"  # as other programs call it
LONGEST = 400  # characters that it takes
LONGEST_TEXT = 20_000  # characters of a result that are looked at


class Brave:
    """`key` is sent as a header and stands nowhere else."""

    name = "brave"

    def __init__(self, door: Door, key: str, *, url: str = ADDRESS) -> None:
        self._door, self._url = door, url
        self._headers = {"x-subscription-token": key, "accept": "application/json"}

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        asked = urlencode({"q": query[:LONGEST], "count": min(limit, 20), "text_decorations": "false"})
        try:
            answer = await ask(self._door, self.name, "GET", f"{self._url}/res/v1/web/search?{asked}",
                               headers=self._headers, key_setting=KEY)  # fmt: skip
        except NotAnswered as error:
            return error.result
        web = answer.get("web")
        results = listed(web.get("results")) if isinstance(web, dict) else []
        rows = (Row(url=each.get("url"), title=_plain(each.get("title")), text=_text(each)) for each in results)
        return found(self.name, rows, limit=limit, looked_through="It has nothing for these words.")


def _text(result: Mapping[str, Any]) -> str:
    more = result.get("extra_snippets")
    parts = [result.get("description"), *(more if isinstance(more, list) else ())]
    return _plain(" … ".join(part for part in parts if isinstance(part, str) and part))


def _plain(text: Any) -> Any:
    """It writes titles and descriptions as HTML does: `&#x27;` is an apostrophe."""
    return unescape(text[:LONGEST_TEXT]) if isinstance(text, str) else text
