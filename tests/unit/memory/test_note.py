"""Note: a model's answer in the delta step is read with limits, and one bad operation does not lose the others."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.errors import UsageError
from lumina.memory.note import MAX_OPS, Note, NoteError, parse_note

OP = {"op": "set", "key": "home.city", "value": "Berlin", "quote": "I live in Berlin"}
BODY = json.dumps({"ops": [OP], "followups": ["And where?"], "title": "Moving"})


@pytest.mark.parametrize(
    "text",
    [BODY, f"```json\n{BODY}\n```", f"```\n{BODY}```", f"Here it is:\n\n{BODY}\nHope that helps.", f"\ufeff {BODY}\n"],
)
def test_a_note_is_found_alone_in_a_fence_or_among_words(text: str):
    note = parse_note(text)
    assert [(op.op, op.key, op.value, op.about, op.source) for op in note.ops] == [
        ("set", "home.city", "Berlin", "", None)
    ]
    assert (note.followups, note.title, note.refused) == (["And where?"], "Moving", ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("nothing changed", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("[{}]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{", "not a JSON object"),
        ("{]}", "not JSON"),
        ("{'ops': []}", "not JSON"),
        ('{"ops": [}', "not JSON"),
        ('{"ops": {}}', "not a list"),
        ('{"ops": NaN}', "NaN"),
        ('{"ops": [], "x": -Infinity}', "-Infinity"),
        ('{"ops": [], "ops": []}', "twice"),
        ('{"ops": [{"op": "set", "op": "open"}]}', "twice"),
        ('{"x": ' + "9" * 5000 + "}", "5000 digits"),
        ('{"x": ' + "[" * 40 + "]" * 40 + "}", "deep"),
        ("{" * 50_000, "not a JSON object"),
        ('{"a":' * 15_000 + "1" + "}" * 15_000, "deep"),
        ("[" * 100_000 + "]" * 100_000, "characters"),
        ('{"a": "' + "x" * 100_000 + '"}', "characters"),
    ],
)
def test_what_is_no_note_is_refused_with_the_reason(text: str, why: str):
    """CASES R1."""
    with pytest.raises(NoteError, match=why) as caught:
        parse_note(text)
    assert isinstance(caught.value, UsageError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        3,
        "set home.city",
        {},
        {"op": "drop", "key": "a"},
        OP | {"op": None},
        OP | {"key": ["home"]},
        OP | {"value": {"a": 1}},
        OP | {"value": True},
        OP | {"quote": "\ud800"},
        OP | {"about": "world"},
    ],
)
def test_one_bad_operation_is_reported_and_the_others_are_kept(bad: object):
    note = parse_note(json.dumps({"ops": [bad, OP, bad]}))
    assert [op.key for op in note.ops] == ["home.city"]
    assert len(note.refused) == 2
    assert all(refused.reason for refused in note.refused)


def test_small_slips_of_a_model_are_forgiven():
    raw = {"op": " SET ", "key": "k", "value": 1200.5, "quote": None, "about": None, "source": "[3]", "confidence": 0.9}
    (op,) = parse_note(json.dumps({"ops": [raw], "thoughts": "none"})).ops
    assert (op.op, op.value, op.quote, op.about, op.source) == ("set", "1200.5", "", "", 3)
    for source in (0, -1, True, "x", 10**12, 2.5):
        assert parse_note(json.dumps({"ops": [raw | {"source": source}]})).ops[0].source is None
    assert parse_note("{}").ops == []
    assert parse_note('{"ops": null, "followups": null, "title": null}') == Note()


def test_followups_and_title_are_short_single_lines():
    asked = [" a\nb ", "a b", 3, "", "\x1b[31mred", "x" * 300, "fourth", "fifth"]
    note = parse_note(json.dumps({"followups": asked, "title": "T\u202eitle\n" + "y" * 100}))
    assert note.followups == ["a b", "[31mred", "x" * 199 + "…"]
    assert note.title.startswith("T itle yyy")
    assert len(note.title) == 80
    assert parse_note('{"followups": "one"}').followups == []


def test_too_many_operations_are_reported_not_applied():
    note = parse_note(json.dumps({"ops": [OP] * (MAX_OPS + 7)}))
    assert (len(note.ops), len(note.refused)) == (MAX_OPS, 7)


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.integers() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
        ).map(json.dumps),
    )
)
def test_any_text_is_a_note_or_a_note_error(text: str):
    with contextlib.suppress(NoteError):
        assert isinstance(parse_note(text), Note)
