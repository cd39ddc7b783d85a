"""The few sentences that the answerer says in its own words, in the language of the question.

English, German, French and Spanish; any other language gets English. The language is told by its small words, which
stand in almost every question; a question without any of them is taken as English.
"""

from typing import Literal

from lumina.memory.words import RUN

Language = Literal["en", "de", "fr", "es"]

SMALL_WORDS: dict[Language, frozenset[str]] = {
    "en": frozenset(
        """the a an is are was were do does did what which who how why where when can could should i you my of to in
        for with and not it this that there on we our me about from""".split()
    ),
    "de": frozenset(
        """der die das ein eine einen einem einer ist sind war wie was wer wo wann warum welche welcher welches ich du
        mein meine wir und nicht für mit von zu in im den dem kann es gibt hat hast bin dass auf mir mich""".split()
    ),
    "fr": frozenset(
        """le la les un une des est sont était que quel quelle quels quelles qui où quand comment pourquoi je tu mon ma
        mes nous et pas pour avec de du dans il elle ce cette peut on sur moi ai suis""".split()
    ),
    "es": frozenset(
        """el la los las un una es son era qué cuál quién dónde cuándo cómo por yo tú mi mis nosotros y no para con de
        del en puede hay se lo que como soy está sobre me""".split()
    ),
}

