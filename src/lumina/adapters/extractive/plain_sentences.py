"""A person's message in the sentences that they say themselves, plainly.

What stands in quotation marks, in code, or behind a quoting mark is somebody else's or something pasted, so it is
blanked out before anything is read. Sentences that ask, that suppose, or that report what another said are dropped
whole. Offsets stay those of the message: every replacement has the length of what it replaces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sentencex import get_sentence_boundaries  # pyright: ignore[reportAttributeAccessIssue] (built in Rust, no stubs)

LONGEST = 2_000  # characters; a longer message is pasted text
BLANK = "\x00"
PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "`": "`", "‘": "’", "「": "」", "»": "«"}
APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})
# The message asks for work on a text, or plays a part: nothing in it is said about the person.
ABOUT_A_TEXT = re.compile(
    r"\b(?:(?:translat|rewrit|rephras|paraphras|proofread|role-?play|pretend|suppos|hypothetical|fiction|dream|übersetz|"
    r"beispiel|traduis|traduce)\w{0,20}|grammar|lyrics?|imagine|for example|for instance|e\.g|as an example|"
    r"the (?:sentence|phrase|text|string|message|email)|write (?:me )?an? \w{1,30}|quote|novel|character|poem|song|"
    r"joke|traduire|traducir|exemple|ejemplo)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:said|says|saying|told|tells|wrote|writes|asked|asks|claims?|claimed|thinks?|thought|believes?|believed|"
    r"assumes?|assumed|according to|heard|reads|sagt|sagte|meint|schrieb|fragte|dit que|disait|dice que|dijo)\b",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"\W{0,8}(?:(?:and|but|so|ok|okay|also)\b\W{0,5})?(?:what|who|whose|which|where|when|why|how|is|are|am|was|were|do|does|did|"
    r"can|could|will|would|should|shall|may|might|have|has|had|isn't|aren't|don't|doesn't|didn't|can't|won't|"
    r"wie|was|wer|wo|wann|warum|ist|sind|bin|kann|qui|que|quoi|où|quand|comment|pourquoi|est-ce|qué|quién|dónde|cómo)\b",
    re.IGNORECASE,
)
DONT_FORGET = re.compile(r"\W{0,20}(?:please )?don't forget\b", re.IGNORECASE)
NEW_QUESTION = re.compile(
    r"[,;–—-] ?(?:and |so |but )?(?:what|who|which|where|when|why|how|can you|could you|do you|is there|are there|"
    r"please)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A declarative sentence of the message: `text` is what stands at `start`..`end`, with blanks for quotations."""

    text: str
    start: int
    end: int


def plain_sentences(message: str) -> list[Sentence]:
    """The sentences of `message` that its author states. None of a message about some text, or of a pasted one."""
    if len(message) > LONGEST or ABOUT_A_TEXT.search(message):
        return []
    return [sentence for sentence in _sentences(blanked(message)) if _is_plain(sentence.text)]


def blanked(message: str) -> str:
    """`message` with quotations, code and quoted lines replaced by blanks, and plain apostrophes; the same length."""
    text = message.translate(APOSTROPHES)
    kept: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        outside = fenced or fence or line.lstrip().startswith((">", "|")) or line.startswith(("    ", "\t"))
        kept.append(BLANK * len(line) if outside else line)
    return _without_quotations("\n".join(kept), message)


def _without_quotations(text: str, message: str) -> str:
    """Blanks from each opening quotation mark to its partner; an opening one without a partner blanks the rest."""
    signs = list(text)
    at = 0
    while at < len(text):
        closing = PAIRS.get(message[at]) or ("'" if _opens_single(text, at) else "")
        if not closing or text[at] == BLANK:
            at += 1
            continue
        end = message.find(closing, at + 1) if closing != "'" else _closes_single(text, at + 1)
        end = len(text) - 1 if end < 0 else end
        signs[at : end + 1] = BLANK * (end + 1 - at)
        at = end + 1
    return "".join(signs)


def _opens_single(text: str, at: int) -> bool:
    """An apostrophe opens a quotation at the start of a word, and if one ends a word later on."""
    opens = text[at] == "'" and (at == 0 or text[at - 1].isspace()) and text[at + 1 : at + 2].isalnum()
    return opens and _closes_single(text, at + 1) > 0


def _closes_single(text: str, start: int) -> int:
    end = text.find("'", start)
    while end > 0 and text[end + 1 : end + 2].isalnum():
        end = text.find("'", end + 1)
    return end


def _sentences(text: str) -> Iterator[Sentence]:
    offset = 0
    for line in text.split("\n"):
        for bounds in get_sentence_boundaries("en", line):
            start, end = offset + bounds["start_index"], offset + bounds["end_index"]
            yield from _before_question(text[start:end], start)
        offset += len(line) + 1


def _before_question(text: str, start: int) -> Iterator[Sentence]:
    """The sentence; of one that ends in a question, the part before the question."""
    stripped = text.rstrip()
    if not stripped.endswith(("?", "？")):
        yield Sentence(text=stripped, start=start, end=start + len(stripped))
        return
    question = NEW_QUESTION.search(stripped)
    if question:
        yield Sentence(text=stripped[: question.start()], start=start, end=start + question.start())


def _is_plain(text: str) -> bool:
    if not text.strip() or "?" in text or REPORTED.search(text):
        return False
    return not ASKS.match(text) or DONT_FORGET.match(text) is not None
