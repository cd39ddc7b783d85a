"""`lumina serve` as a process: it says where it is, answers, and ends without losing anything."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from lumina.server.serving import check_host
from support.serving import JSON, told

COMMAND = [sys.executable, "-m", "lumina", "serve", "--port", "0"]
SLOW = [
    sys.executable,
    "-c",
    """
from lumina import wiring
from lumina.testing import Gate, Reply, ScriptedModel, ScriptedNotes
wiring.note_taker = lambda model: ScriptedNotes()
wiring.find_model = lambda name, **more: ScriptedModel([Reply("It ", "keeps ", "up to ", Gate(), "never")])
from lumina.cli.main import run
run()
""",
    "serve",
    "--port",
    "0",
]


@pytest.fixture
def started(environment) -> Iterator[Callable[..., tuple[subprocess.Popen[str], httpx2.Client]]]:
    running = []

    def start(command: list[str] = COMMAND):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        http = httpx2.Client(base_url=address, trust_env=False, timeout=300, headers=JSON)
        running.append((process, http))
        return process, http

    yield start
    for process, http in running:
        http.close()
        if process.poll() is None:
            process.kill()
        process.communicate()


def asked(http: httpx2.Client, question: str) -> tuple[str, dict]:
    thread = http.post("/api/threads", json={}).json()["id"]
    answer = http.post(f"/api/threads/{thread}/turns", json={"question": question, "client_id": "one"})
    assert answer.status_code == 202, answer.text
    return thread, answer.json()


def test_a_question_is_answered_from_the_documentation_with_its_sources(started):
    process, http = started()
    thread, turn = asked(http, "What is a receipt?")
    events = [data for _, data in told(http.get(turn["events"]).content)]
    assert events[-1]["kind"] == "turn.finished"
    shown = http.get(f"/api/threads/{thread}/turns/1").json()
    assert shown["status"] == "complete"
    assert shown["citations"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def test_s3_when_it_is_ended_a_running_answer_is_kept_as_partial_and_read_by_the_next_process(started):
    process, http = started(SLOW)
    thread, turn = asked(http, "How large?")
    with http.stream("GET", turn["events"]) as response:
        body = b""
        for piece in response.iter_raw():
            body += piece
            if b"up to" in body and process.poll() is None:
                process.send_signal(signal.SIGTERM)
    assert told(body)[-1][1] | {"seq": 0} == {
        "kind": "turn.finished", "seq": 0, "thread": thread, "turn": 1, "status": "partial", "reason": "stopped",
        "searched": "not needed", "usage": told(body)[-1][1]["usage"],
    }  # fmt: skip
    process.wait(300)
    _, again = started()
    shown = again.get(f"/api/threads/{thread}/turns/1").json()
    assert (shown["status"], shown["answer"].strip()) == ("partial", "It keeps up to")
    assert again.get(turn["events"]).content == body


def test_a_killed_server_leaves_the_turn_as_interrupted_for_the_next_one(started):
    process, http = started(SLOW)
    thread, turn = asked(http, "How large?")
    body = b""
    with http.stream("GET", turn["events"]) as response:
        pieces = response.iter_raw()
        while b"up to" not in body:
            body += next(pieces)
        process.kill()
    _, again = started()
    again.post(f"/api/threads/{thread}/turns", json={"question": "And now?", "client_id": "two"})
    shown = again.get(f"/api/threads/{thread}/turns/1").json()
    assert (shown["status"], shown["reason"], shown["answer"].strip()) == ("partial", "interrupted", "It keeps up to")
    events = again.get(turn["events"]).content
    assert events.startswith(body[: body.rfind(b"\n\n") + 2])
    assert told(events)[-1][1]["status"] == "partial"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "example.org", "127.0.0.1.nip.io", ""])
def test_a3_it_refuses_to_listen_where_others_could_reach_it(lumina, host):
    done = lumina("serve", "--host", host)
    assert done.returncode == 2
    assert b"has no login" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "::1", "[::1]", "localhost"])
def test_a3_loopback_needs_no_login(host):
    check_host(host)


def test_a_port_that_is_taken_is_said(lumina):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = lumina("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert b"cannot be listened on" in done.stderr


def test_ctrl_c_ends_it_and_the_database_is_closed(started, environment):
    process, http = started()
    asked(http, "What is a receipt?")
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(300) == 130
    home = Path(environment["LUMINA_HOME"])
    assert (home / "lumina.db").exists()
    assert not (home / "lumina.db-wal").exists(), "whoever closes a database last removes its log"


def test_who_asks_for_a_websocket_gets_an_answer_as_if_it_had_not(started):
    _, http = started()
    upgrade = {
        "connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    answer = http.get("/api/threads", headers=upgrade)
    assert (answer.status_code, answer.json()) == (200, [])
