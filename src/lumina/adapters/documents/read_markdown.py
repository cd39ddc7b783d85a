"""Markdown: its blocks become blocks, its marks of emphasis and links become plain words.

Raw HTML inside is text only as far as a page would show it: comments and scripts are not. A paragraph beyond
any human length is kept as written, because resolving brackets and stars in it can take quadratic time.
"""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lumina.adapters.documents.document_text import (
    Document,
    ReadResult,
    Refused,
    TextBuilder,
    clean,
    one_line,
)
from lumina.adapters.documents.read_html import read_html

MAX_INLINE = 20_000  # characters of one paragraph whose inline marks are resolved
DRAWINGS = ("mermaid", "dot", "graphviz", "plantuml")  # what fences of code call a picture that a page draws from it
ITEM = "- "  # so that nobody takes two items, one a line, for a sentence that was wrapped
MAX_LINE = 1_000_000  # a line beyond this is no markdown that a person wrote


def read_markdown(text: str, *, name: str, notes: tuple[str, ...] = ()) -> ReadResult:
    """The text with headings and code; its title is the front matter's, else the first heading, else the
    name.
    """
    title, text = _front_matter(clean(text))
    if any(len(line) > MAX_LINE for line in text.split("\n")):
        return Refused(reason=f"it has a line of more than {MAX_LINE:,} characters")
    parser = MarkdownIt("commonmark").enable("table").disable("inline", ignoreInvalid=True)
    builder = TextBuilder()
    headings = _write(parser.parse(text), builder, MarkdownIt("commonmark"))
    return builder.finish(title or headings or name, notes=notes)


def _front_matter(text: str) -> tuple[str, str]:
    """The title given in a leading `---` block, and the text after that block."""
    if not text.startswith("---\n"):
        return "", text
    end = text.find("\n---", 3)
    if end < 0 or "\n\n" in text[:end]:
        return "", text
    title = ""
    for line in text[4:end].split("\n"):
        if line.startswith("title:"):
            title = line[6:].strip().strip("\"'")
    return title, text[end + 4 :].lstrip("-")


def _write(tokens: list[Token], builder: TextBuilder, inline: MarkdownIt) -> str:
    """Writes the blocks; returns the first heading."""
    first, level, apart, row, item = "", 0, True, None, ""
    for token in tokens:
        kind = token.type
        if kind == "heading_open":
            level = int(token.tag[1:])
        elif kind == "heading_close":
            level, apart = 0, True
        elif kind == "inline":
            body = _plain(token.content, inline)
            if row is not None:
                row.append(one_line(body))
            elif level:
                builder.add("heading", one_line(body), level=level)
                first = first or one_line(body)
            else:
                builder.add("text", item + body if body.strip() else "", apart=apart)
                apart, item = False, ""
        elif kind in ("fence", "code_block"):
            if token.info.strip() not in DRAWINGS:
                builder.add("code", token.content)
            apart = True
        elif kind == "html_block":
            _write_html(token.content, builder)
        elif kind == "tr_open":
            row = []
        elif kind == "tr_close":
            builder.add("text", " | ".join(cell for cell in row or [] if cell), apart=apart)
            row, apart = None, False
        elif kind in (
            "paragraph_open",
            "table_open",
            "bullet_list_open",
            "ordered_list_open",
            "blockquote_open",
        ):
            apart = not token.hidden and (apart or token.level == 0)
        elif kind == "list_item_open":
            apart, item = False, ITEM
        elif token.nesting == -1 and token.level == 0:
            apart = True
    return first


def _plain(content: str, inline: MarkdownIt) -> str:
    """The words of one paragraph: link and emphasis marks resolved, images and raw tags left out."""
    if len(content) > MAX_INLINE:
        return content
    pieces = []
    for token in inline.parseInline(content)[0].children or []:
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        elif token.type == "softbreak":
            pieces.append(" ")  # where an editor wrapped the line says nothing about the sentence
        elif token.type == "hardbreak":
            pieces.append("\n")
    return "".join(pieces)


def _write_html(content: str, builder: TextBuilder) -> None:
    shown = read_html(content, name="")
    if isinstance(shown, Document):
        builder.add("text", shown.text)
