"""`lumina eval`: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest


def test_eval_lists_its_scenarios_and_what_they_read(lumina):
    done = lumina("eval", "--list")
    assert done.code == 0
    assert "evidence" in done.out
    assert "Schema-Guided Dialogue" in done.out
    rows = [json.loads(line) for line in lumina("eval", "--list", "--json").out.splitlines()]
    assert [row["scenario"] for row in rows][:2] == ["evidence", "stale"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval"], "Which scenario?"),
        (["eval", "nothing"], "There is no scenario 'nothing'"),
        (["eval", "evidence"], "Nothing is downloaded"),
        (["eval", "evidence", "nowhere.json"], "There is no file or folder nowhere.json"),
        (["eval", "evidence", "x.json", "--budget", "lots"], "--budget takes whole numbers"),
        (["eval", "isolation", "--store", "paper"], "--store is memory or sqlite"),
    ],
)
def test_a_wrong_call_of_eval_is_told_in_a_line_and_ends_with_2(lumina, arguments: list[str], said: str):
    done = lumina(*arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


def test_a_report_is_a_table_with_what_was_wanted_and_one_object_as_json(lumina, tmp_path: Path):
    path = tmp_path / "own.jsonl"
    messages = [{"id": "m1", "role": "user", "text": "My kayak is red.\x1b[2J"}, {"role": "assistant", "text": "Nice."}]
    questions = [{"question": "Which colour has my kayak?", "evidence": ["m1"]}]
    path.write_text(json.dumps({"messages": messages, "questions": questions}), encoding="utf-8")
    done = lumina("eval", "evidence", str(path), "--budget", "500", "--processes", "1")
    assert done.code == 0
    assert "Lumina, recall alone" in done.out
    assert "500 tokens" in done.out
    assert "\x1b" not in done.out
    report = json.loads(lumina("eval", "evidence", str(path), "--budget", "500", "--processes", "1", "--json").out)
    assert report["tables"][0]["rows"][0] == {"what is sent": "last 20 messages", "500 tokens": 100.0}


def test_a_broken_promise_ends_with_1(lumina, tmp_path: Path):
    """A script whose facts nobody ever said."""
    turns = [{"turn": n, "day": "2026-01-01", "question": "What is it?", "answer": "So.", "asks": ["a.b"],
              "facts": {"a.b": "Heron-1"}} for n in (1, 2)]  # fmt: skip
    path = tmp_path / "script.jsonl"
    path.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    done = lumina("eval", "conservation", str(path))
    assert done.code == 1
    assert "BROKEN" in done.out
