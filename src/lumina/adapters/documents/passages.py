"""Cutting a document into the passages that are found, quoted and cited.

A passage starts at a heading, or at a definition once 60 words are held, and has about 120 words: that is
what answered most questions on a real manual (`benchmarks/docq.py`). Its offsets are exact, into the
stored text; the headings above it are kept beside it, shown to the reader and not part of the quoted body.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lumina.adapters.documents.document_text import Block, Document
from lumina.agent.ports import PassageSpan
from lumina.memory.words import Word, words

TARGET = 120  # words; one more block is taken only while the passage stays near it
FULL = 150
BEFORE_DEFINITION = 60
TAIL = 40  # fewer words than this, left over before the next boundary, stay with the passage before them
MAX_CODE_POINTS = 2_000  # of one passage, whatever it holds: a line without spaces is one word
MAX_WORD = 64  # a longer run of letters is data, not a word that anybody asks for
MAX_GAP = 200  # code points without any word that are kept at a passage's end
OPENING = "([{<\"'“‘«*`>-"
SENTENCE_ENDS = ".!?。！？…"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A block, or a part of one that is too long to be quoted whole."""

    start: int
    end: int
    words: tuple[Word, ...]
    kind: str


def cut(document: Document) -> tuple[PassageSpan, ...]:
    """The passages of `document` in order. They do not overlap; headings stand in none of their bodies."""
    path: list[tuple[int, str]] = []
    defined: list[tuple[int, str]] = []  # the definitions that the text now belongs to, by depth
    page = ""
    passages: list[PassageSpan] = []
    cutter = _Cutter()

    def release() -> None:
        passages.extend(_passage(held, heading, document.title) for heading, held in cutter.release())

    for block in document.blocks:
        if block.kind == "page":
            page = block.label
            continue
        if block.kind == "heading":
            release()
            path = [(level, label) for level, label in path if level < block.level] + [(block.level, block.label)]
            defined.clear()
            continue
        defined = [(depth, name) for depth, name in defined if depth < block.level + (block.kind != "definition")]
        if block.kind == "definition":
            defined.append((block.level, _term(document.text[block.start : block.end])))
        heading = _heading([*path, *defined], document.title, page)
        for piece in _pieces(document.text, block):
            cutter.take(piece, heading)
    release()
    return tuple(passages) or (_headings_alone(document),)


class _Cutter:
    """Gathers the pieces below one heading into passages."""

    def __init__(self) -> None:
        self._done: list[tuple[str, list[_Piece]]] = []
        self._held: list[_Piece] = []
        self._heading = ""

    def take(self, piece: _Piece, heading: str) -> None:
        if self._held and (_is_full(self._held, piece) or (piece.kind == "definition" and self._joins())):
            self._close()
        if not self._held:
            self._heading = heading
        self._held.append(piece)

    def release(self) -> list[tuple[str, list[_Piece]]]:
        """The passages below the heading that ends here, each with the heading of its first piece."""
        self._close()
        done, self._done = self._done, []
        return done

    def _close(self) -> None:
        if self._joins():
            self._done[-1][1].extend(self._held)
        elif self._held:
            self._done.append((self._heading, self._held))
        self._held = []

    def _joins(self) -> bool:
        """Whether what is held is a tail: a few words that belong to what was said in the passage before."""
        if not self._done or not self._held or self._held[0].kind == "definition":
            return False
        before = self._done[-1][1]
        return (
            _count(self._held) < TAIL
            and _count(before) + _count(self._held) <= FULL + TAIL
            and self._held[-1].end - before[0].start <= MAX_CODE_POINTS
        )


def _count(pieces: list[_Piece]) -> int:
    return sum(len(piece.words) for piece in pieces)


