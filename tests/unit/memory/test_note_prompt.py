"""What the delta step is sent: one prompt for every turn and thread, what changes least first, and old receipts as they
were."""

import hashlib
import json

from lumina.memory.change import Change
from lumina.memory.note import Refused, delta_request, note_schema, system_text
from lumina.memory.receipt import digest
from lumina.memory.schema import DeclaredKey, Schema
from lumina.memory.state import State
from lumina.memory.turns import Turn

SCHEMA = Schema(keys=(DeclaredKey(key="account.status", type="one of", values=("open", "shut")),))


def turn(seq=3, question="I live in Köln <now>", answer="Noted\u2028."):
    return Turn(
        seq=seq, attempt=1, question=question, answer=answer, status="complete", reason="", day="2026-11-30",
        delta="waiting", number=seq,
    )  # fmt: skip


def notes(count, about="thread"):
    changes = [
        Change(
            op="set", kind="fact", key=f"thing{seq}.colour", said_by="operator", by="Ada", correction=1,
            seq=seq, attempt=1, number=seq,
            day="2026-11-30", value=f"colour {seq}", about=about,
        )
        for seq in range(1, count + 1)
    ]  # fmt: skip
    return State(about=about).merge(changes)[0]


def asked(state=None, **more):
    return delta_request(turn(), state=state or notes(3), previous=turn(2), read_sources=False, **more)


def test_the_prompt_is_the_one_that_receipts_which_do_not_name_it_were_made_with():
    """Receipts up to rendering 2: with another wording they would not render as they were sent."""
    texts = [system_text(), system_text(declares=True)]
    assert [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts] == [
        "f17cc852acab7722",
        "082ac51ea675f509",
    ]


def test_the_first_layout_of_the_question_is_still_rendered_byte_for_byte():
    refused = [Refused(op="set", key="a.b", reason="its value does not stand in its quote")]
    old = {"layout": "turn first"}
    made = [
        asked(**old), asked(schema=SCHEMA, **old), asked(refused=refused, title_wanted=True, **old),
        asked(profile=notes(200, "subject"), **old),
    ]  # fmt: skip
    assert [digest(request.messages)[:16] for request in made] == GOLDEN


GOLDEN = ["5cba184fc715ab28", "7e853caa6561bee6", "caec1d32c265b938", "e1bff881259d5f99"]


def test_what_is_sent_is_json_with_the_notes_first_the_oldest_first_and_the_turn_last():
    body = asked().messages[1].content
    head, _, rest = body.partition("\n")
    assert head == "The turn, with the notes so far:"
    told = json.loads(rest)
    assert list(told) == [
        "notes", "question", "answer", "answer_read_sources", "previous_answer", "day", "title_wanted"
    ]  # fmt: skip
    assert [note["key"] for note in told["notes"]] == ["thing1.colour", "thing2.colour", "thing3.colour"]
    assert told["question"] == "I live in Köln <now>"
    assert "<" not in rest
    assert "\u2028" not in rest


def test_a_new_note_leaves_all_that_stood_before_it_where_it_was():
    before, after = (asked(notes(count)).messages[1].content for count in (40, 41))
    same = next(at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    assert '"thing40.colour"' in before[:same]


def test_the_prompt_is_the_same_for_every_turn_and_what_was_refused_stands_last():
    refused = [Refused(op="set", key="a.b", reason="why")]
    one, other = asked(), asked(notes(9), refused=refused)
    assert one.messages[0] == other.messages[0]
    assert other.messages[1].content.endswith("Your last answer was refused in part. Answer again in full.")


def test_the_schema_of_a_note_names_every_field_and_explains_none():
    schema = note_schema()
    assert schema["required"] == ["ops", "followups", "title"]
    op = schema["$defs"]["Op"]
    assert op["required"] == ["op", "key", "value", "quote", "offer", "about", "source"]
    assert (schema["additionalProperties"], op["additionalProperties"]) == (False, False)
    text = json.dumps(schema)
    assert "description" not in text
    assert "As a model wrote it" not in text
