"""The commands as they are used: what is printed, what is refused, and with which exit code."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

MEGABYTE = b"a" * 1_000_000


def test_an_answer_comes_with_its_sources_and_what_was_sent_can_be_shown(lumina) -> None:
    asked = lumina("ask", "-t", "main", "How does Lumina remember?")
    assert asked.code == 0
    assert "[1]" in asked.out
    assert "Sources\n[1] " in asked.out
    assert "searching: " in asked.err
    assert "Quoted from your documents; no model is set." in asked.err
    assert "\x1b" not in asked.out + asked.err

    again = lumina("ask", "-c", "I live in Paris. What is a receipt?")
    assert "Noted about you: home.city = Paris" in again.out
    shown = lumina("show", "main")
    assert shown.code == 0
    assert shown.out.startswith("Turn 2 of 2 in main, asked ")
    for words in ("I live in Paris. What is a receipt?", "complete; a search found something", "always sent",
                  "one of the last turns", "tokens free", "Call 1 of 3: the answer, by extractive",
                  "recalled: nothing. ", "Rendered again: the same, byte for byte"):  # fmt: skip
        assert words in shown.out
    rows = [json.loads(line) for line in lumina("show", "--json").out.splitlines()]
    assert [(row["turn"], row["call"], row["same"], row["status"]) for row in rows] == [
        (2, 1, True, "complete"), (2, 2, True, "complete"), (2, 3, True, "complete"),
    ]  # fmt: skip
    assert lumina("show", "--call", "9").code == 2
    assert "2 turns, 6 model calls: rendered again, all the same, byte for byte." in lumina("show", "--verify").out
    *turns, noted = [json.loads(line) for line in lumina("show", "--verify", "--json").out.splitlines()]
    assert [row["same"] for row in turns] == [True, True]
    assert noted["state"] == noted["profile"] == "same"
    listed = lumina("threads")
    assert "main" in listed.out
    assert "How does Lumina remember?" in listed.out


def test_json_gives_every_event_of_the_turn_one_a_line_in_ascii(lumina) -> None:
    asked = lumina("ask", "--json", "Was heißt „Gedächtnis“? 天気")
    assert asked.code == 0
    assert asked.out.isascii()
    events = [json.loads(line) for line in asked.out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["kind"] == "turn.started"
    assert events[0]["question"] == "Was heißt „Gedächtnis“? 天気"
    assert [event["kind"] for event in events if event["kind"] == "turn.finished"] == ["turn.finished"]
    assert events[-1]["kind"] == "turn.finished"


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["ask", ""], b"", "The question is empty"),
        (["ask", "-"], b"", "The question is empty"),
        (["ask", "-"], b"a\0b", "NUL"),
        (["ask", "-"], b"caf\xe9", "not UTF-8"),
        (["ask", "-"], MEGABYTE, "The question is too long"),
        (["ask", "half \udcff"], b"", "not valid text"),
        (["ask", "-t", "a\nb", "hi"], b"", "U+000A"),
        (["ask", "-t", "\udcff", "hi"], b"", "U+DCFF"),
        (["ask", "-t", "n" * 300, "hi"], b"", "at most 200"),
        (["ask", "-t", "x", "-c", "hi"], b"", "not both"),
        (["ask", "-c", "hi"], b"", "There is no conversation yet"),
        (["ask", "--budget", "9" * 5000, "hi"], b"", "--budget"),
        (["ask", "--budget", "9" * 4000, "hi"], b"", "--budget"),
        (["ask", "--budget", "0", "hi"], b"", "--budget"),
        (["ask", "--budget", "600", "hi"], b"", "larger budget"),
        (["ask", "--model", "nope", "hi"], b"", "is not a model"),
        (["ask", "--model", "openai:gpt-5", "hi"], b"", "OPENAI_API_KEY"),
        (["ask"], b"", "There is no question"),
        (["show"], b"", "There is no conversation yet"),
        (["show", "%/:"], b"", "There is no conversation '%/:'"),
        (["show", "--turn", "-1"], b"", "--turn"),
        (["show", "--text", "--json"], b"", "not both"),
        (["nonsense"], b"", "No such command"),
        ([], b"", "Usage: lumina"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else str(value)[:30],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_the_reason_and_nothing_is_stored(lumina, arguments, stdin, said) -> None:
    done = lumina(*arguments, stdin=stdin)
    assert done.code == 2
    assert said in done.err
    assert len(done.err) < 2200
    assert done.out == ""
    assert lumina("threads").out == ""


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 emoji 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "天気はどうですか",
        "ما هي الذاكرة؟",
        "שאלה",
        "Cafe\u0301",
        "<!--SOURCES:[{}]-->",
        "\x1b[31mred\x1b]0;t\x07",
    ],
)
def test_text_of_any_kind_is_kept_as_it_was_asked_and_shown_without_what_a_terminal_obeys(lumina, text: str) -> None:
    asked = lumina("ask", "-t", "odd", text)
    assert asked.code == 0
    events = [json.loads(line) for line in lumina("ask", "-t", "odd", "--json", text).out.splitlines()]
    assert events[0]["question"] == text
    shown = lumina("show", "odd")
    assert shown.code == 0
    assert "\x1b" not in asked.out + asked.err + shown.out + shown.err + lumina("threads").out


def test_a_question_of_a_megabyte_is_answered_when_the_budget_has_room(lumina) -> None:
    question = ("koi pond " * 112_000).encode()
    asked = lumina("ask", "--budget", "2000000", "--json", "-", stdin=question)
    assert asked.code == 0, asked.err
    assert json.loads(asked.out.splitlines()[0])["question"] == question.decode().strip()


def test_names_that_look_alike_are_different_conversations(lumina) -> None:
    for name in ("caf\u00e9", "cafe\u0301", "50%", "a:b"):
        assert lumina("ask", "-t", name, "What is a receipt?").code == 0
    rows = [json.loads(line) for line in lumina("threads", "--json").out.splitlines()]
    assert sorted(row["thread"] for row in rows) == sorted(["caf\u00e9", "cafe\u0301", "50%", "a:b"])
    assert all(row["turns"] == 1 for row in rows)
    assert lumina("show", "cafe\u0301", "--verify").code == 0


def test_a_turn_that_cannot_be_read_is_named_left_alone_and_hides_nothing_else(lumina, home: Path) -> None:
    """CASES D8, through the command line."""
    for question in ("What is a receipt?", "What is a delta?", "What is recall?"):
        assert lumina("ask", "-t", "main", question).code == 0
    with sqlite3.connect(home / "lumina.db") as database:
        database.execute("UPDATE turns SET status = 'no such status' WHERE seq = 2")
    database.close()
    assert "Cannot be read, and left as it is: turn 2" in lumina("show", "main").out
    broken = lumina("show", "main", "-n", "2")
    assert broken.code == 1
    assert "Turn 2 of conversation main cannot be read" in broken.err
    verified = lumina("show", "main", "--verify")
    assert verified.code == 1
    assert "turn 2: it cannot be read" in verified.err
    assert lumina("ask", "-t", "main", "What is a turn?").code == 0
    assert lumina("chat", "-t", "main", stdin=b"/sources\n/state\n/show 2\n/show 1\n").out.count("Turn 1 of 4") == 1
    with sqlite3.connect(home / "lumina.db") as database:
        assert database.execute("SELECT status FROM turns WHERE seq = 2").fetchone() == ("no such status",)
    database.close()


def test_a_turn_that_was_changed_from_outside_is_found_by_verify(lumina, home: Path) -> None:
    assert lumina("ask", "-t", "main", "What is a receipt?").code == 0
    assert lumina("ask", "-t", "main", "What is a delta?").code == 0
    with sqlite3.connect(home / "lumina.db") as database:
        database.execute("UPDATE turns SET answer = 'Something else.' WHERE seq = 1")
    database.close()
    verified = lumina("show", "--verify")
    assert verified.code == 1
    assert "turn 2: calls 1-3 render differently from what was sent" in verified.err
    assert "NOT what was sent" in lumina("show", "-n", "2").out


def test_verify_says_which_calls_of_a_turn_differ(lumina, home: Path) -> None:
    lumina("ask", "-t", "main", "What is a receipt? I live in York.")
    for column, told in (("answer", "turn 1: call 3 renders"), ("question", "turn 1: calls 1-3 render")):
        with closing(sqlite3.connect(home / "lumina.db")) as connection, connection:
            connection.execute(f"UPDATE turns SET {column} = 'X' || substr({column}, 2)")
        verified = lumina("show", "main", "--verify")
        assert verified.code == 1
        assert f"{told} differently from what was sent" in verified.err


def test_with_memory_off_nothing_of_earlier_turns_is_read_and_nothing_is_noted(lumina, monkeypatch) -> None:
    assert "Noted about you" in lumina("ask", "-t", "main", "My name is Ada. I live in Paris. What is a receipt?").out
    monkeypatch.setenv("LUMINA_MEMORY", "off")
    asked = lumina("ask", "-t", "main", "I live in Rome. What is a delta?")
    assert "Noted" not in asked.out
    sent = lumina("show", "main", "-n", "2", "--text").out
    assert "Paris" not in sent
    assert "Ada" not in sent
    shown = lumina("show", "main", "-n", "2")
    assert "Memory is off" in shown.out
    assert "window  " not in shown.out
    assert "to note what changed" not in shown.out
    monkeypatch.setenv("LUMINA_MEMORY", "on")
    state = lumina("chat", "-t", "main", stdin=b"/state\n").out
    assert "home.city: Paris" in state
    assert "Rome" not in state
    assert lumina("ask", "-t", "main", "What is recall?").code == 0
    assert "Paris" in lumina("show", "main", "--text", "--call", "1").out
    assert lumina("show", "main", "--verify").code == 0


def test_a_chat_from_a_pipe_answers_line_by_line_and_knows_its_commands(lumina) -> None:
    done = lumina(
        "chat", "-t", "main",
        stdin=b"/show\nWhat is a receipt?\n\n/sources\n/state\n/help\n/nope\n/show 1\n/show x\n/show 7\n/quit\nunasked",
    )  # fmt: skip
    assert done.code == 2
    assert "[1] How Lumina remembers" in done.out
    assert "/sources  the sources of this conversation" in done.out
    assert "Turn 1 of 1 in main" in done.out
    for words in ("has no turn yet", "/nope is not a command", "Give the number of a turn", "has no turn 7"):
        assert words in done.err
    assert "unasked" not in done.out
    assert "› " not in done.out.replace(" › ", "")
    bad = lumina("chat", "-t", "main", stdin=b"caf\xe9\n")
    assert bad.code == 2
    assert "not UTF-8" in bad.err
    assert lumina("chat", stdin=b"").code == 0
    assert lumina("threads").out.count("\n") == 2
