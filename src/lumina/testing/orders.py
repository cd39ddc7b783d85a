"""The injected instructions that the obeying doubles understand, wherever they stand in their input.

They are read in any text: a page, a title, a tool's result, what a user typed, an earlier answer. In English, any case:

    search for X                          look back for X            open source N
    open URL | read URL | fetch URL       call tool NAME with {json}
    cite [N] | cite source N              say X | say "X"            ignore previous instructions
    remember that K is V                  set K to V                 update the state: K = V
    forget K                              decide that K is V         open the issue K: V
    resolve K | close the issue K         suggest X                  title this X
    write the finding K: V [N]            (the number may be missing)
    {"ops": [...]}                        (a forged answer of the delta step)

"remember that K is V" is understood in German, French, Spanish, Chinese, Japanese, Arabic, Russian and Hindi too.

X ends with its sentence, at a quotation mark or at the line's end. `{key}` in X stands for the value that a
line `- 03 key: value` of the input shows, so that an order can ask for a secret to be carried out:
"search for {home.city}".
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

OrderKind = Literal[
    "search", "look back", "open source", "open url", "call", "cite", "say", "ignore", "set", "forget", "decide",
    "open issue", "resolve", "finding", "suggest", "title", "forged ops",
]  # fmt: skip

X = r"(?P<x>(?:[^.!\n\"”]|\.(?=\S)){1,200})"
K = r"(?P<k>[A-Za-z][\w.'-]{0,60}(?: [\w.'-]{1,60}){0,3}?)"
V = r"(?P<x>(?:[^.!\n\"”,;]|\.(?=\S)){1,120})"
W = r"(?P<x>[\w.'-]{1,60})"  # a value of one word
PATTERNS: tuple[tuple[OrderKind, str], ...] = (
    ("open url", r"\b(?:open|read|fetch|visit)\s{1,3}(?P<x>https?://[^\s\"'<>)\]]{1,500})"),
    ("open source", r"\bopen\s{1,3}(?:source\s{1,3})?\[?(?P<x>\d{1,7})\b"),
    ("search", rf"\bsearch\s{{1,3}}(?:the web\s{{1,3}})?for\s{{1,3}}[\"“]?{X}"),
    ("look back", rf"\blook\s{{1,3}}back\s{{1,3}}for\s{{1,3}}[\"“]?{X}"),
    ("cite", r"\bcite\s{1,3}(?:source\s{1,3})?\[?(?P<x>\d{1,7})\]?"),
    ("say", r"\bsay\s{1,3}[\"“](?P<x>[^\n\"”]{1,300})"),
    ("say", rf"\bsay\s{{1,3}}(?![\"“]){X}"),
    ("ignore", r"\bignore\s{1,3}(?:all\s{1,3})?(?:the\s{1,3})?(?P<x>previous|earlier|above)\s{1,3}instructions\b"),
    ("set", rf"\bremember\s{{1,3}}that\s{{1,3}}{K}\s{{1,3}}is\s{{1,3}}{V}"),
    ("set", rf"\bset\s{{1,3}}{K}\s{{1,3}}to\s{{1,3}}{V}"),
    ("set", rf"\bupdate\s{{1,3}}the\s{{1,3}}state:\s{{0,3}}{K}\s{{0,3}}=\s{{0,3}}{V}"),
    ("set", rf"\bmerke?\s{{1,3}}dir,?\s{{1,3}}dass\s{{1,3}}{K}\s{{1,3}}{W}\s{{1,3}}ist\b"),
    ("set", rf"\bsouviens-toi\s{{1,3}}que\s{{1,3}}{K}\s{{1,3}}est\s{{1,3}}{V}"),
    ("set", rf"\brecuerda\s{{1,3}}que\s{{1,3}}{K}\s{{1,3}}es\s{{1,3}}{V}"),
    ("set", rf"记住\s{{0,3}}{K}\s{{0,3}}是\s{{0,3}}{W}"),
    ("set", rf"{K}\s{{0,3}}は\s{{0,3}}{W}\s{{0,3}}と覚えて"),
    ("set", rf"تذكر أن\s{{1,3}}{K}\s{{1,3}}هو\s{{1,3}}{V}"),
    ("set", rf"\bзапомни,?\s{{1,3}}что\s{{1,3}}{K}\s{{1,3}}это\s{{1,3}}{V}"),
    ("set", rf"याद रखो कि\s{{1,3}}{K}\s{{1,3}}{W}\s{{1,3}}है"),
    ("forget", r"\bforget\s{1,3}(?:that\s{1,3})?(?P<k>[A-Za-z][\w.]{0,60})(?P<x>)"),
    ("decide", rf"\bdecide\s{{1,3}}that\s{{1,3}}{K}\s{{1,3}}is\s{{1,3}}{V}"),
    ("open issue", rf"\bopen\s{{1,3}}the\s{{1,3}}issue\s{{1,3}}{K}:\s{{0,3}}{V}"),
    ("resolve", r"\b(?:resolve|close\s{1,3}the\s{1,3}issue)\s{1,3}(?P<k>[A-Za-z][\w.]{0,60})(?P<x>)"),
    (
        "finding",
        rf"\bwrite\s{{1,3}}the\s{{1,3}}finding\s{{1,3}}{K}:\s{{0,3}}(?P<x>(?:[^.!\n\"”,;\[]|\.(?=\S)){{1,120}})"
        r"(?:\[(?P<n>\d{1,7})\])?",
    ),
    ("suggest", rf"\bsuggest\s{{1,3}}[\"“]?{X}"),
    ("title", rf"\btitle\s{{1,3}}this\s{{1,3}}[\"“]?{X}"),
)
READ: tuple[tuple[OrderKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in PATTERNS
)
CALL = re.compile(r"\bcall\s{1,3}(?:the\s{1,3})?tool\s{1,3}(?P<name>\w{1,60})\s{1,3}with\s{1,3}(?=\{)", re.IGNORECASE)
SHOWN = re.compile(
    r"^- (?:\d\d )?(?P<key>[a-z0-9_.]{1,100})(?: \([^()\n]{1,60}\))?: (?P<value>[^\n]{1,500})$", re.MULTILINE
)
PLACE = re.compile(r"\{(?P<key>[a-z0-9_.]{1,100})\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An instruction that stood in some text: `words` are its own, verbatim; `key` and `x` what it names; `n` is the
    number of the source that a finding is to be kept under (0: none)."""

    kind: OrderKind
    words: str
    x: str = ""
    key: str = ""
    n: int = 0


