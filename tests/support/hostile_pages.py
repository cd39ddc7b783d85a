"""Bodies that mean harm, small on the wire and large when they are unpacked or read: what the hostile web serves.

Each is made piece by piece, so that serving one costs the test little.
"""

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache

MEGABYTE = 1_000_000
Body = tuple[str, list[tuple[str, str]], Callable[[], Iterator[bytes]]]


@cache
def gzip_bomb(megabytes: int = 200) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    letters = b"a" * MEGABYTE
    return b"".join([*(packer.compress(letters) for _ in range(megabytes)), packer.flush()])


@cache
def zstd_bomb(megabytes: int = 200) -> bytes:
    """Blocks that say "this byte, 128 KB of it", four bytes each."""
    blocks = [struct.pack("<I", (131_072 << 3) | 0b010)[:3] + b"a"] * (megabytes * 8)
    last = struct.pack("<I", (1 << 3) | 0b011)[:3] + b"a"
    return b"\x28\xb5\x2f\xfd" + b"\x00\x58" + b"".join(blocks) + last


def empty_members(count: int) -> Iterator[bytes]:
    """Gzip files of nothing, one behind the other."""
    for _ in range(count // 1000):
        yield gzip.compress(b"") * 1000


def one_line(megabytes: int) -> Iterator[bytes]:
    yield b"<html><body><p>"
    for _ in range(megabytes):
        yield b"word " * (MEGABYTE // 5)


def nested(depth: int) -> Iterator[bytes]:
    yield b"<html><body>"
    for _ in range(depth // 1000):
        yield b"<div>" * 1000
    yield b"the bottom"


def binary() -> Iterator[bytes]:
    yield b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 400


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF with one line of text a page."""
    contents = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") for text in pages]
    return _pdf([(b"<< /Length %d >>" % len(each), each) for each in contents], title)


@cache
def pdf_bomb(megabytes: int = 2_000) -> bytes:
    """One page whose content unpacks to so much: one packed megabyte, again and again."""
    packer = zlib.compressobj(9)
    letters = b"BT (all work and no play) Tj ET " * 32_768
    first = packer.compress(letters) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(letters) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = first + again * (megabytes - 1) + packer.flush()
    return _pdf([(b"<< /Length %d /Filter /FlateDecode >>" % len(packed), packed)], "")


def _pdf(streams: list[tuple[bytes, bytes]], title: str) -> bytes:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(streams)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, (head, stream) in enumerate(streams):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * n)
        )
        objects.append(head + b"\nstream\n" + stream + b"\nendstream")
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    body, offsets = b"%PDF-1.4\n", []
    for n, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (n, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (len(objects) + 1, table, len(objects) + 1, len(objects), len(body))
    )


HTML, GZIP = "text/html", [("content-encoding", "gzip")]
BODIES: dict[str, Body] = {
    "/bomb/gzip": (HTML, GZIP, lambda: iter([gzip_bomb()])),
    "/bomb/x-gzip": (HTML, [("content-encoding", "X-GZip")], lambda: iter([gzip_bomb()])),
    "/bomb/chained": (HTML, [("content-encoding", "gzip, gzip")], lambda: iter([gzip.compress(gzip_bomb())])),
    "/bomb/chained-headers": (HTML, [*GZIP, *GZIP], lambda: iter([gzip.compress(gzip_bomb())])),
    "/bomb/zstd": (HTML, [("content-encoding", "zstd")], lambda: iter([zstd_bomb()])),
    "/bomb/br": (HTML, [("content-encoding", "br")], lambda: iter([b"\x5b\xff\xff\xff\x01" * 60])),
    "/bomb/deflate": (HTML, [("content-encoding", "deflate")], lambda: iter([zlib.compress(b"a" * MEGABYTE)])),
    "/bomb/members": (HTML, GZIP, lambda: empty_members(50_000)),
    "/bomb/raw": (HTML, [], lambda: one_line(200)),
    "/broken-gzip": (HTML, GZIP, lambda: iter([gzip.compress(b"fine")[:10] + b"not gzip at all" * 50])),
    "/half-gzip": (HTML, GZIP, lambda: iter([gzip.compress(b"<p>" + bytes(range(32, 127)) * 2000)[:-40]])),
    "/nested": (HTML, [], lambda: nested(1_000_000)),
    "/one-line": (HTML, [], lambda: one_line(50)),
    "/binary": (HTML, [], binary),
    "/pdf-bomb": ("application/pdf", [], lambda: iter([pdf_bomb()])),
}
