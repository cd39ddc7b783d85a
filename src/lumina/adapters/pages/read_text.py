"""From a page's bytes and what its server says of them to title and text.

What a server says is a claim: a PDF called HTML is read as a PDF, a program called HTML is refused. Characters are read
as browsers read them: byte order mark, header, the page's own word, UTF-8, else Windows-1252.
"""

import codecs
import re

from lumina.adapters.pages.html_text import read_html
from lumina.adapters.pages.page_text import LONGEST_TEXT, LONGEST_TITLE, NotText, Read
from lumina.adapters.pages.pdf_text import read_pdf

SNIFFED = 65_536  # bytes
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
# Encodings that the WHATWG standard knows, by Python's names, and as what they are read: labels of smaller sets stand
# for the larger ones that pages mean by them.
READ_AS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "hz": "gb18030", "big5": "big5hkscs",
    "big5hkscs": "big5hkscs", "shift_jis": "cp932", "cp932": "cp932", "euc_jp": "euc_jp", "iso2022_jp": "iso2022_jp",
    "euc_kr": "cp949", "cp949": "cp949", "utf-8": "utf-8", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be",
    "utf-16": "utf-16-le", "koi8-r": "koi8-r", "koi8-u": "koi8-u", "cp866": "cp866", "mac-roman": "mac-roman",
    "cp874": "cp874", **{f"cp125{n}": f"cp125{n}" for n in range(9)},
    **{f"iso8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}  # fmt: skip
HTML = ("text/html", "application/xhtml+xml")
PLAIN = ("application/json", "application/ld+json", "application/xml", "application/javascript", "application/yaml",
         "application/x-yaml", "application/toml")  # fmt: skip
CALLED = {"image": "a picture", "audio": "sound", "video": "a film", "font": "a font"}


def read_bytes(body: bytes, content_type: str, *, cut: bool = False) -> Read:
    """Raises NotText. `cut`: the body is only a beginning."""
    kind = content_type.partition(";")[0].strip().lower()
    if body[:1024].lstrip().startswith(b"%PDF-"):
        if cut:
            raise NotText("it is a PDF of more bytes than are fetched")
        return _capped(read_pdf(body))
    if not body.strip():
        raise NotText("it is empty")
    if kind.partition("/")[0] in CALLED:
        raise NotText(f"it is {CALLED[kind.partition('/')[0]]}, not text")
    if kind and kind not in HTML + PLAIN and not kind.startswith("text/") and not kind.endswith(("+json", "+xml")):
        raise NotText(f"it is {kind[:60]}, not text" if kind.isascii() and kind.isprintable() else "it is not text")
    declared = CHARSET.search(content_type.encode("ascii", "replace"))
    text = decoded(body, declared[1] if declared else b"", html=not kind or kind in HTML)
    if kind in HTML or (not kind and _looks_like_html(text)):
        return _capped(read_html(text))
    return _capped(Read(title="", text=text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")))


def decoded(body: bytes, declared: bytes, *, html: bool) -> str:
    """The characters of `body`. A declared encoding that does not fit is passed over. Raises NotText for what is no
    text in any."""
    for mark, encoding in MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    named = [encoding_of(declared)]
    if named == ["utf-16-le"] or named == ["utf-16-be"]:
        return body.decode(named[0], "replace")
    start = body[:SNIFFED]
    controls = sum(byte < 32 and byte not in b"\t\n\x0c\r\x1b" for byte in start)
    if b"\x00" in start or controls > len(start) // 50:
        raise NotText("it is binary, not text")
    if html and (found := CHARSET.search(body[:4096])):
        named.append(encoding_of(found[1]))
    for encoding in (*named, "utf-8"):
        if encoding and not encoding.startswith("utf-16"):  # read so far as one byte a character, it is not that
            try:
                return _decoded_whole(body, encoding)
            except UnicodeDecodeError:
                continue
    return body.decode("cp1252", "replace")


def encoding_of(label: bytes) -> str:
    """The encoding that a server or a page means by a label; "" for none that pages are written in."""
    try:
        return READ_AS.get(codecs.lookup(label.decode("ascii", "replace")).name, "")
    except (LookupError, ValueError):
        return ""


def _decoded_whole(body: bytes, encoding: str) -> str:
    """Strictly, but for a character that the body's end cuts."""
    return codecs.getincrementaldecoder(encoding)("strict").decode(body, False)


def _looks_like_html(text: str) -> bool:
    start = text[:2000].lstrip().lower()
    return start.startswith(("<!doctype html", "<html", "<head", "<body", "<p>", "<div")) or "</p>" in start


def _capped(read: Read) -> Read:
    """Within bounds, and without the one character that no database keeps."""
    text = read.text.replace("\x00", "")
    if not text.strip():
        raise NotText("there is no text on it")
    return Read(title=read.title.replace("\x00", "")[:LONGEST_TITLE], text=text[:LONGEST_TEXT])
