"""Answers from what is known already: the memory block, the recalled turns, an answer in the window.

What was said stands under a key, so a question is answered from it when all that the question names is in the key or
its value. It must ask for what is, not how to do something; and unless it asks about the person ("my", "we"), at least
two of its words must fit, so that "what is a name?" is still looked up. The tables name what people ask instead of the
key: where I live is home.city.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from lumina.adapters.extractive.memory_block import Entry, Memory, Recalled, is_number
from lumina.adapters.extractive.phrases import SMALL_WORDS, Language, phrase
from lumina.adapters.extractive.plain_sentences import ASKS
from lumina.adapters.extractive.quoting import MARKER, quoted, weigh
from lumina.adapters.extractive.units import sentences
from lumina.adapters.extractive.values import slug
from lumina.memory.words import RUN, content_words, forms

MOST = 5  # entries of one answer
HALF = 0.5  # share of the question's weight that a recalled passage must hold
AGAIN = 3  # content words at least before an answer of the window is quoted again
PERSONAL = frozenset(
    """i i'm my me mine we our us am ich mein meine meinen meiner mir mich wir unser unsere je j mon ma mes me moi nous
    notre nos yo mi mis nosotros nuestra nuestro llamo vivo""".split()
)
NOT_WHAT_IS = ("how", "why", "can", "could", "should", "explain", "warum", "pourquoi", "por")
HOW_BUT = ("how old", "how many", "how much")
TALK = frozenset(
    form
    for word in """say said tell told mention mentioned talk talked discuss discussed remember know earlier previously
    before last time again ask asked answer answered decide decided decision decisions choose chose chosen pick picked
    agree agreed settle settled go went use using call called still current currently exactly recall remind tell list
    show give many much gesagt vorhin entschieden dit décidé dijiste decidido""".split()
    for form in forms(word)
)
# What people ask for instead of the words of a key, folded as memory.words does.
MEANS = {
    form: frozenset(forms(meant))
    for asked, meant in {
        "live": "home city location residence address country",
        "living": "home city location residence address country",
        "wohne": "home city location residence address",
        "habite": "home city location residence address",
        "vivo": "home city location residence address",
        "called": "name",
        "heiße": "name",
        "appelle": "name",
        "nom": "name",
        "llamo": "name",
        "nombre": "name",
        "old": "age",
        "job": "work employer job",
        "work": "employer job company",
        "arbeite": "work employer job",
        "eat": "diet allergy",
        "allergic": "allergy",
        "allergies": "allergy",
        "preference": "prefers",
        "favourite": "favorite",
    }.items()
    for form in forms(asked)
}
CITED = re.compile(r"\s{0,3}\[(?P<n>[0-9]{1,7})\]")  # with the space before it
WHO_AM_I = re.compile(
    r"who am i|wer bin ich|qui suis-je|quién soy|(?:what|was|que|qué) .{0,20}(?:about me|über mich|de moi|de mí)"
)
OPEN_ISSUES = re.compile(r"\b(?:open (?:issue|problem|question)s?|still open|unsolved|unresolved)\b")
DECIDED = re.compile(r"\b(?:decide|decided|decision|decisions|agree|agreed|choose|chose)\b")
PLAIN = {
    "user.name": "your name is {value}",
    "home.city": "you live in {value}",
    "work.employer": "you work at {value}",
    "work.job": "you work as {value}",
    "user.age": "you are {value} years old",
    "user.birthday": "your birthday is {value}",
    "diet": "you are {value}",
    "allergy": "you are allergic to {value}",
    "prefers": "you prefer {value}",
    "uses": "you use {value}",
    "team_uses": "your team uses {value}",
}
FORGETTABLE = frozenset("user profile person customer me thread choice".split())  # first parts that say nothing


TELL = re.compile(
    r"(?:please )?(?:(?:can|could) you (?:please )?)?(?:(?:tell|remind|show|give) me|sag mir|nenne mir|dis-moi|"
    r"dites-moi|dime|dígame) (?:of |again )?"
)
PARTS = re.compile(r",? (?:and|und|et|y) |, ")
FEW = 2  # words that a part may name to be one that no page can answer: "my shoe size"


def from_memory(question: str, memory: Memory, language: Language) -> str:
    """The answer from the entries that hold all that `question` names, or ""."""
    folded = _asked(question)
    if not folded:
        return ""
    chosen = _all_of_a_kind(folded, memory.entries) or _that_fit(folded, memory.entries, language)
    return " ".join(_told(entry, memory.citable, language) for entry in chosen[:MOST])


def _asked(question: str) -> str:
    """`question` folded, without "tell me" before it; "" if it asks nothing. "Tell me about" asks for more."""
    folded = " ".join(question.lower().split())
    tell = TELL.match(folded)
    if tell and not folded.startswith("about ", tell.end()):
        return folded[tell.end() :]
    return folded if "?" in folded or ASKS.match(folded) else ""


def from_parts(question: str, memory: Memory, statements: Sequence[str], language: Language) -> tuple[str, bool]:
    """What is known of the things that `question` asks side by side, and whether nothing is left to be searched for.

    `statements`: the user's own in the window. A part that is not known and names little of the person's is not left:
    no page knows it.
    """
    folded = _asked(question)
    if not folded or (folded.startswith(NOT_WHAT_IS) and not folded.startswith(HOW_BUT)):
        return "", False
    parts = [part.strip(" ?!.") for part in PARTS.split(folded)]
    if len(parts) < 2:
        return "", False
    told: list[str] = []
    left = False
    for part in parts:
        mine = not PERSONAL.isdisjoint(run.group() for run in RUN.finditer(part))
        named = _named(part, language)
        mine = mine or (len(named) == 1 and not PERSONAL.isdisjoint(folded.split()))
        asked = f"{part} my?" if mine else f"{part}?"
        known = from_memory(asked, memory, language) or from_said(asked, statements, language)
        told += [known] if known else []
        left = left or not (known or (mine and len(named) <= FEW))
    return " ".join(dict.fromkeys(told)), bool(told) and not left


def _all_of_a_kind(folded: str, entries: Sequence[Entry]) -> list[Entry]:
    if WHO_AM_I.search(folded):
        return [entry for entry in entries if entry.section == "about"]
    if OPEN_ISSUES.search(folded):
        return [entry for entry in entries if entry.section == "issues"]
    if DECIDED.search(folded) and not _named(folded, "en"):
        return [entry for entry in entries if entry.section == "decisions"]
    return []


def _that_fit(folded: str, entries: Sequence[Entry], language: Language) -> list[Entry]:
    if folded.startswith(NOT_WHAT_IS) and not folded.startswith(HOW_BUT):
        return []
    named = _named(folded, language)
    personal = not PERSONAL.isdisjoint(run.group() for run in RUN.finditer(folded))
    if not named or not (personal or len(named) > 1):
        return []
    decided = DECIDED.search(folded) is not None
    fit = [entry for entry in entries if _fits(named, entry) and (personal or entry.section != "about")]
    return [entry for entry in fit if entry.section == "decisions"] if decided and len(fit) > 1 else fit


def _named(folded: str, language: Language) -> list[str]:
    """The words of the question that name something, folded, each once."""
    small = {form for word in SMALL_WORDS[language] for form in forms(word)}
    return [word for word in dict.fromkeys(content_words(folded)) if word not in small and word not in TALK]


def _fits(named: Sequence[str], entry: Entry) -> bool:
    key = set(forms(entry.key))
    held = key | set(forms(entry.value))
    meant = [word in held or not MEANS.get(word, frozenset()).isdisjoint(key) for word in named]
    in_key = any(word in key or not MEANS.get(word, frozenset()).isdisjoint(key) for word in named)
    return all(meant) and in_key


def _told(entry: Entry, citable: frozenset[int], language: Language) -> str:
    value = quoted(entry.value)
    label = _label(entry)
    what = f"{label}: {value}" if label else value
    if entry.section == "issues":
        return phrase(language, "issue", day=entry.day, what=what)
    if entry.section == "decisions":
        return phrase(language, "decision", day=entry.day, what=what)
    if entry.section == "findings":
        cites = f" [{entry.source}]" if entry.source in citable else ""
        return phrase(language, "finding", day=entry.day, what=what) + cites
    plain = PLAIN.get(entry.key) or PLAIN.get(entry.key.split(".")[0])
    if language == "en" and (plain or label):
        clause = plain.format(value=value) if plain else f"{label} is {value}"
        return phrase(language, "fact that", day=entry.day, clause=clause)
    return phrase(language, "fact", day=entry.day, what=what)


def _label(entry: Entry) -> str:
    """The key in words, without a first part that says nothing and a last one that repeats the value."""
    parts = entry.key.split(".")
    if len(parts) > 1 and parts[-1] == slug(entry.value):
        parts = parts[:-1]
    if parts[0] in FORGETTABLE:
        parts = parts[1:]
    return " ".join(parts).replace("_", " ")


def from_recall(
    question: str, recalled: Sequence[Recalled], citable: frozenset[int], language: Language, *, sure: bool = False
) -> str:
    """The two recalled passages that hold most of what `question` names, each with its turn and day, in their order.

    `sure`: only what the user stated and what holds every word, for a question that does not point back.
    """
    named = _named(" ".join(question.lower().split()), language)
    weights = weigh(named, [item.text for item in recalled])
    share = {at: weights.share(forms(item.text)) for at, item in enumerate(recalled)}
    least = 1.0 - 1e-9 if sure else HALF if named else 0.0
    fit = [at for at, item in enumerate(recalled) if share[at] >= least and not (sure and _is_no_statement(item))]
    if not fit or (sure and len(named) < 2):
        return ""
    wanted = _whose(question)
    best = sorted(fit, key=lambda at: (recalled[at].by != wanted, _asks(recalled[at]), -share[at], -at))[:2]
    lines = [_recalled(recalled[at], citable, language) for at in best if recalled[at].by == wanted or at == best[0]]
    return " ".join(line for _, line in sorted(zip(best, lines, strict=False)))


def from_said(question: str, statements: Sequence[str], language: Language) -> str:
    """The last of the user's own `statements` (oldest first) that holds all that `question` asks about the person."""
    folded = _asked(question)
    named = _asked_of_the_person(folded, language) if folded else []
    for statement in reversed(statements):
        if named and set(named) <= set(forms(statement)):
            return phrase(language, "said", text=quoted(statement))
    return ""


