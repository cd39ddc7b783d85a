"""What a question asks for besides its subject, and which of its words name one.

Read from the question alone: whether it is vague ("ok, what do you recommend?"), whose words it asks for, whether it
asks when something was, which dates it names. The tables are few and plain; a language that is not here loses these
hints and nothing else.
"""

import re
from typing import NamedTuple

from lumina.memory.reference import SPEAK_EN, SPOKE_EN, SPOKE_ES, fold_phrase
from lumina.memory.turns import Part
from lumina.memory.words import STOP_WORDS, content_words, forms

# Words that carry no subject: the talk about the talk, politeness, and the function words of languages whose own are
# not among memory.words.STOP_WORDS. A question that holds nothing else is vague and leans on the last turns.
EMPTY_EN = """
    ok okay yes yeah yep nope sure thanks thank hello hi hey oh well um uh hmm lol great good nice cool fine right
    wow sorry interesting best better important main way ways thing things something anything everything one ones
    else kind sort lot example examples detail details option options idea ideas choice reason reasons question
    answer point part first second third last next previous earlier again another different many much long often
    really actually maybe also still already recommend recommendation suggest suggestion advise advice think
    opinion prefer mean explain describe say said tell told talk talked speak mention mentioned discuss discussed
    ask asked remember remind know find show give list compare help helpful want need like love try go going get
    got make made take use used come work look see keep let happen happened please continue elaborate clarify
    summarize repeat time today now usually normally generally typically commonly sometimes always word words
"""
EMPTY_DE = """
    und oder aber auch noch nur schon mal doch denn wenn weil dass ob als wie was wer wo wann warum wieso welche
    welcher welches welchen wessen ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihnen mein meine
    meinen meinem meiner dein deine deinen deinem deiner sein seine unser unsere der die das den dem des ein eine
    einen einem einer eines ist sind war waren bin bist hast hat habe haben hatte hatten wird werden wurde kann
    kannst können soll sollte muss darf würde würdest mit von vom zu zum zur bei beim für auf aus nach über unter
    vor durch gegen ohne um an am im in nicht kein keine ja nein danke bitte gut dann da dort hier jetzt mehr sehr
    so empfiehlst empfehlen empfohlen empfehlung vorschlagen vorschlag meinst denkst sagen gesagt sag erzähl
    erkläre bedeutet vorhin gleich nochmal
"""
EMPTY_FR = """
    et ou mais donc aussi encore que qui quoi dont où quand comment pourquoi quel quelle quels quelles je tu il
    elle on nous vous ils elles me te se moi toi lui leur le la les un une des du de ce cette ces cet mon ma mes
    ton ta tes son sa ses notre nos votre vos est sont était es suis êtes ai as avons avez ont avait dans par pour
    sur avec sans sous chez ne pas plus très si oui non merci bien alors est-ce qu au aux en recommandes
    recommandez conseilles conseillez penses pensez dit dire expliquer
"""
EMPTY_ES = """
    el los las uno unos unas lo al del y o pero también que qué quién cuál cuáles cuándo dónde cómo por porque yo
    tú él ella usted nosotros ellos ellas mi mis tus su sus nuestro es son era eran fue soy eres estoy está están
    he has ha hemos han había no sí gracias bueno entonces con sin para sobre entre muy más recomiendas recomienda
    aconsejas piensas crees dijiste decir
"""
# Scripts of their own, so that they cannot be taken for words of another language. Chinese and Japanese in pairs.
EMPTY_OTHER = """
    告诉 告訴 关于 關於 知道 可以 一下 一些 时候 時候 为什 為什 因为 因為 所以 但是 如果 还是 還是
    或者 我们 我們 推荐 推薦 建议 建議
    觉得 覺得 认为 認為 应该 應該 需要 想要 谢谢 謝謝 好的
    那么 那麼 然后 然後 更多
    教え 言っ 言う 思い 思う 思っ 勧め 知り 下さ 他に 次に
    ماذا ما هل عن في من على الى إلى هذا هذه ذلك تلك انت أنت انا أنا كيف لماذا متى أين اين او أو ثم لي لك لا نعم شكرا
    تنصح تنصحني توصي تقترح رأيك وماذا وما وهل وكيف وبماذا بماذا المزيد أخبرني اخبرني
"""

EMPTY = frozenset(forms(EMPTY_EN + EMPTY_OTHER))
FOREIGN = tuple(frozenset(forms(table)) for table in (EMPTY_DE, EMPTY_FR, EMPTY_ES))
ENGLISH = frozenset(form for word in STOP_WORDS for form in forms(word)) | EMPTY
# Characters that stand in Chinese function words; kana pairs are treated the same: they are endings and particles.
EMPTY_HAN = frozenset("何的了吗嗎呢吧啊是我你您他她它们們这這那哪什么麼甚怎样樣在和与與就也都还還很有个個請请说說過过")
KANA = re.compile("[\u3041-\u3096]+")

