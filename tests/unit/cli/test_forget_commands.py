"""`lumina forget`: what is asked, what is said, and which exit code comes of it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path


def database(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_an_entry_is_forgotten_and_the_turn_stays(lumina, home: Path) -> None:
    lumina("ask", "-t", "main", "I live in Zyxford. What is a receipt?")
    asked = lumina("forget", "entry", "home.city")
    assert asked.code == 2
    assert "--yes" in asked.err
    done = lumina("forget", "entry", "home.city", "--yes")
    assert done.code == 0, done.err
    assert "home.city about you is forgotten: 1 turn whose quoted words are blanked, 1 noted value" in done.out
    assert "Nothing of it is left in the database's file." in done.out
    shown = lumina("show", "main", "--text")
    assert "Zyxford" not in shown.out
    assert "What is a receipt?" in shown.out
    assert b"Zyxford" not in database(home)
    verified = lumina("show", "--verify")
    assert verified.code == 0
    assert "forgotten since" in verified.out
    again = lumina("forget", "entry", "home.city", "--yes")
    assert again.code == 2
    assert "Nothing is noted under home.city" in again.err


def test_a_turn_and_a_conversation_are_forgotten_and_json_says_what_went(lumina, home: Path) -> None:
    lumina("ask", "-t", "main", "I live in Zyxford. What is a receipt?")
    lumina("ask", "-t", "main", "And what is a turn?")
    done = lumina("forget", "turn", "1", "-t", "main", "--yes", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["what"], told["turns"], told["changes"], told["bytes_gone"]) == ("turn", 1, 1, True)
    shown = lumina("show", "main", "-n", "1")
    assert shown.code == 0
    assert "[forgotten on " in shown.out
    assert "parts were forgotten since" in shown.out
    gone = lumina("forget", "thread", "main", "--yes")
    assert "Conversation main is forgotten" in gone.out
    assert lumina("forget", "thread", "main", "--yes").out.startswith("Conversation main: nothing of it is here.")
    assert "No conversation yet" in lumina("threads").err


def test_everything_is_forgotten_but_a_row_of_the_audit(lumina, home: Path) -> None:
    lumina("ask", "I live in Zyxford. What is a receipt?")
    assert lumina("forget", "me", "--yes").code == 0
    with closing(sqlite3.connect(home / "lumina.db")) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (0,)
        ((action, detail),) = connection.execute("SELECT action, detail FROM audit").fetchall()
    assert (action, json.loads(detail)) == ("forget subject", {"threads": 1, "turns": 1})
    assert b"Zyxford" not in database(home)
    assert lumina("forget", "finish").code == 0


def test_what_cannot_be_forgotten_says_why(lumina) -> None:
    lumina("ask", "-t", "main", "What is a receipt?")
    for arguments, said in (
        (("turn", "9"), "has no turn 9"),
        (("entry", "Not A Key!", "--about", "thread"), "is not a key"),
        (("entry", "home.city", "--about", "me"), "--about is thread or subject"),
        (("turn", "1", "-t", "other"), "There is no conversation"),
    ):
        done = lumina("forget", *arguments, "--yes")
        assert done.code == 2
        assert said in done.err


def test_in_a_chat_it_is_shown_first_and_goes_when_it_is_confirmed(lumina) -> None:
    said = b"I live in Zyxford. What is a receipt?\n/forget home.city\n/state\n/forget home.city yes\n/state\n/forget\n"
    done = lumina("chat", "-t", "main", stdin=said)
    assert "home.city about you will be forgotten: " in done.out
    assert "/forget home.city yes does it." in done.err
    assert done.out.count("home.city: Zyxford") == 1
    assert "home.city about you is forgotten: " in done.out
    assert "Give a key or the number of a turn" in done.err
