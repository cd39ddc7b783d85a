"""Bytes become one text with structure, or a refusal that a person can act on."""

import codecs
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.adapters.documents.document_text import Document, Refused
from lumina.adapters.documents.readers import ENDINGS, MAX_BYTES, read_document

PAGE = b"""<!DOCTYPE html><html><head><title>Site title</title><script>var a = 'script text';</script></head><body>
<nav>Navigation text</nav><div class="sphinxsidebar">Sidebar text</div>
<div role="main"><h1>Widgets<a class="headerlink" href="#w">\xc2\xb6</a></h1>
<!-- SOURCES: hidden comment --><p>A widget   turns
when <em>asked</em>.</p><style>p {}</style>
<dl><dt>spin(times)<a class="headerlink" href="#s">\xc2\xb6</a></dt><dd><p>Turn it <code>times</code> times.</p>
<pre>if x:
    spin(2)

spin(3)
</pre></dd></dl>
<p hidden>Hidden text</p><p style="display: none">Invisible text</p><template>Template text</template>
<table><tr><th>Mode</th><th>Meaning</th></tr><tr><td><p>r</p></td><td>read</td></tr></table>
<img alt="alternative text" src="x.png"></div><footer>Footer text</footer></body></html>"""


def read(name: str, data: bytes) -> Document:
    result = read_document(name, data)
    assert isinstance(result, Document), result
    return result


def refusal(name: str, data: bytes) -> str:
    result = read_document(name, data)
    assert isinstance(result, Refused), result
    return result.reason


def part(document: Document, kind: str) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if block.kind == kind]


def test_an_html_page_is_read_in_the_order_of_its_main_element():
    page = read("widgets.html", PAGE)
    assert page.title == "Widgets"
    assert page.text == (
        "Widgets\n\nA widget turns when asked.\n\nspin(times)\n\nTurn it times times.\n\n"
        "if x:\n    spin(2)\n\nspin(3)\n\nMode | Meaning\nr | read"
    )
    assert part(page, "heading") == ["Widgets"]
    assert part(page, "definition") == ["spin(times)"]
    assert part(page, "code") == ["if x:\n    spin(2)\n\nspin(3)"]


@pytest.mark.parametrize(
    "unseen",
    [
        "SOURCES",
        "script text",
        "Navigation",
        "Sidebar",
        "Hidden",
        "Invisible",
        "Template",
        "alternative",
        "Footer",
        "¶",
    ],
)
def test_what_a_person_does_not_see_on_a_page_is_no_text(unseen: str):
    assert unseen not in read("widgets.html", PAGE).text


def test_a_page_without_a_main_element_is_read_from_its_body_and_titled_by_its_head():
    page = read("a.html", b"<title>The title</title><body><p>One.</p><p>Two.<!-- x --> Three.</p>")
    assert (page.title, page.text) == ("The title", "One.\n\nTwo. Three.")


def test_text_after_an_unseen_element_stays():
    page = read("a.html", b"<p>one <script>no</script>two <!-- no -->three <nav>no</nav>four</p>")
    assert page.text.split() == ["one", "two", "three", "four"]


def test_a_page_laid_out_by_a_table_keeps_its_headings_and_blocks():
    page = read("a.html", b"<table><tr><td><h2>Left</h2><p>one</p></td><td><h2>Right</h2><p>two</p></td></tr></table>")
    assert part(page, "heading") == ["Left", "Right"]
    assert page.text == "Left\n\none\n\nRight\n\ntwo"


def test_a_page_that_only_lists_links_is_refused_with_that_reason():
    items = "".join(f"<li><a href='p{n}.html'>entry number {n}</a> (in a module)</li>" for n in range(40))
    assert "list of links" in refusal("index.html", f"<h1>Index</h1><ul>{items}</ul>".encode())


def test_markdown_keeps_headings_code_and_table_rows_and_drops_marks_and_comments():
    data = b"""---
title: "Front"
---
# Head *one*

Text with **bold**, `code`, a [link](http://x.example) and ![an image](y.png).
Second line. <!-- hidden --> <span>kept</span>

<!-- a hidden
block -->

```python
x = 1

y = "**"
```

- first
- second

| a | b |
|---|---|
| 1 | 2 |

## Two
"""
    page = read("a.md", data)
    assert page.title == "Front"
    assert part(page, "heading") == ["Head one", "Two"]
    assert part(page, "code") == ['x = 1\n\ny = "**"']
    assert "Text with bold, code, a link and . Second line.  kept" in page.text
    assert "- first\n- second" in page.text
    assert "a | b\n1 | 2" in page.text
    assert "hidden" not in page.text
    assert "image" not in page.text


