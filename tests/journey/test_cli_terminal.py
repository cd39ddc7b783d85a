"""What a person sees on a terminal, and what a script gets in a pipe."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from lumina.memory.receipt import as_text
from lumina.memory.turns import Message, ToolCall

# What Lumina itself writes: colours, and what readline and the progress bar need to draw a line.
OURS = re.compile(rb"\x1b\[[0-9;?]*[mKhlAGJHCDP]|[\r\n\t\x07\x08]|\x1b=|\x1b>")
EVIL = (
    "The tower \x1b[31mburns\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07 at\r nine \u202eenin\u202c. "
    "\x9b31m It has three bells."
)


def test_nothing_from_outside_reaches_the_terminal_as_a_command(terminal, lumina, tmp_path: Path) -> None:
    """CASES O4: a file's name, its title and its text, the question, the conversation's title."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "tower\x1b[2J\x1b]0;owned\x07.md").write_text(f"# Tower \x1b[41mred\n\n{EVIL}\n", encoding="utf-8")
    added = terminal("docs", "add", str(folder), "nothing\x1b[2Jhere", width=120)
    assert added.ended() == 1
    asked = terminal("ask", "-t", "main", f"What about the tower? {EVIL}", width=120)
    assert asked.ended() == 0
    assert "three bells" in asked.text
    assert "Sources" in asked.text
    shown = [
        terminal(*command, width=120) for command in (("show",), ("show", "--text"), ("threads",), ("docs", "list"))
    ]
    chat = terminal("chat", "-t", "main", width=120)
    chat.wait_for_prompt()
    chat.type("/sources\n/show\n/quit\n")
    for one in [added, asked, *shown, chat]:
        assert one.ended() in (0, 1)
        left = OURS.sub(b"", one.raw).decode("utf-8", "strict")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", left)
        if one is not chat:  # readline rings
            assert b"\x07" not in one.raw
            assert b"\x08" not in one.raw
        for taken in (b"\x1b]", b"\x1b[41m", b"\x1b[2J", b"\x1b[31mb"):
            assert taken not in one.raw


def test_a_narrow_terminal_wraps_between_words_and_no_colour_means_none(terminal) -> None:
    asked = terminal("ask", "How does Lumina remember?", width=40, height=90, NO_COLOR="1")
    assert asked.ended() == 0
    assert b"\x1b" not in asked.raw
    first = asked.text.partition("Sources")[0].splitlines()
    assert all(len(line) <= 40 for line in first)
    assert not any(line.startswith((" ", ",", ".")) for line in first)


def test_what_was_sent_is_printed_byte_for_byte_and_a_closed_pipe_ends_quietly(lumina, environment) -> None:
    question = "Zwei\u2028Zeilen \x1b[31m und 👩‍👩‍👧?"
    asked = lumina("ask", "-t", "main", question)
    assert asked.returncode == 0
    assert b"\x1b" not in asked.stdout + asked.stderr
    sent = b""
    for line in lumina("show", "--json").stdout.splitlines():
        sent += as_text(
            Message(
                role=message["role"], content=message["content"], tool_call_id=message["tool_call_id"],
                tool_calls=tuple(ToolCall(**call) for call in message["tool_calls"]),
            )
            for message in json.loads(line)["messages"]
        ).encode()  # fmt: skip
    assert question.encode() not in sent  # a model is shown control characters as a count of them
    assert lumina("show", "--text").stdout == sent

    reader, writer = os.pipe()
    os.close(reader)
    gone = subprocess.run(
        [sys.executable, "-m", "lumina", "show"], stdout=writer, stderr=subprocess.PIPE, env=environment, timeout=300
    )
    os.close(writer)
    assert gone.stderr == b""
    assert gone.returncode == 1


def test_what_the_model_saw_is_read_in_full_on_a_narrow_terminal(terminal, lumina) -> None:
    """Nothing in the account is cut: reasons are wrapped where they stand, or stand below what they explain."""
    for question in ("What is the harbour tariff?", "And how does Lumina remember it?"):
        assert lumina("ask", "-t", "main", question).returncode == 0
    reasons = ("always sent", "one of the last turns")
    for width in (80, 60):
        shown = terminal("show", "main", width=width, height=150, NO_COLOR="1")
        assert shown.ended() == 0
        assert shown.text.count("…") == shown.text.count("SHA-256")  # where a hash is shortened, and nowhere else
        lines = [line.strip() for line in shown.text.splitlines()]
        assert not any(len(line) > width for line in shown.text.splitlines())
        for reason in reasons:
            assert any(line.endswith(reason) for line in lines)
            assert (reason in lines) == (width == 60)  # in a line of its own where there is no room beside
        assert any(line.endswith("tokens free") for line in lines)
