"""A search that plays given results, in order, and keeps what it was asked.

search = RecordedSearch([
    [page("A title", "What the page says.", url="https://example.org/a")],   # found
    Empty(provider="recorded", reason="12 pages were looked through"),
    Failed(provider="recorded", reason="401", retry=False),
    lambda query: [page("About " + query, query)],                           # decides when it is asked
])
"""

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from lumina.agent.ports import Depth, Empty, Failed, Found, Hit, SearchResult
from lumina.memory.scope import SubjectScope
from lumina.testing.gates import Gate

Played = SearchResult | Sequence[Hit] | Exception
Answer = Played | Callable[[str], Played]


class RecordedSearch:
    """A SearchProvider. After the last of `answers` it repeats that one; without any it finds nothing.

    An exception is raised, as no provider should. `asked` holds (scope, query, limit) of every search; a `gate` holds
    every answer back until it is opened.
    """

    def __init__(self, answers: Iterable[Answer] = (), *, gate: Gate | None = None, name: str = "recorded") -> None:
        self.name = name
        self.asked: list[tuple[SubjectScope, str, int]] = []
        self._answers = list(answers)
        self._gate = gate

    @property
    def queries(self) -> list[str]:
        """The queries alone."""
        return [query for _, query, _ in self.asked]

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult:
        self.asked.append((scope, query, limit))
        number = len(self.asked)
        if self._gate:
            await self._gate.passed()
        if not self._answers:
            return Empty(provider=self.name, reason="nothing was recorded")
        answer = self._answers[min(number, len(self._answers)) - 1]
        result = answer(query) if callable(answer) else answer
        if isinstance(result, Exception):
            raise result
        if isinstance(result, Found | Empty | Failed):
            return result
        return Found(provider=self.name, hits=tuple(result)[:limit])


def page(
    title: str,
    text: str,
    *,
    url: str = "",
    stored: str = "",
    heading: str = "",
    depth: Depth = "snippet",
    score: float = 1.0,
    coverage: float = 1.0,
) -> Hit:
    """A hit whose passage is `text`. `stored` is the whole page and must hold it; without one, `text` is all there is.

    Without a `url` it is a local document named after its title.
    """
    whole = stored or text
    start = whole.find(text)
    if start < 0:
        raise ValueError("`stored` does not hold `text`.")
    return Hit(
        locator=url or f"doc:{title}",
        url=url or f"file:///{title}",
        title=title,
        host=urlsplit(url).netloc if url else "documents",
        depth=depth,
        stored=whole,
        start=start,
        end=start + len(text),
        heading=heading,
        score=score,
        coverage=coverage,
    )
