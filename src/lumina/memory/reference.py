"""How people point back in a conversation, in seven languages.

"What did you say earlier about the visa" names an earlier turn; "what about the second one" leans on the turn before,
which is in the window anyway. The table holds only the first kind, and few of them: a phrase is here when it points
further back almost wherever it stands.

Every pattern is a list of literals with gaps of bounded length, so that matching stays linear in the question.
"""

import re
import unicodedata

READ = 4000  # characters of a text that are read for phrases, half from each end when it is longer

# Arabic: one form of alef, ya and ta marbuta, no vowel signs.
FOLDED = str.maketrans(
    {"’": "'", "‘": "'", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه"} | {chr(c): None for c in range(0x64B, 0x653)}
)

SPOKE_EN = (
    r"(?:said|told|mentioned|suggested|recommended|discussed|talked|listed|explained|described|proposed|promised|agreed|"
    r"decided|asked)"
)
SPEAK_EN = r"(?:say|tell|mention|suggest|recommend|discuss|talk|list|explain|describe|propose|promise|agree|decide|ask)"
SPOKE_DE = r"(?:gesagt|erwähnt|empfohlen|vorgeschlagen|genannt|erzählt|besprochen|gesprochen|geschrieben|erklärt)"
SPOKE_FR = (
    r"(?:dit|parlé|mentionné|recommandé|conseillé|suggéré|proposé|expliqué|raconté|discuté|cité|décidé|demandé|écrit)"
)
SPOKE_ES = (
    r"(?:dijiste|mencionaste|recomendaste|sugeriste|propusiste|explicaste|contaste|aconsejaste|nombraste|dijo usted)"
)

# Phrases that point further back than the turns at hand. Compared with the folded question: lower case, one space.
POINTING: dict[str, tuple[str, ...]] = {
    "en": (
        rf"\b(?:you|i|we|you've|i've|we've|you have|i have|we have) (?:already |just |once |had |first )?{SPOKE_EN}\b",
        rf"\b(?:did|didn't|have|haven't) (?:you|i|we) (?:already |ever )?(?:{SPEAK_EN}|{SPOKE_EN})\b",
        r"\bearlier(?! than\b| versions?\b| models?\b| years?\b| stages?\b| times?\b| centur)",
        r"\blast time\b(?! (?:the|it|he|she|they)\b)",
        r"\bpreviously\b",
        r"\bprevious (?:conversation|chat|message|question|answer|discussion|session)s?\b",
        r"\b(?:our|my|your) (?:last|first) (?:conversation|chat|message|question|answer|discussion|session|talk)\b",
        r"\b(?:the|your|that) (?:first|second|third|fourth|fifth|original) "
        r"(?:option|suggestion|recommendation|idea|choice|alternative|proposal|plan)\b",
        r"\b(?:do|did) you (?:still )?remember\b|\bremember (?:when|what|that|how|my|i|we|the)\b|\bremind me\b",
        r"\b(?:what|which|who|where|when|how) (?:was|were|is|are) .{1,80} again ?\?*$",
        r"\b(?:go|going|come|coming|get|getting|return|returning) back to (?:the|my|our|your|what)\b",
        r"\b(?:a while|some time|long) ago (?:you|i|we)\b|\bthe other day\b|\bback when (?:you|i|we)\b",
        r"\bat the (?:start|beginning) of (?:this|our|the) (?:chat|conversation|thread)\b",
    ),
    "de": (
        r"\bvorhin\b|\bneulich\b|\bzuvor\b|\b(?:letztes|das letzte|beim letzten|voriges) mal\b",
        rf"\b(?:du|ich|wir|sie) (?:hast|habe|hab|hatte|hattest|haben|hatten) .{{0,60}}{SPOKE_DE}\b",
        rf"\b(?:hast|hattest|habe|haben|hatten) (?:du|ich|wir|sie) .{{0,60}}{SPOKE_DE}\b",
        r"\bwie gesagt\b|\bfrüher (?:gesagt|erwähnt|besprochen|empfohlen)\b",
        r"\berinnerst du dich\b|\berinnern sie sich\b|\bwei(?:ß|ss)t du noch\b|\berinner(?:e|n sie)? mich\b",
        r"\b(?:die|der|den|dem) (?:erste|zweite|dritte)n? (?:option|variante|möglichkeit|vorschlag|idee|empfehlung)\b",
        r"\bzurück zu(?:m|r)?\b|\bam anfang (?:des|unseres|dieses) gesprächs\b",
        r"\b(?:war|waren|hieß|heißt|ging|lautete) .{0,60}(?:noch ?mal|noch gleich|doch gleich)\b",
    ),
    "fr": (
        r"\btout à l'heure\b|\bla (?:dernière|première) fois\b|\bprécédemment\b|\bauparavant\b|\bl'autre jour\b",
        rf"\b(?:tu|vous|on|nous|je) (?:m'|t'|me l'|nous |vous |l'|en )?(?:as|avez|a|avons|ai|avais|aviez) "
        rf"(?:déjà |bien |parlé ou )?{SPOKE_FR}\b",
        rf"\b(?:j'ai|t'ai|m'as|m'avez|as-tu|avez-vous|ai-je|avons-nous) (?:déjà |bien )?{SPOKE_FR}\b",
        r"\b(?:tu te souviens|vous vous souvenez|te souviens-tu|souviens-toi|souvenez-vous)\b",
        r"\brappell?e(?:z)?-(?:moi|nous)\b",
        r"\b(?:la|ta|votre|l'|le) ?(?:première|deuxième|seconde|troisième|premier|second) "
        r"(?:option|suggestion|recommandation|idée|proposition|choix|plan)\b",
        r"\brevenons (?:à|au|aux)\b|\bpour (?:en )?revenir (?:à|au|aux)\b",
        r"\bau début de (?:la|notre|cette) conversation\b",
    ),
    "es": (
        rf"\b{SPOKE_ES}\b|\b(?:me|te|nos|lo) (?:dijiste|dije|contaste|conté|mencioné|recomendaste|dijo)\b",
        r"\b(?:como|ya) (?:te )?(?:dije|mencioné|comenté)\b",
        r"\b(?:has|habías|había|hemos) (?:dicho|mencionado|hablado)\b",
        r"\bla (?:última|otra|primera) vez\b|\banteriormente\b|\bhace un rato\b|\bel otro día\b",
        r"\b(?:te acuerdas|se acuerda|recuerdas|recuérdame|recuérdeme)\b",
        r"\b(?:la|el|tu) (?:primer|primera|segunda|segundo|tercera|tercer) "
        r"(?:opción|sugerencia|recomendación|idea|propuesta|alternativa|plan)\b",
        r"\b(?:hablamos|hablábamos|habíamos hablado) de\b",
        r"\bvolv(?:iendo|amos) (?:a|al)\b|\bal principio de (?:la|esta)\b",
    ),
    "zh": (
        r"刚才|剛才|上次|上一次|之前[你我您咱]|[你我您咱]们?們?之前|之前(?:说|說|提|讲|講|聊|问|問|推荐|推薦|建议|建議|告诉|告訴|讨论|討論)",
        r"[你您我](?:曾经|曾經|刚|剛)?(?:说过|說過|提过|提過|提到过|提到過|讲过|講過|推荐过|推薦過|告诉过|告訴過|问过|問過)",
        r"[你您](?:说的|說的|提到的|推荐的|推薦的|建议的|建議的)|还记得|還記得|记不记得|記不記得|提醒我一下",
        r"第[一二三四五](?:个|個)?(?:选项|選項|方案|建议|建議|选择|選擇|主意|办法|辦法)|回到(?:刚|剛|之前|前面)|前面(?:说|說|提)",
    ),
    "ja": (
        r"さっき|先ほど|先程|前回|この前|先日|この間|以前[にのはも、]?.{0,20}(?:言|話|聞|教|勧|伝|おっしゃ|相談)",
        r"前に(?:言|話|聞|教|勧|伝|おっしゃ|相談|お)|(?:言って|話して|教えて|勧めて)(?:いた|た|くれた|いました|くれました)",
        r"覚えて(?:い|る|ま)|思い出して|おっしゃ(?:って|いました|った)",
        r"(?:最初|一番目|二番目|三番目|1番目|2番目|3番目|1つ目|2つ目|一つ目|二つ目)の(?:案|選択肢|提案|オプション|おすすめ|アイデア|方法)",
    ),
    "ar": (
        r"\bسابقا\b|\bقبل قليل\b|\bمن قبل\b|\bالمره (?:الماضيه|السابقه|الاخيره)\b|\bفي وقت سابق\b",
        r"\b(?:قلت|ذكرت|اخبرت|اوصيت|اقترحت|نصحت)(?:ني|نا|ك|ه|ها)?(?: لي| لك)?\b|\bكما (?:قلت|ذكرت)\b",
        r"\b(?:هل )?(?:تتذكر|تذكرين|تتذكرين)\b|\bذكرني\b|\bتحدثنا (?:عن|حول)\b|\bناقشنا\b",
        r"\bال(?:خيار|اقتراح|فكره) ال(?:اول|اولي|ثاني|ثانيه|ثالث|ثالثه)\b|\bبالعوده الي\b|\bنعود الي\b",
    ),
}
# Phrases that point at another conversation: the last one, or one of some days ago.
DAYS_EN = r"(?:yesterday|the other day|last (?:week|month|year|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "en": (
        r"\blast time\b(?! (?:the|it|he|she|they)\b)",
        r"\b(?:previous|last|earlier|other|another|past|older) (?:conversation|chat)s?\b",
        r"\b(?:our|my|your) (?:previous|last|earlier|other|past|first) (?:session|thread|discussion|talk)s?\b",
        rf"\b{DAYS_EN},? (?:you|i|we) (?:already |also )?{SPOKE_EN}\b",
        rf"\b(?:you|i|we) (?:already |also )?{SPOKE_EN} .{{0,80}}\b{DAYS_EN}\b",
        rf"\bdid (?:you|i|we) {SPEAK_EN} .{{0,80}}\b{DAYS_EN}\b",
        r"\bwhen we (?:last )?(?:talked|spoke|chatted)\b",
    ),
    "de": (
        r"\b(?:letztes|das letzte|beim letzten|voriges) mal\b",
        r"\b(?:letzten|vorigen|früheren|anderen|vorherigen|letztes|voriges) (?:gespräch|unterhaltung|chat|sitzung)",
        r"\b(?:gestern|neulich|letzte woche|letzten monat) (?:hast|habe|haben|hatten|hattest) (?:du|ich|wir|sie)\b",
        r"\b(?:hast|habe|haben|hatten) (?:du|ich|wir|sie) .{0,40}(?:gestern|neulich|letzte woche|letzten monat) .{0,60}"
        rf"{SPOKE_DE}\b",
    ),
    "fr": (
        r"\bla dernière fois\b|\bl'autre jour\b",
        r"\b(?:dernière|précédente|autre|ancienne) (?:conversation|discussion|session)\b|"
        r"\bconversations? (?:précédente|passée)s?\b",
        rf"\b(?:hier|la semaine dernière|le mois dernier),? (?:tu|vous|nous|j'|je|on) ?.{{0,20}}{SPOKE_FR}\b",
        rf"\b{SPOKE_FR} .{{0,60}}\b(?:hier|la semaine dernière|le mois dernier)\b",
    ),
    "es": (
        r"\bla (?:última|otra) vez\b|\bel otro día\b",
        r"\b(?:última|otra|anterior) (?:conversación|charla|sesión)\b",
        r"\b(?:conversación|charla|sesión) (?:anterior|pasada)\b",
        rf"\b(?:ayer|la semana pasada|el mes pasado) .{{0,20}}(?:{SPOKE_ES}|dije|hablamos)\b",
        rf"\b(?:{SPOKE_ES}|dije|hablamos) .{{0,60}}\b(?:ayer|la semana pasada|el mes pasado)\b",
    ),
    "zh": (
        r"上次|上一次|上回|(?:上一?个|上個|之前的|以前的|前一?个|另一?个)(?:对话|對話|聊天|会话|會話)",
        r"(?:昨天|前天|上周|上週|上个月|上個月)[你我您咱].{0,10}(?:说|說|提|讲|講|聊|推荐|推薦|建议|建議|告诉|告訴)",
        r"[你我您咱].{0,3}(?:昨天|前天|上周|上週|上个月|上個月).{0,10}(?:说|說|提|讲|講|聊|推荐|推薦|建议|建議|告诉|告訴)",
    ),
    "ja": (
        r"前回|この前|先日|この間|(?:前|以前|別)の(?:会話|チャット|やりとり|話)",
        r"(?:昨日|先週|先月).{0,30}(?:言って|話し|教えて|勧めて|おっしゃ|聞い)",
    ),
    "ar": (
        r"\bالمره (?:الماضيه|السابقه|الاخيره)\b",
        r"\b(?:المحادثه|محادثتنا|محادثه|الدردشه|الجلسه) (?:السابقه|الماضيه|الاخيره|سابقه|اخري)\b",
        r"\b(?:امس|الاسبوع الماضي|الشهر الماضي) (?:قلت|ذكرت|اخبرت|اوصيت|اقترحت|نصحت|تحدثنا)",
        r"\b(?:قلت|ذكرت|اخبرت|اوصيت|اقترحت|نصحت|تحدثنا)(?:ني|نا)? .{0,60}(?:امس|الاسبوع الماضي|الشهر الماضي)\b",
    ),
}
POINTS_ELSEWHERE = re.compile("|".join(phrase for phrases in ELSEWHERE.values() for phrase in phrases))
POINTS = {language: re.compile("|".join(phrases)) for language, phrases in POINTING.items()}


def fold_phrase(text: str) -> str:
    """`text` as the tables compare it: lower case, one space, plain apostrophes, Arabic without vowel signs and with
    one form of alef, ya and ta marbuta; of a long text the first and last READ / 2 characters."""
    if len(text) > READ:
        text = text[: READ // 2] + " " + text[-READ // 2 :]
    text = unicodedata.normalize("NFKC", text).lower().translate(FOLDED)
    return " ".join(text.split())


def pointing_phrase(question: str) -> str:
    """The first words in `question` that point further back, as they stand there (folded), or ""."""
    folded = fold_phrase(question)
    patterns = (*POINTS.values(), POINTS_ELSEWHERE)
    found = [match for pattern in patterns if (match := pattern.search(folded))]
    return min(found, key=lambda match: match.start()).group().strip(" ?") if found else ""


def points_elsewhere(question: str) -> bool:
    """Whether `question` asks for another conversation than this one."""
    return POINTS_ELSEWHERE.search(fold_phrase(question)) is not None
