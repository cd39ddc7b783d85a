"""From a file's bytes to its text: which reader, which encoding, and when a file is refused.

A reader decides by the file's ending and checks what is inside. Whatever goes wrong, the result is a
`Refused` that says what to do; the person who adds a folder of a thousand files must not lose it to one of
them.
"""

import codecs
import re
from collections.abc import Callable
from typing import NamedTuple

from lumina.adapters.documents.document_text import ReadResult, Refused
from lumina.adapters.documents.read_html import read_html
from lumina.adapters.documents.read_markdown import read_markdown
from lumina.adapters.documents.read_pdf import read_pdf
from lumina.adapters.documents.read_plain import read_plain

MAX_BYTES = 20_000_000
READER = "3"  # part of every digest: raised when readers or passages change, so that kept files are read again

_TEXT_READERS: dict[str, Callable[..., ReadResult]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_plain,
    ".text": read_plain,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
}
ENDINGS = frozenset([*_TEXT_READERS, ".pdf"])

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CHARSET = re.compile(
    rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{2,40})|encoding=[\"']([A-Za-z0-9_:.-]{2,40})"
)


class Decoded(NamedTuple):
    """A file's characters, and what a person should know of how they were found."""

    text: str
    notes: tuple[str, ...]


def ending(name: str) -> str:
    """The lower-case ending of a file's name with its dot, or ""."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def read_document(name: str, data: bytes) -> ReadResult:
    """Title, text and structure of the file `name` (without folders) with the content `data`.

    Refused: over 20 MB, an ending that is not read, binary, empty, encrypted, damaged. Never raises for the
    content.
    """
    suffix = ending(name)
    if suffix not in ENDINGS:
        return Refused(reason="it is not a kind of file that is read (md, txt, html, pdf)")
    if len(data) > MAX_BYTES:
        return Refused(reason=too_large(len(data)))
    if not data.strip():
        return Refused(reason="it is empty")
    stem = name[: len(name) - len(suffix)]
    try:
        if suffix == ".pdf":
            return read_pdf(data, name=stem)
        decoded = decode(data, declared=suffix in (".html", ".htm", ".xhtml"))
        if isinstance(decoded, Refused):
            return decoded
        return _TEXT_READERS[suffix](decoded.text, name=stem, notes=decoded.notes)
    except (
        ValueError,
        RecursionError,
        MemoryError,
        ArithmeticError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        # A parser that trips over this one file must not end the reading of the others.
        return Refused(reason=f"it cannot be read ({type(error).__name__}); if it opens elsewhere, please report it")


def too_large(size: int) -> str:
    """Why a file of `size` bytes is refused."""
    return f"it has {size / 1e6:.1f} MB; at most {MAX_BYTES // 1_000_000} MB are read. Split it into parts"


def decode(data: bytes, *, declared: bool) -> Decoded | Refused:
    """Bytes to characters: byte order mark, then (if `declared`) the page's own charset, then UTF-8, then a
    guess.

    A guess is Windows-1252 and is noted, because it may be wrong.
    """
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"), ())
    if b"\x00" in data[:65536]:
        return Refused(reason="it is binary, not text")
    if declared and (encoding := _declared(data)):
        try:
            return Decoded(data.decode(encoding), ())
        except (UnicodeDecodeError, LookupError):
            pass
    try:
        return Decoded(data.decode("utf-8"), ())
    except UnicodeDecodeError:
        pass
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in data[:65536])
    if controls > len(data[:65536]) // 50:
        return Refused(reason="it is binary, not text")
    return Decoded(
        data.decode("cp1252", "replace"),
        ("it is not UTF-8 and was read as Windows-1252; some letters may be wrong",),
    )


def _declared(data: bytes) -> str:
    """The charset that the first 4 KB name, if Python knows it as a text encoding."""
    found = CHARSET.search(data[:4096])
    if not found:
        return ""
    name = (found.group(1) or found.group(2)).decode("ascii")
    try:
        info = codecs.lookup(name)
    except LookupError:
        return ""
    if name.lower() in (
        "utf-16",
        "utf-16le",
        "utf-16be",
        "utf-32",
    ):  # could not have been read as ASCII so far
        return ""
    # Browsers read these as Windows-1252, whose extra letters the others leave undefined.
    return "cp1252" if info.name in ("iso8859-1", "ascii") else info.name
