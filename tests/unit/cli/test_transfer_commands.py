"""Exports and imports as people make them."""

import json
from pathlib import Path

import pytest


def ask(lumina, *questions: str, thread: str = "main") -> None:
    for question in questions:
        assert lumina("ask", "-t", thread, question).code == 0


def test_an_export_elsewhere_verifies_and_exports_the_same_bytes(
    lumina, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DEMAND Memory 31: what the model saw renders again, byte for byte, in another instance with another secret."""
    ask(lumina, "I live in Paris. How does Lumina remember?", "What is a receipt?")
    ask(lumina, "And what is a delta?", thread="second")
    first, one, again = tmp_path / "all.jsonl", tmp_path / "one.jsonl", tmp_path / "again.jsonl"
    told = lumina("export", "--all", "-o", str(first))
    assert (told.code, told.out) == (0, f"2 conversations with 3 turns written to {first}.\n")
    assert lumina("export", "second", "-o", str(one)).code == 0
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path / "elsewhere"))
    checked = lumina("import", str(first), "--dry-run", "--json")
    assert json.loads(checked.out)["turns"] == 3
    assert lumina("threads").out == ""
    assert "2 conversations with 3 turns imported: main, second" in lumina("import", str(first)).out
    for thread in ("main", "second"):
        shown = lumina("show", thread, "--verify")
        assert (shown.code, "all the same, byte for byte" in shown.out) == (0, True)
    assert lumina("export", "--all", "-o", str(again)).code == 0
    assert again.read_bytes() == first.read_bytes()
    refused = lumina("import", str(first))
    assert refused.code == 2
    assert "is here already" in refused.err
    assert "0 conversations" in lumina("import", str(first), "--skip").out
    assert lumina("import", str(one), "--as", "third").code == 0
    assert lumina("show", "third", "--verify").code == 0
    assert list(tmp_path.glob("*.part")) == []


def test_an_export_goes_through_a_pipe(lumina, tmp_path: Path) -> None:
    ask(lumina, "How does Lumina remember?")
    file = lumina("export").out.encode()
    assert lumina("import", "-", "--as", "copy", stdin=file).code == 0
    bad = lumina("import", "-", "--as", "other", stdin=file.replace(b"remember", b"remembrr", 1))
    assert bad.code == 2
    assert "of the file: " in bad.err
    assert "Nothing was imported" in bad.err


def test_markdown_has_the_numbers_of_the_page_and_no_internal_marker(lumina, tmp_path: Path) -> None:
    """DEMAND (CherryHQ #19898, SaveMyPhind #251): no marker in what is exported, and the page's own numbers."""
    ask(lumina, "How does Lumina remember?")
    text = lumina("export", "--format", "markdown").out
    assert text.startswith("# ")
    assert "\n## How does Lumina remember?\n" in text
    assert "\n## Sources\n\n[1] " in text
    assert "<memory" not in text
    assert "SOURCES:" not in text
    rows = [json.loads(line) for line in lumina("export").out.splitlines()]
    answer = next(row["answer"] for row in rows if row["kind"] == "turn")
    assert answer.strip() in text
    for n in {row["n"] for row in rows if row["kind"] == "citation"}:
        assert f"\n[{n}] " in text


def test_what_an_earlier_program_hid_in_its_answers_becomes_sources_once(lumina, tmp_path: Path) -> None:
    hidden = '<!--SOURCES:[{"url":"https://a.example/x","title":"A"},{"url":"javascript:alert(1)"}]-->'
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why? " + hidden},
        {"role": "assistant", "content": "Because [1][2], not `a[1]`. " + hidden},
        {"role": "user", "content": "And?"},
        {"role": "user", "content": "Well?"},
        {"role": "assistant", "content": 'So [1]. <!--SOURCES:[{"url":"https://b.example/"}]-->'},
    ]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    report = json.loads(lumina("import", str(path), "--json").out)
    assert (report["turns"], report["sources"], report["markers"]) == (2, 2, 2)
    assert sorted({change["what"] for change in report["changes"]}) == ["dropped", "left as text", "merged"]
    rows = [json.loads(line) for line in lumina("export", "old").out.splitlines()]
    turns = [row for row in rows if row["kind"] == "turn"]
    assert [turn["answer"] for turn in turns] == ["Because [1][2], not `a[1]`.", "So [2]."]
    assert [turn["cited"] for turn in turns] == [[1], [2]]
    assert turns[0]["question"] == "Why? " + hidden
    assert turns[1]["question"] == "And?\n\nWell?"
    assert [row["url"] for row in rows if row["kind"] == "source"] == ["https://a.example/x", "https://b.example/"]
    again = lumina("ask", "-t", "old", "What is a receipt?")
    assert again.code == 0
    assert "[3]" in again.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "main", "--all"], "not both"),
        (["export", "--json"], "give -o FILE"),
        (["export", "nothing"], "There is no conversation"),
        (["import", "nothing.json"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_said(lumina, arguments: list[str], said: str) -> None:
    done = lumina(*arguments)
    assert done.code in (1, 2)
    assert said in done.err


@pytest.mark.parametrize("output", ["", ".", "/"])
def test_a_folder_is_no_file_to_export_to(lumina, output: str) -> None:
    lumina("ask", "-t", "main", "What is a receipt?")
    done = lumina("export", "main", "-o", output)
    assert done.code == 2
    assert "is a folder, not a file to write to" in done.err
    assert "Nothing was exported" in done.err
