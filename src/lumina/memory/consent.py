"""Whether a person's words accept an offer, or say that a trouble goes on.

A confirmation is the one way in which words of an answer become a person's own, so it needs more than any stretch of
the question for a quote: a word of consent or choice, in a sentence that does not ask. The lists are short on purpose.
An unknown way to agree costs a note; an invented one would let an answer write a person's memory.
"""

import re
from collections.abc import Collection, Iterable

from lumina.memory.evidence import Span, folded, overlapping, sentences
from lumina.memory.words import content_words

# English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Russian, Ukrainian, Turkish, Greek,
# Arabic, Hebrew, Hindi, Indonesian, Vietnamese, Finnish, Hungarian, Swedish. Words that also open an ordinary request
# ("please", "good", "the first") count only in phrases.
ASSENT = frozenset(
    """yes yeah yep yup ok okay sure agreed agree exactly correct absolutely definitely accept confirm confirmed deal
    ja jawohl genau klar gerne stimmt einverstanden passt nehme nimm oui ouais accord exactement parfait volontiers sí
    si claro vale correcto exacto perfecto hazlo adelante sì certo esatto perfetto facciamo sim isso perfeito akkoord
    prima tak zgoda dobrze ano dobře да ага хорошо давай згода добре evet tamam olur ναι εντάξει نعم أجل موافق כן בסדר
    हाँ हां iya baik setuju vâng được kyllä joo sopii igen rendben visst""".split()
)
ASSENT_PHRASES = """do it|do that|do this|do so|please do|go ahead|go for|go with|let's|i'll take|that one|this one
first one|second one|third one|last one|the latter|the former|both of|that's right|that is right|sounds good
sounds great|looks good|that's fine|fine with me|that works|works for me|use that|take that|mach das|machen wir
nehmen wir|gut so|はい|お願い|それで|是的|好的|好啊|可以|没错|沒錯|对的|對的|同意|네|좋아|그렇게|ใช่|ตกลง""".replace(
    "\n", "|"
).split("|")
# What politeness and "you may do it" add to an assent: they say no more of what is agreed to, and accept nothing alone.
MANNERS = frozenset(
    """please bitte gern danke thanks merci gracias obrigado obrigada grazie favor por pode podes fazer faça isso isto
    puede puedes hacerlo vas allez y""".split()
)
MANNERS_PHRASES = ("お願いします", "お願いいたします", "してください", "ください", "です")
STILL = frozenset(
    "still noch weiterhin toujours encore todavía sigue ancora ainda nog nadal wciąż ještě ещё еще".split()
)
STILL_PHRASES = ("まだ", "还是", "还在", "還是", "還在", "仍", "아직", "여전히")
SPOKEN = re.compile(r"[^\s.,;:!?\"'()…।،，。！？-]+")  # with the marks that \w leaves out in Hindi and others
ASKS = ("?", "？", "؟")


def assents(question: str, quote: Span) -> bool:
    """Whether the quoted words of `question` accept something that was offered."""
    around = overlapping(sentences(question), quote)
    asks = any(question[span.start : span.end].rstrip(" \n\"'”’)").endswith(ASKS) for span in around)
    return not asks and _has(question[quote.start : quote.end], ASSENT, ASSENT_PHRASES)


def only_assents(words: str) -> bool:
    """Whether `words` agree and say nothing else: what they agree to has to be quoted beside them."""
    plain = folded(words)
    for phrase in sorted((*ASSENT_PHRASES, *MANNERS_PHRASES), key=len, reverse=True):
        plain = plain.replace(phrase, " ")
    left = [word for word in SPOKEN.findall(plain) if word not in ASSENT and word not in MANNERS]
    return _has(words, ASSENT, ASSENT_PHRASES) and not content_words(" ".join(left))


def goes_on(words: str) -> bool:
    """Whether `words` say "still", which no words about an end do."""
    return _has(words, STILL, STILL_PHRASES)


def _has(text: str, words: Collection[str], phrases: Iterable[str]) -> bool:
    plain = folded(text)
    return any(word in words for word in SPOKEN.findall(plain)) or any(phrase in plain for phrase in phrases)