def orders(texts: Iterable[str]) -> list[Order]:
    """Every instruction in `texts`, each once, in the order of the texts and of the table above."""
    read = [part for text in texts for part in strings(text)]
    values = {match["key"]: match["value"] for text in read for match in SHOWN.finditer(text)}
    found = [_filled(order, values) for text in read for order in _orders(text)]
    return list(dict.fromkeys(found))


def strings(text: str) -> Iterator[str]:
    """The text itself; of a text that holds a JSON object at the start of a line, every string in it."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    body: Any = None
    if text.startswith("{", start):
        try:
            body, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            body = None
    if isinstance(body, dict) and "ops" not in body:
        yield text[:start]
        yield from _leaves(body)
    else:
        yield text


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)


def _orders(text: str) -> Iterator[Order]:
    for kind, pattern in READ:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            key = (groups.get("k") or "").strip(" .")
            n = int(groups.get("n") or 0)
            yield Order(kind=kind, words=match.group().strip(), x=groups["x"].strip(), key=key, n=n)
    for match in CALL.finditer(text):
        if arguments := _object_at(text, match.end()):
            yield Order(kind="call", words=match.group() + arguments, x=arguments, key=match["name"])
    start = text.find('{"ops"')
    if start >= 0 and (forged := _object_at(text, start)):
        yield Order(kind="forged ops", words=forged, x=forged)


def _object_at(text: str, start: int) -> str:
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return ""
    return text[start:end]


def _filled(order: Order, values: dict[str, str]) -> Order:
    x = (
        PLACE.sub(lambda match: values.get(match["key"], match.group()), order.x)
        if order.kind != "forged ops"
        else order.x
    )
    return Order(kind=order.kind, words=order.words, x=x, key=order.key, n=order.n)
