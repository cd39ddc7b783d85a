"""What of a page nobody sees, taken out before its text is read (case X6).

A page can speak to a model behind its reader's back: in comments, in elements that are not displayed, in white letters
on white, in alternative texts and in data for search engines. What goes is decided from the page alone: elements that
are never shown, attributes and inline styles that hide, and rules of the page's own style sheets that say so about a
plain class or id. A style sheet from elsewhere is not fetched, and no script is run.
"""

import itertools
import re

import lxml.html as html

NEVER = (
    "script style template noscript svg math canvas iframe frame object embed audio video map select textarea datalist"
    " dialog head title meta link input button"
).split()
HIDING = (
    "display:none", "visibility:hidden", "visibility:collapse", "opacity:0;", "opacity:0.0", "opacity:.0",
    "font-size:0;", "font-size:0px", "font-size:0em", "font-size:1px", "content-visibility:hidden",
    "clip:rect(0", "clip:rect(1px", "clip-path:inset(50%", "clip-path:inset(100%", "transform:scale(0",
)  # fmt: skip
AWAY = re.compile(r"(?:text-indent|left|right|top|bottom|margin-left|margin-top):-\d{3,9}")
NOTHING_HIGH = re.compile(r"(?:max-)?(?:height|width):[01](?:px|em|rem|%)?;")
SELECTOR = re.compile(r"(?:[a-z][a-z0-9]{0,11})?([.#])([a-z0-9_-]{1,80})")
CHANNELS = re.compile(r"rgba?\((\d{1,3})[, ]{1,3}(\d{1,3})[, ]{1,3}(\d{1,3})(?:[,/ ]{1,3}([0-9.]{1,6}%?))?\)")
NAMED = {"white": "ffffff", "black": "000000", "snow": "fffafa", "ivory": "fffff0", "ghostwhite": "f8f8ff",
         "whitesmoke": "f5f5f5", "red": "ff0000", "transparent": ""}  # fmt: skip
WHITE = 0xF0  # each channel at least: cannot be read on white
NEAR = 12  # of 255: two colours whose channels differ by no more cannot be told apart
LONGEST_SELECTOR = 2_000  # characters
MOST_RULES = 20_000  # of style sheets; a page with more is read without them


def remove_hidden(root: html.HtmlElement) -> None:
    """Takes out of the tree what a reader of the page does not see. What follows a removed element stays."""
    rules = _hiding_rules(root)
    gone: list[html.HtmlElement] = []
    walker = _Seen(rules)
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag in NEVER or walker.hides(element):
            gone.append(element)
    for element in gone:
        if element is not root and element.getparent() is not None:
            if isinstance(element, html.HtmlElement):
                element.drop_tree()
            else:
                _drop(element)
    for element in root.iter():
        for name in ("alt", "title", "aria-label", "placeholder", "content", "value", "srcdoc", "data-src", "summary"):
            element.attrib.pop(name, None)


def _drop(element: html.HtmlElement) -> None:
    """Comments and processing instructions; their tail stays."""
    parent, tail = element.getparent(), element.tail or ""
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)


class _Seen:
    def __init__(self, rules: frozenset[str]) -> None:
        self._rules = rules

    def hides(self, element: html.HtmlElement) -> bool:
        attributes = element.attrib
        if not attributes:
            return False
        if "hidden" in attributes or attributes.get("aria-hidden", "").strip().lower() == "true":
            return True
        if self._rules and self._by_rule(attributes):
            return True
        if "style" in attributes and hides(attributes["style"]):
            return True
        colour = attributes.get("color") if element.tag == "font" else _declared(attributes.get("style", ""), "color")
        return bool(colour) and self._unreadable(element, colour or "")

    def _by_rule(self, attributes: "dict[str, str]") -> bool:
        if "#" + attributes.get("id", "").lower() in self._rules:
            return True
        return any("." + name in self._rules for name in attributes.get("class", "").lower().split())

    def _unreadable(self, element: html.HtmlElement, text: str) -> bool:
        """Whether letters of this colour cannot be told from the ground that the page declares for them, or are white
        where it declares none."""
        colour = read_colour(text)
        if colour is None:
            return False
        if not colour:  # transparent
            return True
        at: html.HtmlElement | None = element
        while at is not None:
            style = at.attrib.get("style", "")
            ground = _declared(style, "background-color") or _declared(style, "background") or at.attrib.get("bgcolor")
            if ground:
                other = read_colour(ground)
                return bool(other) and all(abs(a - b) <= NEAR for a, b in zip(colour, other, strict=True))
            at = at.getparent()
        return all(channel >= WHITE for channel in colour)


def hides(style: str) -> bool:
    """Whether an inline style, or the body of a rule, takes an element out of sight."""
    folded = "".join(style.lower().replace("!important", "").split()) + ";"
    return any(each in folded for each in HIDING) or bool(AWAY.search(folded) or _nothing_high(folded))


def _nothing_high(folded: str) -> bool:
    return "overflow:hidden" in folded and bool(NOTHING_HIGH.search(folded))


def _declared(style: str, name: str) -> str:
    """The value of a declaration in an inline style; the last one counts."""
    found = ""
    for part in style.lower().split(";"):
        key, colon, value = part.partition(":")
        if colon and key.strip() == name:
            found = value.replace("!important", "").strip()
    return found


def read_colour(text: str) -> tuple[int, ...] | None:
    """Red, green and blue; () for a transparent one; None for what cannot be read as a colour."""
    value = text.strip().lower()
    value = "#" + NAMED[value] if value in NAMED else value
    if value == "#":
        return ()
    if value.startswith("#"):
        digits = value[1:]
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        try:
            channels = tuple(bytes.fromhex(digits))
        except ValueError:
            return None
        return (() if channels[3:] == (0,) else channels[:3]) if len(channels) in (3, 4) else None
    if match := CHANNELS.match(value):
        opaque = (match[4] or "1").rstrip("%").strip("0.") != ""
        return tuple(min(255, int(match[n])) for n in (1, 2, 3)) if opaque else ()
    return None


def _hiding_rules(root: html.HtmlElement) -> frozenset[str]:
    """`.class` and `#id` of which the page's own style sheets say, outside any condition, that they are not shown."""
    found: set[str] = set()
    left = MOST_RULES
    for sheet in root.iter("style"):
        level = 0
        for before, after in itertools.pairwise(_without_comments((sheet.text or "").lower()).split("{")):
            left -= 1
            if left < 0:
                return frozenset()
            level -= before.count("}")
            selector, body = before[before.rfind("}") + 1 :].strip(), after.partition("}")[0]
            if level <= 0 and not selector.startswith("@") and len(selector) < LONGEST_SELECTOR and hides(body):
                matches = (SELECTOR.fullmatch(each.strip()) for each in selector.split(","))
                found |= {match[1] + match[2] for match in matches if match}
            level += 1
    return frozenset(found)


def _without_comments(sheet: str) -> str:
    first, *rest = sheet.split("/*")
    return first + "".join(part.partition("*/")[2] for part in rest)
