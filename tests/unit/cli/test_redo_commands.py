"""Asking again and otherwise on the command line, temporary conversations, and what --verify says of the notes."""

import json
import sqlite3
from contextlib import closing


def test_a_turn_is_asked_again_and_the_older_attempt_can_be_shown(lumina) -> None:
    lumina("ask", "-t", "main", "I live in Paris. What is a receipt?")
    lumina("ask", "-t", "main", "How does Lumina remember?")
    edited = lumina("ask", "-t", "main", "--regenerate", "-n", "1", "I live in York. What is a window?")
    assert edited.code == 0
    assert "Turn 1 again, attempt 2." in edited.err
    assert "Turn 2 is superseded: no longer sent, still shown by lumina show." in edited.err
    assert "Noted about you: home.city = York" in edited.out
    shown = lumina("show", "main")
    assert shown.out.startswith("Turn 1 of 2 in main, attempt 2 of 2, asked ")
    old = lumina("show", "main", "-n", "1", "--attempt", "1")
    assert old.code == 0
    assert "superseded: " in old.out
    assert "I live in Paris" in old.out
    assert "superseded: " in lumina("show", "main", "-n", "2").out
    rows = [json.loads(line) for line in lumina("show", "main", "-n", "1", "--attempt", "1", "--json").out.splitlines()]
    assert {(row["attempt"], row["superseded"]) for row in rows} == {(1, True)}
    assert lumina("show", "main", "-n", "1", "--attempt", "3").code == 2
    verified = lumina("show", "main", "--verify")
    assert verified.code == 0
    assert "2 turns, 9 model calls: rendered again, all the same, byte for byte." in verified.out
    again = lumina("ask", "--regenerate")
    assert again.code == 0
    assert "Turn 1 again, attempt 3." in again.err


def test_wrong_calls_are_refused_with_what_to_do(lumina) -> None:
    for arguments, said in (
        (["ask"], "There is no question"),
        (["ask", "-n", "1", "hi"], "give both"),
        (["ask", "--regenerate", "--temporary"], "Give one"),
        (["ask", "--temporary", "-c", "hi"], "Give one of them"),
        (["ask", "--regenerate"], "There is no conversation yet"),
        (["show", "--rebuild"], "give both"),
        (["show", "--verify", "--attempt", "1"], "leave out"),
    ):
        done = lumina(*arguments)
        assert done.code == 2, arguments
        assert said in done.err


def test_a_forgotten_turn_cannot_be_asked_again_and_says_so(lumina) -> None:
    lumina("ask", "-t", "main", "What is a receipt?")
    lumina("forget", "turn", "1", "-t", "main", "--yes")
    done = lumina("ask", "-t", "main", "--regenerate")
    assert done.code == 2
    assert "was forgotten on" in done.err
    assert "Ask a new one" in done.err


def test_a_chat_asks_again_and_otherwise(lumina) -> None:
    script = (
        b"What is a receipt?\n/again\n/edit What is a window?\nAnd a turn?\n"
        b"/edit #1 What is a source?\n/again x\n/edit\n"
    )
    done = lumina("chat", "-t", "main", stdin=script)
    assert "Turn 1 again, attempt 2." in done.err
    assert "Turn 1 again, attempt 3." in done.err
    assert "Turn 1 again, attempt 4." in done.err
    assert "Turn 2 is superseded" in done.err
    assert "Give the number of a turn: /again 3." in done.err
    assert "Write /again, /again 3, /edit QUESTION or /edit #3 QUESTION." in done.err
    assert lumina("show", "main").out.startswith("Turn 1 of 2 in main, attempt 4 of 4")
    assert "What is a source?" in lumina("show", "main").out


def test_a_temporary_conversation_is_marked(lumina) -> None:
    lumina("ask", "-t", "lasting", "I live in Paris.")
    done = lumina("ask", "--temporary", "-t", "short", "I live in York.")
    assert "Noted: home.city = York" in done.out
    assert "(temporary, until " in lumina("threads").out
    rows = {row["thread"]: row["expires_at"] for row in map(json.loads, lumina("threads", "--json").out.splitlines())}
    assert rows["short"] > rows["lasting"] == ""
    chatted = lumina("chat", "-t", "short", stdin=b"/state\n")
    assert "This conversation is temporary: it is deleted on " in chatted.err
    assert "Paris" not in chatted.out


def test_d4_a_state_that_is_not_the_fold_is_told_and_rebuilt(lumina, home) -> None:
    lumina("ask", "-t", "main", "I live in Paris. What is a receipt?")
    assert "What was noted is the fold of its deltas, byte for byte." in lumina("show", "main", "--verify").out
    with closing(sqlite3.connect(home / "lumina.db")) as connection, connection:
        connection.execute("UPDATE profiles SET body = replace(body, 'Paris', 'Oslo!')")
        connection.execute("UPDATE states SET body = 'torn {'")
    found = lumina("show", "main", "--verify")
    assert found.code == 1
    assert "the stored profile is not what its deltas fold to; --rebuild folds it anew." in found.err
    assert "the stored state cannot be read; --rebuild folds it anew." in found.err
    told = json.loads(lumina("show", "main", "--verify", "--json").out.splitlines()[-1])
    assert told == {"state": "damaged", "profile": "differs", "rebuilt": False}
    assert lumina("show", "main", "--verify", "--rebuild").code == 0
    assert lumina("show", "main", "--verify").code == 0
