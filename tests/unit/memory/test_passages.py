from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.passages import MOST, WHOLE, passages_of, rough_tokens, spans

PROSE = "The visa takes ten days. You need two photographs and the form. "


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def test_a_short_question_and_answer_are_one_passage_each_with_exact_offsets():
    question, answer = "  When does my visa expire?\n", "On 9 June [1]."
    asked, answered = passages_of(question, answer)
    assert (asked.part, question[asked.start : asked.end]) == ("question", "When does my visa expire?")
    assert (answered.part, answer[answered.start : answered.end]) == ("answer", answer)


def test_words_are_folded_keep_their_repetition_and_leave_function_words_out():
    (passage,) = passages_of("The visas, the VISA and my passport", "")
    assert passage.words == ("visa", "visa", "passport")


def test_a_part_without_a_word_that_carries_meaning_has_no_passage():
    assert passages_of("And what about it?", " \n ") == ()


def test_a_long_answer_is_cut_at_sentences_into_passages_within_the_limit():
    parts = texts(PROSE * 30)
    assert len(parts) == 5
    assert all(part.endswith((".", "days.", "form.")) for part in parts)
    assert all(rough_tokens(part) <= MOST for part in parts)


def test_a_paragraph_starts_a_passage_of_its_own_once_half_a_passage_is_held():
    first, second = (PROSE * 5).strip(), ("A second matter. " * 20).strip()
    parts = texts(f"{first}\n\n{second}\n\n{first}")
    assert parts[0] == first
    assert parts[1].startswith("A second matter.")
    assert not any("form." in part and "second matter" in part for part in parts)


def test_list_items_and_lines_of_code_are_not_broken_in_the_middle():
    items = [f"- item {n} needs {n} things from the shelf in the hall" for n in range(40)]
    code = [f"value_{n} = {n}  # {' '.join(['Go.'] * (n % 4 * 5 + 8))}" for n in range(40)]
    text = "\n".join([*items, "```python", *code, "```"])
    lines = {line for part in texts(text) for line in part.splitlines()}
    assert lines == {*items, "```python", *code, "```"}


def test_a_sentence_that_never_ends_is_cut_between_words():
    parts = texts("meadow " * 600)
    assert all(set(part.split()) == {"meadow"} for part in parts)
    assert all(rough_tokens(part) <= MOST for part in parts)


def test_chinese_is_cut_at_its_own_full_stops():
    parts = texts("签证需要十天才能办好。" * 40)
    assert len(parts) > 3
    assert all(part.endswith("。") and rough_tokens(part) <= MOST for part in parts)


def test_a_cut_never_parts_a_letter_from_its_marks_or_a_joined_emoji():
    for cluster in ("e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "ক্ষি"):
        for lead in range(6):
            parts = texts("x" * lead + cluster * 400)
            assert "".join(parts) == "x" * lead + cluster * 400
            assert all(part.startswith(("x", cluster)) for part in parts)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(max_size=40) | st.sampled_from([PROSE, "```\n", "\n\n", "- ", "签证。", " ", "word" * 50]), max_size=60
    )
)
def test_passages_stand_in_order_apart_and_hold_every_character_that_is_not_white_space(pieces: list[str]):
    text = "".join(pieces)
    found = spans(text)
    edges = [edge for span in found for edge in span]
    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(text.split())
    if rough_tokens(text) > WHOLE:
        assert all(rough_tokens(text[start:end]) <= MOST + 1 for start, end in found)
