"""HTML: the page's main element, in the order a person reads it.

Documentation pages say themselves where their text is (role=main, <main>, <article>), and their definition
lists and code blocks are what people ask about; a general "main content" guesser puts a definition list's
code on one line and loses blocks. So the page's own structure is read. What a person does not see on the page
is never text: comments, scripts, templates, hidden elements, alternative texts, and the furniture around the
text (navigation, sidebars, permalinks).

The tree is walked with a flat loop of events; no step recurses, whatever the page nests.
"""

from collections.abc import Iterator

import lxml.etree as etree
import lxml.html as html

from lumina.adapters.documents.document_text import (
    Document,
    ReadResult,
    Refused,
    TextBuilder,
    clean,
    one_line,
)

MAX_TAGS = 1_000_000  # above this a page costs minutes and gigabytes; the largest manual pages hold 100,000

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
APART = frozenset(  # blocks with a blank line before them
    """p div section article main header footer aside ul ol dl blockquote figure table form fieldset details
    summary address center body dt hr""".split()
)
BLOCKS = APART | frozenset("li dd tr td th thead tbody tfoot caption figcaption legend br option math label".split())
NEVER = frozenset(
    """head script style template noscript nav button select input textarea svg canvas iframe object embed audio
    video img map datalist dialog""".split()
)
FURNITURE_ROLES = frozenset("navigation search banner contentinfo complementary toolbar menu".split())
FURNITURE = frozenset(
    """headerlink anchor-link hash-link anchorjs-link header-anchor permalink sphinxsidebar sidebar sidebar-nav
    toc table-of-contents toctree-wrapper breadcrumb breadcrumbs related pagination skip-link sr-only
    visually-hidden navbar edit-this-page""".split()
)
LAYOUT = frozenset(["table", "pre", "dl", "ul", "ol", "blockquote", *HEADINGS])  # in a cell: a page laid out so
# An index page says nothing itself: a good part of its letters are links, and next to nothing is as long as a
# sentence.
LINKS_SHARE = 0.4
SENTENCE = 160


def read_html(text: str, *, name: str, notes: tuple[str, ...] = ()) -> ReadResult:
    """The page's text with headings and definitions; Refused if it has none, or is nested beyond sense."""
    if text.count("<") > MAX_TAGS:
        return Refused(reason=f"it has more than {MAX_TAGS:,} tags")
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return Refused(reason="it is empty, or not HTML that can be read")
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        return Refused(reason="its tags are nested too deeply (more than 2,000 levels)")
    main = main_element(root)
    builder = TextBuilder()
    walk = _Walk(builder)
    walk.through(main)
    if not builder.length and main.tag != "body":
        walk = _Walk(builder, furniture=True)
        walk.through(root)
    result = builder.finish(walk.first_heading or _title(root) or name, notes=notes)
    if isinstance(result, Document) and _lists_links(walk, result):
        return Refused(reason="it is a list of links; the pages it points to are read instead")
    return result


def _lists_links(walk: "_Walk", result: Document) -> bool:
    if len(result.text) < SENTENCE or walk.link_letters < LINKS_SHARE * walk.letters:
        return False
    prose = sum(block.end - block.start for block in result.blocks if block.end - block.start >= SENTENCE)
    return prose * 20 < len(result.text)


def main_element(root: html.HtmlElement) -> html.HtmlElement:
    """The element that holds the page's own text: role=main, <main>, a lone <article>, else <body>."""
    for path in ("//*[@role='main']", "//main", "//article"):
        found = root.xpath(path)
        if found and (path != "//article" or len(found) == 1):
            return found[0]
    found = root.xpath("//body")
    return found[0] if found else root


def _title(root: html.HtmlElement) -> str:
    found = root.xpath("string((//title)[1])")
    return one_line(clean(str(found)))


