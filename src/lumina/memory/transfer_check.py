"""What an export must hold together: the rules between its lines.

`lumina.memory.transfer_lines` checks a line by itself. Here each is checked against those before it: the order of the
file, turns without gaps, numbers that belong to sources, offsets that lie within their texts, digests, deltas that are
about the turn they stand with. A file is checked as it streams by; what is kept is a few numbers a turn.

An export passes through the same rules before it is written: whatever was exported can be imported.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lumina.memory.change import Change, dump_changes, load_changes
from lumina.memory.errors import StoreError
from lumina.memory.receipt import Receipt
from lumina.memory.rendering import RENDERING
from lumina.memory.transfer_lines import (
    AuditLine,
    CitationLine,
    DeltaJobLine,
    DeltaLine,
    DocumentLine,
    EventLine,
    Header,
    Line,
    PassageLine,
    ReceiptLine,
    SourceLine,
    SubjectLine,
    TextLine,
    ThreadLine,
    ToolCallLine,
    TurnLine,
    UsageLine,
)

EventCheck = Callable[[str], object]

# The order of the file: whole first, then what belongs to a turn.
RANKS = {name: rank for rank, name in enumerate(("subject", "text", "document", "audit", "thread"))}
TURN_RANKS = {
    name: rank
    for rank, name in enumerate(("tool_call", "citation", "delta_job", "delta", "receipt", "usage", "event", "passage"))
}


def any_event(body: str) -> None:
    """Takes every event that is a JSON object. A program that shows events knows more kinds of wrong."""


@dataclass(slots=True, kw_only=True)
class _Turn:
    """What is kept of a turn until the end of its thread."""

    seq: int
    number: int
    question: int  # code points
    answer: int
    forgotten: bool


@dataclass(slots=True, kw_only=True)
class _Thread:
    line: ThreadLine
    sources: set[int] = field(default_factory=set)
    locators: set[str] = field(default_factory=set)
    turns: dict[tuple[int, int], _Turn] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    last: tuple[int, int] = (0, 0)
    log_begun: bool = False


class Checker:
    """Takes the lines of a file in order. ValueError says what does not hold, without the data."""

    def __init__(self, header: Header, *, event: EventCheck = any_event) -> None:
        self.header = header
        self._event = event
        self._rank = -1
        self._number = 0
        self._texts: dict[str, int] = {}  # digest -> code points
        self._last_text = ""
        self._documents: set[str] = set()
        self._threads: set[str] = set()
        self._numbers: dict[int, tuple[str, int]] = {}
        self._thread: _Thread | None = None
        self._turn_rank: tuple[object, ...] = ()
        self._applied = False

    def take(self, line: Line) -> None:
        if line.kind in RANKS:
            self._in_order(RANKS[line.kind], line.kind)
        match line:
            case SubjectLine():
                self._number = line.number
            case TextLine():
                self._text(line)
            case DocumentLine():
                self._document(line)
            case AuditLine():
                _need(not self._of_one or line.thread == self.header.thread, "thread: it is not the file's thread")
            case ThreadLine():
                self._open(line)
            case SourceLine():
                self._source(line)
            case TurnLine():
                self._turn(line)
            case _:
                self._about_turn(line)

    def end(self) -> None:
        """The file is over. ValueError when something is missing."""
        _need(self._rank >= 0, "the line with the subject's count is missing")
        _need(not self._of_one or self.header.thread in self._threads, "the thread that the header names is missing")

    @property
    def _of_one(self) -> bool:
        return self.header.what == "thread"

    def _in_order(self, rank: int, kind: str) -> None:
        _need(self._rank >= 0 or rank == 0, "a file begins with its header and the subject's count of turns")
        _need(rank > self._rank or (rank == self._rank and rank > 0), f"a line of kind {kind} stands too late")
        self._rank = rank

    def _text(self, line: TextLine) -> None:
        right = hashlib.sha256(line.text.encode()).hexdigest()
        _need(right == line.digest, "digest: it is not the SHA-256 of the text")
        _need(line.digest > self._last_text, "digest: texts stand in the order of their digests, each once")
        self._last_text = line.digest
        self._texts[line.digest] = len(line.text)

    def _document(self, line: DocumentLine) -> None:
        _need(not self._of_one, "a file of one thread holds no documents")
        _need(line.locator not in self._documents, "locator: two documents have the same")
        self._documents.add(line.locator)
        for span in line.passages:
            _need(span.start <= span.end <= len(line.text), "passages: one does not lie within the text")

    def _open(self, line: ThreadLine) -> None:
        _need(line.thread not in self._threads, "thread: it stands twice in the file")
        _need(not self._of_one or line.thread == self.header.thread, "thread: it is not the one the header names")
        _need(line.number <= self._number, "number: it is larger than the subject's count")
        self._threads.add(line.thread)
        self._thread = _Thread(line=line)
        self._turn_rank = ()

    def _here(self) -> _Thread:
        if self._thread is None:
            raise ValueError("it stands before any thread")
        return self._thread

    def _source(self, line: SourceLine) -> None:
        here = self._here()
        _need(not here.turns and not here.log_begun, "a source stands behind the turns")
        _need(line.n > max(here.sources, default=0), "n: sources stand in the order of their numbers, each once")
        _need(line.n <= here.line.sources, "n: it is larger than the last number the thread has given out")
        _need(line.locator not in here.locators, "locator: two sources of the thread have the same")
        _need(line.digest in self._texts, "digest: the file holds no such text")
        here.sources.add(line.n)
        here.locators.add(line.locator)

    def _turn(self, line: TurnLine) -> None:
        here = self._here()
        seq, attempt = here.last
        _need(not here.log_begun, "a turn stands behind the thread's log")
        _need(line.seq == seq + 1 or (line.seq == seq and line.attempt > attempt),
              "seq: turns count from 1 without gaps, in order, and attempts upward")  # fmt: skip
        _need(line.superseded or line.seq not in here.live, "superseded: two attempts at one turn both stand")
        _need(line.number <= here.line.number, "number: it is larger than that of the thread")
        _need(self._numbers.setdefault(line.number, (here.line.thread, line.seq)) == (here.line.thread, line.seq),
              "number: another turn of the file has it")  # fmt: skip
        _need(line.client_id not in here.clients, "client_id: two turns of the thread have the same")
        _need(line.window_start <= line.seq, "window_start: it lies behind the turn")
        _need(here.sources.issuperset(line.cited), "cited: a number belongs to no source of the thread")
        _need(len(set(line.cited)) == len(line.cited), "cited: a number stands twice")
        _need(here.sources.issuperset(line.read), "read: a number belongs to no source of the thread")
        _need(len(set(line.read)) == len(line.read), "read: a number stands twice")
        _need(not line.forgotten or not (line.question or line.answer), "forgotten: the turn still has its words")
        here.last = line.seq, line.attempt
        here.live |= set() if line.superseded else {line.seq}
        here.clients.add(line.client_id)
        here.turns[here.last] = _Turn(
            seq=line.seq, number=line.number, question=len(line.question), answer=len(line.answer),
            forgotten=bool(line.forgotten),
        )  # fmt: skip
        self._turn_rank, self._applied = (), False

    def _about_turn(self, line: Line) -> None:
        here = self._here()
        if isinstance(line, EventLine):
            self._event(line.body)
            if line.key == (0, 0):
                here.log_begun = True
                return
        key = getattr(line, "key", None)
        turn = here.turns.get(here.last)
        _need(turn is not None and key == here.last and not here.log_begun, "seq: the line stands with another turn")
        assert turn is not None
        rank = (TURN_RANKS[line.kind], *_place(line))
        same_kind_may_repeat = isinstance(line, CitationLine | UsageLine | EventLine)
        _need(rank > self._turn_rank or (same_kind_may_repeat and rank == self._turn_rank),
              f"a line of kind {line.kind} stands too late, or twice")  # fmt: skip
        self._turn_rank = rank
        match line:
            case CitationLine():
                self._citation(here, turn, line)
            case DeltaJobLine():
                _need(line.status != "none", "status: a job has been asked for, or there is none")
                self._applied = line.status == "applied"
            case DeltaLine():
                self._delta(here, turn, line)
            case ReceiptLine():
                _receipt(line)
            case PassageLine():
                length = turn.question if line.part == "question" else turn.answer
                _need(line.start <= line.end <= length, "end: the passage does not lie within the turn's words")
            case _:
                pass

    def _citation(self, here: _Thread, turn: _Turn, line: CitationLine) -> None:
        _need(line.n in here.sources, "n: it belongs to no source of the thread")
        _need(line.position <= turn.answer, "position: it lies behind the answer")
        _need(line.sentence_start <= line.sentence_end <= turn.answer, "sentence_end: it lies outside the answer")
        length = self._texts.get(line.digest)
        for start, end in line.passage:
            _need(start <= end, "passage: it ends before it starts")
            _need(length is None or end <= length, "passage: it does not lie within the text")

    def _delta(self, here: _Thread, turn: _Turn, line: DeltaLine) -> None:
        _need(line.number == turn.number, "number: it is not that of the turn")
        _need(line.correction > 0 or self._applied, "the turn's delta job does not say that it was applied")
        try:
            changes = load_changes(line.changes)
        except StoreError as error:
            raise ValueError(f"changes: {error}") from None
        _need(dump_changes(changes) == line.changes, "changes: not written as they are stored")
        for change in changes:
            _need((change.seq, change.attempt, change.correction) == (line.seq, line.attempt, line.correction),
                  "changes: one is about another turn")  # fmt: skip
            _need(change.number == line.number, "changes: one has another number")
            _need(change.about == "thread" or change.thread == here.line.thread, "changes: one is of another thread")
            _need(not change.source or change.source in here.sources, "changes: one names a source that is not there")
            _need(all(_quotes(here, change)), "changes: a quote does not lie within the turn's words")


def _quotes(here: _Thread, change: Change) -> Iterator[bool]:
    """For each quote of a change, whether it lies within what was said. A forgotten turn has no words any more."""
    for quote in (change.quote, change.offer):
        if quote is None:
            continue
        turn = here.turns.get((quote.seq, quote.attempt))
        if turn is None:
            yield False
        elif not turn.forgotten:
            yield 0 <= quote.start <= quote.end <= (turn.question if quote.part == "question" else turn.answer)


def _receipt(line: ReceiptLine) -> None:
    try:
        receipt = Receipt.from_json(line.body)
    except StoreError as error:
        raise ValueError(f"body: {error}") from None
    _need((receipt.call, receipt.purpose) == (line.call, line.purpose), "body: it is the receipt of another call")
    _need(receipt.rendering <= RENDERING, "body: a newer version of Lumina has rendered it")
    _need(0 <= receipt.base < line.call, "body: its base is no earlier call")
    # What is forgotten later is looked for in receipts as they are written.
    _need(receipt.to_json() == line.body, "body: not written as it is stored")


def _place(line: Line) -> tuple[int, ...]:
    """What orders lines of one kind within a turn."""
    match line:
        case ToolCallLine():
            return (line.place,)
        case DeltaLine():
            return (line.correction,)
        case ReceiptLine():
            return (line.call,)
        case PassageLine():
            return (int(line.part != "question"), line.start, line.end)
        case _:
            return ()


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
