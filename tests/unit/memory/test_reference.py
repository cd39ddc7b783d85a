import time

import pytest

from lumina.memory.reference import pointing_phrase

POINTS_BACK = [
    "What did you say earlier about the visa?",
    "You mentioned a book, which one?",
    "Which hotel did I tell you about?",
    "Tell me more about the first option.",
    "Last time we talked about Lisbon, what was the museum?",
    "What was the name of that café again?",
    "Do you remember my dog's name?",
    "Let's go back to the budget.",
    "Was hast du vorhin zum Visum gesagt?",
    "Welches Hotel hattest du mir empfohlen?",
    "Weißt du noch, wie mein Hund heißt?",
    "Was war mit der ersten Option?",
    "Qu'est-ce que tu m'as dit sur le visa ?",
    "Tu te souviens du nom de mon chien ?",
    "Parlons de la deuxième option.",
    "La dernière fois, quel hôtel était-ce ?",
    "¿Qué me dijiste sobre el visado?",
    "¿Te acuerdas del nombre de mi perro?",
    "La última vez hablamos de Lisboa, ¿qué museo era?",
    "Háblame de la segunda opción.",
    "你之前说的签证要多久？",
    "刚才提到的酒店叫什么？",
    "還記得我的狗叫什麼嗎？",
    "第二个方案要多少钱？",
    "さっき言っていたホテルはどこですか？",
    "前回のビザの話ですが、何日かかりますか？",
    "私の犬の名前を覚えていますか？",
    "二番目の案について教えてください",
    "ماذا قلت لي عن التأشيرة؟",
    "هل تتذكر اسم كلبي؟",
    "أخبرني أكثر عن الخيار الأول",
    "ما اسم الفندق الذي ذكرته سابقًا؟",
]
POINTS_NOWHERE = [
    "Ok what do you recommend",
    "And what do you recommend?",
    "What about the second one?",
    "Why?",
    "How does it compare to earlier versions of Python?",
    "When was the last time the volcano erupted?",
    "What do you say to a walk?",
    "Who said that God is dead?",
    "Und was empfiehlst du?",
    "Was kostet das Visum?",
    "Et toi, que recommandes-tu ?",
    "Combien coûte le visa ?",
    "¿Y qué me recomiendas?",
    "¿Cuánto cuesta el visado?",
    "那你推荐什么？",
    "签证需要多久？",
    "おすすめは何ですか？",
    "ビザは何日かかりますか？",
    "وبماذا تنصح؟",
    "كم تكلفة التأشيرة؟",
]


@pytest.mark.parametrize("question", POINTS_BACK)
def test_words_of_reference_are_known_in_seven_languages(question: str):
    assert pointing_phrase(question)


@pytest.mark.parametrize("question", POINTS_NOWHERE)
def test_a_question_that_leans_on_the_last_turn_or_on_none_does_not_point_back(question: str):
    assert pointing_phrase(question) == ""


def test_the_phrase_is_the_one_that_stands_first_in_the_question():
    assert pointing_phrase("Earlier you said it was red, do you remember?") == "earlier"


@pytest.mark.parametrize("text", ["did you ", "du hast ", "what is ", "以前", "the ", "à"])
def test_a_long_question_is_matched_in_bounded_time(text: str):
    def seconds(times: int) -> float:
        started = time.process_time()
        pointing_phrase(text * times)
        return time.process_time() - started

    seconds(1000)
    most = 1_000_000 // len(text)
    assert min(seconds(most) for _ in range(2)) < 40 * max(min(seconds(most // 8) for _ in range(3)), 0.02)
