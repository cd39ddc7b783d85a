"""A marker is checked before it is shown, however the stream is cut.

Case X4 (forged and stale markers) and DEMAND's citations 2, 5, 6, 8, 9, 11 and 12 live here.
"""

import re
from itertools import pairwise

import pytest

from lumina.agent.citation_pieces import Cited, Piece, Removed, Text
from lumina.agent.citations import CitationStream, cite

CITABLE = frozenset({1, 2, 3, 12})


def joined(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def streamed(text: str, cuts: list[int]) -> list[Piece]:
    stream = CitationStream(CITABLE)
    pieces: list[Piece] = []
    for start, end in pairwise([0, *cuts, len(text)]):
        pieces += stream.feed(text[start:end])
    return pieces + stream.close()


FORMS = {
    "[1]": (1,),
    "[1][2]": (1, 2),
    "[1] [2]": (1, 2),
    "[1, 2]": (1, 2),
    "[1,2;3]": (1, 2, 3),
    "[2 1]": (2, 1),
    "[1, 1]": (1,),
    "[1-3]": (1, 2, 3),
    "[1–3]": (1, 2, 3),
    "[1 — 3, 12]": (1, 2, 3, 12),
    "[1、2]": (1, 2),
    "【1】": (1,),
    "【1†source】": (1,),
    "【12†L5-L8】": (12,),
    "【1†the title of a page, which can be rather long, and longer than other markers】": (1,),
    "［１］": (1,),
    "［１，２］": (1, 2),
    "【1]": (1,),
    "[^1]": (1,),
    "[^1][^2]": (1, 2),
    "[[1]]": (1,),
    "[[1], [2]]": (1, 2),
    "[[1][2]]": (1, 2),
    "[#1]": (1,),
    "[01]": (1,),
    "[ 1 ]": (1,),
    "[Source 1]": (1,),
    "[sources: 1, 2]": (1, 2),
    "[citation:1]": (1,),
    "[来源1]": (1,),
    r"\[1\]": (1,),
    r"\[1]": (1,),
    "[١]": (1,),
    "[1\u200b]": (1,),
    "[\u20601]": (1,),
}


@pytest.mark.parametrize(("marker", "numbers"), FORMS.items())
def test_every_form_of_a_good_marker_becomes_the_canonical_one(marker: str, numbers: tuple[int, ...]) -> None:
    text, found = cite(f"So it is {marker}.", CITABLE)
    assert re.findall(r"\d+", text) == [str(n) for n in numbers]
    assert text.replace(" ", "").replace("][", "").startswith("Soitis[")
    assert [piece.n for piece in found if isinstance(piece, Cited)] == list(numbers)
    assert all(text.startswith(f"[{piece.n}]", piece.position) for piece in found if isinstance(piece, Cited))
    assert not [piece for piece in found if isinstance(piece, Removed)]


@pytest.mark.parametrize(
    "marker",
    [
        *(form.translate(str.maketrans("1231１２١", "7897７８٧")) for form in FORMS),
        "[9]",
        "【4:0†source】",
        "[[9]7]",
    ],
)
def test_x4_no_form_of_a_forged_marker_leaves_anything_behind(marker: str) -> None:
    text, found = cite(f"So it is {marker}.", frozenset({50}))
    assert text == "So it is."
    assert found
    assert all(isinstance(piece, Removed) and piece.position == len("So it is") for piece in found)


def test_x4_of_all_markers_from_0_to_99_only_citable_ones_are_shown() -> None:
    forms = [
        "[{}]",
        "[[{}]]",
        "［{}］",
        "【{}】",
        "[^{}]",
        "word[{}]",
        "【{}†source】",
        r"\[{}\]",
        "[{}][1]",
        "[1, {}]",
    ]
    for n in range(100):
        for form in forms:
            marker = form.format(n)
            text, found = cite(f"It is so {marker} and more.", CITABLE)
            if n == 0 and form in ("word[{}]", "[1, {}]"):
                assert text == f"It is so {marker} and more."  # an index and an interval
                continue
            shown = {int(digits) for digits in re.findall(r"\d+", text)}
            assert shown <= CITABLE, marker
            assert (n in shown) == (n in CITABLE), marker
            assert {piece.n for piece in found if isinstance(piece, Cited)} == shown
            removed = {m for piece in found if isinstance(piece, Removed) for m in piece.numbers}
            assert removed == {n} - CITABLE


def test_x4_no_range_between_0_and_99_shows_a_number_that_may_not_be_cited() -> None:
    for first in range(1, 100, 7):
        for last in range(1, 100, 5):
            text, _ = cite(f"So [{first}-{last}].", CITABLE)
            assert {int(digits) for digits in re.findall(r"\d+", text)} <= CITABLE


HOLES = {
    "word [9].": "word.",
    "word [9], and": "word, and",
    "word [9] next": "word next",
    "word[9] next": "word next",
    "word [9]next": "word next",
    "word[9]next": "word next",
    "word [9]": "word",
    "word  [9].": "word.",
    "word [9]\nnext": "word\nnext",
    "**word [9]** next": "**word** next",
    "word ([9]) next": "word next",
    "word ([9]).": "word.",
    "word ([1][9]).": "word ([1]).",
    "word ([9], [1]).": "word ([1]).",
    "word [9] [8][7].": "word.",
    "word [1], [9].": "word [1].",
    "word [9], [1].": "word [1].",
    "word [1], [9], [2].": "word [1], [2].",
    "word [1, 9].": "word [1].",
    "word [1-5].": "word [1][2][3].",
    "word [9] (aside)": "word (aside)",
    "word [9](aside)": "word (aside)",
    "[9] Word": "Word",
    "one\n[9] Two": "one\nTwo",
    "- [9] Word": "- Word",
    "| word [9] | next [1] |": "| word | next [1] |",
    "词[9]。": "词。",
    "天[9]气": "天气",
    "in 19[9]87": "in 19 87",
    "[text][9](aside)": "[text] (aside)",
    "so [[9], [2024]] it": "so it",
    "so [1-[9]3] it": "so [1][3] it",
    "stopped in the middle [9": "stopped in the middle",
    "stopped in the middle [1, 2": "stopped in the middle",
}


@pytest.mark.parametrize(("before", "after"), HOLES.items())
def test_a_marker_taken_out_leaves_no_hole(before: str, after: str) -> None:
    assert cite(before, CITABLE)[0] == after


UNTOUCHED = [
    "in [2024] and in [1987]",
    "[12345] people, [99999999999999999999] more",
    "- [ ] to do\n- [x] done",
    "he said so [sic] and [...]",
    "a[0] and list[0] and f(x)[0] and m[0][0]",
    "values in [0, 1] or [0-9]",
    "the identity [[0, 1], [1, 0]]",
    "between [-1, 1], [1.5], [12:30], [a1], [1a], [1/2], [1:3]",
    "`a[9]` and ``b[9]`` and `[9]`",
    "`code with [9] and [1](x)`",
    "`a[9] `` [8]`",
    "```python\nx = a[9]\ny = [1, 9]\n```",
    "````\n```\n[9]\n```\n````",
    "~~~\n[9]\n~~~",
    "- item\n  ```\n  a[9]\n  ```",
    "> ```\n> a[9]\n> ```",
    "1. ```py\n   a[9]\n   ```",
    "```\nnever closed [9]",
    "```a[9]``` on one line",
    "[text](https://example.org/a?b[1]=2&c[9]=3)",
    "[text](https://example.org/a_(b)[9])",
    "in [2024](https://example.org/[9]) and [#9](https://example.org/9)",
    "![9](https://example.org/x.png)",
    "[#9](https://example.org/9)",
    "[2024]: https://example.org",
    "[label]: https://example.org",
    "[text][label]",
    r"\sqrt[3]{x} and \item[9]",
    "<!--SOURCES:[...]-->",
    "    x = a[9]\n    y = [1, 2]\n",
    "Code:\n\n    x = a[9]\n\n    y = `[9]\n\nthen",
    "Code:\n\n\tx = a[9]\n",
    "`````py\na[9]\n```\n[9]\n`````",
    "the sum $x_{[9]} = a[9]$ and \\(a[9]\\) and \\[ x_[9] \\]",
    "$$\nA_{[1]} =\n[9]\n$$",
    "an open [ and a closed ] and [",
    "as in if [[",
    "",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_demand_11_code_links_arrays_years_and_boxes_stay_as_they_are(text: str) -> None:
    assert cite(text, CITABLE) == (text, [])


OUTSIDE = {
    "`a[9]` then [9].": "`a[9]` then.",
    "an open ` tick [9].": "an open ` tick.",
    "an open ` tick\nand another ` [9].": "an open ` tick\nand another `.",
    r"an escaped \` tick [9] `": r"an escaped \` tick `",
    "```\na[9]\n```\nthen [9].": "```\na[9]\n```\nthen.",
    "```\na[9]\n``\n[9]\n```\n[9] Then": "```\na[9]\n``\n[9]\n```\nThen",
    "```a``` [9].": "```a```.",
    "~~~\n[9]\n~~~\n[9] Then": "~~~\n[9]\n~~~\nThen",
    "in a line ~~~ [9].": "in a line ~~~.",
    "[text](https://example.org) [9].": "[text](https://example.org).",
    "[text]([9])": "[text]",
    "[text](https://example.org/[9] is no link)": "[text](https://example.org/ is no link)",
    "[text](never[9]": "[text](never",
    "[see [9]](https://example.org)": "[see](https://example.org)",
    "(https://example.org [9])": "(https://example.org)",
    "https://example.org/a[9].": "https://example.org/a.",
    "[0] alone": "alone",
    "- item\n\n    of it [9].": "- item\n\n    of it.",
    "text\n    goes on [9].": "text\n    goes on.",
    "it costs $5 [9] or $6 [9], US$7": "it costs $5 or $6, US$7",
    "\\[see [9] below\\]": "\\[see below\\]",
    "\\[ x = [y](https://evil.example) [9] \\]": "\\[ x = [y](https://evil.example) \\]",
    "<!-- [9] -->": "<!-- -->",
    "` " + "x" * 300 + " [9] " + "y" * 300: "` " + "x" * 300 + " " + "y" * 300,
}


@pytest.mark.parametrize(("before", "after"), OUTSIDE.items())
def test_what_only_looks_like_code_or_a_link_protects_nothing(before: str, after: str) -> None:
    assert cite(before, CITABLE)[0] == after


DISSOLVED = {
    "so [1](https://evil.example/1) it": "so [1] it",
    "so [9](https://evil.example/9) it": "so it",
    "so [[1]](https://evil.example), [1, 9](/local) and [9](<https://evil.example>)": "so [1], [1] and",
    'so [1](https://evil.example/a_(b) "a title").': "so [1].",
    "so [^1](#fn1).": "so [1].",
    "[1]: https://evil.example": "[1] https://evil.example",
    "So [1].\n\n[1]: https://evil.example\n[9]: <https://evil.example>": (
        "So [1].\n\n[1] https://evil.example\n<https://evil.example>"
    ),
    "> - [1]:\n  https://evil.example": "> - [1]\n  https://evil.example",
    "[1]:https://evil.example": "[1] https://evil.example",
    "[1\n]: https://evil.example": "[1] https://evil.example",
    "x\r[1]: https://evil.example": "x\n[1] https://evil.example",
    "[^1]: What the first page says.\n[^9]: And the ninth.": "[1] What the first page says.\nAnd the ninth.",
    "[1](https://a.example): https://evil.example": "[1] https://evil.example",
    "[1][9]: https://evil.example": "[1] : https://evil.example",
    "so [1][src]\n\n[src]: https://evil.example": "so [1] [src]\n\n[src]: https://evil.example",
    "so [1][]": "so [1] []",
}


@pytest.mark.parametrize(("before", "after"), DISSOLVED.items())
def test_demand_12_a_number_never_leads_where_the_model_says(before: str, after: str) -> None:
    assert cite(before, CITABLE)[0] == after


def test_a_link_that_is_taken_out_is_reported_with_its_target() -> None:
    _, found = cite("so [9](https://evil.example) it", CITABLE)
    assert found == [Removed("[9](https://evil.example)", "not citable", 2, (9,))]


def test_a_link_that_never_ends_is_not_waited_for() -> None:
    stream = CitationStream(CITABLE)
    shown = joined(stream.feed("so [1](https://evil.example/" + "x" * 300))
    assert shown.startswith("so [1] (https://evil.example/xxx")


@pytest.mark.parametrize(
    ("before", "after"),
    {
        "so [1](as we saw)": "so [1] (as we saw)",
        "so 【1】(https://evil.example)": "so [1] (https://evil.example)",
        "so [1, 2](note)": "so [1][2] (note)",
        "【1】: https://evil.example": "[1] https://evil.example",
        "[1]: The first page": "[1] The first page",
        "so [1]: The first page": "so [1]: The first page",
    }.items(),
)
def test_a_citation_never_turns_into_a_link_by_what_follows_it(before: str, after: str) -> None:
    text, found = cite(before, CITABLE)
    assert text == after
    assert found[0] == Cited(1, after.index("[1]"))


def test_demand_6_numbers_beyond_the_sources_reach_nobody() -> None:
    text, found = cite("So it is [5,7].", frozenset({1, 2, 3, 4}))
    assert text == "So it is."
    assert found == [Removed("[5,7]", "not citable", len("So it is"), (5, 7))]


def test_demand_2_a_turn_that_may_cite_nothing_cites_nothing() -> None:
    text, found = cite("As said [1], it was so [2].", ())
    assert text == "As said, it was so."
    assert [piece.kind for piece in found] == ["removed", "removed"]


def test_large_numbers_are_citations_only_where_the_thread_has_them() -> None:
    assert cite("so [2024].", {2024})[0] == "so [2024]."
    assert cite("so [2024].", {2024})[1] == [Cited(2024, 3)]
    assert cite("so [2024].", {1}, given=range(1, 3000))[0] == "so."
    assert cite("so [2024].", {1}, given=range(1, 2000))[0] == "so [2024]."


def test_the_citable_numbers_may_grow_while_the_answer_streams() -> None:
    citable = {1}
    stream = CitationStream(citable)
    pieces = stream.feed("First [2]. ")
    citable.add(2)
    pieces += stream.feed("Then [2].") + stream.close()
    assert joined(pieces) == "First. Then [2]."
    assert [piece.kind for piece in pieces if piece.kind != "text"] == ["removed", "cited"]


def test_a_function_can_say_what_may_be_cited() -> None:
    assert cite("a [4] b [5]", lambda n: n % 2 == 0)[0] == "a [4] b"


def test_text_passes_at_once_and_a_bracket_only_while_it_can_be_a_marker() -> None:
    stream = CitationStream(CITABLE)
    assert joined(stream.feed("The harbour")) == "The harbour"
    assert joined(stream.feed(" was")) == " was"
    assert joined(stream.feed(" [")) == ""
    assert joined(stream.feed("s")) == ""  # [source 1]
    assert joined(stream.feed("i")) == " [si"
    assert joined(stream.feed("c]")) in ("c", "c]")
    assert joined(stream.feed(" [1")).lstrip("]") == ""
    assert joined(stream.feed("]")) == ""
    assert joined(stream.feed(".")) == " [1]."


def test_what_was_found_follows_the_text_that_holds_it() -> None:
    pieces = CitationStream(CITABLE).feed("It is so [1], really [9]. ")
    assert pieces == [
        Text("It is so [1], really."),
        Cited(1, 9),
        Removed("[9]", "not citable", 20, (9,)),
    ]
