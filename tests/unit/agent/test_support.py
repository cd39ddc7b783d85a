"""What a source carries of a sentence, where, and what is missing. Case X5, DEMAND's citation 1."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.agent import source_text
from lumina.agent import support as support_module
from lumina.agent.claim_details import dates, fold_quote, names, negations, numbers, quotations
from lumina.agent.sentences import Span, sentence_spans
from lumina.agent.support import SourceText, Support, support

PAGE = """The old harbour
Harbour of Ostby was built by Mara Lindqvist in 1902, when the town had 2,300 inhabitants.
It burned down on 12 March 1911. Nobody was hurt.
The county paid 2.5 million crowns for the second one, which opened two years later.
“It is the best harbour we ever had,” the mayor said.
Fishing boats are not allowed in the inner basin. The ferry to Sundvik leaves twice a day.
The National Harbour Association (see www.ostby.example) gave it a prize. 😀 The café Ångström is open.
"""


def shown(claim: str, source: SourceText) -> list[str]:
    return [source.text[start:end] for start, end in support(claim, source).passage]


def missing(claim: str, source: SourceText) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in support(claim, source).missing]


@pytest.fixture(scope="module")
def page() -> SourceText:
    return SourceText(PAGE, "Ostby: the harbour", "https://www.ostbyportfriends.example/history")


def test_a_sentence_that_stands_in_the_source_scores_one_with_nothing_missing(page: SourceText) -> None:
    assert support("It burned down on 12 March 1911.", page) == Support(
        score=1.0,
        checkable=True,
        passage=(Span(PAGE.index("It burned"), PAGE.index(" Nobody")),),
        missing=(),
    )


def test_more_of_a_sentence_in_the_source_is_a_higher_score(page: SourceText) -> None:
    claims = [
        "Mara Lindqvist built the harbour of Ostby in 1902.",
        "Mara Lindqvist built the harbour of Ostby in 1903.",
        "Jon Berg built the lighthouse of Ostby in 1903.",
        "Turtles sleep under ice.",
    ]
    scores = [support(claim, page).score for claim in claims]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1] > scores[2] > scores[3]
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_x5_the_passage_is_the_sentences_that_hold_the_words_and_their_offsets_are_exact(
    page: SourceText,
) -> None:
    assert shown("The inner basin is closed to fishing boats.", page)[0].startswith("Fishing boats are not allowed")
    assert shown("The café Ångström is open.", page) == ["😀 The café Ångström is open."]
    apart = shown("Mara Lindqvist built it and the ferry leaves for Sundvik.", page)
    assert [text.split()[0] for text in apart] == ["Harbour", "The"]


def test_neighbouring_sentences_are_shown_as_one_passage(page: SourceText) -> None:
    assert shown("It burned down in 1911 and nobody was hurt.", page) == [
        "It burned down on 12 March 1911. Nobody was hurt."
    ]


def test_a_sentence_without_a_word_in_the_source_has_no_passage(page: SourceText) -> None:
    assert support("Turtles sleep.", page).passage == ()


MISSING = {
    "Jon Berg built the harbour of Ostby.": [("name", "Jon Berg")],
    "The harbour was built by Mara Lindqvist in 1903.": [("number", "1903")],
    "The town had 2,400 inhabitants.": [("number", "2,400")],
    "It burned down on 13 March 1911.": [("date", "13 March 1911")],
    "It burned down on March 12, 1911.": [],
    "It burned down on 1911-03-12.": [],
    "It burned down on 12/3/1911.": [],
    "The town had 2300 inhabitants.": [],
    "The town had 2.300 inhabitants.": [],
    "The county paid 2,500,000 crowns.": [],
    "The county paid 2.5 billion crowns.": [("number", "2.5 billion")],
    "It opened 2 years later.": [],
    "The ferry leaves two times a day.": [],
    "The NHA gave it a prize.": [],
    "The Ostbyport history says so.": [],
    "The Sundvikian harbour burned down.": [],
    "The Berlinian harbour burned down.": [("name", "Berlinian")],
    "The cafe Angstrom is open, says Angstrom.": [],
    "In Ostby the harbour is old.": [],
    "The harbour was not built by Mara Lindqvist.": [("negation", "not")],
    "The county didn't pay for the second one.": [("negation", "didn")],
    "Fishing boats are not allowed in the inner basin.": [],
    "Fishing boats aren't allowed in the inner basin.": [],
    "Nobody was hurt.": [],
    'The mayor called it "the best harbour we ever had".': [],
    'The mayor called it "the best harbour [...] ever had".': [],
    'The mayor called it "the finest harbour we ever had".': [("quote", "the finest harbour we ever had")],
    "The mayor called it „the best  harbour we ever had“.": [],
    'The mayor called it "the best ... ever had".': [],
    'The mayor called it "ever had ... the best".': [("quote", "ever had ... the best")],
    'The mayor called it "The best harbour we ever had."': [],
    'The mayor called it "the BEST harbour we ever had".': [("quote", "the BEST harbour we ever had")],
    'The mayor called it "the best harbour we ever ha".': [("quote", "the best harbour we ever ha")],
    'The mayor called it "a jewel".': [("quote", "a jewel")],
    "The mayor called it ‘the best harbour we’ve ever had’.": [("quote", "the best harbour we’ve ever had")],
    'A book named "The Best Harbour We Had" tells it.': [],
}


@pytest.mark.parametrize(("claim", "expected"), MISSING.items())
def test_x5_names_numbers_dates_quotations_and_negations_that_are_not_there_are_named(
    claim: str, expected: list[tuple[str, str]], page: SourceText
) -> None:
    assert missing(claim, page) == expected


def test_x5_a_quotation_that_is_altered_by_one_word_is_never_taken_for_what_the_page_says(page: SourceText) -> None:
    said = "It is the best harbour we ever had".split()
    for at in range(len(said)):
        altered = " ".join([*said[:at], "grim", *said[at + 1 :]])
        assert missing(f'The mayor said: "{altered}".', page) == [("quote", altered)]
    assert missing(f'The mayor said: "{" ".join(said)}".', page) == []


@pytest.mark.parametrize(
    ("claim", "checkable"),
    {
        "Was it built in 1902?": False,
        "建てられましたか？": False,
        "I think it was built in 1902.": False,
        "We could not find it.": False,
        "Let me know.": False,
        "It was built in 1902.": True,
        "The US paid for it after World War I ended.": True,
        'The mayor said "I built it".': True,
        "": False,
        "...": False,
    }.items(),
)
def test_questions_and_sentences_in_the_first_person_are_not_checkable(
    claim: str, checkable: bool, page: SourceText
) -> None:
    assert support(claim, page).checkable is checkable


def test_nothing_that_is_said_about_a_sentence_is_a_verdict() -> None:
    said = [support_module.__doc__, source_text.__doc__, *Support.__dataclass_fields__]
    assert not any("verified" in (words or "").lower() for words in said)


def test_an_empty_source_carries_nothing_and_breaks_nothing() -> None:
    found = support("It was built in 1902.", SourceText(""))
    assert (found.passage, found.missing[0].text) == ((), "1902")
    assert found.score < 0.2


def test_japanese_sentences_are_found_by_their_words() -> None:
    source = SourceText("今日は天気がいいです。明日は雨が降るでしょう。", language="ja")
    assert shown("明日は雨が降る", source) == ["明日は雨が降るでしょう。"]


def test_german_nouns_are_not_taken_for_names() -> None:
    source = SourceText("Der Hafen wurde 1902 gebaut.", language="de")
    assert missing("Der alte Hafen wurde 1902 mit einem Leuchtturm gebaut.", source) == []


def test_what_is_read_from_a_claim() -> None:
    assert [d.text for d in names("Yesterday the New York Times met Ann of the FBI in May, said IBM.")] == [
        "New York Times",
        "Ann",
        "FBI",
        "IBM",
    ]
    assert [d.values for d in numbers("Twenty-five of 1,234 (3.5 %) and two million in 2018–19, not A320")] == [
        ("1234", "1.234"),
        ("3.5",),
        ("2018",),
        ("19", "2019"),
        ("25",),
        ("2000000",),
    ]
    assert [d.dates for d in dates("2020-05-01 and 3/4/2019, on 1 May 2020, May 1st and June 2019, but may")] == [
        ((2020, 5, 1),),
        ((2019, 4, 3), (2019, 3, 4)),
        ((2020, 5, 1),),
        ((0, 5, 1),),
        ((2019, 6, 0),),
    ]
    assert len(negations("It is not so, isn't it, non-stop, never")) == 3
    assert [d.text for d in quotations('he said "so it is then" of "it" and "The Long Title"')] == [
        "so it is then",
        "it",
    ]
    assert fold_quote("A “b”\n – c") == 'A "b" - c'


TEXTS = st.text(alphabet=st.sampled_from('ab1 .,\n"“A’-|*é日?!😀'), max_size=300)


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_any_text_gives_spans_within_the_source_in_order_and_at_most_three_sentences(claim: str, text: str) -> None:
    source = SourceText(text)
    found = support(claim, source)
    assert 0.0 <= found.score <= 1.0
    assert sum(sum(1 for s in source.spans if span.start <= s.start < span.end) for span in found.passage) <= 3
    edges = [edge for span in found.passage for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in found.passage)


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_sentences_cover_every_character_that_is_no_white_space_once(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)


def test_a_line_broken_by_the_width_of_a_page_is_one_sentence_and_a_heading_is_its_own() -> None:
    text = (
        "Heading\nThis line was broken by the width of the page, and goes on in\nNext line. And\nends here."
        "\n- item\n- item"
    )
    assert [text[a:b] for a, b in sentence_spans(text)] == [
        "Heading",
        "This line was broken by the width of the page, and goes on in\nNext line.",
        "And\nends here.",
        "- item",
        "- item",
    ]


def test_a_text_without_stops_is_cut_between_words() -> None:
    assert all(end - start <= 600 for start, end in sentence_spans("word " * 5000))


def test_the_work_for_a_sentence_grows_with_the_source_and_no_faster() -> None:
    class Counted(SourceText):
        asked = 0

        def sentences_with(self, form: str) -> list[int]:
            found = super().sentences_with(form)
            Counted.asked += len(found) + 1
            return found

    def asked(copies: int) -> int:
        source = Counted(PAGE * copies)
        Counted.asked = 0
        support("Mara Lindqvist built the harbour of Ostby in 1902 and not the ferry.", source)
        return Counted.asked

    assert asked(400) <= 3 * 4 * asked(100)