def _asked_of_the_person(folded: str, language: Language) -> list[str]:
    """What a question names that asks what is, and asks it of the person; else nothing."""
    if folded.startswith(NOT_WHAT_IS) and not folded.startswith(HOW_BUT):
        return []
    personal = not PERSONAL.isdisjoint(run.group() for run in RUN.finditer(folded))
    return _named(folded, language) if personal else []


def _is_no_statement(item: Recalled) -> bool:
    return item.by != "user" or _asks(item)


def _asks(item: Recalled) -> bool:
    return item.text.rstrip().endswith(("?", "？"))


def shown(earlier: Sequence[tuple[Literal["user", "assistant"], str]]) -> tuple[Recalled, ...]:
    """The messages of the window as passages; of an answer with citations its cited sentences. They have no turn."""
    passages: list[Recalled] = []
    for by, text in earlier:
        cited = [f"{sentence} [{n}]" for sentence, n in cited_sentences(text)] if by == "assistant" else []
        passages += [Recalled(turn=0, day="", by=by, text=one) for one in cited or [text]]
    return tuple(passages)


def _whose(question: str) -> str:
    folded = f" {' '.join(question.lower().split())} "
    said_by_user = (" did i ", " i said", " i told", " i mention", " habe ich ", " ich gesagt", " j'ai ", " dije ")
    return "user" if any(sign in folded for sign in said_by_user) else "assistant"


