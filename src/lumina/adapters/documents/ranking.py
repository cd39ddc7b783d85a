"""Choosing the passage: a second look at the best hundred that full text found.

Full text finds the page; the weak step is the passage within it. So the candidates are scored again by what a
reader looks for: how much of the question's weight the passage holds, whether its last heading names the
subject, whether words of the question stand side by side, whether it is where an asked-for name
(`functools.lru_cache`) is defined. Release notes and C-level reference come last unless the question asks for
them: they mention everything and explain little.

Everything here is pure and deterministic: ties are broken by document and place. The weights were chosen on
two sets of questions by hand, in round figures; `benchmarks/docq.py` measures them.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lumina.agent.ports import PassageMatches, StoredPassage
from lumina.memory.words import STOP_WORDS, content_words, forms, words

CANDIDATES = 100

K1, B = 1.2, 0.75
BODY = 1.2  # per BM25 of the body, as a share of the best candidate's
DOCUMENT = 1.0  # per BM25 of the document's three best candidates, as a share of the best document's
COVERAGE = 1.0  # per full coverage of the question by the passage and what stands above it
WINDOW = 0.5  # per full coverage by any 30 neighbouring words of the body
HEADING = 0.4  # per share of the question's weight that the last heading names
TITLE = 0.3  # the same for the document's title
PATH = 0.2  # the same for all headings above
PAIRS = 0.1  # per share of the question's neighbouring words that stand side by side
NAMED = 0.4  # an asked-for name stands in it, letter for letter
DEFINED = 0.3  # the passage is where an asked-for name is defined
PLAIN = 0.15  # ... where a plain word of the question is defined as a name: `zip(*iterables)`
JOINED = 0.3  # the last heading names two neighbouring words of the question in one: "set a timeout", `settimeout`
SUBJECT = 0.2  # the document's title begins with a word of the question: "shutil — High-level file operations"
CODE = -0.2  # per share of the passage that is lines of code: what explains comes before what only shows
LAST = -0.5  # release notes and C-level reference
WINDOW_WORDS = 30

# A name from a program: with a dot, an underscore, a call's brackets, or a capital inside. Every part is
# bounded.
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}(?:\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,8}(?:\(\))?")
# Words of a question that no answer need repeat: "How does it work?", "What does the argument `limit` do?"
EMPTY_WORDS = frozenset(forms("work use do happen mean need want exist way argument parameter function keyword"))
SAYS_LITTLE = 0.1  # of their weight, where it is asked whether a passage holds the question
CODE_LINES = (">>> ", "... ", "    ", "\t", "$ ", "import ", "from ", "def ", "print(")
TITLE_ENDS = re.compile(r"[\s—–:-]")
# What release notes call themselves: how their titles begin, what their files and folders are named.
RELEASE_TITLES = (
    "what's new",
    "whats new",
    "changelog",
    "change log",
    "release notes",
    "release history",
    "changes in",
)
RELEASE_PLACES = frozenset("whatsnew changelog changelogs changes releasenotes releases history news".split())
C_PLACES = frozenset(["capi"])
C_CODE = re.compile(r"\b[A-Za-z_]{2,40} \*{1,2}[A-Za-z_]{1,60}|\bvoid \*|\)\s?;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as the ranking sees it: its content words with how often each is asked, pairs, program
    names, its plain words as they are written, and neighbours of these joined and folded.
    """

    words: dict[str, int]
    pairs: frozenset[tuple[str, str]]
    names: tuple[str, ...]
    plain: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with its score (best first, comparable within one question) and coverage (0-1)."""

    passage: StoredPassage
    score: float
    coverage: float


def read_question(text: str) -> Question:
    """The question's words, folded. One without content words is taken with all of its words."""
    names = tuple(dict.fromkeys(name for found in IDENTIFIER.finditer(text) if (name := _name(found.group()))))
    folded = content_words(text) or forms(text)
    # A part of a name is asked for even where it would be a stop word: `re.split`.
    asked = dict.fromkeys([*folded, *(form for name in names for form in forms(name))], 1)
    plain = [raw for word in words(text) if (raw := text[word.start : word.end]).lower() not in STOP_WORDS]
    return Question(
        words=asked,
        pairs=frozenset(pair for pair in pairwise(folded) if pair[0] != pair[1]),
        names=names,
        plain=frozenset(plain),
        joined=frozenset(_joined(plain)),
    )


