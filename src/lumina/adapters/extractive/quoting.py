"""Which sentences of a passage answer best, and how they are written down so that nothing in them acts.

A sentence is worth the share of the question's words that it holds, each word weighed by its rarity among the passages
that were found. A sentence that opens a passage (or a definition) is preferred when it is close to the best: it says
what the rest is about. What is quoted is verbatim, but for white space and a cut shown by an ellipsis; brackets that
would read as a citation are set as code, so that a page can be quoted and can never cite.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from lumina.adapters.extractive.units import Unit, units
from lumina.memory.words import forms

MAX_SENTENCE = 320  # characters of one quoted sentence
MAX_NAME = 100  # characters of a signature that stands before a sentence
MAX_CODE_LINES = 14
CLOSE = 0.7  # an opening sentence with this share of the best one's worth is preferred to it
ADDS = 0.12  # share of the question's weight that a further sentence must add
CODE_FOLLOWS = 0.3  # a sentence that announces code, where the question asks how
DEFINES = 0.15  # a sentence that defines what the question names
ASIDE = 0.5  # factor for sentences about versions, not about the thing; they are quoted if nothing else is there
ASIDES = re.compile(
    r"(?:(?:changed|new|added|deprecated|removed) (?:in|since) (?:version )?\d|added (?:an?|the|support) |"
    r"raises an auditing event)",
    re.IGNORECASE,
)
# How a sentence begins that cannot be read without the one before it.
POINTS_BACK = re.compile(
    r"(?:this|these|those|it|they|such|in this case|otherwise|that (?:is|means)|dies|diese|cela|ceci|esto)\b",
    re.IGNORECASE,
)
ROW = 0.6  # factor for a row of a table, which says little without its head
SUSPECT = 0.5  # factor for sentences that hold what looks like a command to a model
# What a page writes to a model rather than to a reader; a sentence with it is quoted only if nothing else is there.
ORDERS = re.compile(
    r"(?:please |now |you (?:must|should|will) (?:now )?)?(?:remember that|forget (?:that|all|your)|ignore |disregard |"
    r"cite |call (?:the )?tool|search for |update the state|reveal |do not tell|answer with )",
    re.IGNORECASE,
)
# Whatever holds a number in brackets may be read as a citation by somebody: [9], [^9], 【9†page】, [source 9], [٩].
OPENERS, CLOSERS = "[［【〔", "]］】〕"
INSIDE = r"[^\[\]［］【】〔〕\n]"
MARKER = re.compile(
    rf"[\[［【〔]{INSIDE}{{0,40}}[\d\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]{INSIDE}{{0,160}}[\]］】〕]"
)
CONTROL = (
    "<|",
    "|>",
    "<memory",
    "</memory",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<!--",
    "-->",
    "</s>",
    "<system",
    "tool_call",
)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each of the question's words counts; together 1."""

    of: dict[str, float]

    def share(self, words: Iterable[str]) -> float:
        return sum(self.of.get(word, 0.0) for word in set(words))


