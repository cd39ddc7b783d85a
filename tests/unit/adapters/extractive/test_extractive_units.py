"""A passage in the units that can be quoted."""

from lumina.adapters.documents.document_text import Document
from lumina.adapters.documents.read_markdown import read_markdown
from lumina.adapters.extractive.units import units

LINKS = """\
What is kept about you:

- [How Lumina remembers](memory.md): window, state, delta, recall, receipt
- [Correct what was noted](correct.md): see it, correct it, its history
- [Forget something for good](forget.md): an entry, a turn, a conversation
"""


def test_the_items_of_a_list_are_not_read_as_one_wrapped_sentence():
    page = read_markdown(LINKS, name="index.md")
    assert isinstance(page, Document)
    assert [unit.text for unit in units(page.text, "en")] == [
        "What is kept about you:",
        "How Lumina remembers: window, state, delta, recall, receipt",
        "Correct what was noted: see it, correct it, its history",
        "Forget something for good: an entry, a turn, a conversation",
    ]


def test_lines_that_an_editor_wrapped_are_one_sentence():
    wrapped = "The cache keeps up to the number of results that\nmaxsize says, and throws the oldest away."
    assert [unit.text for unit in units(wrapped, "en")] == [wrapped.replace("\n", " ")]