MONTHS = (
    ("january", "januar", "janvier", "enero", "يناير"),
    ("february", "februar", "février", "febrero", "فبراير"),
    ("march", "märz", "mars", "marzo", "مارس"),
    ("april", "avril", "abril", "ابريل"),
    ("may", "mai", "mayo", "مايو"),
    ("june", "juni", "juin", "junio", "يونيو"),
    ("july", "juli", "juillet", "julio", "يوليو"),
    ("august", "août", "agosto", "اغسطس"),
    ("september", "septembre", "septiembre", "سبتمبر"),
    ("october", "oktober", "octobre", "octubre", "اكتوبر"),
    ("november", "novembre", "noviembre", "نوفمبر"),
    ("december", "dezember", "décembre", "diciembre", "ديسمبر"),
)
MONTH_OF = {name: number for number, names in enumerate(MONTHS, 1) for name in names}
NAME = "|".join(sorted(MONTH_OF, key=len, reverse=True))
ORDINAL = r"(?:st|nd|rd|th|\.|er)?"
# Day before or after the month, or neither. "may", "march", "mars" are also other words: they need a neighbour.
DATE = re.compile(
    rf"(?:(?P<before>\b\d{{1,2}}){ORDINAL} (?:of |de )?"
    rf"|(?P<lead>\b(?:in|of|since|until|last|this|im|seit|en|de|du|fin|في) ))?"
    rf"\b(?P<month>{NAME})\b(?:,? (?P<after>\d{{1,2}})(?!\d){ORDINAL})?(?:,? (?:de |of )?(?P<year>(?:19|20)\d\d)\b)?"
)
DIGITS = re.compile(
    r"\b(?P<y>(?:19|20)\d\d)-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"
    r"|(?:(?P<zy>(?:19|20)\d\d)年)?(?P<zm>\d{1,2})月(?:(?P<zd>\d{1,2})[日号號])?"
)
NEEDS_NEIGHBOUR = frozenset(("may", "march", "mars", "mai"))

WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|time|week)\b|\bhow long ago\b|"
    r"\bwann\b|\ban welchem tag\b|\bquand\b|\bcuándo\b|什么时候|什麼時候|哪天|几号|何时|いつ|何月|何日|\bمتي\b"
)
TIME_WORDS = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|last|next|week|weekend|month|year|morning|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day|gestern|heute|morgen|woche|hier|demain|semaine|ayer|hoy|mañana|semana|"
    rf"(?:19|20)\d\d|{NAME})\b|昨天|今天|明天|上周|下周|去年|昨日|今日|明日|先週|来週|امس|اليوم|غدا"
)
# Whose words are asked for, where roles are a user and an assistant: what was said decides before what is owned.
# Who asks so wants what held once, not what holds. Keys are in English mostly, so few other words matter.
HOW_IT_WAS = re.compile(
    r"\b(?:before|used to|first|initially|original(?:ly)?|old|older|former(?:ly)?|previous(?:ly)?|chang(?:e|ed|es)|"
    r"history|was|were|had|früher|vorher|zuerst|ursprünglich|alte[rnsm]?|war|hatte|avant|ancien(?:ne)?|était|antes|anterior|era)\b"
)
# Some ask with a full stop: the first word or the particle at the end says so.
ASKING_MARKS = ("?", "？", "؟")
ENDS_TELLING = (".", "!", "。", "！")
ASKING_ENDS = ("か", "吗", "嗎", "呢")
ASKING_STARTS = frozenset(
    """what which who whom whose when where why how is are was were do does did can could will would should has have
    was welche welcher welches wer wen wem wann wo warum wie ist sind hast haben kannst können
    que qu quel quelle quels quelles qui quand où pourquoi comment est qué cuál cuáles quién quiénes cuándo dónde cómo
    هل ما ماذا من متى أين اين لماذا كيف""".split()
)
SAID_BY_USER = re.compile(
    rf"\b(?:did|have|had|didn't|haven't) i (?:already |ever )?(?:{SPEAK_EN}|{SPOKE_EN})\b|"
    rf"\bi(?:'ve| have| had)? (?:already |just )?{SPOKE_EN}\b|\b(?:habe|hatte) ich\b|\b(?:ai-je|j'ai|j'avais)\b|"
    r"\b(?:dije|mencioné|conté)\b|我(?:说|說|提|告诉|告訴)|(?:قلت|ذكرت) لك\b"
)
SAID_BY_ASSISTANT = re.compile(
    rf"\b(?:did|have|had|didn't|haven't) you (?:already |ever )?(?:{SPEAK_EN}|{SPOKE_EN})\b|"
    rf"\byou(?:'ve| have| had)? (?:already |just )?{SPOKE_EN}\b|"
    r"\byour (?:\w{1,20} )?(?:suggestion|recommendation|answer|advice|list|plan|proposal)s?\b|\b(?:hast|hattest) du\b|"
    rf"\b(?:as-tu|avez-vous|tu as|vous avez|m'as|m'avez)\b|\b{SPOKE_ES}\b|[你您](?:说|說|推荐|推薦|建议|建議|提到)|"
    r"(?:勧めて|教えて)くれ|\b(?:اوصيت|اقترحت|نصحت)ني\b"
)
OWNED_BY_USER = re.compile(
    r"\b(?:did|was|have|had) i\b|\bmy\b|\bmeine?[nmrs]?\b|\b(?:mon|ma|mes)\b|\bmis?\b|我的|私の|僕の"
)