def _joined(plain: Sequence[str]) -> Iterator[str]:
    for at, first in enumerate(plain):
        for second in plain[at + 1 : at + 3]:
            joined = forms(first + second)
            if len(joined) == 1:
                yield joined[0]


def rank(question: Question, matches: PassageMatches) -> list[Ranked]:
    """The candidates, best first."""
    idf = {word: _idf(matches, word) * times for word, times in question.words.items()}
    weight = _weight(idf)
    telling = _weight({word: held * (SAYS_LITTLE if word in EMPTY_WORDS else 1) for word, held in idf.items()})
    bodies = [forms(hit.body) for hit in matches.hits]
    average = sum(map(len, bodies)) / max(len(bodies), 1) or 1.0
    lexical = [_bm25(body, idf, average) for body in bodies]
    documents = _documents(matches.hits, lexical)
    best = max(lexical, default=0.0) or 1.0
    ranked = []
    for hit, body, bm25 in zip(matches.hits, bodies, lexical, strict=True):
        held, title, path = set(body), _folded(hit.title), _folded(hit.heading)
        last = _folded(hit.heading.rpartition(" > ")[2]) if hit.heading else title
        score = BODY * bm25 / best
        score += DOCUMENT * documents[hit.locator]
        score += COVERAGE * weight.share(held | title | path)
        score += WINDOW * _window(body, weight)
        score += HEADING * weight.share(last) + TITLE * weight.share(title) + PATH * weight.share(path)
        score += PAIRS * _pairs(question, body)
        score += _names(question, hit) + _plain_names(question, hit)
        score += CODE * _code(hit.body)
        score += LAST * _comes_last(question, hit)
        coverage = telling.share(held | last | _folded(_subject(hit.title)))
        ranked.append(Ranked(passage=hit, score=score, coverage=coverage))
    return sorted(ranked, key=lambda one: (-one.score, one.passage.locator, one.passage.ordinal))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weight:
    """What each word of the question weighs, by its rarity."""

    idf: dict[str, float]
    total: float

    def share(self, held: Collection[str]) -> float:
        """Which share (0-1) of the question's weight stands in `held`."""
        return sum(weight for word, weight in self.idf.items() if word in held) / self.total


def _weight(idf: dict[str, float]) -> _Weight:
    return _Weight(idf=idf, total=sum(idf.values()) or 1.0)


def _subject(title: str) -> str:
    """What a reference page is about, as it names itself first: "shutil — High-level file operations"."""
    return TITLE_ENDS.split(title.strip(), maxsplit=1)[0]


def _documents(hits: Sequence[StoredPassage], lexical: Sequence[float]) -> dict[str, float]:
    """For each document, the weight of its three best candidates as a share of the best document's."""
    by_document: dict[str, list[float]] = {}
    for hit, weight in zip(hits, lexical, strict=True):
        by_document.setdefault(hit.locator, []).append(weight)
    sums = {locator: sum(sorted(weights)[-3:]) for locator, weights in by_document.items()}
    best = max(sums.values(), default=0.0) or 1.0
    return {locator: total / best for locator, total in sums.items()}


def _window(body: Sequence[str], weight: _Weight) -> float:
    """The largest share of the question's weight within WINDOW_WORDS neighbouring words."""
    places = [(at, word) for at, word in enumerate(body) if word in weight.idf]
    inside: Counter[str] = Counter()
    first, best = 0, 0.0
    for at, word in places:
        inside[word] += 1
        while places[first][0] <= at - WINDOW_WORDS:
            inside[places[first][1]] -= 1
            first += 1
        best = max(best, weight.share([held for held, times in inside.items() if times]))
    return best


@functools.lru_cache(maxsize=4096)
def _folded(text: str) -> frozenset[str]:
    """The words of a title or heading; many candidates share one."""
    return frozenset(forms(text))


def _idf(matches: PassageMatches, word: str) -> float:
    held = matches.frequency.get(word, 0)
    return math.log(1 + (matches.passages - held + 0.5) / (held + 0.5))


