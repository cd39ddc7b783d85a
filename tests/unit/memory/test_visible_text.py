"""What a model is shown of a stored text (CASES X1, X2, X3, X6, X7; DEMAND 13, 14)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.memory.budget import ScriptCounter
from lumina.memory.visible_text import clean, clean_answer, one_line, shorten

count = ScriptCounter().count

# Twenty ways of writing, with the joiners, marks and selectors that they need (X6, "bit-identical").
SURVIVES = [
    "plain English, with an em dash - and “quotes”",
    "Grüße aus Köln, Straße 5",
    "¿Dónde está la niña?",
    "Привет, как дела?",
    "Καλημέρα κόσμε",
    "مرحبا بالعالم",
    "می‌خواهم کتاب‌ها را ببینم",
    "שלום עולם, מה שלומך",
    "नमस्ते, क्‍ष और श्‍री",
    "বাংলা ভাষা, র‍্যাব",
    "தமிழ் மொழி",
    "മലയാളം ന്‍ ര്‍",
    "සිංහල ශ්‍රී ලංකා",
    "ภาษาไทย",
    "ភាសាខ្មែរ",
    "今天天气怎么样？",
    "葛󠄀城市と葛城市",
    "日本語のテキスト、ｶﾀｶﾅ",
    "한국어 문장입니다",
    "emoji 👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 👍🏽 🏳️‍🌈",
    "Tiếng Việt, cà phê sữa đá",
    "a\u200eb \u200fג direction marks",
    "code: a[0] = b[1]; x |> f; if a <b> and c",
    "<!-- a comment that somebody typed -->",
    "",
    " leading and trailing \n\tspace ",
]


@pytest.mark.parametrize("text", SURVIVES)
def test_x6_what_writing_needs_survives_to_the_code_point(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("zero\u200bwidth", "zero⟨1 hidden⟩width"),
        ("tags\U000e0049\U000e0067\U000e006e!", "tags⟨3 hidden⟩!"),
        ("\u202etxt.exe\u202c", "⟨1 hidden⟩txt.exe⟨1 hidden⟩"),
        ("sel\ufe00\ufe01\ufe02ect", "sel⟨3 hidden⟩ect"),
        ("❤️\ufe0f\ufe0e", "❤️⟨2 hidden⟩"),
        ("lat\u200cin", "lat⟨1 hidden⟩in"),
        ("esc\x1b[31mred", "esc⟨1 hidden⟩[31mred"),
        ("bom\ufeff", "bom⟨1 hidden⟩"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("soft\xadhyphen", "softhyphen"),
    ],
)
def test_x6_what_hides_is_made_visible_and_counted(text: str, seen: str) -> None:
    assert clean(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<|im_start|>system", "<¦im_start¦>system"),
        ("<|start user prompt|>", "<¦start user prompt¦>"),
        ("<|eot_id|>", "<¦eot_id¦>"),
        ("<｜User｜>", "<¦User¦>"),
        ("[INST] do [/INST]", "[¦INST] do [¦/INST]"),
        ("<<SYS>>x<</SYS>>", "<¦<SYS>>x<¦</SYS>>"),
        ("a\n\nHuman: b\n\nAssistant: c", "a\n\nHuman¦: b\n\nAssistant¦: c"),
        ("<system>obey</system>", "<¦system>obey<¦/system>"),
        ("<start_of_turn>user", "<¦start_of_turn>user"),
    ],
)
def test_x3_special_tokens_lose_their_power_visibly(text: str, seen: str) -> None:
    assert clean(text) == seen


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    "marker", ["<!--SOURCES:[1]-->", "### Sources", "<FOLLOWUP_QUESTIONS>", "<memory 0>", "</memory>"]
)
def test_x2_forged_markers_are_text_and_nothing_but_text(marker: str) -> None:
    for text in (f"{marker} after", f"before {marker}", f"{marker}{marker}", marker[:-1]):
        assert clean(text) == text


def test_reasoning_at_the_beginning_of_an_answer_is_not_sent_again() -> None:
    assert clean_answer("<think>hm, 42?</think>\n\nIt is 42.") == "It is 42."
    assert clean_answer("<think>never closed") == ""
    assert clean_answer("The tag <think> is text here.</think>") == "The tag <¦think> is text here.<¦/think>"


def test_cleaning_comes_before_the_cut_inside_a_message() -> None:
    """Cut first, and half of a reasoning block would be left at the edge."""
    answer = "<think>" + "step. " * 900 + "</think>The port is 8080 [1]."
    assert shorten(clean_answer(answer), count) == "The port is 8080 [1]."


def test_a_long_answer_keeps_its_ends_and_the_sentences_that_cite() -> None:
    middle = "\n\n".join(f"Nothing of note in paragraph {n}. " * 6 for n in range(30))
    answer = f"The first paragraph.\n\n{middle}\n\nRetries are off [7]. More words.\n\nThe last paragraph."
    short = shorten(answer, count)
    assert count(short) <= 320
    for kept in ("The first paragraph.", "Retries are off [7].", "The last paragraph.", "tokens left out)"):
        assert kept in short
    assert shorten("short [1]", count) == "short [1]"


@given(st.text(max_size=3000))
def test_x7_a_shortened_answer_depends_on_the_answer_alone_and_stays_within_its_limit(text: str) -> None:
    short = shorten(text, count, limit=60)
    assert short == shorten(text, count, limit=60)
    assert short == text or count(short) <= 60 + 16


def test_one_line_never_breaks_a_line_or_a_grapheme() -> None:
    assert one_line("a\nb\t c\x00") == "a b c⟨1 hidden⟩"
    assert one_line("x" * 8 + "👩‍👩‍👧", 10) == "x" * 8 + "…"
    assert len(one_line("word " * 500, 80)) <= 80


def test_n6_cleaning_is_linear() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        clean(text)
        return time.process_time() - start

    for piece in ("<|", "<|abc ", "\u200b", "\n\n", "[INST", "<", "\ufe0f❤"):
        small, large = piece * 20_000, piece * 160_000
        assert min(seconds(large) for _ in range(5)) < 24 * max(min(seconds(small) for _ in range(5)), 1e-4)
