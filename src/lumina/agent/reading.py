"""Which page of the web a model may have read: one that a search of this turn found, or one that the user typed.

The model names it by its number, or by the address that stands in the question; code looks the address up. An address
that a model put together is not opened, whatever it leads to: with it, a page could have what is remembered carried to
a server of its choice (CASES I5).
"""

import re
from dataclasses import dataclass

from lumina.agent.web_address import WebAddress
from lumina.memory.errors import UsageError

TYPED = re.compile(r"https?://[^\s<>\"'`]{1,4000}", re.IGNORECASE)
MOST = 20  # addresses of one question
CLOSING = ".,;:!?)]}»”’"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A page that may be read. `locator` gives it its number; `host` is shown."""

    locator: str
    url: str
    host: str


def typed_addresses(question: str) -> dict[str, WebAddress]:
    """The addresses in a question, by their canonical form. What a sentence puts behind one is not part of it."""
    found: dict[str, WebAddress] = {}
    for match in list(TYPED.finditer(question))[:MOST]:
        text = match.group()
        # A bracket that the address opens itself belongs to it: .../Python_(language)
        while text[-1:] in CLOSING and not (text[-1] == ")" and text.count("(") >= text.count(")")):
            text = text[:-1]
        try:
            address = WebAddress.of(text)
        except UsageError:
            continue
        found[address.canonical] = address
    return found
