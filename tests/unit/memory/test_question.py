import pytest

from lumina.memory.question import Date, asks_when, dates_in, has_time_word, named, subject_words, whose


@pytest.mark.parametrize(
    "question",
    [
        "Ok what do you recommend",
        "And what do you recommend?",
        "Thanks, can you tell me more?",
        "Why is that better?",
        "Und was empfiehlst du mir?",
        "Et que me recommandes-tu ?",
        "¿Y qué me recomiendas tú?",
        "那你推荐什么？",
        "おすすめは何ですか？",
        "وبماذا تنصحني؟",
    ],
)
def test_a_vague_follow_up_has_no_subject(question: str):
    assert subject_words(question) == []


def test_a_word_of_one_language_is_not_lost_because_another_uses_it_as_a_function_word():
    assert subject_words("When did the war with the mit start and who had to die?") == ["war", "mit", "start", "die"]
    assert subject_words("Was war mit dem Visum?") == ["visum"]


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What did I do on 9 June 2023?", (Date(2023, 6, 9),)),
        ("What did I do on June 9th, 2023?", (Date(2023, 6, 9),)),
        ("What happened in May?", (Date(0, 5, 0),)),
        ("the trip of 2023-06-09", (Date(2023, 6, 9),)),
        ("Was habe ich am 9. Juni gemacht?", (Date(0, 6, 9),)),
        ("le 9 juin 2023", (Date(2023, 6, 9),)),
        ("el 9 de junio de 2023", (Date(2023, 6, 9),)),
        ("2023年6月9日你说了什么", (Date(2023, 6, 9),)),
        ("6月の旅行", (Date(0, 6, 0),)),
        ("May I march there?", ()),
        ("version 3.11 of 2023", ()),
    ],
)
def test_dates_are_read_with_the_parts_that_are_named(question: str, dates: tuple[Date, ...]):
    assert dates_in(question) == dates


def test_a_date_without_a_year_is_that_day_of_any_year():
    date = Date(0, 6, 9)
    assert date.is_day("2023-06-09")
    assert date.in_month_of("2024-06-30")
    assert not date.is_day("2023-06-10")
    assert not Date(2022, 6, 9).in_month_of("2023-06-09")
    assert not Date(0, 6, 0).is_day("2023-06-09")


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What did you recommend for the knee?", "answer"),
        ("Which book had you mentioned?", "answer"),
        ("What is my daughter's name?", "question"),
        ("What did I say about the budget?", "question"),
        ("What did you say about my knee?", "answer"),
        ("How tall is the tower?", None),
        ("Was hast du empfohlen?", "answer"),
        ("Wie heißt mein Hund?", "question"),
        ("我的狗叫什么？", "question"),
    ],
)
def test_a_question_says_whose_words_it_asks_for(question: str, part: str | None):
    assert whose(question) == part


def test_the_one_named_speaker_is_found_and_two_are_none():
    names = ("Caroline", "Melanie")
    assert named("What did Caroline research?", names) == "question"
    assert named("When did Melanie's kids paint?", names) == "answer"
    assert named("What do Caroline and Melanie share?", names) is None
    assert named("What is it?", ("", "")) is None


def test_asking_when_and_telling_when_are_recognised():
    assert asks_when("When did I go?")
    assert asks_when("什么时候去的？")
    assert not asks_when("Where did I go?")
    assert has_time_word("I went there yesterday")
    assert not has_time_word("I went there")
