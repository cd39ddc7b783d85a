"""`lumina prompts`: which are there, whose they are, and how one is replaced."""

import json

from lumina.memory.note import system_text


def test_prompts_are_listed_copied_edited_and_used(lumina, home):
    listed = lumina("prompts")
    assert [line.split()[:2] for line in listed.out.splitlines()] == [["answer", "Lumina's"], ["note", "Lumina's"]]
    path = home / "prompts" / "note.md"
    assert str(path) in lumina("prompts", "copy", "note").out
    assert path.read_text(encoding="utf-8") == system_text()
    again = lumina("prompts", "copy", "note")
    assert (again.code, "left as it is" in again.err) == (2, True)
    path.write_text(system_text() + "Mine.\n", encoding="utf-8")
    assert lumina("prompts", "show", "note").out == system_text() + "Mine.\n"
    assert lumina("prompts", "show", "note", "--default").out == system_text()
    rows = [json.loads(line) for line in lumina("prompts", "--json").out.splitlines()]
    assert [(row["name"], row["own"]) for row in rows] == [("answer", False), ("note", True)]


def test_a_broken_prompt_and_a_file_that_is_none_are_named(lumina, home):
    (home / "prompts").mkdir(parents=True)
    (home / "prompts" / "answer.md").write_text("Be brief.", encoding="utf-8")
    (home / "prompts" / "anwser.md").write_text("Be brief.", encoding="utf-8")
    listed = lumina("prompts")
    assert listed.code == 2
    assert "answer.md does not mention {day}" in listed.err
    assert "Not used" in listed.err
    assert "anwser.md" in listed.err
    asked = lumina("ask", "What is Lumina?")
    assert (asked.code, "answer.md does not mention" in asked.err) == (2, True)
    assert lumina("threads").out.count("\n") <= 1


def test_an_unknown_prompt_is_told_what_there_is(lumina):
    assert "There are: answer, note" in lumina("prompts", "show", "nothing").err