def test_plain_text_has_paragraphs_and_underlined_headings():
    page = read("notes.txt", b"Title\r\n=====\r\n\r\nOne\r\ntwo.\r\n\r\nThree.\r\n")
    assert (page.title, page.text) == ("Title", "Title\n\nOne\ntwo.\n\nThree.")
    assert read("notes.txt", b"just words").title == "notes"


@pytest.mark.parametrize(
    "data",
    [
        "Grüße".encode(),
        codecs.BOM_UTF8 + "Grüße".encode(),
        codecs.BOM_UTF16_LE + "Grüße".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "Grüße".encode("utf-16-be"),
    ],
)
def test_unicode_files_are_read_with_and_without_a_byte_order_mark(data: bytes):
    page = read("a.txt", data)
    assert (page.text, page.notes) == ("Grüße", ())


def test_a_declared_charset_is_respected():
    page = read("a.html", '<meta charset="koi8-r"><p>Привет</p>'.encode("koi8-r"))
    assert (page.text, page.notes) == ("Привет", ())


def test_a_guessed_encoding_is_told():
    page = read("a.txt", "Grüße".encode("latin-1"))
    assert page.text == "Grüße"
    assert "Windows-1252" in page.notes[0]


def test_a_false_declaration_falls_back_to_what_the_bytes_are():
    assert read("a.html", '<meta charset="ascii2"><p>Grüße</p>'.encode()).text == "Grüße"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.html", b" \n ", "empty"),
        ("a.html", b"<!-- only a comment -->", "not HTML"),
        ("a.html", b"<script>x</script>", "no text"),
        ("a.md", b"<!-- only a comment -->", "no text"),
        ("a.txt", b"MZ\x00\x01\x02", "binary"),
        ("a.txt", bytes(range(128, 256)) + bytes(range(1, 32)) * 4, "binary"),
        ("a.exe", b"MZ", "not a kind of file"),
        ("a.pdf", b"hello", "not a PDF"),
        ("a.pdf", b"%PDF-1.4\n%broken", "not a PDF"),
        ("a.txt", b"x" * (MAX_BYTES + 1), "at most 20 MB"),
        ("a.html", b"<b" * 1_000_001, "tags"),
        ("a.html", b"<div>" * 100_000 + b"deep", "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(name: str, data: bytes, reason: str):
    assert reason in refusal(name, data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", b"<div>" * 1_500 + b"words</div>"),
        ("a.html", b"<table><tr><td>" * 500 + b"words"),
        ("a.html", b"<p>" + b"word " * 1_000_000),
        ("a.txt", b"x" * 5_000_000),
        ("a.txt", b"=\n" * 1_000_000),
        ("a.md", b">" * 20_000 + b" words"),
        ("a.md", b"[" * 19_000 + b"words"),
        ("a.md", b"*a_ " * 4_900),
        ("a.md", b"- " * 5_000 + b"words"),
        ("a.md", b"<!--\n" * 100_000),
        ("a.md", b"`" * 10_000 + b" " + b"`a" * 5_000),
    ],
)
def test_hostile_nesting_and_length_end_soon(name: str, data: bytes):
    """Measured by an ordinary page of a megabyte; what grows with the square would take hundreds of times as long."""
    assert seconds(name, data) < 20 * ordinary()


def seconds(name: str, data: bytes) -> float:
    began = time.process_time()
    read_document(name, data)
    return time.process_time() - began


@cache
def ordinary() -> float:
    return seconds("a.html", b"<p>ordinary words</p>" * 50_000)


def test_control_characters_and_break_hints_are_left_out():
    assert read("a.txt", "soft\u00adhy\u200bphen \x07bell\x1b[31m".encode()).text == "softhyphen bell[31m"


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(ENDINGS)), st.one_of(st.binary(max_size=400), st.text(max_size=400).map(str.encode)))
def test_any_bytes_are_read_or_refused_and_every_block_lies_in_the_text(ending: str, data: bytes):
    result = read_document("file" + ending, data)
    if isinstance(result, Refused):
        assert result.reason
        return
    at = 0
    for block in result.blocks:
        assert at <= block.start <= block.end <= len(result.text)
        assert block.kind == "page" or result.text[block.start : block.end].strip()
        at = block.end
    assert not any(c < " " and c not in "\n\t" for c in result.text)


def test_a_paragraph_of_markdown_that_an_editor_wrapped_is_one_line():
    page = b"A wheel turns\naround its axis\\\nand stops."
    assert read("a.md", page).text == "A wheel turns around its axis\nand stops."


def test_the_source_of_a_drawing_is_not_text():
    page = b"Before it.\n\n```mermaid\nsequenceDiagram\n  A->>B: ask\n```\n\n```sh\nlumina ask\n```\n\nAfter it."
    text = read("a.md", page).text
    assert "sequenceDiagram" not in text
    assert "lumina ask" in text
    assert text.endswith("After it.")
