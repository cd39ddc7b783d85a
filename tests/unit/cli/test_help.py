"""What a person reads who asks the command line for help, on a terminal of 80 columns."""

import pytest


@pytest.mark.parametrize("group", [[], ["docs"], ["state"], ["forget"]])
def test_help_says_what_each_command_does_without_cutting_it_off(lumina, monkeypatch, group: list[str]):
    monkeypatch.setenv("COLUMNS", "80")
    listed = lumina(*group, "--help").out.partition("Commands:\n")[2].splitlines()
    assert len(listed) > 2
    assert [line for line in listed if line.endswith("...")] == []


def test_help_lists_what_one_needs_first_at_the_top(lumina):
    listed = lumina("--help").out.partition("Commands:\n")[2].splitlines()
    names = [line.split()[0] for line in listed if line[2:3].strip()]
    assert names[:3] == ["ask", "chat", "docs"]
    assert names[-1] == "eval"


def test_the_scenarios_of_eval_are_told_whole_on_a_narrow_terminal(lumina, monkeypatch):
    monkeypatch.setattr("lumina.cli.screen.measure", lambda: 60)
    listed = lumina("eval", "--list").out
    assert "…" not in listed
    assert max(map(len, listed.splitlines())) <= 80
    assert "when does recall fire?" in " ".join(listed.split())
