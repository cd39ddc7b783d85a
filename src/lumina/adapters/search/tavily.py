"""Tavily, with a key."""

from lumina.adapters.search.answers import NotAnswered, Row, ask, found, listed
from lumina.agent.ports import Door, SearchResult
from lumina.memory.scope import SubjectScope

ADDRESS = "https://api.tavily.com"
KEY = "TAVILY_API_KEY"


class Tavily:
    """`key` is sent as a header and stands nowhere else."""

    name = "tavily"

    def __init__(self, door: Door, key: str, *, url: str = ADDRESS) -> None:
        self._door, self._url = door, url
        self._headers = {"authorization": f"Bearer {key}"}

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        body = {"query": query, "max_results": min(limit, 20), "search_depth": "basic"}
        try:
            answer = await ask(self._door, self.name, "POST", f"{self._url}/search", headers=self._headers, body=body,
                               key_setting=KEY)  # fmt: skip
        except NotAnswered as error:
            return error.result
        rows = (Row(url=each.get("url"), title=each.get("title"), text=each.get("content"))
                for each in listed(answer.get("results")))  # fmt: skip
        return found(self.name, rows, limit=limit, looked_through="It has nothing for these words.")