def _bm25(body: Sequence[str], idf: dict[str, float], average: float) -> float:
    counts = Counter(word for word in body if word in idf)
    norm = K1 * (1 - B + B * len(body) / average)
    return sum(idf[word] * times * (K1 + 1) / (times + norm) for word, times in counts.items())


def _pairs(question: Question, body: Sequence[str]) -> float:
    """Share of the question's neighbouring words that stand side by side, or one apart, in the passage."""
    if not question.pairs:
        return 0.0
    near = set(pairwise(body)) | set(zip(body, body[2:], strict=False))
    return sum(pair in near for pair in question.pairs) / len(question.pairs)


def _name(token: str) -> str:
    """`token` without its brackets if it can only be a program's name, else ""."""
    bare = token.removesuffix("()")
    if token != bare or "_" in bare:
        return bare
    if "." in bare:
        return bare if all(len(part) > 1 for part in bare.split(".")) else ""  # "e.g." is no name
    return bare if any(c.isupper() for c in bare[1:]) and any(c.islower() for c in bare) else ""


def _names(question: Question, hit: StoredPassage) -> float:
    """What asked-for names earn the passage: named or defined in it, half for the last part alone."""
    score = 0.0
    opening = hit.body[:300].partition("\n")[0].partition("(")[0]
    for name in question.names:
        last = name.rpartition(".")[2]
        score += NAMED * _fit(name in hit.body, last in hit.body)
        score += DEFINED * _fit(_ends_with(opening, name), _ends_with(opening, last))
    return score / max(len(question.names), 1)


def _plain_names(question: Question, hit: StoredPassage) -> float:
    """What is earned by a name, in a heading, a definition or the title, that the question has as plain words."""
    score = 0.0
    opening = hit.body[:300].partition("\n")[0].partition("(")[0].split()
    if 1 <= len(opening) <= 2:
        score += PLAIN * (opening[-1].rpartition(".")[2] in question.plain)
    heading = hit.heading.rpartition(" > ")[2].rpartition(" ")[2]
    score += JOINED * (not question.joined.isdisjoint(_folded(heading.rpartition(".")[2])))
    if not any("." in name for name in question.names):  # that names its page already
        score += SUBJECT * (_subject(hit.title) in question.plain)
    return score


@functools.lru_cache(maxsize=4096)
def _code(body: str) -> float:
    """Which share (0-1) of the body's letters stands in lines that look like code."""
    lines = body.split("\n")
    return sum(len(line) for line in lines if line.startswith(CODE_LINES)) / (sum(map(len, lines)) or 1)


def _fit(whole: bool, last_part: bool) -> float:
    return 1.0 if whole else 0.5 if last_part else 0.0


def _ends_with(opening: str, name: str) -> bool:
    before = opening[: -len(name)]
    return opening.endswith(name) and not (before and (before[-1].isalnum() or before[-1] == "_"))


def _comes_last(question: Question, hit: StoredPassage) -> bool:
    """Release notes, changelogs, C-level reference: by what they are called, or by the C code they hold."""
    title, places = _called(hit.title, hit.locator)
    if title.startswith(RELEASE_TITLES) or not places.isdisjoint(RELEASE_PLACES):
        return not _asks_for_changes(question)
    if not places.isdisjoint(C_PLACES) or "c api" in title:
        return question.words.keys().isdisjoint(("api", "capi", "abi"))
    return len(C_CODE.findall(hit.body[:2000])) >= 2


def _asks_for_changes(question: Question) -> bool:
    if not question.words.keys().isdisjoint(("changelog", "releas", "version", "chang", "histori")):
        return True
    return "new" in question.words and any(word[0].isdigit() for word in question.words)


@functools.lru_cache(maxsize=4096)
def _called(title: str, locator: str) -> tuple[str, frozenset[str]]:
    """A document's title in lower case, and the names of its file and folders without marks and ending."""
    steps = locator.lower().split("/")
    steps[-1] = steps[-1].partition(".")[0]
    places = frozenset(step.replace("-", "").replace("_", "").replace(" ", "") for step in steps)
    return title.lower().replace("’", "'"), places
