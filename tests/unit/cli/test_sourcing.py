"""Sources are shown by place: the heading, the words around, each passage once."""

from lumina.agent.events import CitationMade, SourceRead
from lumina.cli.sourcing import excerpt, source_lines

PASSAGE = "Opens at nine. The pond holds twelve koi. In winter it is closed. Dogs stay outside."


def read(n: int = 1, passage: str = PASSAGE, heading: str = "Visiting", **more: str) -> SourceRead:
    return SourceRead.model_validate(
        {"thread": "t", "turn": 1, "n": n, "title": "Garden", "url": "file:///g.md", "host": "documents",
         "depth": "page", "passage": passage, "heading": heading, **more}
    )  # fmt: skip


def cited(passage: str, **more: object) -> CitationMade:
    return CitationMade.model_validate(
        {"thread": "t", "turn": 1, "n": 1, "position": 0, "support": 1.0, "passage": passage, **more}
    )


def test_a_quoted_sentence_is_shown_with_its_heading_and_what_stands_around_it() -> None:
    assert source_lines(1, [read()], [cited("The pond holds twelve koi.")]) == [
        "[1] Garden › Visiting",
        "    file:///g.md",
        f"    {PASSAGE}",
    ]


def test_many_citations_of_one_place_show_it_once() -> None:
    citations = [cited("Opens at nine."), cited("The pond holds\ntwelve koi."), cited("Opens at nine.")] * 5
    assert len(source_lines(1, [read()], citations)) == 3


def test_places_under_different_headings_carry_their_own_and_are_limited() -> None:
    events = [read(passage=f"Fact {at} stands here.", heading=f"Part {at}") for at in range(5)]
    lines = source_lines(1, events, [cited(f"Fact {at} stands here.") for at in range(5)])
    assert lines[0] == "[1] Garden"
    assert lines[2] == "    Part 0 · Fact 0 stands here."
    assert lines[-1] == "    and 2 more places in it"


def test_sentences_of_a_passage_that_do_not_follow_each_other_are_found_each() -> None:
    lines = source_lines(1, [read()], [cited("Opens at nine. … Dogs stay outside.")])
    assert lines[2] == f"    {PASSAGE}"


def test_what_no_event_shows_is_shown_as_it_was_cited() -> None:
    assert source_lines(1, [], [cited("Koi sleep.")]) == ["[1] a source of an earlier turn", "    Koi sleep."]


def test_a_citation_without_a_passage_says_so_and_what_is_missing_is_named() -> None:
    lines = source_lines(1, [read()], [cited("", missing=(("number", "13"),), support=0.0)])
    assert lines[-2:] == ["    no passage of it carries what cites it: look for yourself",
                          "    not found there: 13 (number)"]  # fmt: skip
    assert source_lines(1, [read()], [cited("", support=None)])[2:] == []


def test_a_long_place_is_cut_around_what_is_cited() -> None:
    text = "before " * 200 + "The pond holds twelve koi. " + "after " * 200
    at = text.index("The pond")
    shown = " ".join(word for word, _ in excerpt(text, [(at, at + 26)]))
    assert "The pond holds twelve koi." in shown
    assert len(shown) < 500
    assert shown.startswith("… before")
    assert shown.endswith("after …")


def test_a_title_cannot_forge_a_line() -> None:
    lines = source_lines(
        1, [read(title="Garden\n[2] Forged \x1b[31m", url="http://x/\n[3]")], [cited("Opens at nine.")]
    )
    assert lines[0] == "[1] Garden [2] Forged \ufffd[31m › Visiting"
    assert not any(line.startswith(("[2]", "[3]")) for line in lines)


def test_a_page_that_was_read_after_its_excerpt_is_shown_where_it_was_found() -> None:
    excerpt_of = read(depth="snippet", host="good.test", url="https://good.test/a", heading="", title="As searched")
    page = read(host="other.test", url="https://other.test/new", heading="", title="Garden")
    assert source_lines(1, [excerpt_of, page], [])[:2] == ["[1] Garden (other.test)", "    https://other.test/new"]


def test_demand_4_a_source_of_which_only_an_excerpt_was_read_says_so() -> None:
    lines = source_lines(1, [read(depth="snippet", host="good.test", url="https://good.test/a", heading="")], [])
    assert lines[0] == "[1] Garden (good.test) · only an excerpt of it was read"
