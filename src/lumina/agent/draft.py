"""The answer as it grows: text, citations and what was taken out, event by event.

What a model writes passes through the citation stream before anybody sees it. Each response of the model is a part of
its own: brackets or code left open in one do not reach into the next. A citation is told when its paragraph is
complete, because only then is it certain which sentence it stands for; the answer and its citations are the same
however the text was cut on its way.
"""

import asyncio
from collections.abc import Sequence

from lumina.agent.citations import CitationStream, Cited, Piece, Removed
from lumina.agent.citations import Text as Plain
from lumina.agent.cited_sentences import CitedSentence, cited_sentences
from lumina.agent.events import CitationMade, CitationRemoved, Text, Thinking
from lumina.agent.ledger import Ledger
from lumina.agent.storable import storable
from lumina.agent.support import SourceText, Support, support
from lumina.agent.turn_log import TurnLog
from lumina.memory.masking import Masks, MaskStream
from lumina.memory.turns import Citation

LONG = 20_000  # characters; a longer source is indexed in a thread of its own
PARAGRAPH = "\n\n"
BETWEEN_SENTENCES = " … "
NOTHING = Support(score=0.0, checkable=False, passage=(), missing=())


class Draft:
    """`answer`, `cited` (numbers in the order of first use) and `citations` are what will be stored."""

    def __init__(self, *, log: TurnLog, ledger: Ledger, masks: Masks | None = None) -> None:
        """`masks` hide what must never be kept, before anything else is made of the text."""
        self._masks = masks or Masks()
        self._mask = MaskStream(self._masks)
        self._thought = MaskStream(self._masks)
        self.answer = ""
        self.thought = 0  # characters
        self.citations: list[Citation] = []
        self._log = log
        self._ledger = ledger
        self._stream: CitationStream | None = None
        self._part = 0  # where the part begins
        self._settled = 0  # up to here the citations were told
        self._all: list[Cited] = []
        self._pending: list[Cited] = []
        self._sources: dict[int, SourceText | None] = {}

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(citation.n for citation in self.citations))

    async def say(self, text: str) -> None:
        """The next piece of what the model writes. What may turn out to be masked is held back until it is certain."""
        self._think(self._thought.close())  # the thought before it is complete
        await self._say(self._mask.feed(storable(text)))

    async def _say(self, text: str) -> None:
        if self._stream is None:
            if not text.strip():
                return
            self._stream = CitationStream(self._ledger.citable)
            if self.answer:
                self._add(PARAGRAPH)
            self._part = len(self.answer)
        self._take(self._stream.feed(text))
        await self._settle(self.answer.rfind(PARAGRAPH, self._settled) + 1)

    def think(self, text: str) -> None:
        """What a reasoning model writes before it answers: shown, never stored in the answer."""
        self.thought += len(text)
        self._think(self._thought.feed(storable(text)))

    def _think(self, text: str) -> None:
        if text:
            self._log.gather(Thinking(thread=self._log.scope.thread, turn=self._log.seq, text=text))

    async def end_part(self) -> str:
        """The model's response is complete, or has broken off: what it wrote, as the answer holds it."""
        self._think(self._thought.close())
        if rest := self._mask.close():
            await self._say(rest)
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
                self._all.append(Cited(piece.n, self._part + piece.position))
                self._pending.append(self._all[-1])
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
        ready = [cited for cited in self._pending if cited.position < end]
        if ready:
            begin = _paragraph_before(self.answer, ready[0].position)
            known = [Cited(cited.n, cited.position - begin) for cited in self._all if begin <= cited.position < end]
            sentences = cited_sentences(self.answer[begin:end], known)
            for cited in ready:
                await self._match(cited, sentence_of(cited, sentences, begin), begin)
                self._pending.remove(cited)  # only now: a stop in between leaves it to be told at the end
        self._settled = max(self._settled, end)

    async def _match(self, cited: Cited, sentence: CitedSentence | None, begin: int) -> None:
        source, stored = await self._source(cited.n), await self._ledger.text_of(cited.n)
        found = support(sentence.claim, source) if sentence and source else NOTHING
        missing = tuple((each.kind, each.text) for each in found.missing)
        spans = tuple((span.start, span.end) for span in found.passage)
        passage = BETWEEN_SENTENCES.join(source.text[start:end] for start, end in spans) if source else ""
        self.citations.append(Citation(
            n=cited.n, position=cited.position, digest=stored.digest if stored else "", passage=spans,
            sentence_start=begin + sentence.start if sentence else cited.position,
            sentence_end=begin + sentence.end if sentence else cited.position,
            score=found.score, checkable=found.checkable, missing=missing,
        ))  # fmt: skip
        self._log.gather(CitationMade(
            thread=self._log.scope.thread, turn=self._log.seq, n=cited.n, position=cited.position,
            support=round(found.score, 3) if found.checkable else None, spans=spans, missing=missing,
            passage=passage,
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


def _paragraph_before(answer: str, position: int) -> int:
    """Where the paragraph before the one at `position` begins: a marker may stand for its last sentence."""
    own = answer.rfind(PARAGRAPH, 0, position)
    before = answer.rfind(PARAGRAPH, 0, own) if own > 0 else -1
    return before + len(PARAGRAPH) if before >= 0 else 0


def sentence_of(cited: Cited, sentences: Sequence[CitedSentence], offset: int) -> CitedSentence | None:
    """Of the sentences that cite the number, the one that this marker belongs to. They count from `offset`."""
    at = cited.position - offset
    citing = [sentence for sentence in sentences if cited.n in sentence.numbers]
    around = [sentence for sentence in citing if sentence.start <= at < sentence.end]
    before = [sentence for sentence in citing if sentence.end <= at]
    return (around[-1:] or before[-1:] or citing[:1] or [None])[0]
