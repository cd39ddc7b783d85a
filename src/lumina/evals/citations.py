"""`citations`: is every marker of an answer resolved rightly, and all else left alone, however the answer is cut?

Answers are made by chance from a seed, together with what must come out of them (`lumina.evals.citation_streams`). Each
is fed whole, character by character, in pieces of several sizes and of chance, and every two-hundredth also in two
pieces cut at each of its places. Counted are: answers of which any cut gave another text, citation or removal than it
must; markers that should have gone and stand in the text; code, formulas and links that were touched.

Then time: the same work on texts that grow (hostile ones too), and how many megabytes of text (UTF-8) pass in a second
of processor time, beside a bare twin that only takes the pieces and joins them.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from lumina.agent.citations import CitationStream, Cited, Removed, Text
from lumina.evals.citation_streams import Stream, stream_of
from lumina.evals.parallel import Progress, for_each
from lumina.evals.reports import Report, Table, at_least, at_most, exactly
from lumina.evals.scenarios import Options

STREAMS = 10_000
BATCH = 100
SIZES = (2, 5, 16, 64)
EVERY = 200  # of so many streams one is cut in two at every place
EXAMPLES = 20

HOSTILE = {
    "brackets": "[", "brackets and digits": "[[[[1", "groups": "[[1],", "ticks": "`", "ticks and brackets": "`a[",
    "backslashes": "\\", "markers": "[1]", "markers taken out": " [9]", "fences": "```\na\n", "targets": "](a",
    "links": "[1](/x", "definitions": "\n[9]: ", "dollars": "$x[", "formulas": "\\(a[", "indented lines": "\n\n    [1",
    "daggers": "【1†a", "spaces": " ", "invisible": "[1\u200b",
}  # fmt: skip
GROWN = (6_000, 24_000)  # characters
PIECE = 3  # characters of a piece while growth is measured
ROUNDS = 3
ANSWER = (
    "The old harbour of Ostby was built in 1902, when the town had 2,300 inhabitants and no other way to the sea [1]. "
    "It burned down nine years later, and although nobody was hurt, the town went without one for two winters. "
    "The county paid for the second harbour, which opened in spring and has been in use ever since [2][3]. "
    "Fishing boats may not enter the inner basin, but the ferry leaves twice a day from the outer pier [3].\n\n"
)
LISTED = (
    "What follows from it:\n\n- Boats of more than twelve metres moor outside, as `mooring.md` says [1, 4].\n"
    "- The ferry does not sail in storms; [the timetable](https://example.org/ferry) has the days.\n- Nobody pays "
    "in winter [2].\n\n"
    "```python\nfor boat in boats:\n    print(boat.names[0], boat.fees[2024])\n```\n\n"
)
TEXTS = {
    "an answer": ANSWER * 4 + LISTED,
    "an answer full of markers": (ANSWER.replace(",", " [5],") + LISTED),
    "plain words": ANSWER.replace("[", "").replace("]", ""),
}
MEGABYTES = {4096: 1.0, 4: 0.15}  # of text fed, by the size of its pieces
FAST = {4096: 20.0, 4: 1.0}  # megabytes a second that are wanted of "an answer"


@dataclass(slots=True)
class Checked:
    """What was found in some streams."""

    streams: int = 0
    feeds: int = 0
    marks: int = 0
    held: int = 0
    wrong: int = 0
    left: int = 0
    touched: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    around: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def run(options: Options, progress: Progress) -> Report:
    """The scenario: see the module. `--limit` sets how many streams."""
    count = options.limit or STREAMS
    batches = [(options.seed, at, min(BATCH, count - at)) for at in range(0, count, BATCH)]
    whole = Checked()
    for each in for_each(check, batches, processes=options.processes, progress=progress, what="batches of streams"):
        for name in ("streams", "feeds", "marks", "wrong", "left", "touched"):
            setattr(whole, name, getattr(whole, name) + getattr(each, name))
        whole.held = max(whole.held, each.held)
        whole.forms += each.forms
        whole.around += each.around
        whole.examples += each.examples
    return _report(whole, growth(), rates())


def check(batch: tuple[int, int, int]) -> Checked:
    """The streams of (seed, first, how many), each in every cut."""
    seed, first, count = batch
    found = Checked()
    for at in range(first, first + count):
        stream = stream_of(seed * 1_000_003 + at)
        draw = random.Random(at)
        found.streams += 1
        found.marks += len(stream.forms)
        found.forms.update(stream.forms)
        found.around.update(stream.around)
        for cuts in _cuts(len(stream.written), draw, both=at % EVERY == 0):
            _compare(stream, cuts, found)
    return found


def _cuts(length: int, draw: random.Random, *, both: bool) -> Iterator[list[int]]:
    yield []
    yield list(range(1, length))
    for size in SIZES:
        yield list(range(size, length, size))
    for most in (3, 20):
        yield sorted(draw.sample(range(length), min(length, most)))
    if both:
        yield from ([at] for at in range(length))


def _compare(stream: Stream, cuts: list[int], found: Checked) -> None:
    reader = CitationStream(stream.citable)
    pieces = []
    for start, end in pairwise([0, *cuts, len(stream.written)]):
        pieces += reader.feed(stream.written[start:end])
        found.held = max(found.held, reader.held)
    pieces += reader.close()
    found.feeds += len(cuts) + 1
    text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
    cited = [(piece.n, piece.position) for piece in pieces if isinstance(piece, Cited)]
    removed = [n for piece in pieces if isinstance(piece, Removed) for n in piece.numbers]
    if (text, cited, removed) == (stream.answer, stream.cited, stream.removed):
        return
    found.wrong += 1
    found.left += len(removed) < len(stream.removed)
    found.touched += text != stream.answer and cited == stream.cited and removed == stream.removed
    if len(found.examples) < EXAMPLES:
        found.examples.append(f"{stream.written!r} cut at {cuts[:40]} gave {text!r}, not {stream.answer!r}")


def _seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Of processor time, the least of a few rounds."""
    took = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return max(min(took), 1e-9)


