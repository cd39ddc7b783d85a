"""Tells a person what happens in a turn, event by event, and lists the sources at its end.

The same events as everywhere: the answer streams to standard output, the search and notices to standard error.
`lumina.cli.sourcing` shows the sources.
"""

from dataclasses import dataclass, field

from lumina.agent.events import (
    AnyEvent,
    CitationMade,
    CitationRemoved,
    Notice,
    PageRead,
    Plan,
    SearchFinished,
    SearchStarted,
    SourceRead,
    Text,
    TurnFinished,
)
from lumina.cli.flow import Flow
from lumina.cli.screen import flat, measure, note, say
from lumina.cli.sourcing import say_cited
from lumina.memory.noting import Noting
from lumina.memory.state import Outcome

PLACES = {
    "documents": "your documents",
    "lumina-documentation": "Lumina's own documentation",
    "searxng": "SearXNG",
    "tavily": "Tavily",
    "brave": "Brave Search",
    "exa": "Exa",
    "ddgs": "public search engines",
}
DOCUMENTS = ("documents", "lumina-documentation")


@dataclass(slots=True)
class Teller:
    """Prints the events of one turn as they come; `tell_sources` prints the list afterwards."""

    read: list[SourceRead] = field(default_factory=list)
    citations: list[CitationMade] = field(default_factory=list)
    removed: int = 0
    notices: list[str] = field(default_factory=list)
    end: TurnFinished | None = None
    _unread: set[str] = field(default_factory=set)  # why pages could not be read, as it was told
    _asked: str = ""  # the query that was told last
    _flow: Flow = field(default_factory=lambda: Flow(measure()))

    def tell(self, event: AnyEvent) -> None:
        match event:
            case SearchStarted():
                if event.query != self._asked:  # the next provider is asked the same
                    note(f"searching: {flat(event.query)}")
                self._asked = event.query
            case SearchFinished():
                note(search_line(event), "dim" if event.outcome == "found" else "amber")
            case PageRead():
                note(
                    page_line(event, again=event.reason in self._unread), "dim" if event.outcome == "read" else "amber"
                )
                self._unread.add(event.reason)
            case Plan():
                note("looking for: " + flat("; ".join(event.queries)))
            case SourceRead():
                self.read.append(event)
            case Text():
                self._flow.write(event.text)
            case CitationMade():
                self.citations.append(event)
            case CitationRemoved():
                self.removed += 1
            case Notice(now=True):
                note(flat(event.text), "amber")
            case Notice():
                self.notices.append(event.text)
            case TurnFinished():
                self.end = event
                self._flow.end()
                self._tell_end(event)
            case _:
                pass

    def _tell_end(self, event: TurnFinished) -> None:
        if event.status == "partial":
            kept = "what arrived is kept" if self._flow.wrote else "nothing had arrived; the question is kept"
            reason = event.reason or "the answer is not complete"
            note(f"({'' if reason.startswith('stopped') else 'stopped here: '}{flat(reason)}; {kept})", "amber")
        if event.status == "failed":
            note(f"No answer: {flat(event.reason)} The question is kept; ask again to try once more.", "red")
        if event.searched == "failed":
            note("The search failed, so nothing new is cited.", "amber")
        if self.removed:
            many = "citations that led to no source were" if self.removed > 1 else "citation that led to no source was"
            note(f"{self.removed} {many} removed.", "amber")

    def tell_sources(self) -> None:
        """The cited sources with their passages, and how many more were read."""
        say_cited(self.read, self.citations)
        for text in self.notices:
            note(f"{flat(text)}.".replace("..", "."))


def search_line(event: SearchFinished) -> str:
    """How a search ended: found, empty, failed and refused are four different things."""
    place = PLACES.get(event.provider, event.provider)
    if event.outcome == "found":
        what = "passage" if event.provider in DOCUMENTS else "result"
        return f"found {event.hits} {what if event.hits == 1 else what + 's'} in {flat(place)}"
    words = {
        "empty": f"found nothing in {place}",
        "failed": f"the search in {place} failed",
        "refused": "the search was not made",
    }
    return flat(f"{words[event.outcome]}: {event.reason}" if event.reason else words[event.outcome])


def page_line(event: PageRead, *, again: bool = False) -> str:
    """How reading a page ended. `again`: the reason was told before."""
    if event.outcome == "read":
        return f"reading {flat(event.host)} [{event.n}]" if event.host else f"reading more of [{event.n}]"
    what = flat(event.host) or "a page"
    if again and event.outcome == "failed":
        return f"{what} could not be read for the same reason"
    if event.host and event.reason.startswith(event.host):  # the guard names the host itself
        return flat(f"could not be read: {event.reason}")
    words = f"{what} could not be read" if event.outcome == "failed" else "a page was not opened"
    return flat(f"{words}: {event.reason}")


def tell_noting(noting: Noting | None) -> None:
    """What was noted from the turn, in one line each."""
    if noting is None:
        return
    for outcome in noting.outcomes:
        if outcome.kind in ("new", "replaces", "closes"):
            say(noted_line(outcome), "dim")
    if noting.set_aside:
        note(f"What changed in this turn could not be noted: {flat(noting.set_aside)}", "amber")


def noted_line(outcome: Outcome) -> str:
    """One change: key, value before, value now."""
    change = outcome.change
    about = " about you" if change.about == "subject" else ""
    old = f"{outcome.old} → " if outcome.old else ""
    return flat(f"Noted{about}: {change.key} = {old}{change.value or '(ended)'}")
