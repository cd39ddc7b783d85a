"""What a search provider answered, read as what it is: a stranger's words.

Sizes are bounded, fields may be missing or of any type, an address is taken only if a browser would open it, and two
addresses of one page are one hit. The three endings stay apart: found; empty, when the provider says that it has
nothing; failed, with a reason that says what to do. A count that a provider claims is not believed; what came counts.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lumina.agent.ports import Answered, Door, Empty, Failed, Found, Hit, SearchResult
from lumina.agent.web_address import WebAddress
from lumina.memory.errors import ProviderError, UsageError
from lumina.memory.visible_text import one_line

LARGEST = 2_000_000  # bytes of an answer
SECONDS = 15.0
USED_UP = frozenset({402, 432, 433})  # the last two are Tavily's, for a plan and for a budget
SNIPPET = 2_000  # characters of one snippet
TITLE = 300  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result as a provider gave it. `url`, `title` and `text` may be of any type."""

    url: object
    title: object
    text: object


class NotAnswered(Exception):
    """The provider did not answer the question; `result` says why."""

    def __init__(self, result: Failed) -> None:
        super().__init__(result.reason)
        self.result = result


async def ask(
    door: Door, provider: str, method: Literal["GET", "POST"], url: str, *, key_setting: str = "",
    headers: Mapping[str, str] | None = None, body: object = None,
) -> dict[str, Any]:  # fmt: skip
    """The provider's answer as a JSON object. Raises NotAnswered. `key_setting` names what to mend when the key is
    refused."""
    try:
        answer = await door.send(method, url, headers=headers, json=body, limit=LARGEST, seconds=SECONDS)
    except ProviderError as error:
        raise NotAnswered(Failed(provider=provider, reason=str(error), retry=error.retry)) from error
    if reason := _refusal(answer, key_setting):
        retry = answer.status == 429 or answer.status >= 500
        raise NotAnswered(Failed(provider=provider, reason=reason, retry=retry))
    if answer.cut:
        raise NotAnswered(
            Failed(provider=provider, reason=f"Its answer is larger than {LARGEST:,} bytes.", retry=False)
        )
    try:
        read = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise NotAnswered(Failed(provider=provider, reason=_no_json(answer), retry=False)) from None
    if not isinstance(read, dict):
        raise NotAnswered(
            Failed(provider=provider, reason="Its answer is not the JSON object it should be.", retry=False)
        )
    return read


def _refusal(answer: Answered, key_setting: str) -> str:
    status = answer.status
    if status == 200:
        return ""
    if status in (401, 403) and key_setting:
        return f"It refuses the key ({status}). Check {key_setting}."
    if status in USED_UP:
        return f"It wants to be paid ({status}): the searches of the plan are used up. See your account there."
    if status == 429:
        wait = answer.headers.get("retry-after", "")
        when = f" in {wait} seconds" if wait.isascii() and wait.isdigit() and len(wait) < 6 else " later"
        return f"It takes no more searches for now (429). Try again{when}."
    if status >= 500:
        return f"It has a fault of its own ({status}). Try again later."
    return f"It did not accept the search ({status})."


def _no_json(answer: Answered) -> str:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html" or answer.body.lstrip()[:1] == b"<":
        return "It answered with a web page instead of results: perhaps a login, a captcha or a wrong address."
    return "Its answer cannot be read."


def listed(value: object) -> list[Mapping[str, Any]]:
    """The objects in what should be a list of them."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def found(provider: str, rows: Iterable[Row], *, limit: int, looked_through: str) -> SearchResult:
    """The hits of `rows`, best first, each page once. Empty when there were none; Failed when there were some of
    which none can be used."""
    hits: dict[str, Hit] = {}
    seen = 0
    for row in rows:
        seen += 1
        hit = _hit(row)
        if hit is not None:
            hits.setdefault(hit.locator, hit)
        if len(hits) == limit:
            break
    if hits:
        return Found(provider=provider, hits=tuple(hits.values()))
    if seen:
        return Failed(provider=provider, reason="It gave results without an address that could be opened.", retry=False)
    return Empty(provider=provider, reason=looked_through)


def _hit(row: Row) -> Hit | None:
    if not isinstance(row.url, str):
        return None
    try:
        address = WebAddress.of(row.url)
    except UsageError:
        return None
    text = _text(row.text, SNIPPET)
    title = _text(row.title, TITLE) or address.short_host()
    shown = text or title  # a hit without a snippet is still a page that can be read
    return Hit(
        locator=address.canonical, url=address.url, title=title, host=address.short_host(), depth="snippet",
        stored=shown, start=0, end=len(shown),
    )  # fmt: skip


def _text(value: object, limit: int) -> str:
    """One line of what a stranger wrote; half characters and NUL, which no database keeps, are left out."""
    if not isinstance(value, str):
        return ""
    kept = value[: 4 * limit].encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")
    return one_line(kept, limit)
