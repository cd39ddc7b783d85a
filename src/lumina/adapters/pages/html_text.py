"""HTML to title and text: what a reader of the page sees of its main part, paragraph by paragraph.

The hidden goes first (`hidden`), then trafilatura tells the main part from what stands around it, and its blocks are
written out: a paragraph a line with an empty one between, code with its own lines, a table's row on one line.
"""

import logging
from collections.abc import Iterator

import lxml.etree as etree
import lxml.html as html

from lumina.adapters.pages.hidden import remove_hidden
from lumina.adapters.pages.page_text import NotText, Read
from lumina.adapters.pages.plain_walk import walked_text

LONGEST_HTML = 5_000_000  # characters; what comes after is not read
MOST_TAGS = 400_000  # the largest pages of manuals hold 100,000
LARGE = 30_000  # tags; the main part of a page with more is not told by likeness, which takes minutes there
DEEPEST = 250  # levels; browsers flatten what is nested deeper than 512
ENOUGH = 80  # characters of a page whose scripts could have written more
BLOCKS = frozenset("p head quote list table code".split())


def read_html(text: str) -> Read:
    """Raises NotText with the reason, for a person."""
    text = text[:LONGEST_HTML]
    tags = text.count("<")
    if tags > MOST_TAGS:
        raise NotText(f"it has more than {MOST_TAGS:,} tags")
    root = _parsed(text)
    title = " ".join(str(root.xpath("string((//title)[1])")).split())
    scripts = len(root.xpath("//script[not(@type) or contains(@type, 'script') or @type = 'module']"))
    leads_on = bool(root.xpath("//meta[translate(@http-equiv, 'REFSH', 'refsh') = 'refresh']"))
    if _too_deep(root):
        raise NotText(f"its tags are nested more than {DEEPEST} levels deep")
    remove_hidden(root)
    heading = " ".join(str(root.xpath("string((//h1)[1])")).split())
    found = walked_text(root) if tags > LARGE else _main_text(root)
    if leads_on and len(found) < ENOUGH:
        raise NotText("it only leads on to another address, which is not followed")
    if scripts and len(found) < ENOUGH:
        raise NotText("it needs a browser: its text is made by scripts, and none are run here")
    if not found:
        raise NotText("there is no text on it")
    return Read(title=title or heading, text=found)


def _parsed(text: str) -> html.HtmlElement:
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        raise NotText("it is empty, or not HTML that can be read") from None


def _too_deep(root: html.HtmlElement) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEEPEST:
            return True
    return False


def _main_text(root: html.HtmlElement) -> str:
    import trafilatura  # late: only the process that reads pages needs it

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found = trafilatura.bare_extraction(root, include_comments=False, include_tables=True, include_images=False)
    body = getattr(found, "body", None)
    if body is None:
        return ""
    return "\n\n".join(block for block in _blocks(body) if block.strip()).strip()


def _blocks(parent: etree._Element) -> Iterator[str]:
    """The text of each block, in order. Text between blocks is a block."""
    loose = [parent.text or ""]
    for child in parent:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag in BLOCKS and not (tag == "code" and loose[-1].strip()):
            yield _line("".join(loose))
            loose = []
            yield from _block(child, tag)
        elif tag in ("div", "body", "main"):
            yield _line("".join(loose))
            loose = []
            yield from _blocks(child)
        else:
            loose.append(_inline(child))
        loose.append(child.tail or "")
    yield _line("".join(loose))


def _block(element: etree._Element, tag: str) -> Iterator[str]:
    if tag == "list":
        yield "\n".join(_items(element, 0))
    elif tag == "table":
        rows = (" | ".join(_line(_inline(cell)) for cell in row.iter("cell")) for row in element.iter("row"))
        yield "\n".join(row for row in rows if row.strip(" |"))
    elif tag == "code":
        yield "".join(element.itertext()).strip("\n")
    elif tag == "quote" and any(child.tag in BLOCKS for child in element):
        yield from _blocks(element)
    else:
        yield _line(_inline(element))


def _items(element: etree._Element, level: int) -> Iterator[str]:
    """A list's items, one a line; what is nested in one follows it, indented. `level` is bounded by DEEPEST."""
    for item in element:
        own = [item.text or ""]
        below: list[str] = []
        for child in item:
            if child.tag == "list":
                below += _items(child, level + 1)
            else:
                own.append(_inline(child))
            own.append(child.tail or "")
        yield "  " * level + "- " + _line("".join(own)) + _line(item.tail or "")
        yield from below


def _inline(element: etree._Element) -> str:
    """All text below, with a line's end where the page has one."""
    parts: list[str] = []
    for event, each in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            if each.tag in ("lb", "p", "item", "row"):
                parts.append(" ")
            parts.append(each.text or "")
        elif each is not element:
            parts.append(each.tail or "")
    return "".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split())
