"""What a message plainly states, by the table of rules: which rule, which value, which words.

Each declarative sentence is tried clause by clause. A clause begins a sentence (after "hi", "actually", "remember
that"), or follows a comma or "and" and starts in the first person. The first rule that fits a clause takes it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lumina.adapters.extractive.plain_sentences import Sentence, plain_sentences
from lumina.adapters.extractive.rules import RULES, Rule
from lumina.adapters.extractive.values import TOKEN, Value

LEAD_WORDS = (
    r"hi|hello|hey|dear all|ok|okay|yes|yeah|yep|no|nope|well|oh|also|and|but|so|then|actually|sorry|fyi|btw|"
    r"by the way|just so you know|for the record|to be clear|for context|note that|please note(?: that)?|correction|"
    r"(?:please )?remember(?: that| this)?|(?:please )?don't forget(?: that)?|in that case|thanks|thank you|great|"
    r"perfect|good news|unfortunately|sadly|hm|hmm|"
    r"hallo|ja|nein|doch|übrigens|eigentlich|gut|danke|also gut|bonjour|salut|oui|non|au fait|en fait|alors|merci|"
    r"hola|sí|por cierto|en realidad|bueno|gracias"
)
LEAD = re.compile(
    rf"[^\w\x00]{{0,40}}(?:(?:{LEAD_WORDS})(?: there| everyone| all| team)?(?![\w'])[\s,:;.!–—-]{{0,10}}){{0,4}}",
    re.IGNORECASE,
)
FIRST_PERSON = (
    r"(?:i|i'm|i've|my|we|we'll|we've|let's|it|that|this|call me|please call me|the|our|ich|mein|wir|es|je|j'|mon|me|"
    r"vivo|soy)"
)
AFTER_COMMA = re.compile(rf"[,;!–—-] ?(?:and |but |so |then |also |und |et |y )?(?={FIRST_PERSON}\b)", re.IGNORECASE)
AFTER_AND = re.compile(rf"(?:[,;.!–—-] ?| )(?:(?:and|but|so|und|et|y) )?(?={FIRST_PERSON}\b)", re.IGNORECASE)
SAYS_SO = re.compile(rf"{FIRST_PERSON}\b", re.IGNORECASE)
UNREAL = re.compile(r"\b(?:wish|hope|if|when|whenever|unless|whether|would|could|might|maybe|perhaps|used to)\b", re.I)
CONTRAST = re.compile(r"\b(?:but|except|only|however|although|though|yet)\b", re.IGNORECASE)
CORRECTED = re.compile(r"(?:it's|it is|that's|that is|i meant|i mean|make it|make that|should be) ", re.IGNORECASE)
NOT_OLD = re.compile(r",? (?:and )?not ", re.IGNORECASE)
FORGET = re.compile(r"\W{0,20}(?:please |ok,? |okay,? |actually,? )?forget (?:that |about )?", re.IGNORECASE)
FORGET_NOUN = re.compile(r"(?:my|our|the) (?P<noun>[a-z]{2,24}(?: [a-z]{2,24})?)(?=[.! ]{0,10}$)", re.IGNORECASE)
WHERE_I = re.compile(r"where i (?P<noun>live|work)(?=[.! ]{0,10}$)", re.IGNORECASE)
TOPIC = re.compile(
    r" (?:for|as) (?:the |our |my |a |an )?(?P<topic>[a-z][a-z0-9-]{1,24}(?: [a-z][a-z0-9-]{1,24}){0,2}?)"
    r"(?=[ .!,;]{0,10}$|[.!,;]| instead\b)",
    re.IGNORECASE,
)
INSTEAD = re.compile(r",? instead(?: of (?P<old>[^.!,;\x00]{1,60}))?(?=[ .!,;]{0,10}$|[.!,;])", re.IGNORECASE)
CONDITION_NEAR = re.compile(r" ?,? ?(?:if|unless|or|when|whenever|only if|provided|except)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A thing that was said. `start`..`end` are the clause's offsets in the message; the quote is that stretch.

    kind "rule": `rule` fits. "correct": the value replaces `old`. "forget": what `noun` names, or what `rule` says.
    """

    kind: str
    start: int
    end: int
    rule: Rule | None = None
    value: str = ""
    old: str = ""
    noun: str = ""
    topic: str = ""
    instead: bool = False


def stated(message: str) -> list[Statement]:
    """All that `message` plainly states, in its order."""
    return [statement for sentence in plain_sentences(message) for statement in _in_sentence(sentence)]


