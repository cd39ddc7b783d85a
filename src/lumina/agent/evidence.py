"""How much a search's hits may be trusted with an answer, and what a follow-up asks for.

Two questions that code answers before any words are put to a user. First, whether the best passage may be
quoted as the answer: full text ranks something first for every question, also for one that the documents do
not answer in its words, and then the honest answer is a hedge. Second, what "can I clear it?" looks for:
alone it finds nothing, with the content words of the question before it finds the page.

Pure: standard library and the words of `lumina.memory`.
"""

from collections.abc import Sequence
from typing import Literal

from lumina.agent.ports import Hit
from lumina.memory.words import STOP_WORDS, words

Evidence = Literal["direct", "several", "thin"]

ENOUGH = 0.9  # share of the question's idf weight that a passage must hold to be quoted as an answer
CLEARLY = 0.07  # of the best score: by so much the best hit leads where it may stand alone
AMONG = 3  # so many hits are quoted at most


def evidence(hits: Sequence[Hit]) -> Evidence:
    """What the hits, best first, allow.

    direct: the best holds enough of the question and leads clearly: quote it. several: a passage among the
    first holds enough but none leads: quote at least two. thin: none does: say that no direct answer was
    found, and name the nearest pages. Measured by `benchmarks/docq.py`: questions in other words than the
    page's come out thin.
    """
    if not hits or max(hit.coverage for hit in hits[:AMONG]) < ENOUGH:
        return "thin"
    best = hits[0]
    if best.coverage < ENOUGH:
        return "several"
    lead = best.score - hits[1].score if len(hits) > 1 else best.score
    return "direct" if lead >= CLEARLY * abs(best.score) else "several"


# How a question that leans on the one before it begins, in the languages where that is cheap to tell. Folded
# to lower case; a whole word must match.
OPENINGS = (
    "and", "but", "or", "so", "also", "what about", "how about", "what if", "why not", "then", "ok", "okay",
    "und", "aber", "oder", "was ist mit", "wie steht es mit", "und was",
    "et", "mais", "ou", "qu'en est-il", "et si",
    "y", "pero", "o", "qué pasa con", "que pasa con", "qué tal", "e", "ma", "mas", "en", "maar",
    "а", "и", "но", "или", "а если", "что насчёт", "что насчет",
)  # fmt: skip
BEGINNINGS_UNSPACED = ("那", "那么", "还有", "另外", "では", "じゃあ", "それ", "그럼", "그리고")
POINTERS = frozenset(
    """it its they them their theirs this that these those one ones there other others same instead else
    former latter second third last first both either es sie ihn ihm ihnen das dies dieser diese dieses davon
    damit dafür darin dort stattdessen il elle ils elles ça cela celui celle ceux lui leur ello eso esto ese
    esa aquello lo la los las él ella ellos это этого этому этим его её ее их он она они них там""".split()
)
FEW = 2  # content words; a question with no more, and no program name, rarely stands alone


def is_follow_up(question: str, previous_questions: Sequence[str]) -> bool:
    """Whether `question` leans on the ones before it: it opens so, points back, or has hardly a word of its
    own.

    >>> is_follow_up("can I clear it?", ["What does functools.lru_cache do?"])
    True
    """
    if not previous_questions or not question.strip():
        return False
    text = " ".join(question.lower().split())
    if text.startswith(BEGINNINGS_UNSPACED) or any(_begins(text, opening) for opening in OPENINGS):
        return True
    own = _content(question)
    if len(own) <= FEW and not _names_something(question):
        return True
    return len(own) <= 2 * FEW and not POINTERS.isdisjoint(text.replace("?", " ").replace(",", " ").split())


def follow_up_query(question: str, previous_questions: Sequence[str]) -> str:
    """What to search for: the question itself, or, for a follow-up, its words and the words it leans on.

    `previous_questions` oldest first. The words come from the nearest earlier question that stands alone,
    because a follow-up may follow a follow-up ("and for appending?", "and both?"); those between add theirs.
    """
    if not is_follow_up(question, previous_questions):
        return question
    chain = [question]
    earlier = list(previous_questions)
    while earlier and len(chain) <= 3:
        before = earlier.pop()
        chain.append(before)
        if not is_follow_up(before, earlier):
            break
    seen: set[str] = set()
    asked = []
    for text in chain:
        for word in _content(text):
            if word not in seen:
                seen.add(word)
                asked.append(word)
    return " ".join(asked) or question


def _begins(text: str, opening: str) -> bool:
    return text.startswith(opening) and (len(text) == len(opening) or not text[len(opening)].isalnum())


def _content(text: str) -> list[str]:
    """The words of `text` that carry meaning, as written: program names stay whole."""
    kept = []
    for token in text.split():
        bare = token.strip("?!.,;:\"'“”„«»‘’()[]{}<>…¿¡？！。、，")
        if bare and any(raw.lower() not in STOP_WORDS for raw in _raw(bare)):
            kept.append(bare)
    return kept


def _raw(token: str) -> list[str]:
    return [token[word.start : word.end] for word in words(token) if word.end - word.start > 1 or not token.isascii()]


def _names_something(text: str) -> bool:
    """Whether a program's name (`os.path`, `lru_cache`) or a word in capitals inside stands in the text."""
    return any(
        "_" in token or "." in token[1:-1] or any(letter.isupper() for letter in token[1:]) for token in _content(text)
    )
