"""The answer, made from what a search found.

How sure it may sound depends on the evidence: one passage that holds the question is quoted alone; several that do are
quoted side by side; when none does, the answer says that it found nothing direct, names the nearest pages, and quotes
the nearest passage as just that. Every number that is written is the number of a passage that was found in this turn.
"""

from collections.abc import Sequence
from dataclasses import replace

from lumina.adapters.extractive.phrases import Language, phrase
from lumina.adapters.extractive.quoting import Quote, Weights, best_of, fenced, is_suspect, quoted, weigh
from lumina.adapters.extractive.tool_results import Passage, Results
from lumina.agent.evidence import ENOUGH, Evidence, evidence
from lumina.agent.ports import Hit
from lumina.memory.words import content_words, forms

SENTENCES = {"direct": (3, 1), "several": (2, 2, 1)}  # how many sentences of the first, second, third passage
LOOKED_AT = 5  # passages among which those that are quoted are chosen
NEARLY = 0.6  # a further passage is quoted if it is worth that much of the best one
RANK = 0.2  # what a place further down in the search's order takes from a passage's worth
WITH_CODE = 2  # passages of which code is shown, too
SHARED = 2  # words of the question that the nearest passage must hold to be quoted, if there are as many
NEAREST = 3  # pages that are named when nothing is direct
MAX_TITLE = 80
# "how many", "wie lange": a number answers them, and the page does not say the word again.
MEASURES = frozenset(
    forms(
        "many much long large big old high tall far often deep wide fast viel viele lang lange groß alt hoch weit oft"
    )
)
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


def answer(
    question: str, results: Results, language: Language, *, asked_as: str = "", opened: bool = False,
    parts: Sequence[str] = (),
) -> str:  # fmt: skip
    """The answer to `question` (as it was searched for) from `results`. `asked_as`: the words in which it was asked, if
    they are others; `opened`: the results are a source asked for by its number, so there is nothing to doubt. `parts`
    of the question are answered one after the other where no passage holds the whole and each has one that holds it."""
    if results.outcome != "found":
        return phrase(language, results.outcome)
    asked = content_words(question) or forms(question)
    passages = _with_coverage(asked, results.passages)
    kind: Evidence = "direct" if opened else evidence([_as_hit(passage) for passage in passages])
    if kind == "thin":
        each = [_answer_of_part(part, results, language) for part in parts]
        if each and all(each):
            return "\n\n".join(each)
        return _nearest(asked, passages, language)
    wants_code = not set(HOW).isdisjoint(f"{question} {asked_as}".lower().split())
    weights = weigh(asked, [passage.text for passage in passages])
    quotes = _quotes(passages, weights, kind, language, wants_code=wants_code)
    parts = [_part(passage, quote, language) for passage, quote in quotes]
    return "\n\n".join(parts) or _nearest(asked, passages, language)


def _answer_of_part(part: str, results: Results, language: Language) -> str:
    """The answer to a part of the question; "" when nothing holds it."""
    passages = _with_coverage(content_words(part) or forms(part), results.passages)
    thin = evidence([_as_hit(passage) for passage in passages]) == "thin"
    return "" if thin else answer(part, results, language)


def _quotes(
    passages: Sequence[Passage], weights: Weights, kind: Evidence, language: Language, *, wants_code: bool
) -> list[tuple[Passage, Quote]]:
    """Which passages are quoted, and what of them: the first that holds the question, then those whose sentences say
    most."""
    looked_at = [*passages[:1]]
    if kind == "several":
        looked_at += [one for one in passages[1:LOOKED_AT] if one.covers >= ENOUGH]

    def quote_of(passage: Passage, sentences: int) -> Quote:
        return best_of(passage.text, weights, sentences=sentences, language=language, wants_code=wants_code)

    worth = {at: quote_of(passage, 1).worth for at, passage in enumerate(looked_at)}
    further = sorted((at for at in worth if at), key=lambda at: RANK * at - worth[at])
    order = [0, *(at for at in further if worth[at] >= NEARLY * max(worth.values()))]
    quotes: list[tuple[Passage, Quote]] = []
    said: set[str] = set()
    for at, limit in zip(order, SENTENCES[kind], strict=False):
        quote = quote_of(looked_at[at], limit)
        quote = replace(quote, sentences=tuple(one for one in quote.sentences if one not in said))
        said.update(quote.sentences)
        if len(quotes) >= WITH_CODE:
            quote = replace(quote, code="")
        if quote.sentences or quote.code:
            quotes.append((looked_at[at], quote))
    return quotes


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
    """The passages, with a coverage of their own where the search gave none: results of the web, beside documents.
    They are then put in its order, because a search engine's order is of pages and not of what they answer."""
    if all(passage.covers for passage in passages):
        return list(passages)
    telling = [word for word in asked if word not in MEASURES] or asked
    weights = weigh(telling, [passage.text for passage in passages])

    def share(one: Passage) -> float:
        return weights.share(forms(f"{one.title} {one.heading} {one.text}"))

    weighed = [
        one if one.covers else replace(one, covers=share(one), score=one.score or share(one)) for one in passages
    ]
    return sorted(weighed, key=lambda one: -one.covers)


def _part(passage: Passage, quote: Quote, language: Language) -> str:
    """The quoted sentences of one passage, each with its number, and its code after them."""
    lines = [f"{sentence} [{passage.source}]" for sentence in quote.sentences]
    text = " ".join(lines)
    if not quote.code:
        return text
    if not text:
        text = f"{phrase(language, 'code', title=_name(passage))} [{passage.source}]"
    return f"{text}\n\n{fenced(quote.code)}"


def _nearest(asked: Sequence[str], passages: Sequence[Passage], language: Language) -> str:
    """The hedge, in the first person: it is about the search, and says nothing that a page could carry."""
    named: dict[int, str] = {}
    for passage in passages:
        named.setdefault(passage.source, _name(passage))
    pages = "; ".join(f"{name} [{source}]" for source, name in list(named.items())[:NEAREST])
    hedge = f"{phrase(language, 'thin')} {phrase(language, 'nearest')} {pages}."
    says = _nearest_says(asked, passages, language)
    return f"{hedge}\n\n{says}" if says else hedge


def _nearest_says(asked: Sequence[str], passages: Sequence[Passage], language: Language) -> str:
    """The best sentence of the first passage, introduced as no answer; "" if the passage hardly holds the question."""
    words = set(asked)
    best = passages[0] if passages else None
    if best is None or len(words & set(forms(best.text))) < min(SHARED, len(words)):
        return ""
    weights = weigh(asked, [passage.text for passage in passages])
    quote = best_of(best.text, weights, sentences=1, language=language, wants_code=False)
    text = " ".join(quote.sentences)
    if not text or is_suspect(text) or words.isdisjoint(forms(text)):
        return ""
    return f"{phrase(language, 'nearest says', text=text)} [{best.source}]"


def _name(passage: Passage) -> str:
    """What a reader would call the place: the title, and the last heading above the passage."""
    last = passage.heading.rpartition(" > ")[2].rpartition(" › ")[2].strip()
    title = quoted(passage.title, MAX_TITLE) or f"{passage.source}"
    return f"{title}, {quoted(last, MAX_TITLE)}" if last and last != passage.title else title
