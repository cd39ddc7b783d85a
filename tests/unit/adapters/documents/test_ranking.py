"""The second ranking prefers what a reader looks for, and is the same every time."""

from lumina.adapters.documents.ranking import Question, rank, read_question
from lumina.agent.ports import PassageMatches, StoredPassage
from lumina.memory.words import forms


def passage(body: str, *, locator: str = "doc:/m/a.html", title: str = "Manual", heading: str = "", ordinal: int = 0):
    return StoredPassage(
        document=1, locator=locator, url="", title=title, ordinal=ordinal, start=0, end=len(body),
        heading=heading, body=body, rank=ordinal,
    )  # fmt: skip


def matches(question: Question, *passages: StoredPassage, of: int = 1000) -> PassageMatches:
    held = [set(forms(one.body)) for one in passages]
    frequency = {word: sum(word in body for body in held) for word in question.words}
    return PassageMatches(hits=passages, frequency=frequency, passages=of)


def best(text: str, *passages: StoredPassage) -> str:
    question = read_question(text)
    return rank(question, matches(question, *passages))[0].passage.body


def test_coverage_is_the_share_of_the_questions_weight_and_rare_words_weigh_more():
    question = read_question("Does the wheel squeak loudly?")
    one = passage("The wheel. The wheel.")
    found = PassageMatches(hits=(one,), frequency={"wheel": 400, "squeak": 1, "loudli": 1}, passages=1000)
    assert 0 < rank(question, found)[0].coverage < 0.15
    full = PassageMatches(hits=(passage("wheel squeaks loudly"),), frequency=found.frequency, passages=1000)
    assert rank(question, full)[0].coverage == 1.0


def test_the_last_heading_counts_as_held_and_of_the_title_what_it_begins_with():
    question = read_question("oil brakes")
    assert rank(question, matches(question, passage("Use oil.", heading="Care > Brakes")))[0].coverage == 1.0
    under = passage("Use oil.", title="Notes on Brakes", heading="Care")
    assert rank(question, matches(question, under))[0].coverage < 1.0
    about = passage("Use oil.", title="brakes — how they are kept", heading="Care")
    assert rank(question, matches(question, about))[0].coverage == 1.0


def test_an_empty_verb_of_the_question_need_not_be_held():
    question = read_question("How does the brake work?")
    assert rank(question, matches(question, passage("The brake rubs.")))[0].coverage > 0.7
    asked = read_question("How does the brake squeak?")
    assert rank(asked, matches(asked, passage("The brake rubs.")))[0].coverage < 0.6


def test_a_plain_word_finds_where_it_is_defined_as_a_name():
    mention = passage("A zip of lists is made with zip, as zip does; zip takes lists.", heading="Lists")
    defined = passage("zip(*iterables)\n\nGoes over several of them in parallel.", heading="Functions", ordinal=1)
    plain = passage("zips of all iterables\n\nGoes over several of them in parallel.", heading="Functions")
    assert best("What does the zip function do?", plain, defined) == defined.body
    assert best("What does the zip function do?", mention, defined) == defined.body


def test_two_words_of_the_question_find_the_heading_that_joins_them():
    joined = passage("Waiting ends after so many seconds.", heading="Sockets > socket.settimeout", ordinal=1)
    apart = passage("Waiting ends after so many seconds.", heading="Sockets > socket.gethostname")
    assert best("How do I set a timeout?", apart, joined) == joined.body
    question = read_question("How do I set a timeout?")
    assert rank(question, matches(question, apart, joined))[0].passage is joined


def test_the_page_that_names_the_subject_first_comes_first():
    about = passage("Copies one file to another place.", title="shutil — file operations", ordinal=1)
    other = passage("Copies one file to another place.", title="Files and shutil")
    question = read_question("How do I copy a file with shutil?")
    assert rank(question, matches(question, other, about))[0].passage is about


def test_what_explains_comes_before_what_only_shows():
    shown = passage(">>> turn(wheel)\n>>> stop(wheel)")
    told = passage("turn(wheel)\nstop(wheel)", ordinal=1)
    assert best("turn and stop the wheel", shown, told) == told.body