def _recalled(item: Recalled, citable: frozenset[int], language: Language) -> str:
    words, numbers = _without_markers(item.text)
    place = "said" if item.turn else "said here"
    said = phrase(language, f"{item.by} {place}", turn=item.turn, day=item.day, text=quoted(words))
    cites = "".join(f" [{n}]" for n in numbers if n in citable) if item.by == "assistant" else ""
    replaced = f" {phrase(language, 'replaced', turn=item.replaced)}" if item.replaced else ""
    return f"{said}{replaced}{cites}"


def _without_markers(text: str) -> tuple[str, list[int]]:
    """`text` without the citations `[n]` in it, and their numbers."""
    numbers = [int(match["n"]) for match in CITED.finditer(text)]
    return " ".join(CITED.sub("", text).split()), list(dict.fromkeys(numbers))


def from_window(question: str, answers: Sequence[str], memory: Memory, language: Language) -> str:
    """A sentence of an earlier answer that holds all words of `question` and cites a source that may be cited again."""
    asked = set(_named(" ".join(question.lower().split()), language))
    if len(asked) < AGAIN:
        return ""
    for answer in reversed(answers):
        for sentence, n in cited_sentences(answer):
            if n in memory.citable and asked <= set(forms(sentence)) and not sentence.endswith("?"):
                return f"{phrase(language, 'above')} {quoted(sentence)} [{n}]"
    return ""


def cited_sentences(answer: str) -> Iterator[tuple[str, int]]:
    """Each sentence of `answer` that stands before a `[n]`, with that number."""
    at = 0
    for marker in MARKER.finditer(answer):
        before, at = answer[at : marker.start()].rpartition("\n")[2], marker.end()
        number = marker.group()[1:-1]
        said = [sentence for sentence in sentences(before, "en") if RUN.search(sentence)]
        if said and is_number(number):
            yield said[-1], int(number)
