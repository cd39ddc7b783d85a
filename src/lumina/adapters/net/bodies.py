"""The body of an answer, read with a cap that acts before memory is given to it.

317 bytes of brotli have become one piece of 200 MB in a client that decoded first and counted afterwards. So a request
asks for gzip or nothing, pieces are read raw, and zlib is given a limit for each piece that it makes of them.
"""

import zlib
from collections.abc import AsyncIterable, Mapping

PIECE = 65_536  # bytes that are decoded at a time
ASKED = "gzip"  # Accept-Encoding of every request
GZIP = zlib.MAX_WBITS | 16
MEMBER = b"\x1f\x8b"


class Unreadable(Exception):
    """The body comes in a form that was not asked for, or its compression is broken; the text says which."""


def coding(headers: Mapping[str, str]) -> str:
    """`gzip` or "" (none). Raises Unreadable for any other compression, and for one inside another."""
    named = [each.strip().lower() for each in headers.get("content-encoding", "").split(",")]
    found = [each.removeprefix("x-") for each in named if each not in ("", "identity")]
    if len(found) > 1:
        raise Unreadable("it is compressed several times over")
    if found and found[0] != "gzip":
        raise Unreadable("it is compressed in a way that was not asked for")
    return found[0] if found else ""


class Capped:
    """Decodes pieces up to `limit` bytes in all. `full`: more was to come. `unfinished`: the compression's end is
    missing."""

    def __init__(self, coded: str, limit: int) -> None:
        self.body = bytearray()
        self.full = False
        self._limit = limit
        self._unpack = zlib.decompressobj(GZIP) if coded else None
        self._begun = False

    @property
    def unfinished(self) -> bool:
        return self._unpack is not None and self._begun and not self._unpack.eof

    def add(self, piece: bytes) -> None:
        """Raises Unreadable for what is not gzip. Returns when `piece` is used up, or the limit is reached."""
        if self._unpack is None:
            self._keep(piece)
            return
        self._begun = self._begun or bool(piece)
        while not self.full:
            if self._unpack.eof:  # a file may hold several in a row; zeros or anything else behind them are padding
                if not piece.startswith(MEMBER):
                    return
                self._unpack = zlib.decompressobj(GZIP)
            try:
                decoded = self._unpack.decompress(piece, PIECE)
            except zlib.error:
                raise Unreadable("its compression is broken") from None
            self._keep(decoded)
            piece = self._unpack.unused_data if self._unpack.eof else self._unpack.unconsumed_tail
            # Without a tail zlib may still hold what did not fit into the last piece.
            if not piece and len(decoded) < PIECE:
                return

    def _keep(self, decoded: bytes) -> None:
        room = self._limit - len(self.body)
        self.full = self.full or len(decoded) > room
        self.body += decoded[:room]


async def read_capped(pieces: AsyncIterable[bytes], coded: str, limit: int) -> tuple[bytes, bool]:
    """The decoded body and whether it is cut: at `limit`, or because its compression has no end. Reads no further than
    it must: what was sent may not be longer than `limit` either."""
    capped, raw = Capped(coded, limit), 0
    async for piece in pieces:
        capped.add(piece)
        raw += len(piece)
        if capped.full or raw > limit + PIECE:
            return bytes(capped.body), True
    return bytes(capped.body), capped.unfinished
