"""One search of a turn: the providers in their order, each with its own ending.

The next one is asked when one fails, has nothing, or has only documents that hardly hold the question. Each provider
has its own deadline, and how it ended is an event of its own: what failed is not hidden by what came after. What
several found is put together, and a page that two of them found is one hit.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lumina.agent.evidence import evidence
from lumina.agent.ports import Empty, Failed, Found, Hit, SearchProvider, SearchResult
from lumina.memory.scope import SubjectScope

OF_DOCUMENTS = "doc:"  # how the locator of a local document begins
BESIDE = 2  # places of what was found before the last provider was asked
logger = logging.getLogger(__name__)
Begun = Callable[[str], Awaitable[None]]  # told the provider's name
Ended = Callable[[SearchResult], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDone:
    """`hits` best first; `endings` in the order in which the providers were asked, never empty."""

    hits: tuple[Hit, ...]
    endings: tuple[SearchResult, ...]


async def search_in_turn(
    providers: Sequence[SearchProvider], scope: SubjectScope, query: str, *, limit: int, seconds: float, begun: Begun,
    ended: Ended,
) -> SearchDone:  # fmt: skip
    """Asks until one has found enough. `begun` hears of each provider before it is asked, `ended` how
    it ended."""
    endings: list[SearchResult] = []
    for provider in providers:
        await begun(provider.name)
        endings.append(await _one(provider, scope, query, limit=limit, seconds=seconds))
        await ended(endings[-1])
        if _is_enough(endings[-1]):
            break
    return SearchDone(hits=_merged(endings, limit), endings=tuple(endings))


def _merged(endings: Sequence[SearchResult], limit: int) -> tuple[Hit, ...]:
    """What was found last comes first: it was enough. What was found before it keeps a few places."""
    seen: set[str] = set()
    found: list[list[Hit]] = []
    for ending in reversed(endings):
        if isinstance(ending, Found):
            found.append(_new(ending.hits, seen))
    first, rest = (found[0], [hit for hits in found[1:] for hit in hits]) if found else ([], [])
    return tuple([*first[: limit - min(BESIDE, len(rest))], *rest][:limit])


async def _one(
    provider: SearchProvider, scope: SubjectScope, query: str, *, limit: int, seconds: float
) -> SearchResult:
    """How one provider ended. Whatever it does wrong is a failure."""
    try:
        async with asyncio.timeout(seconds):
            result = await provider.search(scope, query, limit=limit)
    except TimeoutError:
        return Failed(provider=provider.name, reason=f"No answer within {seconds:g} seconds.", retry=True)
    except Exception as error:
        logger.warning("the search provider %s failed", provider.name, exc_info=True)
        return Failed(provider=provider.name, reason=f"It broke off ({type(error).__name__}).", retry=False)
    if isinstance(result, Found) and not result.hits:
        return Failed(provider=result.provider, reason="It claims hits and gave none.", retry=False)
    return result


def _is_enough(result: SearchResult) -> bool:
    """Documents are found by any word of the question; those that hardly hold it do not keep the web from being asked.
    What another provider found is taken at its word: it gives no measure of its own."""
    if isinstance(result, Empty | Failed):
        return False
    own = [hit for hit in result.hits if hit.locator.startswith(OF_DOCUMENTS)]
    return len(own) < len(result.hits) or evidence(own) != "thin"


def _new(hits: Sequence[Hit], seen: set[str]) -> list[Hit]:
    """Those whose source nobody found before. Several passages of one document are several hits; a page of the web is
    one."""
    kept: list[Hit] = []
    before = frozenset(seen)
    for hit in hits:
        if hit.locator not in (before if hit.locator.startswith(OF_DOCUMENTS) else seen):
            kept.append(hit)
        seen.add(hit.locator)
    return kept
