"""What is quoted of a passage reads like an answer: names with what they are, code as code, nothing left hanging."""

from lumina.adapters.extractive import composing
from lumina.adapters.extractive.quoting import Quote, best_of, weigh
from lumina.adapters.extractive.tool_results import Passage, Results
from lumina.adapters.extractive.units import units
from lumina.memory.words import content_words


def quote(question: str, passage: str, *, sentences: int = 2, wants_code: bool = False) -> Quote:
    weights = weigh(content_words(question), [passage])
    return best_of(passage, weights, sentences=sentences, language="en", wants_code=wants_code)


def found(text: str, *, source: int = 1, covers: float = 1.0, score: float = 1.0) -> Passage:
    return Passage(source=source, title="Manual", heading="Wheels", covers=covers, score=score, text=text)


def answer(question: str, *passages: Passage, asked_as: str = "") -> str:
    return composing.answer(question, Results(outcome="found", passages=passages), "en", asked_as=asked_as)


def kinds(passage: str) -> list[str]:
    return [unit.kind for unit in units(passage, "en")]


def test_a_signature_may_have_defaults_in_quotation_marks_and_calls_within():
    explained = "Opens the file and returns an object for it."
    for name in ("open(file, mode='r', errors=None)", "insort(a, x, lo=0, hi=len(a))", "class Path(*parts)"):
        assert kinds(f"{name}\n\n{explained}") == ["signature", "sentence"], name
    assert kinds(f"open('notes.txt', encoding='utf-8')\n\n{explained}") == ["code", "sentence"]


def test_two_names_for_one_thing_are_both_names():
    passage = "insort_right(a, x)\n\ninsort(a, x)\n\nInserts x after what equals it, in order."
    assert kinds(passage) == ["signature", "signature", "sentence"]


def test_a_call_that_a_sentence_announces_is_code():
    assert kinds("This is the same as writing it out:\n\nturn(wheel(2))\n\nBoth turn the wheel once.")[1] == "code"


def test_a_line_of_a_windows_console_is_code():
    assert kinds("On Windows, run it like this:\n\nc:\\>wheel turn twice") == ["sentence", "code"]


def test_a_long_signature_is_cut_between_parameters():
    name = "spin(wheel, " + ", ".join(f"option_{n}=None" for n in range(20)) + ")"
    told = quote("What does spin do?", f"{name}\n\nSpins the wheel until it is told to stop.").sentences
    assert told[0].startswith("`spin(wheel, option_0=None, ")
    assert told[0].endswith(", …)`: Spins the wheel until it is told to stop.")
    assert len(told[0]) < 170


def test_what_a_sentence_points_back_to_is_quoted_with_it():
    passage = "Both accept a reverse flag for their results. It gives descending order to the sort."
    told = quote("descending order sort", passage, sentences=1).sentences
    assert told == ("Both accept a reverse flag for their results.", "It gives descending order to the sort.")


def test_notes_on_versions_are_quoted_only_if_nothing_else_is_there():
    notes = "Changed in version 3.6: The spin of a wheel takes options. New in version 3.5."
    told = quote("How does a wheel spin?", f"A wheel turns around its axis until it stops. {notes}").sentences
    assert told == ("A wheel turns around its axis until it stops.",)
    assert quote("How does a wheel spin?", notes).sentences


def test_a_sentence_that_announces_code_which_is_not_shown_is_left_out():
    passage = "Here a wheel spins once:\n\n>>> spin(wheel)\n\nHere a wheel spins twice:\n\n>>> spin(wheel, 2)"
    told = quote("How does a wheel spin?", passage, wants_code=True)
    assert told.sentences == ("Here a wheel spins once:",)
    assert told.code == ">>> spin(wheel)"


def test_another_definition_is_not_quoted_for_being_nearly_as_good():
    passage = "spin(wheel)\n\nSpins the wheel once and returns it.\n\nstop(wheel)\n\nStops the wheel and returns it."
    assert len(quote("What does spin return of a wheel?", passage).sentences) == 1


def test_a_row_of_a_table_counts_less_than_a_sentence():
    passage = "spin | turns the wheel | wheel\n\nTo turn the wheel, call spin with it."
    assert quote("turn the wheel spin", passage, sentences=1).sentences == ("To turn the wheel, call spin with it.",)


def test_a_bar_or_a_drawing_is_no_sentence():
    assert kinds("█████▓▒▌························· window 41 ▒ noted 29 ▌ of █████████████") == ["label"]


def test_the_first_passage_is_quoted_first_even_if_another_repeats_more_of_the_question():
    first = found("zip(*wheels)\n\nPuts several wheels side by side, as one.", score=1.0)
    other = found("The zip function of wheels is another function, named zip.", source=2, score=0.95)
    told = answer("What does the zip function do?", first, other)
    assert told.index("[1]") < told.index("[2]")
    assert told.startswith("`zip(*wheels)`: Puts several wheels side by side, as one. [1]")


def test_the_same_sentence_is_quoted_once():
    sentence = "The wheel spins until somebody stops it."
    told = answer("When does the wheel spin?", found(sentence), found(sentence, source=2, score=0.99))
    assert told == f"{sentence} [1]"


def test_a_third_passage_brings_no_code():
    code = "To spin the wheel:\n\n>>> spin(wheel, {})"
    passages = [found(code.format(n), source=n, score=1 - n / 100) for n in (1, 2, 3)]
    told = answer("How do I spin the wheel?", *passages)
    assert ">>> spin(wheel, 2)" in told
    assert ">>> spin(wheel, 3)" not in told


def test_a_follow_up_to_how_wants_code_too():
    passage = found("The wheel spins backwards on request.\n\n>>> spin(wheel, back=True)")
    assert ">>> spin" not in answer("spin wheel backwards", passage)
    assert ">>> spin" in answer("spin wheel backwards", passage, asked_as="and backwards? How do I spin the wheel?")
