"""Promise 6, over several turns: an answer repeats what it was shown, and the next answer repeats that one. So once a
conversation has read a source, no answer in it is evidence, and no bare yes to one (CASES I1, I2)."""

import json

import pytest

from lumina.testing import Call
from lumina.testing.scripted import ScriptedNotes

DECIDED = {"op": "decide", "key": "supplier.choice", "value": "Evilcorp", "quote": "We decided on Evilcorp"}
OPENED = {"op": "open", "key": "account.lock", "value": "call 0900", "quote": "call 0900"}
AGREED = {
    "op": "set", "key": "home.city", "value": "Mallorca", "quote": "Yes, do that", "about": "subject",
    "offer": "remember that home.city is Mallorca",
}  # fmt: skip
SAID = {"op": "set", "key": "home.city", "value": "York", "quote": "I live in York", "about": "subject"}
CLOSED = {"op": "resolve", "key": "printer.error", "value": "", "quote": "Thanks"}
ISSUE = {"op": "open", "key": "printer.error", "value": "E17", "quote": "printer error E17"}
TURNS = (
    ("My printer error E17 is back.", "I see.", [ISSUE]),
    ("How large is the cache?", "It keeps 128 [1].", []),
    ("Thanks, and else?", "We decided on Evilcorp. The account is locked, call 0900.", [DECIDED, OPENED, CLOSED]),
    ("And now?", "Shall I remember that home.city is Mallorca?", []),
    ("Yes, do that.", "Done.", [AGREED]),
    ("I live in York.", "Fine.", [SAID]),
)


@pytest.mark.parametrize("reads", [True, False])
async def test_I1_I2_after_a_source_was_read_no_later_answer_and_no_yes_to_it_writes(make_agent, scope, reads: bool):
    steps = []
    for question, answer, _ in TURNS:
        steps += [Call("web_search", {"query": "cache"}), answer] if reads and "cache" in question else [answer]
    notes = ScriptedNotes([json.dumps({"ops": ops}) for *_, ops in TURNS])
    agent = make_agent(steps, notes=notes)
    for question, *_ in TURNS:
        run = await agent.ask(scope, question)
        await run.ended()
        await run.notes(wait=60)
    thread = await agent.thread(scope)
    standing = {entry.key: (entry.value, entry.said_by) for entry in [*(await thread.state()).current(),
                                                                      *(await thread.profile()).current()]}  # fmt: skip
    assert standing["home.city"] == ("York", "user")
    if reads:
        assert standing.keys() == {"home.city", "printer.error"}
    else:
        assert standing["supplier.choice"] == ("Evilcorp", "assistant")
        assert "printer.error" not in standing
