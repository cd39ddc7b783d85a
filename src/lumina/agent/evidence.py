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
from lumina.memory.words import STOP_WORDS, UNSPACED, words

PUNCTUATION = "?!.,;:\"'“”„«»‘’()[]{}<>…¿¡？！。、，"

Evidence = Literal["direct", "several", "thin"]

ENOUGH = 0.9  # share of the question's idf weight that a passage must hold to be quoted as an answer
CLEARLY = 0.12  # of the best score: by so much the best hit leads where it may stand alone
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


# How a question that leans on the one before it begins, in the languages where that is cheap to tell. Folded to
# lower case; whole words must match.
OPENINGS = (
    "and", "but", "or", "so", "also", "what about", "how about", "what if", "why not", "then", "ok", "okay",
    "und", "aber", "oder", "was ist mit", "wie steht es mit", "wie sieht es mit",
    "et", "mais", "ou", "qu'en est-il", "y", "pero", "qué pasa con", "que pasa con", "qué tal", "maar",
    "а", "и", "но", "или", "что насчёт", "что насчет",
)  # fmt: skip
OPENINGS_UNSPACED = ("那", "还有", "另外", "では", "じゃあ", "それ", "그럼", "그리고")
# How one begins that stands alone, however short: it says what it is about.
ALONE = (
    "what is", "what's", "what are", "what does", "what do", "who is", "explain", "define", "how does", "was ist",
    "was sind", "was macht", "wer ist", "qu'est-ce", "qué es", "que es", "cos'è", "o que é", "что такое", "кто такой",
)  # fmt: skip
# A yes-or-no question about what one may do: opened by these it leans on what was spoken of more often than not.
MAY_I = ("can i", "can we", "can you", "could i", "should i", "may i", "kann ich", "puis-je", "puedo", "можно ли")
POINTERS = frozenset(
    """it its they them their theirs this that these those one ones there others same instead else former latter both
    sie ihn ihm ihnen das dies dieser diese dieses davon damit dafür darin dort stattdessen elle ils elles ça
    cela celui celle ceux lui leur ello eso esto ese esa aquello él ella ellos это этого этому этим его её ее их он
    она они них там""".split()
)
# What other languages' questions are made of, beside the English stop words.
FUNCTION_WORDS = STOP_WORDS | frozenset(
    """wie was wer wo wann warum welche welcher ich wir man kann muss soll ist sind ein eine einen der die den dem im in
    mit für auf von zu und nicht comment quoi que qui où quand pourquoi je on peux peut faut est sont un une le la les
    des du de dans avec pour sur et pas cómo como qué dónde cuándo por para quién puedo se es son una el los las del
    con y no как что где когда почему кто можно ли я мы на с для и не это""".split()
)
LONG = 5  # content words; a question with as many says for itself what it is about


def is_follow_up(question: str, previous_questions: Sequence[str]) -> bool:
    """Whether `question` leans on the ones before it: it opens so, points back, or has hardly a word of its own.

    A pronoun points back only if at most one content word stands before it; later it means something within the
    question ("run a subprocess and capture its output").

    >>> is_follow_up("can I clear it?", ["What does functools.lru_cache do?"])
    True
    >>> is_follow_up("What is a decorator?", ["What does functools.lru_cache do?"])
    False
    """
    if not previous_questions or not question.strip():
        return False
    text = " ".join(question.lower().split()).lstrip("¿¡ ")
    own = _content(question)
    if not own or text.startswith(OPENINGS_UNSPACED) or _opens(text, OPENINGS):
        return True
    if len(own) < LONG and _points_back(text):
        return True
    if _opens(text, ALONE) or any(_is_name(word) for word in own):
        return False
    return len(own) <= (3 if _opens(text, MAY_I) else 1) and not UNSPACED.search(question)


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


def _opens(text: str, openings: Sequence[str]) -> bool:
    """Whether `text` (folded, single spaces) begins with one of the openings as whole words."""
    return any(
        text.startswith(opening) and (len(text) == len(opening) or not text[len(opening)].isalnum())
        for opening in openings
    )


def _points_back(text: str) -> bool:
    """Whether a pronoun stands in `text` before its second content word."""
    before = 0
    for token in text.split():
        bare = token.strip(PUNCTUATION)
        if bare in POINTERS:
            return True
        before += bool(_content(bare))
        if before > 1:
            return False
    return False


def _content(text: str) -> list[str]:
    """The words of `text` that carry meaning, as written: program names stay whole."""
    kept = []
    for token in text.split():
        bare = token.strip(PUNCTUATION)
        if bare and bare.lower() not in POINTERS and any(raw.lower() not in FUNCTION_WORDS for raw in _raw(bare)):
            kept.append(bare)
    return kept


def _raw(token: str) -> list[str]:
    return [token[word.start : word.end] for word in words(token) if word.end - word.start > 1 or not token.isascii()]


def _is_name(token: str) -> bool:
    """Whether the token is a program's name: `os.path`, `lru_cache`, `DictReader`."""
    return "_" in token or "." in token[1:-1] or any(letter.isupper() for letter in token[1:])
