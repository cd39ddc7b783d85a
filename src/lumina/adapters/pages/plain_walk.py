"""The text of a page from its structure alone, for pages too large to tell their main part from the rest by likeness.

A pass in document order: the words of a block are a paragraph, code keeps its lines, a table's row is a line.
"""

import lxml.etree as etree
import lxml.html as html

BLOCKS = frozenset(
    """p div section article main header footer aside ul ol dl li dd dt blockquote figure figcaption table caption tr
    form fieldset details summary address center body h1 h2 h3 h4 h5 h6 pre hr""".split()
)
AROUND = ("//nav", "//footer", "//aside", "//header[not(ancestor::main) and not(ancestor::article)]")


def walked_text(root: html.HtmlElement) -> str:
    """Paragraphs with an empty line between. `root` has lost what is hidden."""
    for path in AROUND:
        for element in root.xpath(path):
            if element.getparent() is not None:
                element.drop_tree()
    mains = root.xpath("//main") or root.xpath("//article") or [root]
    walk = _Walk()
    for main in mains if len(mains) == 1 else [root]:
        for event, element in etree.iterwalk(main, events=("start", "end")):
            if event == "start":
                walk.open(element.tag)
                walk.add(element.text)
            else:
                walk.close(element.tag)
                if element is not main:
                    walk.add(element.tail)
        walk.flush()
    return "\n\n".join(walk.blocks)


class _Walk:
    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._words: list[str] = []
        self._code = 0
        self._rows = 0

    def add(self, text: str | None) -> None:
        if text:
            self._words.append(text)

    def open(self, tag: str) -> None:
        if tag == "pre":
            self.flush()
            self._code += 1
        elif tag == "tr":
            self.flush()
            self._rows += 1
        elif tag in ("td", "th") and self._rows and "".join(self._words).strip():
            self._words.append(" | ")
        elif tag in BLOCKS and not self._rows:
            self.flush()
        elif tag in ("br", *BLOCKS):
            self._words.append("\n" if self._code else " ")

    def close(self, tag: str) -> None:
        if tag == "pre":
            self.flush()
            self._code = max(0, self._code - 1)
        elif tag == "tr":
            self.flush()
            self._rows = max(0, self._rows - 1)
        elif tag in BLOCKS and not self._rows:
            self.flush()

    def flush(self) -> None:
        text = "".join(self._words)
        self._words.clear()
        block = text.strip("\n") if self._code else " ".join(text.split())
        if block.strip():
            self.blocks.append(block)
