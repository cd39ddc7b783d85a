"""`lumina state`: what stands with its words, corrections, history, and what could not be noted."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from lumina.memory.scope import ThreadScope
from lumina.stores.opening import open_store
from support.cards import shows_card


def test_what_was_noted_is_shown_corrected_and_told(lumina) -> None:
    assert lumina("ask", "-t", "main", "I live in Paris. What is a receipt?").code == 0
    assert lumina("ask", "-c", "I live in York now. What is a delta?").code == 0
    shown = lumina("state")
    assert shown.code == 0
    assert "home.city: York (you, turn 2 of main, " in shown.out
    assert "    I live in York" in shown.out
    assert "home.city: Paris" in lumina("state", "main", "--as-of", "1").out
    done = lumina("state", "set", "home.city", "Leeds", "--why", "moved again", "--by", "Ann")
    assert (done.code, done.out) == (0, "Noted about you: home.city = Leeds, instead of York.\n")
    assert "corrected by Ann" in lumina("state", "--profile").out
    told = lumina("state", "history", "home.city").out.splitlines()
    assert len(told) == 3
    assert "replaced at turn 2 of main by York" in told[0]
    assert told[2].startswith("* about you: Leeds (corrected by Ann on ")
    assert lumina("state", "history", "home.city", "-t", "main").out.splitlines() == told
    assert lumina("chat", "-c", stdin=b"/state home.city\n").out.splitlines() == told
    gone = lumina("state", "retract", "home.city")
    assert (gone.code, gone.out) == (0, "Taken back about you: home.city, which was Leeds.\n")
    rows = [json.loads(line) for line in lumina("state", "history", "home.city", "--json").out.splitlines()]
    assert [(row["value"], row["current"], row["ended"]) for row in rows] == [
        ("Paris", False, "replaced"), ("York", False, "replaced"), ("Leeds", False, "taken back"),
    ]  # fmt: skip


def test_issues_and_decisions_are_corrected_too(lumina) -> None:
    lumina("ask", "-t", "main", "What is a receipt?")
    assert lumina("state", "open", "printer", "prints nothing").out == (
        "Noted in this conversation: printer = prints nothing.\n"
    )
    assert lumina("state", "decide", "purchase", "wait until May", "--about", "subject").code == 0
    found = json.loads(lumina("state", "--json").out)
    assert [(e["kind"], e["key"], e["about"], e["by"]) for e in found["entries"]] == [
        ("decision", "purchase", "subject", "me"), ("issue", "printer", "thread", "me"),
    ]  # fmt: skip
    assert lumina("state", "resolve", "printer").out == (
        "Resolved in this conversation: printer, which was prints nothing.\n"
    )
    near = lumina("state", "resolve", "printr")
    assert near.code == 2
    assert "There is printer." in near.err


def test_wrong_calls_are_refused_and_nothing_from_outside_reaches_the_terminal(lumina) -> None:
    assert "no conversation yet" in lumina("state").err
    lumina("ask", "-t", "main", "What is a receipt?")
    for call, said in (
        (("nope",), "There is no conversation 'nope'"), (("--as-of", "9"), "has no turn 9"),
        (("set", "a"), "Missing argument"), (("history", "a"), "Nothing was ever noted"),
        (("set", "a", "b", "--about", "me"), "subject or thread"), (("set", "a b!", "c"), "not a key"),
        (("set", "a", "\x1b[2J"), "control character"), (("set", "a", "b", "--by", " "), "by whom"),
    ):  # fmt: skip
        done = lumina("state", *call)
        assert done.code == 2, call
        assert said in done.err, call
    assert "\x1b" not in lumina("state", "set", "a", "b", "--why", "x\u202ey", "--by", "A").out
    assert lumina("state", "show", "main").code == 0


def test_what_could_not_be_noted_is_listed_with_the_reason(lumina, home: Path) -> None:
    """CASES D5: set aside visibly."""
    lumina("ask", "-t", "main", "I live in Paris. What is a receipt?")
    with closing(sqlite3.connect(home / "lumina.db")) as base:
        base.execute("update delta_jobs set status = 'waiting'")
        base.commit()

    async def give_up() -> None:
        store = await open_store(home / "lumina.db")
        for last in (False, False, True):
            await store.fail_delta(
                ThreadScope(tenant="local", subject="me", thread="main"), 1, 1, "the model was down", set_aside=last
            )
        await store.close()

    assert "turn 1: waits to be noted" in lumina("state").out
    asyncio.run(give_up())
    assert "turn 1: given up after 3 tries (the model was down)" in lumina("state").out
    assert json.loads(lumina("state", "--json").out)["not_noted"] == [
        {"turn": 1, "status": "set aside", "tries": 3, "reason": "the model was down"}
    ]


def test_a_schema_in_the_settings_holds_for_questions_and_corrections(lumina, home: Path, monkeypatch) -> None:
    home.mkdir()
    (home / "desk.toml").write_text('never = ["card_number"]\n[keys."account.status"]\nvalues = ["open", "closed"]\n')
    monkeypatch.setenv("LUMINA_SCHEMA", "desk.toml")
    asked = lumina("ask", "--json", "-t", "main", "My card is 4111 1111 1111 1111. What is a receipt?")
    assert asked.code == 0
    assert not shows_card(asked.out, "4111 1111 1111 1111")
    assert "one of: open, closed" in lumina("state", "set", "account.status", "gone").err
    assert lumina("state", "set", "account.status", "Closed").code == 0
    assert b"4111 1111" not in (home / "lumina.db").read_bytes()
    (home / "desk.toml").write_text("never = 3")
    broken = lumina("state")
    assert broken.code == 2
    assert "desk.toml, line 1: never is not a list" in broken.err
