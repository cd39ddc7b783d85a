from lumina.memory.ranking import Pick, Speakers, rank, units_of
from lumina.memory.store import StoredPassage

ASSISTANT = Speakers()
PEOPLE = Speakers(user="Caroline", assistant="Melanie")


def passage(
    id: int, text: str, *, seq: int = 0, part: str = "question", day: str = "2023-06-09", start: int = 0
) -> StoredPassage:
    return StoredPassage(
        id=id, seq=seq or id, attempt=1, part="answer" if part == "answer" else "question",
        start=start, end=start + len(text), day=day, text=text,
    )  # fmt: skip


def ranked(
    question: str, words: dict[str, float], *passages: StoredPassage, speakers: Speakers = ASSISTANT
) -> list[int]:
    return ids(rank(question, words, units_of(passages, words), speakers))


def ids(picks: tuple[Pick, ...]) -> list[int]:
    return [pick.passage.id for pick in picks]


def test_the_passage_with_the_rare_word_comes_before_one_with_the_common_word():
    common, rare = (
        passage(1, "the hotel was nice", day="2023-01-01"),
        passage(9, "the aquarium was nice", day="2023-02-02"),
    )
    assert ranked("aquarium hotel", {"hotel": 0.5, "aquarium": 3.0}, common, rare) == [9, 1]


def test_a_passage_beside_the_one_with_the_word_is_found_and_one_far_away_is_left_out():
    asked = passage(5, "Which museum do you like?")
    answered = passage(6, "The one with blue tiles.", seq=5, part="answer")
    far = passage(50, "Nothing about it.", day="2023-07-01")
    assert ranked("museum", {"museum": 2.0}, asked, answered, far) == [5, 6]


def test_a_passage_late_in_a_long_answer_is_no_neighbour_of_the_question():
    asked = passage(5, "Which museum do you like?")
    early = passage(6, "The one with blue tiles.", seq=5, part="answer")
    late = passage(7, "And a word on shoes.", seq=5, part="answer", start=3000)
    assert ranked("museum", {"museum": 2.0}, asked, early) == [5, 6]
    assert ranked("museum", {"museum": 2.0}, asked, late) == [5]


def test_a_neighbour_of_another_day_lends_no_score():
    asked = passage(5, "Which museum do you like?")
    next_day = passage(6, "The one with blue tiles.", seq=6, day="2023-06-10")
    assert ranked("museum", {"museum": 2.0}, asked, next_day) == [5]


def test_what_the_assistant_said_comes_first_when_it_is_asked_for():
    mine = passage(1, "a lamp for the desk", day="2023-01-01")
    yours = passage(2, "a lamp for the desk", part="answer", day="2023-02-01")
    assert ranked("What lamp did you recommend?", {"lamp": 2.0}, mine, yours) == [2, 1]
    assert ranked("What lamp did I mention?", {"lamp": 2.0}, mine, yours) == [1, 2]
    assert ranked("Which lamp is it?", {"lamp": 2.0}, mine, yours) == [1, 2]


def test_between_people_the_named_speaker_comes_first_and_the_name_leaves_the_query():
    hers = passage(1, "a lamp for the desk, said Melanie", day="2023-01-01")
    own = passage(2, "a lamp for the desk", part="answer", day="2023-02-01")
    words = {"lamp": 2.0, "melani": 6.0}
    assert ranked("Which lamp did Melanie buy?", words, hers, own, speakers=PEOPLE) == [2, 1]


def test_the_day_and_the_month_that_the_question_names_count():
    texts = [
        passage(n, "dinner", day=day)
        for n, day in enumerate(("2023-06-09", "2023-05-09", "2023-06-01", "2022-06-09"), 1)
    ]
    assert ranked("dinner on 9 June 2023", {"dinner": 1.0}, *texts)[:2] == [1, 3]


def test_a_passage_with_a_time_word_comes_first_when_the_question_asks_when():
    plain, timed = (
        passage(9, "we hiked there together", day="2023-01-01"),
        passage(1, "we hiked there yesterday", day="2023-02-01"),
    )
    assert ranked("When did we hike?", {"hike": 1.0}, plain, timed) == [1, 9]
    assert ranked("Where did we hike?", {"hike": 1.0}, plain, timed) == [9, 1]


def test_of_equal_scores_the_newest_comes_first():
    twins = [passage(n, "a lamp", seq=20 * n, day=f"2023-01-0{n}") for n in (1, 2, 3)]
    assert ranked("lamp", {"lamp": 1.0}, *twins) == [3, 2, 1]