def _in_sentence(sentence: Sentence) -> Iterator[Statement]:
    forgotten = _forgotten(sentence)
    if forgotten:
        yield forgotten
        return
    text = sentence.text
    lead = LEAD.match(text)
    at: int | None = lead.end() if lead else 0
    while at is not None:
        statement = _rule_at(sentence, at) or _corrected(sentence, at)
        if statement:
            yield statement
        at = _next_clause(text, at, statement.end - sentence.start if statement else 0)


def _next_clause(text: str, at: int, end: int) -> int | None:
    """Where the next clause begins: after a statement anywhere behind it, else after a comma if the clause so far
    speaks in the first person and of something real."""
    if end:
        following = AFTER_AND.match(text, end) or AFTER_COMMA.search(text, end)
        return following.end() if following else None
    following = AFTER_COMMA.search(text, at)
    if not following or not SAYS_SO.match(text, at) or UNREAL.search(text, at, following.start()):
        return None
    return following.end()


def _rule_at(sentence: Sentence, start: int) -> Statement | None:
    for rule in RULES:
        match = rule.says.match(sentence.text, start)
        if match and (statement := _read(rule, match, sentence, start)):
            return statement
    return None


def _read(rule: Rule, match: re.Match[str], sentence: Sentence, start: int) -> Statement | None:
    text = sentence.text
    groups = match.groupdict()
    noun = (groups.get("noun") or "").lower()
    if rule.reads is not None:
        value = rule.reads(text, match.end())
    elif groups.get("value"):
        value = Value(text=match.group("value"), start=match.start("value"), end=match.end("value"))
    else:
        value = Value(text=groups.get("noun") or "", start=match.start(), end=match.end())
    if value is None or CONDITION_NEAR.match(text, value.end):
        return None
    if rule.does == "resolve" and CONTRAST.search(text, value.end):
        return None
    end, topic, instead, old = value.end, "", False, ""
    if rule.does == "decide":
        end, topic, instead, old = _about_decision(text, value.end)
    return Statement(
        kind="rule",
        start=sentence.start + start,
        end=sentence.start + end,
        rule=rule,
        value=value.text,
        old=old,
        noun=noun,
        topic=topic,
        instead=instead,
    )


def _about_decision(text: str, end: int) -> tuple[int, str, bool, str]:
    """What a decision is about and what it replaces, as far as the words after it say."""
    topic = instead = None
    for _ in range(2):
        topic = topic or TOPIC.match(text, end)
        end = max(end, topic.end() if topic else 0)
        instead = instead or INSTEAD.match(text, end)
        end = max(end, instead.end() if instead else 0)
    old = (instead.group("old") or "").strip() if instead else ""
    return end, topic.group("topic").lower() if topic else "", instead is not None, old


def _corrected(sentence: Sentence, start: int) -> Statement | None:
    """`it's Munich, not Berlin`, `actually it's Munich, not Berlin`."""
    match = CORRECTED.match(sentence.text, start)
    if not match:
        return None
    cut = NOT_OLD.search(sentence.text, match.end())
    if not cut:
        return None
    value = sentence.text[match.end() : cut.start()].strip()
    old = sentence.text[cut.end() :].strip().rstrip(".!")
    if not 0 < len(value) <= 60 or not 0 < len(old) <= 60 or "\x00" in value:
        return None
    end = cut.end() + len(sentence.text[cut.end() :].rstrip(".! "))
    return Statement(kind="correct", start=sentence.start + start, end=sentence.start + end, value=value, old=old)


def _forgotten(sentence: Sentence) -> Statement | None:
    """`forget my name`, `forget where I live`, `forget that I live in Berlin`."""
    match = FORGET.match(sentence.text)
    if not match:
        return None
    start, at = sentence.start, match.end()
    end = sentence.start + len(sentence.text.rstrip(".! "))
    noun = FORGET_NOUN.match(sentence.text, at) or WHERE_I.match(sentence.text, at)
    if noun:
        return Statement(kind="forget", start=start, end=end, noun=noun.group("noun").lower())
    inner = _rule_at(sentence, at)
    if inner and inner.rule and inner.rule.does == "set":
        return Statement(kind="forget", start=start, end=inner.end, rule=inner.rule, value=inner.value, noun=inner.noun)
    return None


def unsaid(message: str, statements: list[Statement]) -> str:
    """What is left of `message` without the clauses of `statements`."""
    kept: list[str] = []
    at = 0
    for statement in statements:
        kept.append(message[at : statement.start])
        at = statement.end
    rest = " ".join("".join([*kept, message[at:]]).split())
    return rest if TOKEN.search(rest.strip(" .,!;:-–—")) else ""