PHRASES: dict[Language, dict[str, str]] = {
    "en": {
        "hello": "Hello. Ask me something and I will look for it in the sources.",
        "thanks": "You are welcome.",
        "understood": "Understood.",
        "stays": "Understood. It stays in this conversation.",
        "said": "You said: “{text}”",
        "empty": "I found nothing about this in what was searched.",
        "failed": "The search could not be carried out, so I have no source to answer from.",
        "refused": "The search was not allowed, so I have no source to answer from.",
        "no search": "I have nothing here to search in, so I cannot answer this.",
        "thin": "I found no direct answer to this.",
        "nearest": "The nearest pages that I found are:",
        "nearest says": "The nearest passage says: “{text}”",
        "code": "From “{title}”:",
        "above": "This was answered above.",
        "user said": "In turn {turn} ({day}) you said: “{text}”",
        "user said here": "Earlier here you said: “{text}”",
        "assistant said here": "Earlier here I answered: “{text}”",
        "assistant said": "In turn {turn} ({day}) I answered: “{text}”",
        "replaced": "(replaced in turn {turn})",
        "nothing earlier": "I found nothing about this in the earlier turns of this conversation.",
        "fact": "You said on {day}: {what}.",
        "fact that": "You said on {day} that {clause}.",
        "issue": "Open since {day}: {what}.",
        "decision": "Decided on {day}: {what}.",
        "finding": "Read on {day}: {what}.",
    },
    "de": {
        "hello": "Hallo. Frag mich etwas, und ich suche es in den Quellen.",
        "thanks": "Gern geschehen.",
        "understood": "Verstanden.",
        "stays": "Verstanden. Es bleibt in diesem Gespräch.",
        "said": "Du hast gesagt: „{text}“",
        "empty": "In dem, was durchsucht wurde, habe ich dazu nichts gefunden.",
        "failed": "Die Suche konnte nicht ausgeführt werden; ich habe keine Quelle für eine Antwort.",
        "refused": "Die Suche war nicht erlaubt; ich habe keine Quelle für eine Antwort.",
        "no search": "Ich habe hier nichts, worin ich suchen kann, und kann das nicht beantworten.",
        "thin": "Ich habe dazu keine direkte Antwort gefunden.",
        "nearest": "Am nächsten kommen die Seiten, die ich gefunden habe:",
        "nearest says": "Am nächsten kommt: „{text}“",
        "code": "Aus „{title}“:",
        "above": "Das wurde oben beantwortet.",
        "user said": "In Runde {turn} ({day}) hast du gesagt: „{text}“",
        "user said here": "Weiter oben hast du gesagt: „{text}“",
        "assistant said here": "Weiter oben habe ich geantwortet: „{text}“",
        "assistant said": "In Runde {turn} ({day}) habe ich geantwortet: „{text}“",
        "replaced": "(ersetzt in Runde {turn})",
        "nothing earlier": "In den früheren Runden dieses Gesprächs habe ich dazu nichts gefunden.",
        "fact": "Du hast am {day} gesagt: {what}.",
        "issue": "Offen seit {day}: {what}.",
        "decision": "Entschieden am {day}: {what}.",
        "finding": "Gelesen am {day}: {what}.",
    },
    "fr": {
        "hello": "Bonjour. Posez-moi une question et je chercherai dans les sources.",
        "thanks": "Je vous en prie.",
        "understood": "Compris.",
        "stays": "Compris. Cela reste dans cette conversation.",
        "said": "Vous avez dit : « {text} »",
        "empty": "Je n’ai rien trouvé à ce sujet dans ce qui a été parcouru.",
        "failed": "La recherche n’a pas pu être faite ; je n’ai donc aucune source pour répondre.",
        "refused": "La recherche n’était pas permise ; je n’ai donc aucune source pour répondre.",
        "no search": "Je n’ai rien ici où chercher, je ne peux donc pas répondre.",
        "thin": "Je n’ai pas trouvé de réponse directe.",
        "nearest": "Les pages les plus proches que je trouve sont :",
        "nearest says": "Le passage le plus proche dit : « {text} »",
        "code": "Extrait de « {title} » :",
        "above": "La réponse a été donnée plus haut.",
        "user said": "Au tour {turn} ({day}), vous avez dit : « {text} »",
        "user said here": "Plus haut, vous avez dit : « {text} »",
        "assistant said here": "Plus haut, j’ai répondu : « {text} »",
        "assistant said": "Au tour {turn} ({day}), j’ai répondu : « {text} »",
        "replaced": "(remplacé au tour {turn})",
        "nothing earlier": "Je n’ai rien trouvé à ce sujet dans les tours précédents de cette conversation.",
        "fact": "Vous avez dit le {day} : {what}.",
        "issue": "Ouvert depuis le {day} : {what}.",
        "decision": "Décidé le {day} : {what}.",
        "finding": "Lu le {day} : {what}.",
    },
    "es": {
        "hello": "Hola. Hazme una pregunta y la buscaré en las fuentes.",
        "thanks": "De nada.",
        "understood": "Entendido.",
        "stays": "Entendido. Queda en esta conversación.",
        "said": "Dijiste: «{text}»",
        "empty": "No encontré nada sobre esto en lo que se buscó.",
        "failed": "No se pudo hacer la búsqueda, así que no tengo fuentes para responder.",
        "refused": "La búsqueda no estaba permitida, así que no tengo fuentes para responder.",
        "no search": "No tengo aquí dónde buscar, así que no puedo responder.",
        "thin": "No encontré una respuesta directa.",
        "nearest": "Las páginas más cercanas que yo encontré son:",
        "nearest says": "El pasaje más cercano dice: «{text}»",
        "code": "De «{title}»:",
        "above": "Esto ya se respondió arriba.",
        "user said": "En el turno {turn} ({day}) dijiste: «{text}»",
        "user said here": "Más arriba dijiste: «{text}»",
        "assistant said here": "Más arriba respondí: «{text}»",
        "assistant said": "En el turno {turn} ({day}) respondí: «{text}»",
        "replaced": "(reemplazado en el turno {turn})",
        "nothing earlier": "No encontré nada sobre esto en los turnos anteriores de esta conversación.",
        "fact": "Dijiste el {day}: {what}.",
        "issue": "Abierto desde el {day}: {what}.",
        "decision": "Decidido el {day}: {what}.",
        "finding": "Leído el {day}: {what}.",
    },
}


def language_of(text: str) -> Language:
    """The language whose small words stand most often in the first 500 characters of `text`; English on a tie."""
    found = [run.group().lower() for run in RUN.finditer(text[:500])]
    languages: tuple[Language, ...] = ("en", "de", "fr", "es")  # of equals, max takes the first
    return max(languages, key=lambda language: sum(word in SMALL_WORDS[language] for word in found))


def phrase(language: Language, name: str, **values: object) -> str:
    """The sentence `name` with its blanks filled; what is filled in is never read as a blank itself."""
    return PHRASES[language][name].format(**values)
