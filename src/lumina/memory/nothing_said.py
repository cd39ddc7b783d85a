"""Whether a turn says anything that could be noted: "thanks!" does not, and no model is asked what it changed.

A greeting, thanks or a goodbye changes nothing, whatever was said before it. A word of approval ("ok", "great") may
accept what the answer before offered, and then it does: it says nothing only where that answer plainly offered nothing.
Every word has to be in the tables; a digit, a question, a name or a language that is not here, and the turn is asked
about. So a mistake costs a model call, never a note.
"""

import re

from lumina.memory.consent import ASKS, SPOKEN
from lumina.memory.evidence import folded
from lumina.memory.question import ENGLISH, FOREIGN
from lumina.memory.turns import Turn
from lumina.memory.words import forms

LONGEST = 80  # code points of the question
LONGEST_ANSWER = 300  # code points; a longer answer says something of its own
KNOWN = 0.4  # share of an answer's words that tells that it is written in a language of OFFERS

GREETING = "it is a greeting or thanks, and says nothing that could be noted"
APPROVAL = "it approves, where nothing was offered, and says nothing that could be noted"

# English, German, French, Spanish, Italian, Portuguese, Arabic, Russian. Of Chinese and Japanese see PHRASES.
COURTEOUS = frozenset(
    """hi hello hey hiya howdy greetings thanks thank thx ty cheers bye goodbye cya welcome
    hallo servus moin grüezi tag danke dankeschön tschüss tschüß tschau ciao
    bonjour bonsoir salut coucou merci adieu hola gracias adiós adios chao saludos
    buongiorno buonasera salve grazie arrivederci olá ola oi obrigado obrigada tchau
    привет здравствуйте здравствуй спасибо пока благодарю
    مرحبا مرحبًا أهلا أهلًا شكرا شكرًا سلام وداعا وداعًا""".split()
)
APPROVING = frozenset(
    """ok okay okey k alright great good nice cool perfect fine awesome excellent lovely wonderful super interesting
    understood noted gut prima toll klasse perfekt verstanden alles bien bon parfait génial d'accord compris
    vale bueno genial perfecto entendido entiendo bene perfetto capito bom ótimo perfeito entendi certo
    хорошо отлично понятно понял поняла حسنا حسنًا ممتاز تمام""".split()
)
# They add nothing to a word of the tables above.
BESIDE = frozenset(
    """you so very much a lot for that this the your help everyone all again there and again then well really indeed
    lumina oh ah dir ihnen euch sehr viel vielen herzlichen dank schön für die das hilfe und auch nochmal guten schönen
    beaucoup bien à vous toi pour votre ton aide et très muchas mucho mil por su tu ayuda y de nada
    mille molte per l'aiuto il tuo e muito muita pela pelo sua ajuda большое вам тебе за помощь и очень
    جزيلا جزيلًا لك لكم على""".split()
)
COURTEOUS_PHRASES = (
    "good morning", "good afternoon", "good evening", "good night", "good day", "see you", "take care", "guten morgen",
    "guten tag", "guten abend", "gute nacht", "auf wiedersehen", "bis bald", "vielen dank", "bonne journée",
    "bonne nuit", "bonne soirée", "au revoir", "à bientôt", "buenos días", "buenas tardes", "buenas noches",
    "hasta luego", "buona giornata", "buona notte", "bom dia", "boa tarde", "boa noite", "até logo", "доброе утро",
    "добрый день", "добрый вечер", "до свидания", "صباح الخير", "مساء الخير", "السلام عليكم", "مع السلامة",
    "谢谢你", "谢谢您", "非常感谢", "谢谢", "多谢", "謝謝", "你好", "您好", "早上好", "晚上好", "晚安", "再见", "再見",
    "拜拜",
    "ありがとうございます", "ありがとうございました", "ありがとう", "どうも", "こんにちは", "こんばんは",
    "おはようございます", "おはよう", "おやすみなさい", "さようなら",
)  # fmt: skip
APPROVING_PHRASES = (
    "got it", "i see", "sounds good", "alles klar", "sehr gut", "très bien", "d'accord", "muy bien", "de acuerdo",
    "va bene", "molto bene", "d'accordo", "tudo bem", "muito bem", "好的", "好吧", "知道了", "明白了", "了解しました",
    "了解",    "わかりました", "分かりました", "なるほど",
)  # fmt: skip
PHRASES = sorted(
    [(phrase, True) for phrase in COURTEOUS_PHRASES] + [(phrase, False) for phrase in APPROVING_PHRASES],
    key=lambda each: -len(each[0]),
)
WORD = re.compile(r"[^\W\d_]+")
SMILES = str.maketrans(dict.fromkeys("¡¿🙂😊😀😃😄😁🙏👋❤♥~～\ufe0f", " "))
# How words begin with which an answer offers, advises or leaves something to decide, in the six languages of KNOWN.
OFFERS = tuple(
    """recommend suggest propos offer would could should shall may might can will let choos choice option either prefer
    want like if plan next try decid go need want empfehl empfiehl vorsch schlag biet kann könn soll möcht woll will
    willst wenn falls würd wähl wahl brauch nehm recommand suggér conseil peu pouv pourr voul veu souhait faut si devr
    choi recomiend recomend sugier sug propon ofre pued pod pos quier quer gustar deb opci opç eleg elij aconsej
    consigl raccomand sugger propong potr può puo vuo vorr vuoi dovr dev se scegl scelt gost""".split()
)


def why_not_asked(turn: Turn, previous: Turn | None) -> str:
    """Why nothing can have changed in `turn`, for people; "" when something may have. `previous` is the live turn
    before it, None where there is none or it cannot be read."""
    answers = turn.read_sources or turn.cited or len(turn.answer) > LONGEST_ANSWER
    said = "" if answers or turn.exchanges else says_nothing(turn.question)
    if said != APPROVAL:
        return said
    offered = turn.seq > 1 if previous is None else may_offer(previous.answer)
    return "" if offered else said


def says_nothing(question: str) -> str:
    """GREETING, APPROVAL, or "" when `question` says anything else besides."""
    if len(question) > LONGEST or any(mark in question for mark in ASKS):
        return ""
    plain, kinds = folded(question.translate(SMILES)), set[bool]()
    for phrase, courteous in PHRASES:
        if phrase in plain:
            plain = plain.replace(phrase, " ")
            kinds.add(courteous)
    for word in SPOKEN.findall(plain):
        if word in COURTEOUS or word in APPROVING:
            kinds.add(word in COURTEOUS)
        elif word not in BESIDE:
            return ""
    if not kinds:
        return ""
    return GREETING if kinds == {True} else APPROVAL


def may_offer(answer: str) -> bool:
    """Whether `answer` may offer something that a word of approval would accept: it asks, holds a word of an offer, or
    is in a language whose words of an offer are not known here."""
    if not answer.strip():
        return False
    if any(mark in answer for mark in ASKS):
        return True
    said = forms(answer)
    known = sum(word in ENGLISH or any(word in table for table in FOREIGN) for word in said)
    if known < KNOWN * len(said):
        return True
    return any(word.startswith(OFFERS) for word in WORD.findall(folded(answer)))
