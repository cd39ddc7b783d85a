"""Foreign conversations as an export of Lumina's own, so that they are checked and written like one.

Questions and answers are paired into turns; sources get their numbers, one for each address for the life of the
thread; nothing is noted, so the state is empty, and recall finds the words at once.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lumina.adapters.imports.conversations import Conversation, Read, Said, storable
from lumina.adapters.imports.legacy_sources import Listed, rewrite, take_sources
from lumina.memory.errors import UsageError
from lumina.memory.passages import passages_of
from lumina.memory.transfer_lines import (
    CallPart,
    CitationLine,
    End,
    Header,
    Line,
    MessagePart,
    PassageLine,
    SourceLine,
    SubjectLine,
    TextLine,
    ThreadLine,
    TurnLine,
    dump,
)

NO_QUESTION = "(the conversation begins with an answer)"


@dataclass(slots=True, kw_only=True)
class Counts:
    """What became of the file."""

    conversations: int = 0
    turns: int = 0
    sources: int = 0
    markers: int = 0  # rewritten to the thread's numbers


@dataclass(slots=True, kw_only=True)
class _Turn:
    asked: list[Said] = field(default_factory=list)
    rest: list[Said] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Ledger:
    """The sources of one thread."""

    numbers: dict[str, int] = field(default_factory=dict)
    latest: dict[int, Listed] = field(default_factory=dict)

    def number(self, source: Listed) -> int:
        n = self.numbers.setdefault(source.url, len(self.numbers) + 1)
        if n not in self.latest or source.text:
            self.latest[n] = source
        return n


def as_file(read: Read, *, zone: str, now: datetime, deltas: bool) -> tuple[bytes, Counts]:
    """The bytes of an export, and what it holds. UsageError when there is no turn at all."""
    counts = Counts()
    threads: list[list[Line]] = []
    texts: dict[str, str] = {}
    for conversation in read.conversations:
        lines = list(_thread(conversation, read, texts, counts, zone=ZoneInfo(zone), now=now, deltas=deltas))
        if lines:
            threads.append(lines)
            counts.conversations += 1
        else:
            read.note(conversation.name, 0, "left out", "nobody says anything in it")
    if not threads:
        raise UsageError("No conversation was found in the file. Nothing was imported.")
    one = threads[0][0] if len(threads) == 1 else None
    header = Header(
        what="thread" if isinstance(one, ThreadLine) else "subject", tenant="imported", subject="imported",
        thread=one.thread if isinstance(one, ThreadLine) else "",
    )  # fmt: skip
    whole = [header, SubjectLine(number=counts.turns)]
    whole += [TextLine(digest=digest, text=texts[digest]) for digest in sorted(texts)]
    raw = b"".join(dump(line) for line in [*whole, *(line for lines in threads for line in lines)])
    end = End(lines=len(whole) + sum(map(len, threads)), sha256=hashlib.sha256(raw).hexdigest())
    return raw + dump(end), counts


def _thread(
    conversation: Conversation, read: Read, texts: dict[str, str], counts: Counts, *, zone: ZoneInfo, now: datetime,
    deltas: bool,
) -> Iterator[Line]:  # fmt: skip
    turns = _turns(conversation, read)
    if not turns:
        return
    ledger = _Ledger()
    lines: list[Line] = []
    asked = now
    for seq, turn in enumerate(turns, 1):
        counts.turns += 1
        asked = _when([*turn.asked, *turn.rest], conversation, asked)
        lines += _turn_lines(seq, counts, turn, ledger, conversation, read, asked=asked, zone=zone)
    counts.sources += len(ledger.latest)
    yield ThreadLine(
        thread=conversation.name, title=conversation.title[:200], deltas=deltas, sources=len(ledger.latest),
        number=counts.turns, asked_at=_utc(asked), expires_at="",
    )  # fmt: skip
    for n, source in sorted(ledger.latest.items()):
        digest = hashlib.sha256(source.text.encode()).hexdigest()
        texts[digest] = source.text
        yield SourceLine(
            n=n, locator=source.url, url=source.url, title=source.title, host=source.host, depth="snippet",
            digest=digest,
        )  # fmt: skip
    yield from lines


def _turns(conversation: Conversation, read: Read) -> list[_Turn]:
    turns: list[_Turn] = []
    for said in conversation.said:
        if said.role == "user" and (not turns or turns[-1].rest):
            turns.append(_Turn(asked=[said]))
        elif said.role == "user":
            turns[-1].asked.append(said)
            read.note(conversation.name, said.place, "merged", "two messages of the user in a row became one question")
        else:
            if not turns:
                turns.append(_Turn())
                read.note(
                    conversation.name, said.place, "replaced", "it answers nothing: a note stands as the question"
                )
            turns[-1].rest.append(said)
    return turns


def _turn_lines(
    seq: int, counts: Counts, turn: _Turn, ledger: _Ledger, conversation: Conversation, read: Read, *,
    asked: datetime, zone: ZoneInfo,
) -> Iterator[Line]:  # fmt: skip
    question = "\n\n".join(said.text for said in turn.asked) or NO_QUESTION
    spoken = [said for said in turn.rest if said.role == "assistant" and not said.tool_calls]
    if len(spoken) > 1:
        read.note(conversation.name, spoken[-1].place, "merged", f"{len(spoken)} answers in a row became one")
    answer, cited, sources = "", [], []
    for said in spoken:
        answer += "\n\n" if answer else ""
        text, own, listed = _answer(said, ledger, conversation, read)
        cited += [(n, len(answer) + at) for n, at in own]
        sources += listed
        answer += text
    counts.markers += len(cited)
    exchanges = tuple(
        MessagePart(
            role="tool" if said.role == "tool" else "assistant",
            content=said.text,
            tool_calls=tuple(
                CallPart(id=call.id, name=call.name, arguments=call.arguments) for call in said.tool_calls
            ),
            tool_call_id=said.tool_call_id,
        )
        for said in turn.rest
        if said.role == "tool" or said.tool_calls
    )
    yield TurnLine(
        seq=seq, attempt=1, client_id=f"import-{seq}", number=counts.turns,
        status="complete" if answer else "failed", reason="" if answer else "no answer in the imported conversation",
        searched="found" if sources else "not needed", asked_at=_utc(asked), zone=zone.key,
        day=asked.astimezone(zone).date().isoformat(), superseded=False, window_start=max(1, seq - 5), forgotten="",
        cited=tuple(dict.fromkeys(n for n, _ in cited)), read=tuple(dict.fromkeys(sources)), followups=(),
        usage=json.dumps({}), question=question, answer=answer, exchanges=exchanges,
    )  # fmt: skip
    for n, position in cited:
        text = ledger.latest[n].text
        yield CitationLine(
            seq=seq, attempt=1, n=n, position=position, sentence_start=_sentence(answer, position),
            sentence_end=position, digest=hashlib.sha256(text.encode()).hexdigest(), passage=(), score=0.0,
            checkable=False, missing=(),
        )  # fmt: skip
    for one in passages_of(question, answer):
        yield PassageLine(seq=seq, attempt=1, part=one.part, start=one.start, end=one.end)


def _answer(
    said: Said, ledger: _Ledger, conversation: Conversation, read: Read
) -> tuple[str, list[tuple[int, int]], list[int]]:
    """The answer's text, its citations (number, offset) and the sources of its list."""
    taken = take_sources(said.text)
    for problem in taken.problems:
        read.note(conversation.name, said.place, "left as text", problem)
    if not taken.listed:
        return taken.answer, [], []
    numbers = {source.k: ledger.number(source) for source in taken.listed}
    found = rewrite(taken.answer, numbers)
    for marker in dict.fromkeys(found.kept):
        read.note(conversation.name, said.place, "left as text", f"{marker[:40]} is not in the answer's own list")
    return storable(found.text, read, conversation.name, said.place), list(found.cited), list(numbers.values())


def _sentence(answer: str, position: int) -> int:
    """Where the words before a marker begin: after the last end of a sentence or of a line."""
    start = max(answer.rfind(mark, 0, max(position - 1, 0)) for mark in (". ", "! ", "? ", "\n", "。"))
    start += 1
    return min(start + (answer[start : start + 1] == " "), position)


def _when(said: list[Said], conversation: Conversation, before: datetime) -> datetime:
    at = next((each.at for each in said if each.at is not None), conversation.at)
    return datetime.fromtimestamp(at, UTC) if at is not None else before


def _utc(when: datetime) -> str:
    return when.astimezone(UTC).isoformat()