def _is_full(held: list[_Piece], piece: _Piece) -> bool:
    """Whether what is held ends before `piece`."""
    count = _count(held)
    if piece.end - held[0].start > MAX_CODE_POINTS:
        return True
    if held[-1].kind == "definition":  # a name stays with what is said about it
        return count > FULL
    if piece.kind == "definition":
        return count >= BEFORE_DEFINITION
    return count >= TARGET or count + len(piece.words) > FULL


def _passage(held: list[_Piece], heading: str, title: str) -> PassageSpan:
    forms = [word.form for piece in held for word in piece.words if len(word.form) <= MAX_WORD]
    return PassageSpan(start=held[0].start, end=held[-1].end, heading=heading, words=(*_above(heading, title), *forms))


def _above(heading: str, title: str) -> tuple[str, ...]:
    """The words of the last heading, which belong to the passage as if they were its first sentence."""
    last = heading.rpartition(" > ")[2] or title
    return tuple(word.form for word in words(last) if len(word.form) <= MAX_WORD)


def _heading(path: list[tuple[int, str]], title: str, page: str) -> str:
    """The path as it is shown: outermost first, without the document's title."""
    labels = [label for _, label in path]
    if labels and labels[0] == title:
        labels = labels[1:]
    if page:
        labels.append(page)
    return " > ".join(labels)


def _term(definition: str) -> str:
    """What a definition defines, without its parameters."""
    return definition.partition("(")[0].strip()[:80]


def _headings_alone(document: Document) -> PassageSpan:
    """A document of nothing but headings is one passage: its text."""
    end = min(len(document.text), MAX_CODE_POINTS)
    forms = tuple(word.form for word in words(document.text[:end]) if len(word.form) <= MAX_WORD)
    return PassageSpan(start=0, end=end, heading="", words=forms)


def _pieces(text: str, block: Block) -> Iterator[_Piece]:
    """The block in parts of at most FULL words and MAX_CODE_POINTS, cut at sentences or lines where there are
    any.
    """
    held: list[Word] = []
    start = block.start
    best = 0  # how many of `held` stand before the last good place to cut
    for word in _bounded(text, block):
        if held and (len(held) >= FULL or word.end - start > MAX_CODE_POINTS):
            at = best or len(held)
            end, following = _seam(text, held[at - 1].end, held[at].start if at < len(held) else word.start)
            yield _Piece(start=start, end=end, words=tuple(held[:at]), kind=block.kind)
            held, start, best = held[at:], following, 0
        if len(held) >= TARGET // 2 and _is_break(text, held[-1].end, word.start):
            best = len(held)
        held.append(word)
    if held:
        yield _Piece(start=start, end=min(block.end, held[-1].end + MAX_GAP), words=tuple(held), kind=block.kind)


def _bounded(text: str, block: Block) -> Iterator[Word]:
    """The block's words with offsets into the whole text; one longer than a passage comes in parts."""
    for word in words(text[block.start : block.end]):
        start, end = word.start + block.start, word.end + block.start
        while end - start > MAX_CODE_POINTS:
            yield Word(word.form[: MAX_WORD + 1], start, start + MAX_CODE_POINTS)
            start += MAX_CODE_POINTS
        yield Word(word.form, start, end)


def _is_break(text: str, end: int, start: int) -> bool:
    """Whether a sentence or a line ends between two words."""
    between = text[end : min(start, end + 200)]
    return "\n" in between or (any(mark in between for mark in SENTENCE_ENDS) and any(c.isspace() for c in between))


def _seam(text: str, end: int, start: int) -> tuple[int, int]:
    """Where one part ends and the next begins, between a word's `end` and the next one's `start`.

    A mark that opens the next word goes with it; a mark that closes the last one stays.
    """
    if start <= end:  # pairs of unspaced scripts overlap
        return start, start
    start_of_next, floor = start, max(end, start - 10)
    while start_of_next > floor and text[start_of_next - 1] in OPENING:
        start_of_next -= 1
    last = min(start_of_next, end + MAX_GAP)
    while last > end and text[last - 1].isspace():
        last -= 1
    return last, start_of_next
