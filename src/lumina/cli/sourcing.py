"""Shows the sources of an answer: each with the place in it that supports what cites it.

A sentence that was quoted is its own passage, so printing the passage alone would only print the answer again. What
helps to check is where it stands: the heading above it, and the words around it. Passages of one place are shown
together, and the words that carry the answer stand out. It is evidence to look at, no verdict.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lumina.agent.events import CitationMade, SourceRead
from lumina.cli.flow import Words, words_of, wrapped
from lumina.cli.screen import flat, measure, say, say_line, styled

EXCERPT = 420  # characters of one place of a source
PLACES_SHOWN = 3  # places of one source
BETWEEN = " … "  # what stands between sentences of a passage that do not follow each other (lumina.agent.draft)
Span = tuple[int, int]


@dataclass(slots=True)
class SourcePlace:
    """A stretch of a source that was read, and the passages in it that support something."""

    heading: str
    text: str  # on one line
    spans: list[Span] = field(default_factory=list)


def say_cited(read: Sequence[SourceRead], citations: Sequence[CitationMade]) -> None:
    """The cited sources, then how many more were read."""
    numbers = sorted({citation.n for citation in citations})
    if numbers:
        say()
        say("Sources", "bold")
    for n in numbers:
        mine = [event for event in read if event.n == n]
        for line in source_lines(n, mine, [citation for citation in citations if citation.n == n]):
            say_line(line)
    if more := len({event.n for event in read} - set(numbers)):
        were = "source was" if more == 1 else "sources were"
        say(f"{more} more {were} read and not cited." if numbers else f"{more} {were} read, none cited.", "dim")


def source_lines(n: int, read: Sequence[SourceRead], citations: Sequence[CitationMade]) -> list[str]:
    """A source and the places in it, as lines that may hold colour."""
    places, loose = places_of(read, citations)
    lines = [heading_line(n, read, places)]
    if read:
        lines.append(styled("    " + flat(read[-1].url), "dim"))
    several = len({place.heading for place in places}) > 1
    for place in places[:PLACES_SHOWN]:
        above = [(word, "dim") for word, _ in words_of(place.heading + " ·")] if several and place.heading else []
        words = excerpt(place.text, place.spans)
        lines += wrapped([*above, *words], width=measure(), indent="    ")
    if len(places) > PLACES_SHOWN:
        more = len(places) - PLACES_SHOWN
        lines.append(styled(f"    and {more} more {'place' if more == 1 else 'places'} in it", "dim"))
    if loose:
        lines.append("    no passage of it carries what cites it: look for yourself")
    missing = dict.fromkeys(f"{flat(text)} ({kind})" for citation in citations for kind, text in citation.missing)
    if missing:
        lines.append("    not found there: " + ", ".join(missing))
    return lines


def heading_line(n: int, read: Sequence[SourceRead], places: Sequence[SourcePlace]) -> str:
    if not read:
        return f"[{n}] a source of an earlier turn"
    there = read[-1]  # a page that was read after its excerpt may have been found elsewhere
    host = f" ({flat(there.host)})" if there.host != "documents" else ""
    depth = styled(" · only an excerpt of it was read", "dim") if there.depth == "snippet" else ""
    headings = {place.heading for place in places}
    below = f" › {flat(headings.pop())}" if len(headings) == 1 else ""
    title = flat(there.title)
    return styled(f"[{n}]", "bold") + f" {title}{below if below != f' › {title}' else ''}".rstrip(" ›") + host + depth


def places_of(
    read: Sequence[SourceRead], citations: Iterable[CitationMade]
) -> tuple[list[SourcePlace], list[CitationMade]]:
    """The places that support citations, in the order they are cited; and the citations that nothing supports."""
    known = [SourcePlace(heading=event.heading, text=one_space(event.passage)) for event in read]
    found: list[SourcePlace] = []
    loose: list[CitationMade] = []
    for citation in citations:
        if not citation.passage.strip():
            loose += [citation] if citation.support is not None else []
            continue
        for sentence in citation.passage.split(BETWEEN):
            sentence = one_space(sentence)
            if not sentence or any(sentence in place.text and _covered(place, sentence) for place in found):
                continue
            place = next((place for place in [*found, *known] if sentence in place.text), None)
            if place is None:  # read in an earlier turn, or in a part of the page that no event shows
                place = SourcePlace(heading="", text=sentence)
            if place not in found:
                found.append(place)
            at = place.text.index(sentence)
            place.spans.append((at, at + len(sentence)))
    return found, loose


def _covered(place: SourcePlace, sentence: str) -> bool:
    at = place.text.index(sentence)
    return any(start <= at and at + len(sentence) <= end for start, end in place.spans)


def excerpt(text: str, spans: Sequence[Span], limit: int = EXCERPT) -> Words:
    """The spans of `text` with what stands around them, in about `limit` characters; the spans in bold."""
    kept = _fitted(text, merged(spans, len(text)), limit)
    shown = kept
    if kept and (room := limit - sum(end - start for start, end in kept)) > 0:
        each = room // (2 * len(kept))
        wider = [(_word_start(text, start - each), _word_end(text, end + each)) for start, end in kept]
        shown = merged(wider, len(text))
    words: Words = []
    for start, end in shown:
        words += [*([("…", "")] if start else []), *_pieces(text, start, end, kept)]
    return [*words, ("…", "")] if shown and shown[-1][1] < len(text) else words


def _fitted(text: str, spans: Sequence[Span], limit: int) -> list[Span]:
    """The first spans that have room in `limit` characters, the last one cut between words."""
    rows: list[Span] = []
    for start, end in spans:
        if limit <= 0:
            break
        stop = end if end - start <= limit else max(_word_start(text, start + limit), start + limit // 2)
        rows.append((start, stop))
        limit -= stop - start
    return rows


def _pieces(text: str, start: int, end: int, spans: Sequence[Span]) -> Words:
    """The words of a stretch, those inside a span in bold."""
    words: Words = []
    at = start
    for first, last in spans:
        first, last = max(first, start), min(last, end)
        if first < last:
            words += [*words_of(text[at:first]), *words_of(text[first:last], "bold")]
            at = last
    return [*words, *words_of(text[at:end])]


def merged(spans: Iterable[Span], length: int) -> list[Span]:
    """Spans in order, those that touch made one, within 0 and `length`."""
    rows: list[Span] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in spans):
        if rows and start <= rows[-1][1] + 1:
            rows[-1] = (rows[-1][0], max(end, rows[-1][1]))
        elif start < end:
            rows.append((start, end))
    return rows


def _word_start(text: str, at: int) -> int:
    """The beginning of the word at `at`, or `at` where words are longer than forty characters."""
    if at <= 0:
        return 0
    space = text.rfind(" ", max(0, at - 40), at + 1)
    return space + 1 if space >= 0 else at


def _word_end(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.find(" ", at, at + 40)
    return space if space >= 0 else at


def one_space(text: str) -> str:
    return " ".join(text.split())
