"""Source data that an earlier program hid in its answers, `<!--SOURCES:[{...}]-->`, turned into fields once.

Only the last such comment at the end of an assistant's message counts, and only if it is well-formed JSON. Everything
else stays text: the same words typed by a user, or in the middle of an answer. Exactly the markers that the answer's
own list defines are rewritten to the thread's numbers; code, links and numbers that the list does not define stay.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from lumina.agent.citation_markers import OPENERS, Marker, begins_address, read_marker
from lumina.agent.code_spans import run_end, span_end, target_end

OPEN, CLOSE = "<!--SOURCES:", "-->"
MOST = 500  # sources of one answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A source as the answer's list has it. `k`: how the answer's own markers call it."""

    k: int
    url: str
    title: str
    host: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """An answer without its comment; `problem` says why a comment, or a part of one, was not taken."""

    answer: str
    listed: tuple[Listed, ...] = ()
    problems: tuple[str, ...] = ()


def take_sources(text: str) -> Taken:
    """The list at the end of an answer, and the answer without it."""
    whole = text.rstrip()
    at = whole.rfind(OPEN)
    if at < 0 or not whole.endswith(CLOSE):
        problem = ("a source list that does not end the answer stays text",) if at >= 0 else ()
        return Taken(answer=text, problems=problem)
    try:
        rows = json.loads(whole[at + len(OPEN) : -len(CLOSE)])
    except (ValueError, RecursionError):
        return Taken(answer=text, problems=("its source list is no JSON and stays text",))
    if not isinstance(rows, list) or len(rows) > MOST or not all(isinstance(row, dict) for row in rows):
        return Taken(answer=text, problems=("its source list is no list of sources and stays text",))
    listed: list[Listed] = []
    problems: list[str] = []
    for place, row in enumerate(rows, 1):
        k = next((row[key] for key in ("n", "id", "number", "index") if _is_number(row.get(key))), place)
        url = canonical(row.get("url") or row.get("link"))
        if url is None:
            problems.append(f"source {k} of its list has no http(s) address: its markers stay as they are")
        elif any(one.k == k for one in listed):
            problems.append(f"its list defines [{k}] twice: the first counts")
        else:
            title = _string(row, "title", "name") or url
            text_of = _string(row, "content", "snippet", "text", "description")
            listed.append(Listed(k=k, url=url, title=title, host=urlsplit(url).hostname or "", text=text_of))
    return Taken(answer=whole[:at].rstrip(), listed=tuple(listed), problems=tuple(problems))


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000


def _string(row: Mapping[str, object], *keys: str) -> str:
    found = next((row[key] for key in keys if isinstance(row.get(key), str) and row[key]), "")
    return "".join(c for c in str(found) if c != "\0" and not "\ud800" <= c <= "\udfff")


def canonical(url: object) -> str | None:
    """One spelling of an absolute http(s) address without user name; None for anything else (CASES O2)."""
    if (
        not isinstance(url, str)
        or len(url) > 4000
        or "\\" in url
        or any(c <= " " or "\x7f" <= c <= "\xa0" for c in url)
    ):
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        url.encode()
    except (ValueError, UnicodeEncodeError):
        return None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return None
    plain = port is None or (parts.scheme, port) in (("http", 80), ("https", 443))
    shown = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, shown if plain else f"{shown}:{port}", parts.path or "/", parts.query, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """`cited`: (number in the thread, offset) of each marker in the new text. `kept`: markers left as they were."""

    text: str
    cited: tuple[tuple[int, int], ...]
    kept: tuple[str, ...]


def rewrite(text: str, numbers: Mapping[int, int]) -> Rewritten:
    """`numbers`: from the list's own number to the thread's. A group is rewritten only if the list defines it all."""
    out: list[str] = []
    length, at = 0, 0
    cited: list[tuple[int, int]] = []
    kept: list[str] = []

    def put(piece: str) -> None:
        nonlocal length
        out.append(piece)
        length += len(piece)

    while at < len(text):
        end = _left_alone(text, at)
        if end is None and text[at] in OPENERS:
            found = read_marker(text, at, final=True)
            if isinstance(found, Marker):
                end = found.end
                if _is_link(text, found):
                    pass
                elif found.numbers and all(k in numbers for k in found.numbers):
                    for k in found.numbers:
                        cited.append((numbers[k], length))
                        put(f"[{numbers[k]}]")
                    at = end
                    continue
                else:
                    kept.append(text[at:end])
        end = at + 1 if end is None else end
        put(text[at:end])
        at = end
    return Rewritten(text="".join(out), cited=tuple(cited), kept=tuple(kept))


def _is_link(text: str, marker: Marker) -> bool:
    after = text[marker.end : marker.end + 1]
    if not marker.linkable or after not in ("(", ":", "["):
        return False
    if after == "[":
        return False
    begin = marker.end + 1 + (after == ":" and text[marker.end + 1 : marker.end + 2] == " ")
    return bool(begins_address(text, begin, final=True))


def _left_alone(text: str, at: int) -> int | None:
    """The end of the code or the target of a link that begins at `at`; None: it is prose."""
    if text[at] in "`~":
        ticks = run_end(text, at, final=True) or at + 1
        line = text.rfind("\n", 0, at) + 1
        if ticks - at >= 3 and not text[line:at].strip(" \t>-*+0123456789."):
            close = text.find("\n" + text[at:ticks], ticks)
            return len(text) if close < 0 else close + 1 + ticks - at
        if text[at] == "`":
            return span_end(text, ticks, ticks - at, final=True) or ticks
        return ticks
    if text.startswith("](", at):
        return target_end(text, at + 2, 1, final=True) or at + 1
    return None
