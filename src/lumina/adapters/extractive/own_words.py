"""What a person plainly says of themselves in words that no rule of the note taker reads.

"My phone number is 555-0101." asks for nothing: it is acknowledged, not searched for, and a question about it is
answered in the same words while they stand in the conversation. A sentence counts only if it begins as such statements
do and holds no word of a wish, a duty, a doubt or a trouble: "I have an error", "I need to know" want an answer.
"""

import re
from collections.abc import Collection, Iterator

from lumina.adapters.extractive.plain_sentences import APOSTROPHES, Sentence, plain_sentences
from lumina.adapters.extractive.statements import LEAD
from lumina.memory.words import RUN

MOST_WORDS = 20  # of a sentence; a longer one tells a case that waits for an answer
BEGINS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:my|our) (?:[\w'-]{1,30} ){1,4}(?:is|are|was|were|has|have|lives?|works?|starts?|costs?) ",
        r"(?:i|we) (?:also |now |just |already |still |recently |really |only |once |both |always )?"
        r"(?:have|own|owned|had|bought|sold|ordered|booked|paid|pay|am|are|was|were|like|love|enjoy|hate|speak|drive|"
        r"study|studied|play|visited|met|married|adopted|grew up|went|drink|eat|wear|ride|collect|keep|rent|teach|"
        r"live|work|use|prefer|moved|joined|started|finished|turned|weigh) ",
        r"(?:i'm|i've got|i've|we're|we've got|we've) ",
        r"(?:mein|meine|unser|unsere) (?:[\w'-]{1,40} ){1,3}(?:ist|sind|war|waren|heißt|heißen|lautet|hat|haben) ",
        r"(?:ich|wir) (?:habe|haben|hatte|hatten|bin|sind|war|waren|mag|mögen|liebe|lieben|besitze|besitzen|spreche|"
        r"sprechen|fahre|fahren|kaufte|kauften|spiele|lerne) ",
        r"(?:mon|ma|mes|notre|nos) (?:[\w'-]{1,40} ){1,4}(?:est|sont|était|étaient|s'appelle|s'appellent|a|ont) ",
        r"(?:j'ai|j'avais|j'étais|j'aime|j'adore|je suis|je possède|je parle|je joue|nous avons|nous sommes|"
        r"nous aimons|on a) ",
        r"(?:mi|mis|nuestro|nuestra|nuestros|nuestras) (?:[\w'-]{1,40} ){1,4}"
        r"(?:es|son|era|eran|está|están|se llama|se llaman|tiene|tienen) ",
        r"(?:(?:yo|nosotros) )?(?:tengo|tenemos|tenía|soy|somos|estoy|compré|compramos|he comprado|me gusta|me gustan|"
        r"hablo|juego|visité) ",
    )
)
WANTS = frozenset(
    """need needs want wants wanna wish hope looking searching trying try tried wonder wondering help please
    show tell explain know find figure understand sure idea clue question questions problem problems issue issues
    trouble goal aim task plan homework assignment request error errors exception exceptions warning bug bugs crash
    crashes crashed fail fails failed failing failure broken broke stuck slow wrong missing lost confused unable
    not no never cannot can't won't don't doesn't didn't isn't aren't wasn't couldn't should must would could can
    how what why when where which who whose whether if unless or supposed interested curious ready about
    getting seeing having using running building writing making going throws returns keeps hangs freezes refuses
    says timeout corrupted forgot forgotten down dead full hot loud
    brauche brauchen möchte möchten will wollen suche suchen versuche hilfe bitte frage fragen problem probleme fehler
    nicht kein keine keinen nie kaputt langsam falsch wie was warum wann wo welche welcher welches wer ob oder wenn
    muss müssen soll sollen kann können könnte würde ahnung interesse weiß vergessen verloren
    besoin veux voudrais voulons cherche cherchons essaie essaye aide question questions problème problèmes erreur
    erreurs ne pas plus jamais panne lent cassé comment pourquoi quand où quel quelle quels quelles qui que quoi
    dois devons peux pouvons envie perdu oublié si ou mal
    necesito necesitamos quiero queremos quisiera busco buscamos ayuda pregunta preguntas duda dudas problema problemas
    error errores no nunca roto lento cómo qué cuándo dónde cuál quién debo puedo podemos que ganas perdido olvidado
    buscando intentando tratando""".split()
)
# "I have to ...", "My plan is to ...", "J'ai à ...", and a state that the speaker is only now in.
TO_DO = re.compile(
    r"\b(?:(?:have|has|got|am|are|is|was|were|i'm|we're) (?:[\w'-]{1,30} ){0,8}to |(?:i'm|am|are|is|was|were) "
    r"(?:just |now |still |currently )?[a-z]{2,20}ing\b|(?:have|had|got) an? [45]\d\d\b|"
    r"zu [a-zäöü]{2,20}en\b)",
    re.IGNORECASE,
)


def only_states(message: str, idle: Collection[str]) -> bool:
    """Whether `message` states things about its author, and has only `idle` words (lower case) beside that."""
    sentences = said_of_oneself(message)
    return bool(sentences) and all(word in idle for word in _beside(message, sentences))


def said_of_oneself(message: str) -> list[Sentence]:
    """The sentences of `message` in which its author plainly says something about themselves."""
    return [sentence for sentence in plain_sentences(message) if _is_own(sentence.text)]


def _is_own(text: str) -> bool:
    lead = LEAD.match(text)
    at = lead.end() if lead else 0
    words = re.findall(r"[\w'-]+", text[at:].translate(APOSTROPHES).lower())
    if not 3 <= len(words) <= MOST_WORDS or not any(begins.match(text, at) for begins in BEGINS):
        return False
    parts = {part for word in words for part in (word, *word.split("'"))}
    return WANTS.isdisjoint(parts) and TO_DO.search(text, at) is None


def _beside(message: str, sentences: list[Sentence]) -> Iterator[str]:
    """The words of `message` outside of `sentences`."""
    starts, ends = [one.start for one in sentences], [one.end for one in sentences]
    for start, end in zip([0, *ends], [*starts, len(message)], strict=True):
        yield from (run.group().lower() for run in RUN.finditer(message, start, end))
