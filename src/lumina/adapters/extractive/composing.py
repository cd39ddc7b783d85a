"""The answer, made from what a search found.

How sure it may sound depends on the evidence: one passage that holds the question is quoted alone; several that do are
quoted side by side; when none does, the answer says that it found nothing direct and names the nearest pages. Every
number that is written is the number of a passage that was found in this turn.
"""

from collections.abc import Sequence
from dataclasses import replace

from lumina.adapters.extractive.phrases import Language, phrase
from lumina.adapters.extractive.quoting import Quote, Weights, best_of, fenced, quoted, weigh
from lumina.adapters.extractive.tool_results import Passage, Results
from lumina.agent.evidence import ENOUGH, Evidence, evidence
from lumina.agent.ports import Hit
from lumina.memory.words import content_words, forms

SENTENCES = {"direct": (3, 1), "several": (2, 2, 1)}  # how many sentences of the first, second, third passage
LOOKED_AT = 5  # passages among which those that are quoted are chosen
NEARLY = 0.6  # a further passage is quoted if it is worth that much of the best one
RANK = 0.2  # what a place further down in the search's order takes from a passage's worth
NEAREST = 3  # pages that are named when nothing is direct
MAX_TITLE = 80
HOW = (
    "how",
    "wie",
    "comment",
    "cómo",
    "example",
    "beispiel",
    "exemple",
    "ejemplo",
    "command",
    "syntax",
    "code",
    "snippet",
)


def answer(question: str, results: Results, language: Language, *, opened: bool = False) -> str:
    """The answer to `question` (as it was searched for) from `results`; `opened`: they are a source asked for by its
    number, so there is nothing to doubt."""
    if results.outcome != "found":
        return phrase(language, results.outcome)
    asked = content_words(question) or forms(question)
    passages = _with_coverage(asked, results.passages)
    kind: Evidence = "direct" if opened else evidence([_as_hit(passage) for passage in passages])
    if kind == "thin":
        return _nearest(passages, language)
    quotes = _quotes(question, passages, weigh(asked, [passage.text for passage in passages]), kind, language)
    parts = [_part(passage, quote, language) for passage, quote in quotes]
    return "\n\n".join(parts) or _nearest(passages, language)


def _quotes(
    question: str, passages: Sequence[Passage], weights: Weights, kind: Evidence, language: Language
) -> list[tuple[Passage, Quote]]:
    """Which passages are quoted, and what of them: those whose sentences say most, the better ones first."""
    wants_code = any(word in question.lower().split() for word in HOW)
    looked_at = passages[:1] if kind == "direct" else [one for one in passages[:LOOKED_AT] if one.covers >= ENOUGH]
    quotes: list[tuple[Passage, Quote]] = []
    for passage in looked_at or passages[:1]:
        quote = best_of(passage.text, weights, sentences=SENTENCES[kind][0], language=language, wants_code=wants_code)
        if quote.sentences or quote.code:
            quotes.append((passage, quote))
    best = max((quote.worth for _, quote in quotes), default=0.0)
    rank = {id(quote): place for place, (_, quote) in enumerate(quotes)}
    quotes.sort(key=lambda one: RANK * rank[id(one[1])] - one[1].worth)
    return [
        (passage, replace(quote, sentences=quote.sentences[:limit]))
        for (passage, quote), limit in zip(quotes, SENTENCES[kind], strict=False)
        if quote.worth >= NEARLY * best
    ]


def _as_hit(passage: Passage) -> Hit:
    """As far as `evidence` reads it."""
    return Hit(
        locator=str(passage.source),
        url="",
        title=passage.title,
        host="",
        depth="page",
        stored=passage.text,
        start=0,
        end=len(passage.text),
        score=passage.score,
        coverage=passage.covers,
    )


def _with_coverage(asked: Sequence[str], passages: Sequence[Passage]) -> list[Passage]:
    """The passages, with a coverage of their own where the search gave none."""
    if any(passage.covers for passage in passages):
        return list(passages)
    weights = weigh(asked, [passage.text for passage in passages])
    shares = [weights.share(forms(f"{one.title} {one.heading} {one.text}")) for one in passages]
    return [replace(one, covers=share, score=one.score or share) for one, share in zip(passages, shares, strict=True)]


def _part(passage: Passage, quote: Quote, language: Language) -> str:
    """The quoted sentences of one passage, each with its number, and its code after them."""
    lines = [f"{sentence} [{passage.source}]" for sentence in quote.sentences]
    text = " ".join(lines)
    if not quote.code:
        return text
    if not text:
        text = f"{phrase(language, 'code', title=_name(passage))} [{passage.source}]"
    return f"{text}\n\n{fenced(quote.code)}"


def _nearest(passages: Sequence[Passage], language: Language) -> str:
    named: dict[int, str] = {}
    for passage in passages:
        named.setdefault(passage.source, _name(passage))
    pages = "; ".join(f"{name} [{source}]" for source, name in list(named.items())[:NEAREST])
    return f"{phrase(language, 'thin')} {phrase(language, 'nearest')} {pages}."


def _name(passage: Passage) -> str:
    """What a reader would call the place: the title, and the last heading above the passage."""
    last = passage.heading.rpartition(" > ")[2].rpartition(" › ")[2].strip()
    title = quoted(passage.title, MAX_TITLE) or f"{passage.source}"
    return f"{title}, {quoted(last, MAX_TITLE)}" if last and last != passage.title else title
