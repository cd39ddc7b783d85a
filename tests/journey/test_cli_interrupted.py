"""Ctrl-C, and a process that is killed: what has arrived is kept, and is told as what it is."""

import json
import signal


def test_ctrl_c_keeps_what_has_arrived_and_a_kill_is_found_at_the_next_open(terminal, lumina) -> None:
    asked = terminal("ask", "-t", "main", "How much does it keep?", slow=True)
    asked.wait_for("It keeps up")
    asked.type("\x03")
    assert asked.ended() == 130
    assert "stopped" in asked.text
    assert "what arrived is kept" in asked.text

    killed = terminal("ask", "-t", "main", "And now?", slow=True)
    killed.wait_for("It keeps up")
    killed.process.send_signal(signal.SIGKILL)
    assert killed.ended() == -signal.SIGKILL

    shown = lumina("show", "main", "--json")
    assert shown.returncode == 0, shown.stderr
    turn = json.loads(shown.stdout.splitlines()[0])
    assert (turn["turn"], turn["status"], turn["reason"]) == (2, "partial", "interrupted")
    first = lumina("show", "main", "-n", "1").stdout.decode()
    assert "stopped here (stopped)" in first

    chat = terminal("chat", "-t", "main")
    chat.wait_for("The last answer is not complete (interrupted)")
    chat.type("/show\n")
    chat.wait_for("stopped here (interrupted)")
    chat.type("/quit\n")
    assert chat.ended() == 0


def test_a_second_ctrl_c_leaves_at_once(terminal, environment) -> None:
    stuck = terminal("ask", "x", slow=True, STOP_HANGS="1")
    stuck.wait_for("It keeps up")
    stuck.type("\x03")
    stuck.wait_for("Ctrl-C again leaves at once")  # two signals at one time would be one
    stuck.type("\x03")
    assert stuck.ended() == 130


def test_in_a_chat_ctrl_c_stops_the_answer_and_at_the_prompt_drops_the_line(terminal, lumina) -> None:
    chat = terminal("chat", "-t", "main", slow=True)
    chat.wait_for_prompt()
    chat.type("half a quest\x03")
    chat.wait_for("Ctrl-D or /quit leaves.")
    chat.type("How much?\n")
    chat.wait_for("It keeps up")
    chat.type("\x03")
    chat.wait_for("what arrived is kept")
    chat.wait_for_prompt()
    chat.type("\x04")
    assert chat.ended() == 0
    assert "Traceback" not in chat.raw.decode()
    assert b"1 turn," in lumina("show", "main", "--verify").stdout
