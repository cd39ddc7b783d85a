"""The answer as it grows: text, citations and what was taken out, event by event.

What a model writes passes through the citation stream before anybody sees it. Each response of the model is a part of
its own: brackets or code left open in one do not reach into the next. A citation is told when its paragraph is
complete, because only then is it certain which sentence it stands for; the answer and its citations are the same
however the text was cut on its way.
"""

import asyncio
from collections.abc import Iterator

from lumina.agent.citations import CitationStream, Cited, Piece, Removed
from lumina.agent.citations import Text as Plain
from lumina.agent.events import CitationMade, CitationRemoved, Text, Thinking
from lumina.agent.ledger import Ledger
from lumina.agent.sentences import Span, sentence_spans
from lumina.agent.storable import storable
from lumina.agent.support import SourceText, support
from lumina.agent.turn_log import TurnLog
from lumina.memory.turns import Citation

LONG = 20_000  # characters; a longer source is indexed in a thread of its own
PARAGRAPH = "\n\n"
BETWEEN_SENTENCES = " … "


class Draft:
    """`answer`, `cited` (numbers in the order of first use) and `citations` are what will be stored."""

    def __init__(self, *, log: TurnLog, ledger: Ledger) -> None:
        self.answer = ""
        self.thought = 0  # characters
        self.citations: list[Citation] = []
        self._log = log
        self._ledger = ledger
        self._stream: CitationStream | None = None
        self._part = 0  # where the part begins
        self._settled = 0  # up to here the citations were told
        self._pending: list[Cited] = []
        self._sources: dict[int, SourceText | None] = {}

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(citation.n for citation in self.citations))

    async def say(self, text: str) -> None:
        """The next piece of what the model writes."""
        if self._stream is None:
            if not text.strip():
                return
            self._stream = CitationStream(self._ledger.citable)
            if self.answer:
                self._add(PARAGRAPH)
            self._part = len(self.answer)
        self._take(self._stream.feed(storable(text)))
        await self._settle(self.answer.rfind(PARAGRAPH, self._settled) + 1)

    def think(self, text: str) -> None:
        """What a reasoning model writes before it answers: shown, never stored in the answer."""
        self.thought += len(text)
        self._log.gather(Thinking(thread=self._log.scope.thread, turn=self._log.seq, text=storable(text)))

    async def end_part(self) -> str:
        """The model's response is complete, or has broken off: what it wrote, as the answer holds it."""
        if self._stream is None:
            return ""
        stream, self._stream = self._stream, None
        self._take(stream.close())
        return self.answer[self._part :]

    async def close(self) -> None:
        """The answer is complete, or as complete as it will be."""
        await self.end_part()
        await self._settle(len(self.answer))

    def _take(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, Plain):
                self._add(piece.text)
            elif isinstance(piece, Cited):
                self._pending.append(Cited(piece.n, self._part + piece.position))
            else:
                self._removed(piece)

    def _add(self, text: str) -> None:
        self.answer += text
        self._log.gather(Text(thread=self._log.scope.thread, turn=self._log.seq, text=text))

    def _removed(self, piece: Removed) -> None:
        self._log.gather(CitationRemoved(
            thread=self._log.scope.thread, turn=self._log.seq, marker=piece.marker,
            position=self._part + piece.position, reason=piece.reason,
        ))  # fmt: skip

    async def _settle(self, end: int) -> None:
        """Matches the citations before `end`, where a paragraph ends, with their sources."""
        while self._pending and self._pending[0].position < end:
            cited = self._pending[0]
            await self._match(cited, sentence_of(self.answer, cited.position))
            self._pending.pop(0)  # only now: a stop in between leaves it to be told at the end
        self._settled = max(self._settled, end)

    async def _match(self, cited: Cited, sentence: Span) -> None:
        source, claim = await self._source(cited.n), without_markers(self.answer[sentence.start : sentence.end])
        known = await self._ledger.text_of(cited.n)
        if source is None or known is None:
            return
        found = support(claim, source)
        missing = tuple((each.kind, each.text) for each in found.missing)
        spans = tuple((span.start, span.end) for span in found.passage)
        self.citations.append(Citation(
            n=cited.n, position=cited.position, sentence_start=sentence.start, sentence_end=sentence.end,
            digest=known.digest, passage=spans, score=found.score, checkable=found.checkable, missing=missing,
        ))  # fmt: skip
        self._log.gather(CitationMade(
            thread=self._log.scope.thread, turn=self._log.seq, n=cited.n, position=cited.position,
            support=round(found.score, 3) if found.checkable else None, spans=spans, missing=missing,
            passage=BETWEEN_SENTENCES.join(source.text[start:end] for start, end in spans),
        ))  # fmt: skip

    async def _source(self, n: int) -> SourceText | None:
        if n not in self._sources:
            stored = await self._ledger.text_of(n)
            if stored is None:
                self._sources[n] = None
            elif len(stored.text) > LONG:
                self._sources[n] = await asyncio.to_thread(SourceText, stored.text, stored.title, stored.url)
            else:
                self._sources[n] = SourceText(stored.text, stored.title, stored.url)
        return self._sources[n]


def sentence_of(answer: str, position: int) -> Span:
    """The sentence that a marker at `position` stands for: the one it stands in, or, when nothing but markers stand
    before it there (`It keeps 128. [1]`), the one before. Only its paragraph is looked at."""
    start = answer.rfind(PARAGRAPH, 0, position)
    start = start + len(PARAGRAPH) if start >= 0 else 0
    end = answer.find(PARAGRAPH, position)
    paragraph = answer[start : end if end >= 0 else len(answer)]
    spans = [Span(span.start + start, span.end + start) for span in sentence_spans(paragraph)]
    before = [span for span in spans if span.start <= position]
    for span in reversed(before):
        if any(character.isalnum() for character in without_markers(answer[span.start : min(span.end, position)])):
            return span
    return before[-1] if before else Span(position, position)


def without_markers(text: str) -> str:
    """The sentence without its [n], as the draft writes them."""
    return "".join(_outside(text))


def _outside(text: str) -> Iterator[str]:
    at = 0
    while (opener := text.find("[", at)) >= 0:
        closer = text.find("]", opener, opener + 12)
        yield text[at:opener]
        if closer < 0 or not text[opener + 1 : closer].isdecimal():
            yield "["
            at = opener + 1
        else:
            at = closer + 1
    yield text[at:]
