"""What must never be kept: found in its many spellings, masked at its length, alike in one piece and in many."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.errors import UsageError
from lumina.memory.masking import Masks, MaskStream
from lumina.memory.never import BUILT_IN, shape
from lumina.memory.turns import Message, ToolCall

ALL = Masks(rules=(*BUILT_IN.values(), shape("ticket", r"TK-\d{6}"), shape("pin", r"PIN ?\d{4,6}")))


@pytest.mark.parametrize(
    ("text", "masked", "name"),
    [
        ("card 4111 1111 1111 1111, ok", "card ████ ████ ████ ████, ok", "card_number"),
        ("4111111111111111", "█" * 16, "card_number"),
        ("4111-1111-1111-1111 12/27", "████-████-████-████ 12/27", "card_number"),
        ("3782 822463 10005", "████ ██████ █████", "card_number"),
        ("４１１１　１１１１　１１１１　１１１１", "████\u3000████\u3000████\u3000████", "card_number"),
        ("٤١١١١١١١١١١١١١١١", "█" * 16, "card_number"),
        ("4111\u200b1111\u200b1111\u200b1111", "█" * 19, "card_number"),
        ("pay to DE89 3704 0044 0532 0130 00 please", "pay to ████ ████ ████ ████ ████ ██ please", "iban"),
        ("GB82WEST12345698765432.", "█" * 22 + ".", "iban"),
        ("ssn 123-45-6789!", "ssn ███-██-████!", "us_ssn"),
        ("write to ann.lee@example.com.", "write to ███████████████████.", "email"),
        ("邮箱是ann@example.com谢谢", "邮箱是███████████████谢谢", "email"),
        ("see TK-123456", "see ██-██████", "ticket"),
        ("PIN1234 or PIN 123456", "███████ or ███ ██████", "pin"),
    ],
)
def test_it_is_masked_in_every_spelling_and_at_its_length(text: str, masked: str, name: str):
    assert ALL.text(text) == masked
    assert len(masked) == len(text)
    assert name in ALL.found(text)
    assert ALL.text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",  # Luhn fails
        "2026-11-30 2026-12-01",
        "order 12345678901234567890",
        "DE88 3704 0044 0532 0130 00",  # wrong check digits
        "000-12-3456 and 900-12-3456",
        "a @ b.com, c@d, @handle",
        "TK-1234567",
        "PIN 12",
        "Tel. +49 30 1234567",
    ],
)
def test_what_only_looks_like_it_stays(text: str):
    assert ALL.text(text) == text


PARTS = ["4111 1111 1111 1111", "4111", " 1111", "ann@example.com", "123-45-6789", "DE89 3704 0044 0532 0130 00",
         "DE89", "3704 0044", "TK-", "TK-123456", "PIN 1234", "PIN", "12", "-", "\n", "6011000990139424"]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=12), sizes=st.lists(st.integers(1, 9), min_size=1))
def test_a_text_in_pieces_is_masked_as_the_whole_is(parts: list[str], sizes: list[int]):
    text = " ".join(parts)
    stream, told, at = MaskStream(ALL), "", 0
    for n in range(len(text)):
        size = sizes[n % len(sizes)]
        told += stream.feed(text[at : at + size])
        at += size
    assert told + stream.close() == ALL.text(text)


def test_only_what_may_still_be_a_match_is_held_back():
    stream = MaskStream(Masks(rules=(BUILT_IN["card_number"],)))
    assert stream.feed("It costs 40 euros, and the number is 4111 ") == "It costs 40 euros, and the number is "
    assert stream.feed("apples.") == "4111 apples."
    assert MaskStream(Masks()).feed("4111 1111 1111 1111") == "4111 1111 1111 1111"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (r"(a+)+", "not taken"), (r"a*", "not taken"), (r".+", "not taken"), (r"a|b", "not taken"),
        (r"\d{2,4}\d", "several ways"), (r"a?b?a", "several ways"), (r"[a-z]{0,9}x", "several ways"),
        (r"\d?", "nothing"), ("", "nothing"), (r"\d{101}", "more than 100"), (r"[^a]", "a choice"),
        (r"[z-a]", "no range"), (r"\d{a}", "how often"), (r"\b", "not taken"), (r"a{3,1}", "match nothing"),
    ],
)  # fmt: skip
def test_a_shape_that_could_be_read_in_several_ways_is_refused(written: str, why: str):
    with pytest.raises(UsageError, match=why):
        shape("own", written)


def test_json_stays_json_when_a_number_in_it_is_masked():
    masks = Masks(rules=(BUILT_IN["card_number"],))
    assert masks.json_text('{"card": 4111111111111111, "n": 4}') == '{"card": "████████████████", "n": 4}'
    assert masks.json_text('{"a":  1}') == '{"a":  1}'
    assert masks.json_text('{"c": "\\u0034111111111111111"}') == '{"c": "████████████████"}'
    call = ToolCall(id="1", name="pay", arguments='{"card": "4111111111111111"}')
    sent = (Message(role="assistant", content="Paying with 4111111111111111", tool_calls=(call,)),
            Message(role="tool", content='{"ok": 4111111111111111}', tool_call_id="1"))  # fmt: skip
    assert "4111" not in repr(masks.messages(sent))
