"""From bytes to text: kinds, encodings, structure, and what is refused with a reason."""

import gzip

import pytest

from lumina.adapters.pages.page_text import LONGEST_TEXT, NotText
from lumina.adapters.pages.read_text import READ_AS, encoding_of, read_bytes
from support.hostile_pages import pdf

PAGE = """<html><head><title> The
 title </title></head><body><nav><a href=/>home</a> <a href=/b>b</a></nav><main><h1>Head</h1>
<p>First paragraph with <b>bold</b> and a <a href=x>link</a> of words.</p><h2>Sub</h2>
<ul><li>one<ul><li>nested</li></ul></li><li>two</li></ul><pre><code>def f(x):
    return x
</code></pre><p>inline <code>a = 1</code> code</p><blockquote>quoted words here</blockquote>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<dl><dt>term</dt><dd>meaning</dd></dl><p>a line<br>and another</p></main><footer>foot</footer></body></html>"""


def test_a_page_is_its_main_text_with_paragraphs() -> None:
    read = read_bytes(PAGE.encode(), "text/html")
    assert read.title == "The title"
    assert read.text == (
        "Head\n\nFirst paragraph with bold and a link of words.\n\nSub\n\n- one\n  - nested\n- two\n\n"
        "def f(x):\n    return x\n\ninline a = 1 code\n\nquoted words here\n\na | b\n1 | 2\n\n- term\n- meaning\n\n"
        "a line and another"
    )


def test_N5_a_page_of_very_many_parts_is_read_from_its_structure_alone() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>row <b>{n}</b></td></tr>" for n in range(8_000))
    page = (
        f"<body><nav>around</nav><main><h1>Head</h1><p>A <i>first</i> one.<pre>def f():\n    pass</pre>"
        f"<ul><li>one<li>two<span hidden>Ignore</span></ul><table>{rows}</table></main><footer>around</footer></body>"
    )
    text = read_bytes(page.encode(), "text/html").text
    assert text.startswith("Head\n\nA first one.\n\ndef f():\n    pass\n\none\n\ntwo\n\n0 | row 0\n\n1 | row 1\n\n")
    assert "around" not in text
    assert "Ignore" not in text


def test_a_page_without_a_title_has_its_heading() -> None:
    assert read_bytes(b"<h1>Only a heading</h1><p>and some words</p>", "text/html").title == "Only a heading"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("größe 天気".encode(), "text/html; charset=utf-8"),
        ("größe 天気".encode(), ""),
        ("größe 天気".encode(), "text/html; charset=nonsense"),
        ("größe 天気".encode(), "text/html; charset=idna"),
        ("größe 天気".encode(), "text/html; charset=unicode_escape"),
        ("größe 天気".encode(), "text/html; charset=ascii-but-wrong"),
        (b"\xef\xbb\xbf" + "größe 天気".encode(), "text/html; charset=iso-8859-1"),
        ("\ufeffgröße 天気".encode("utf-16-le"), "text/html"),
        ("größe 天気".encode("utf-16-be"), "text/html; charset=UTF-16BE"),
        (b"<meta charset=gb2312>" + "gr\u00f6\u00dfe 天気".encode("gb18030"), "text/html"),
        ("größe 天気".encode("gb18030"), 'text/html;charset="GBK"'),
    ],
)
def test_N5_characters_are_read_as_a_browser_reads_them(body: bytes, kind: str) -> None:
    assert "größe 天気" in read_bytes(body.replace(b"<p>", b""), kind or "text/plain").text


def test_N5_a_wrong_charset_does_not_lose_the_page() -> None:
    assert read_bytes("Größe der Wörter".encode("latin-1"), "text/plain; charset=utf-8").text == "Größe der Wörter"
    assert read_bytes("「天気」です".encode("shift_jis"), "text/plain; charset=Shift_JIS").text == "「天気」です"
    assert read_bytes("цена".encode("cp1251"), "text/plain; charset=windows-1251").text == "цена"
    assert read_bytes("it’s".encode("cp1252"), "text/plain; charset=iso-8859-1").text == "it’s"
    assert read_bytes("größe".encode()[:-1] + "ß".encode()[:1], "text/plain; charset=utf-8", cut=True).text == "größ"


def test_no_encoding_is_used_that_is_not_one_of_the_webs() -> None:
    for label in (
        b"zlib",
        b"rot13",
        b"punycode",
        b"idna",
        b"utf-7",
        b"unicode_escape",
        b"base64",
        b"mbcs",
        b"\xff",
        b"",
    ):
        assert encoding_of(label) == ""
    for encoding in set(READ_AS.values()):
        assert "a".encode(encoding).decode(encoding) == "a"


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, "text/html", "binary"),
        (bytes(range(1, 32)) * 40, "text/plain", "binary"),
        (gzip.compress(b"x" * 999, mtime=0), "text/html", "binary"),
        (b"\x89PNG\r\n", "image/png", "a picture"),
        (b"x", "video/mp4", "a film"),
        (b"PK\x03\x04", "application/zip", "application/zip, not text"),
        (b"x", "application/octet-stream", "application/octet-stream"),
        (b"", "text/html", "empty"),
        (b" \n\t ", "text/plain", "empty"),
        (b"<html><body></body></html>", "text/html", "no text"),
        (b"%PDF-1.4 nothing of the kind", "application/pdf", "damaged PDF"),
        (b"%PDF-1.4 the beginning", "text/html", "damaged PDF"),
        (pdf(""), "application/pdf", "without text"),
        (b"<div>" * 300 + b"the bottom", "text/html", "nested"),
        (b"<br>" * 450_000, "text/html", "tags"),
        (b"<div id=root></div><script src=a.js></script>", "text/html", "needs a browser"),
        (b"<p>Loading</p><script type=module>x()</script>", "text/html", "needs a browser"),
        (b"<meta http-equiv='Refresh' content='0; url=http://10.0.0.1/'><p>moved", "text/html", "not followed"),
    ],
)
def test_N5_what_is_no_text_is_refused_with_its_reason(body: bytes, kind: str, why: str) -> None:
    with pytest.raises(NotText, match=why):
        read_bytes(body, kind)


def test_a_pdf_is_read_page_by_page_whatever_it_is_called() -> None:
    for kind in ("application/pdf", "text/html", "application/octet-stream", ""):
        read = read_bytes(pdf("First page", "Second page", title="A title"), kind)
        assert (read.title, read.text) == ("A title", "First page\n\nSecond page")
    with pytest.raises(NotText, match="more bytes than are fetched"):
        read_bytes(pdf("First page"), "application/pdf", cut=True)


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/markdown", "application/json", "text/csv", "application/vnd.api+json"]
)
def test_plain_text_stays_as_it_is(kind: str) -> None:
    body = '{"a": "<p>b</p>"}\r\n# x  \n\n  - y <!-- z -->\n'
    assert read_bytes(body.encode(), kind).text == '{"a": "<p>b</p>"}\n# x  \n\n  - y <!-- z -->'


def test_N5_the_text_of_a_page_is_bounded() -> None:
    assert len(read_bytes(b"word " * 1_000_000, "text/plain").text) == LONGEST_TEXT
    assert len(read_bytes(b"<p>" + b"word " * 1_500_000, "text/html").text) <= LONGEST_TEXT
    assert len(read_bytes(b"<title>" + b"t" * 9000 + b"</title><p>words", "text/html").title) == 300


def test_no_text_holds_what_a_database_refuses() -> None:
    assert read_bytes(b"<p>one&#0;two &#xD800; three</p><p>four", "text/html").text.encode("utf-8").count(b"\0") == 0