class _Walk:
    """One pass over a tree in document order, gathering inline text until a block begins or ends."""

    def __init__(self, builder: TextBuilder, *, furniture: bool = False) -> None:
        self.builder = builder
        self.keep_furniture = furniture
        self.first_heading = ""
        self.letters = 0
        self.link_letters = 0
        self._inline: list[str] = []
        self._apart = True  # whether the next block stands apart from what was written before it
        self._links = 0  # open <a>
        self._lists = 0  # open <dl>
        self._row: html.HtmlElement | None = None  # the table row whose cells are joined on one line
        self._code: html.HtmlElement | None = None

    def through(self, main: html.HtmlElement) -> None:
        for event, element in _events(main, self._unseen):
            if event == "start":
                self._open(element)
                self._text(element.text)
            elif event == "end":
                self._close(element)
                if element is not main:
                    self._text(element.tail)
            elif element is not main:  # unseen: only what follows it counts
                self._text(element.tail)
        self._flush("text")

    def _unseen(self, element: html.HtmlElement) -> bool:
        tag = element.tag
        if not isinstance(tag, str) or tag in NEVER or "hidden" in element.attrib:
            return True
        attributes = element.attrib
        if not attributes:
            return False
        if attributes.get("aria-hidden") == "true" or attributes.get("role") in FURNITURE_ROLES:
            return True
        if "style" in attributes:
            style = attributes["style"].replace(" ", "").lower()
            if "display:none" in style or "visibility:hidden" in style:
                return True
        if self.keep_furniture or "class" not in attributes:
            return False
        return not FURNITURE.isdisjoint(attributes["class"].split())

    def _open(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if self._code is not None:
            if tag == "br":
                self._inline.append("\n")
            return
        if tag == "a":
            self._links += 1
        if self._row is not None:
            if tag in ("td", "th") and self._inline:
                self._inline.append(" | ")
            elif tag in BLOCKS:
                self._inline.append(" ")
            return
        if tag == "pre":
            self._flush("text")
            self._apart = True
            self._code = element
        elif tag == "tr" and _is_plain_row(element):
            self._flush("text")
            self._row = element
        elif tag in BLOCKS:
            self._flush("text")
            self._apart = self._apart or tag in APART
            self._lists += tag == "dl"
        elif tag in HEADINGS:
            self._flush("text")

    def _close(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if self._code is not None:
            if element is self._code:
                self._flush("code")
                self._code, self._apart = None, True
            return
        if tag == "a" and self._links:
            self._links -= 1
        if self._row is not None:
            if element is self._row:
                self._flush("text")
                self._row = None
            elif tag in BLOCKS:
                self._inline.append(" ")
            return
        if tag in HEADINGS:
            self._apart = True
            self._flush("heading", level=HEADINGS[tag])
            self._apart = True
        elif tag == "dt":
            self._flush("definition")
        elif tag in BLOCKS:
            self._flush("text")
            self._apart = self._apart or tag in APART
            self._lists -= tag == "dl"

    def _text(self, text: str | None) -> None:
        if text:
            self._inline.append(text)
            self.letters += len(text)
            if self._links:
                self.link_letters += len(text)

    def _flush(self, kind: str, *, level: int = 0) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        body = text if kind == "code" else one_line(clean(text))
        if not body.strip():
            return
        if kind == "heading":
            self.builder.add("heading", body, level=level)
            self.first_heading = self.first_heading or body
        elif kind == "definition":
            self.builder.add("definition", body, level=self._lists, apart=self._apart)
        else:
            self.builder.add("code" if kind == "code" else "text", body, level=self._lists, apart=self._apart)
        self._apart = False


def _events(main: html.HtmlElement, unseen) -> Iterator[tuple[str, html.HtmlElement]]:
    """Start and end of every element below `main` that a person sees; "unseen" once for one that nobody does."""
    walker = etree.iterwalk(main, events=("start", "end"))
    skipped = None
    for event, element in walker:
        if event == "start":
            if unseen(element) and element is not main:
                walker.skip_subtree()
                skipped = element
            else:
                yield event, element
        elif element is skipped:
            skipped = None
            yield "unseen", element
        else:
            yield event, element


def _is_plain_row(row: html.HtmlElement) -> bool:
    """True if the row's cells hold words and not whole parts of a page."""
    return all(element.tag not in LAYOUT for element in row.iterdescendants())