def growth() -> dict[str, float]:
    """How much longer a text of four times the length takes, for each hostile text; 4 is linear."""
    return {
        name: _seconds(lambda unit=unit: passed(_grown(unit, GROWN[1]), PIECE), 2)
        / _seconds(lambda unit=unit: passed(_grown(unit, GROWN[0]), PIECE), 2)
        for name, unit in HOSTILE.items()
    }


def _grown(unit: str, length: int) -> str:
    return unit * (length // len(unit))


def rates() -> dict[tuple[str, int], tuple[float, float]]:
    """Megabytes a second of the stream and of the bare twin, by text and size of the pieces."""
    found = {}
    for name, unit in TEXTS.items():
        for size, megabytes in MEGABYTES.items():
            text = unit * max(1, int(megabytes * 1_000_000 / len(unit.encode())))
            mega = len(text.encode()) / 1_000_000
            ours, twin = (
                _seconds(lambda text=text, size=size, work=work: work(text, size)) for work in (passed, joined)
            )
            found[name, size] = (mega / ours, mega / twin)
    return found


def passed(text: str, size: int) -> int:
    """The text through a citation stream in pieces of `size`."""
    reader = CitationStream(frozenset(range(1, 6)))
    pieces = 0
    for at in range(0, len(text), size):
        pieces += len(reader.feed(text[at : at + size]))
    return pieces + len(reader.close())


def joined(text: str, size: int) -> str:
    """The bare twin: it takes the same pieces, and joins them."""
    taken: list[str] = []
    for at in range(0, len(text), size):
        taken.append(text[at : at + size])
    return "".join(taken)


def _report(
    found: Checked, grown: dict[str, float], fast: dict[tuple[str, int], tuple[float, float]]
) -> Report:  # fmt: skip
    kinds = [(form, count) for form, count in sorted((found.forms + found.around).items())]
    worst = max(grown, key=lambda name: grown[name])
    speed = tuple(
        (f"{name}, pieces of {size}", round(ours, 1), round(twin, 1), round(twin / ours, 1))
        for (name, size), (ours, twin) in fast.items()
    )
    return Report(
        scenario="citations",
        data=f"{found.streams:,} answers made by chance, {found.marks:,} markers, {found.feeds:,} pieces fed",
        tables=(
            Table(title="What the answers hold", columns=("form, or text around", "times"), rows=tuple(kinds)),
            Table(
                title="Megabytes of text in a second of processor time",
                columns=("text", "Lumina", "bare twin", "twin / Lumina"),
                rows=speed,
                note="The bare twin takes the pieces and joins them; it looks at nothing.",
            ),
        ),
        targets=(
            exactly("wrong resolutions", 0, found.wrong),
            exactly("markers left that should have gone", 0, found.left),
            exactly("code, links or text touched", 0, found.touched),
            at_most("characters held back", 500, found.held, must=True, unit=""),
            at_most(f"time for four times the text ({worst})", 8, round(grown[worst], 1), unit="times"),
            *(
                at_least(f"an answer, pieces of {size}", wanted, round(fast["an answer", size][0], 1), unit="MB/s")
                for size, wanted in FAST.items()
            ),
        ),
        figures={
            "growth for four times the text": {name: round(value, 2) for name, value in grown.items()},
            "wrong": found.examples,
        },
    )
