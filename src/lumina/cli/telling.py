"""Tells a person what happens in a turn, event by event, and lists the sources at its end.

The same events as everywhere: the answer streams to standard output, the search and notices to standard error. What
stands under a source is the passage that carries the sentence, and what of the sentence is not in it; it is evidence
to look at, no verdict.
"""

from dataclasses import dataclass, field

from lumina.agent.events import (
    AnyEvent,
    CitationMade,
    CitationRemoved,
    Notice,
    SearchFinished,
    SearchStarted,
    SourceRead,
    StateChanged,
    Text,
    TurnFinished,
)
from lumina.cli.screen import note, say, write
from lumina.memory.noting import Noting

PASSAGE_SHOWN = 320  # characters


@dataclass(slots=True)
class Teller:
    """Prints the events of one turn as they come; `sources` prints the list afterwards."""

    sources: dict[int, SourceRead] = field(default_factory=dict)
    citations: dict[int, list[CitationMade]] = field(default_factory=dict)
    removed: int = 0
    notices: list[str] = field(default_factory=list)
    end: TurnFinished | None = None
    _wrote: str = ""

    def tell(self, event: AnyEvent) -> None:
        match event:
            case SearchStarted():
                note(f"searching: {event.query}")
            case SearchFinished():
                note(_search_line(event), "dim" if event.outcome == "found" else "amber")
            case SourceRead():
                self.sources.setdefault(event.n, event)
            case Text():
                write(event.text)
                self._wrote = event.text or self._wrote
            case CitationMade():
                self.citations.setdefault(event.n, []).append(event)
            case CitationRemoved():
                self.removed += 1
            case Notice():
                self.notices.append(event.text)
            case TurnFinished():
                self.end = event
                self._finish(event)
            case _:
                pass

    def _finish(self, event: TurnFinished) -> None:
        if self._wrote and not self._wrote.endswith("\n"):
            write("\n")
        if event.status == "partial":
            note(f"(stopped here: {event.reason or 'the answer is not complete'}; what arrived is kept)", "amber")
        if event.status == "failed":
            note(f"No answer: {event.reason}. The question is kept; ask again to try once more.", "red")
        if event.searched == "failed":
            note("The search failed, so nothing new is cited.", "amber")
        if self.removed:
            many = "citations that led to no source were" if self.removed > 1 else "citation that led to no source was"
            note(f"{self.removed} {many} removed.", "amber")

    def tell_sources(self) -> None:
        """The cited sources with their passages, then how many more were read."""
        if self.citations:
            say()
            for n in sorted(self.citations):
                for line in source_lines(n, self.sources.get(n), self.citations[n]):
                    say(line)
        if read := len(set(self.sources) - set(self.citations)):
            say(f"{read} more {'source was' if read == 1 else 'sources were'} read and not cited." if self.citations
                else f"{read} {'source was' if read == 1 else 'sources were'} read, none cited.", "dim")  # fmt: skip
        for text in self.notices:
            note(text)


def _search_line(event: SearchFinished) -> str:
    if event.outcome == "found":
        return f"found {event.hits} {'passage' if event.hits == 1 else 'passages'} ({event.provider})"
    words = {"empty": "found nothing", "failed": "the search failed", "refused": "the search was refused"}
    return f"{words[event.outcome]} ({event.provider}): {event.reason}"


def source_lines(n: int, source: SourceRead | None, citations: list[CitationMade]) -> list[str]:
    """A source with the passages that support what cites it."""
    title = f"{source.title} ({source.host})" if source else "a source of an earlier turn"
    lines = [f"[{n}] {title}"]
    if source:
        lines.append(f"    {source.url}")
    seen: set[str] = set()
    for citation in citations:
        passage = " ".join(citation.passage.split())
        if passage and passage not in seen:
            seen.add(passage)
            lines.append(f"    “{passage if len(passage) <= PASSAGE_SHOWN else passage[: PASSAGE_SHOWN - 1] + '…'}”")
        if not passage and citation.support is not None:
            lines.append("    no passage of it carries the sentence: look for yourself")
        if citation.missing:
            lines.append("    not found there: " + ", ".join(f"{text} ({kind})" for kind, text in citation.missing))
    return lines


def tell_noting(noting: Noting | None) -> None:
    """What was noted from the turn, in one line each."""
    if noting is None:
        return
    for outcome in noting.outcomes:
        change = outcome.change
        if outcome.kind in ("new", "replaces", "closes"):
            old = f"{outcome.old} → " if outcome.old else ""
            about = "about you, " if change.about == "subject" else ""
            say(f"Noted ({about}{change.op}): {change.key}: {old}{change.value or 'ended'}", "dim")
    if noting.set_aside:
        note(f"What changed in this turn could not be noted: {noting.set_aside}", "amber")


def changed_line(event: StateChanged) -> str:
    return f"{event.key}: {event.old or '—'} → {event.new or '—'}"
