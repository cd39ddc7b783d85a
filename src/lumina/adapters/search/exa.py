"""Exa, with a key."""

from collections.abc import Mapping
from typing import Any

from lumina.adapters.search.answers import NotAnswered, Row, ask, found, listed
from lumina.agent.ports import Door, SearchResult
from lumina.memory.scope import SubjectScope

ADDRESS = "https://api.exa.ai"
KEY = "EXA_API_KEY"
TEXT = 1_500  # characters of a page's text that it is asked for


class Exa:
    """`key` is sent as a header and stands nowhere else."""

    name = "exa"

    def __init__(self, door: Door, key: str, *, url: str = ADDRESS) -> None:
        self._door, self._url = door, url
        self._headers = {"x-api-key": key}

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        body = {
            "query": query,
            "numResults": min(limit, 25),
            "contents": {"highlights": True, "text": {"maxCharacters": TEXT}},
        }
        try:
            answer = await ask(self._door, self.name, "POST", f"{self._url}/search", headers=self._headers, body=body,
                               key_setting=KEY)  # fmt: skip
        except NotAnswered as error:
            return error.result
        rows = (Row(url=each.get("url"), title=each.get("title"), text=_text(each))
                for each in listed(answer.get("results")))  # fmt: skip
        return found(self.name, rows, limit=limit, looked_through="It has nothing for these words.")


def _text(result: Mapping[str, Any]) -> object:
    marked = result.get("highlights")
    parts = [part for part in marked if isinstance(part, str)] if isinstance(marked, list) else []
    return " … ".join(parts) or result.get("text")