def test_a_passage_under_a_heading_that_names_the_subject_comes_first():
    named = passage("Turn it twice, then wait until the wheel stops.", heading="Stopping the wheel", ordinal=1)
    other = passage("Turn it twice, then wait until the wheel stops.", heading="History of parts")
    assert best("How do I stop the wheel?", other, named) == named.body
    question = read_question("How do I stop the wheel?")
    assert rank(question, matches(question, other, named))[0].passage is named


def test_words_that_stand_together_beat_the_same_words_apart():
    together = passage("Set the brake handle here. " + "Some filler words stand around. " * 9, ordinal=1)
    apart = passage("Set the brake. " + "Some filler words stand around. " * 9 + "Here is a handle.")
    assert best("brake handle", apart, together) == together.body


def test_the_place_where_an_asked_for_name_is_defined_comes_first():
    mention = passage("Then parts.spin_wheel is called with parts.spin_wheel as its argument, as parts.spin_wheel.")
    defined = passage("parts.spin_wheel(times)\n\nTurns the wheel so many times and then stops.", ordinal=1)
    assert best("What does parts.spin_wheel do?", mention, defined) == defined.body


def test_release_notes_come_last_unless_they_are_asked_for():
    notes = passage("The new wheel can spin.", locator="doc:/m/whatsnew/3.html", title="Release 3")
    log = passage("The new wheel can spin.", locator="doc:/m/log.md", title="Changelog")
    page = passage("The old wheel can spin.", locator="doc:/m/z.html", ordinal=1)
    assert best("Can the wheel spin?", notes, page) == page.body
    assert best("Can the wheel spin?", log, page) == page.body
    assert best("What is new in 3 about the wheel spin?", notes, page) == notes.body
    assert best("Which release can spin the new wheel?", log, page) == log.body


def test_a_page_about_changing_something_is_no_release_note():
    page = passage("Spin the wheel.", locator="doc:/m/a.md", title="Changing the wheel")
    other = passage("Spin the wheel.", locator="doc:/m/b.md", title="Moving the wheel")
    question = read_question("spin the wheel")
    scores = [one.score for one in rank(question, matches(question, page, other))]
    assert scores[0] == scores[1]


def test_reference_of_c_code_comes_last_unless_it_is_asked_for():
    code = passage("int Wheel_Spin(Wheel *wheel, Spin *spin);", locator="doc:/m/a.html")
    under = passage("The new wheel can spin.", locator="doc:/m/c-api/wheel.html")
    page = passage("int Wheel_Spin, wheel, wheel, spin, spin.", locator="doc:/m/z.html", ordinal=1)
    plain = passage("The old wheel can spin.", locator="doc:/m/z.html", ordinal=1)
    assert best("wheel spin", code, page) == page.body
    assert best("wheel spin", under, plain) == plain.body
    assert best("the new C API for wheel spin", under, plain) == under.body


def test_program_names_are_recognised_in_a_question():
    assert read_question("What does functools.lru_cache do?").names == ("functools.lru_cache",)
    assert read_question("How does DictReader or len() work, e.g. in CSV?").names[:2] == ("DictReader", "len")
    assert read_question("How do I sort a list? Thanks.").names == ()


def test_a_question_of_stop_words_alone_is_taken_with_all_its_words():
    assert set(read_question("to be or not to be").words) == {"to", "be", "or", "not"}


def test_the_order_does_not_depend_on_the_order_of_the_candidates():
    question = read_question("wheel")
    twins = [passage("wheel", locator=f"doc:/{n}", ordinal=n % 3) for n in range(9)]
    forth = rank(question, matches(question, *twins))
    back = rank(question, matches(question, *reversed(twins)))
    assert [one.passage.locator for one in forth] == [one.passage.locator for one in back]


def test_no_candidates_give_no_ranking():
    assert rank(read_question("wheel"), PassageMatches()) == []