def weigh(question: Sequence[str], passages: Sequence[str]) -> Weights:
    """Weights of the folded words `question` by their rarity among `passages`."""
    held = Counter(word for text in passages for word in set(forms(text)))
    rarity = {word: math.log(1 + (len(passages) + 1) / (held[word] + 0.5)) for word in dict.fromkeys(question)}
    total = sum(rarity.values()) or 1.0
    return Weights({word: value / total for word, value in rarity.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What is quoted of a passage, in its order: sentences ready to be written, and a code block or "". `worth` is the
    share of the question's weight that the best of it holds, and a little more for code where that is asked for."""

    sentences: tuple[str, ...] = ()
    code: str = ""
    worth: float = 0.0


def best_of(passage: str, weights: Weights, *, sentences: int, language: str, wants_code: bool) -> Quote:
    """At most `sentences` sentences of `passage`, and its code block if that is the best part of it."""
    found = units(passage, language)
    chosen = _choose(found, weights, sentences, wants_code=wants_code)
    code = _code(found, chosen, weights, wants_code=wants_code)
    worth = max((_worth(found, at, weights) for at in chosen), default=weights.share(forms(code)))
    worth += CODE_FOLLOWS if code and wants_code else 0.0
    kept = [at for at in sorted(chosen) if not _announces(found, at, code)] or sorted(chosen)[: not code]
    return Quote(sentences=tuple(_written(found, at) for at in kept), code=code, worth=worth)


def _announces(found: list[Unit], at: int, code: str) -> bool:
    """Whether the sentence announces code that is not shown."""
    return found[at].text.endswith(":") and _code_after(found, at) and _clipped(found[at + 1].text) != code


def is_suspect(text: str) -> bool:
    """Whether `text` holds a bracketed number or a model's control words, or begins like an order to a model."""
    folded = text.lower()
    marked = MARKER.search(text) is not None or any(sign in folded for sign in CONTROL)
    return marked or ORDERS.match(text) is not None


def _choose(found: list[Unit], weights: Weights, limit: int, *, wants_code: bool) -> set[int]:
    """Indexes of the sentences to quote: the best one and the opening one if it is close, then those that add words
    of the question, then those that hold nearly as many, then the one that goes on after the best."""
    prose = [at for at, unit in enumerate(found) if unit.kind == "sentence"]
    telling = [at for at in prose if not ASIDES.match(found[at].text)]
    prose = telling if telling or any(unit.kind == "code" for unit in found) else prose
    if not prose:
        return set()
    worth = {
        at: _worth(found, at, weights) + (CODE_FOLLOWS if wants_code and _code_after(found, at) else 0) for at in prose
    }
    best = max(prose, key=lambda at: (worth[at], -at))
    first = prose[0]
    chosen = [first if worth[first] >= CLOSE * worth[best] and not is_suspect(found[first].text) else best]
    fit = [at for at in prose if not is_suspect(_with_name(found, at))]
    while len(chosen) < limit:
        held = {word for at in chosen for word in forms(_with_name(found, at))}
        left = [at for at in fit if at not in chosen]
        gain = {at: weights.share(set(forms(_with_name(found, at))) - held) for at in left}
        more = [at for at in left if gain[at] >= ADDS]
        more = more or [at for at in left if worth[at] >= CLOSE * worth[best] and not _is_named(found, at)]
        more = more or [at for at in left if [at - 1] == chosen and not found[at].text.startswith("(")]
        if not more:
            break
        chosen.append(max(more, key=lambda at: (gain[at], worth[at], -at)))
    return {*chosen, *(at - 1 for at in chosen if at - 1 in fit and POINTS_BACK.match(found[at].text))}


def _worth(found: list[Unit], at: int, weights: Weights) -> float:
    """The share of the question's weight that the unit holds, with the name that stands above it."""
    text = _with_name(found, at)
    share = weights.share(forms(text))
    if text != found[at].text and weights.share(forms(found[at - 1].text)):
        share += DEFINES
    if " | " in found[at].text:
        share *= ROW
    if ASIDES.match(found[at].text):
        share *= ASIDE
    return share * SUSPECT if is_suspect(text) else share


def _is_named(found: list[Unit], at: int) -> bool:
    """Whether the sentence is the first of a definition."""
    return at > 0 and found[at].kind == "sentence" and found[at - 1].kind == "signature"


def _with_name(found: list[Unit], at: int) -> str:
    return f"{found[at - 1].text} {found[at].text}" if _is_named(found, at) else found[at].text


def _code_after(found: list[Unit], at: int) -> bool:
    return at + 1 < len(found) and found[at + 1].kind == "code"


def _code(found: list[Unit], chosen: set[int], weights: Weights, *, wants_code: bool) -> str:
    """The block that follows a chosen sentence and is announced by it, or the one that is worth more than they are."""
    blocks = [at for at, unit in enumerate(found) if unit.kind == "code"]
    for at in blocks:
        if at - 1 in chosen and (wants_code or found[at - 1].text.endswith(":")):
            return _clipped(found[at].text)
    best = max((_worth(found, at, weights) for at in chosen), default=0.0)
    better = [at for at in blocks if _worth(found, at, weights) > best]
    return _clipped(found[max(better, key=lambda at: (_worth(found, at, weights), -at))].text) if better else ""


def _clipped(code: str) -> str:
    lines = code.split("\n")
    return code if len(lines) <= MAX_CODE_LINES else "\n".join([*lines[:MAX_CODE_LINES], "…"])


def _written(found: list[Unit], at: int) -> str:
    """The sentence, with the name it defines before it."""
    text = quoted(found[at].text)
    if at and found[at - 1].kind == "signature":
        name = found[at - 1].text
        return f"{quoted(name) if '`' in name else f'`{_short(name)}`'}: {text}"
    return text


def _short(signature: str) -> str:
    """The signature, with the parameters after the first few left out when they are many."""
    if len(signature) <= MAX_NAME:
        return signature
    cut = signature[:MAX_NAME].rpartition(", ")[0]
    return f"{cut}, …)" if "(" in cut else signature


def quoted(text: str, limit: int = MAX_SENTENCE) -> str:
    """`text` on one line, cut at a word with an ellipsis, with nothing in it that reads as a citation or opens code."""
    line = " ".join(text.split()).replace("~~~", "~ ~ ~")
    if len(line) > limit:
        cut = line[:limit].rpartition(" ")[0] or line[:limit]
        line = f"{cut} …"
    if line.count("`") % 2 or "``" in line:
        line = line.replace("`", "'")
    spans = _brackets(line)
    return _as_code(line.replace("`", "'"), spans) if spans else line


def _brackets(line: str) -> list[tuple[int, int]]:
    """The outermost brackets that hold a number, and brackets without a partner, which could pair with a citation
    further on; in order."""
    waiting: list[int] = []
    spans: list[tuple[int, int]] = []
    for at, sign in enumerate(line):
        if sign in OPENERS:
            waiting.append(at)
        elif sign in CLOSERS and waiting:
            start = waiting.pop()
            if any(letter.isnumeric() for letter in line[start:at]):
                while spans and spans[-1][0] >= start:
                    spans.pop()
                spans.append((start, at + 1))
        elif sign in CLOSERS:
            spans.append((at, at + 1))
    return sorted([*spans, *((at, at + 1) for at in waiting)])


def _as_code(line: str, spans: Sequence[tuple[int, int]]) -> str:
    """`line` with each of `spans`, and the word that it is part of, as a code span."""
    pieces: list[str] = []
    at = 0
    for first, last in spans:
        if last <= at:
            continue
        start = max(at, line.rfind(" ", 0, max(first, at)) + 1)
        end = line.find(" ", last)
        end = len(line) if end < 0 else end
        pieces += [line[at:start], f"`{line[start:end]}`"]
        at = end
    return "".join([*pieces, line[at:]])


def fenced(code: str) -> str:
    """`code` as a fenced block whose fence is longer than any run of backticks in it."""
    longest = max((len(list(run)) for sign, run in groupby(code) if sign == "`"), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"