class Date(NamedTuple):
    """A date that a question names; 0 stands for a part that it leaves open."""

    year: int
    month: int
    day: int

    def in_month_of(self, day: str) -> bool:
        """Whether the ISO day `day` lies in this month (and year, if there is one)."""
        return day[5:7] == f"{self.month:02}" and (not self.year or day[:4] == f"{self.year:04}")

    def is_day(self, day: str) -> bool:
        return bool(self.day) and self.in_month_of(day) and day[8:10] == f"{self.day:02}"


def dates_in(question: str) -> tuple[Date, ...]:
    """The dates that `question` names, a month at least each."""
    folded = fold_phrase(question)
    dates = [
        Date(int(m["y"] or m["zy"] or 0), int(m["m"] or m["zm"]), int(m["d"] or m["zd"] or 0))
        for m in DIGITS.finditer(folded)
    ]
    for match in DATE.finditer(folded):
        alone = not (match["before"] or match["after"] or match["year"] or match["lead"])
        if alone and match["month"] in NEEDS_NEIGHBOUR:
            continue
        day = int(match["before"] or match["after"] or 0)
        dates.append(Date(int(match["year"] or 0), MONTH_OF[match["month"]], day if day <= 31 else 0))
    return tuple(date for date in dates if 1 <= date.month <= 12)


def asks_when(question: str) -> bool:
    return WHEN.search(fold_phrase(question)) is not None


def has_time_word(text: str) -> bool:
    return TIME_WORDS.search(fold_phrase(text)) is not None


def subject_words(question: str) -> list[str]:
    """The folded content words of `question` that name a subject, in order, each once."""
    said = set(forms(question))
    empty = EMPTY.union(*(table for table in FOREIGN if len(said & table) > len(said & ENGLISH)))
    return [word for word in dict.fromkeys(content_words(question)) if word not in empty and not _is_particle(word)]


def _is_particle(word: str) -> bool:
    return word >= "\u2e80" and (bool(EMPTY_HAN.intersection(word)) or KANA.fullmatch(word) is not None)


def only_tells(question: str) -> bool:
    """Whether the message asks nothing: it ends as a statement does, and nothing in it is marked as a question."""
    text = question.strip()
    if not text.endswith(ENDS_TELLING) or any(mark in text for mark in ASKING_MARKS):
        return False
    first = re.split(r"[\s'’]", text.lower(), maxsplit=1)[0]
    return first not in ASKING_STARTS and not text.rstrip("".join(ENDS_TELLING)).endswith(ASKING_ENDS)


def asks_how_it_was(question: str) -> bool:
    """Whether the question asks for what held once: "what was it before", "my old tariff"."""
    return HOW_IT_WAS.search(fold_phrase(question)) is not None


def whose(question: str) -> Part | None:
    """The part of a turn that `question` asks for: what the user said or owns, what the assistant said, or neither."""
    folded = fold_phrase(question)
    user, assistant = SAID_BY_USER.search(folded), SAID_BY_ASSISTANT.search(folded)
    if user and assistant:
        return None
    if assistant:
        return "answer"
    return "question" if user or OWNED_BY_USER.search(folded) else None


def named(question: str, names: tuple[str, str]) -> Part | None:
    """The part that belongs to the one speaker whom `question` names; `names` are those of the user, the assistant."""
    asked = set(content_words(question))
    user, assistant = (bool(asked.intersection(forms(name))) for name in names)
    if user == assistant:
        return None
    return "question" if user else "answer"
