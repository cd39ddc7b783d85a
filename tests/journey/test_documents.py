"""A folder of HTML becomes answers: added, asked, asked on, asked in other words, added again.

`tests/data/tinbox` is the documentation of a library that does not exist: what is answered can only come from there.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lumina.cli.main import carry_out

TINBOX = Path(__file__).resolve().parents[1] / "data" / "tinbox"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command in this process, on a data folder of its own; what it printed."""
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path / "home"))

    def command(*arguments: str) -> str:
        assert carry_out(list(arguments)) == 0
        return capfd.readouterr().out

    return command


@pytest.fixture
def folder(tmp_path: Path, run: Callable[..., str]) -> Path:
    """A copy of the documentation, added."""
    copy = tmp_path / "tinbox"
    shutil.copytree(TINBOX, copy)
    report = json.loads(run("docs", "add", str(copy), "--json"))
    assert len(report["added"]) == len(list(TINBOX.iterdir())) - len(report["skipped"])
    return copy


class Answer:
    """What a turn's events say, as a reader of `--json` sees it."""

    def __init__(self, printed: str) -> None:
        events = [json.loads(line) for line in printed.splitlines()]
        self.text = "".join(event["text"] for event in events if event["kind"] == "text")
        pages = {event["n"]: event["url"].rpartition("/")[2] for event in events if event["kind"] == "source"}
        citations = [event for event in events if event["kind"] == "citation"]
        self.cited = [pages[event["n"]] for event in sorted(citations, key=lambda event: event["position"])]
        self.passages = [event["passage"] for event in citations]
        self.status = events[-1]["status"]


@pytest.mark.parametrize(
    ("question", "page", "words"),
    [
        ("What does store.compact do?", "store.html", "drop the space of deleted ones"),
        ("How do I check a box?", "command.html", "tinbox check letters.box"),
        ("What is the difference between sealing and locking?", "faq.html", "Sealing is for ever and for everybody"),
        ("How large can a box be?", "faq.html", "four gigabytes"),
        ("What does the keep_order argument of store.compact do?", "store.html", "order in which they were added"),
    ],
)
def test_a_question_in_the_pages_words_is_answered_from_the_right_page(run, folder, question, page, words):
    answer = Answer(run("ask", "--json", question))
    assert answer.status == "complete"
    assert answer.cited[0] == page
    assert words in " ".join(answer.text.split())


def test_a_follow_up_is_answered_from_what_it_leans_on_and_alone_it_is_not(run, folder):
    first = Answer(run("ask", "--json", "--thread", "memo", "What does cache.memo do?"))
    assert first.cited[0] == "cache.html"
    assert "keeps the last" in first.text
    on = Answer(run("ask", "--json", "--thread", "memo", "and can I clear it?"))
    assert on.cited[0] == "cache.html"
    assert "cache_clear()" in on.text + " ".join(on.passages)
    alone = Answer(run("ask", "--json", "--thread", "other", "and can I read it?"))
    assert "cache.html" not in alone.cited


def test_a_question_in_other_words_than_the_pages_is_not_answered_as_if_it_were_known(run, folder):
    answer = Answer(run("ask", "--json", "Can several people scribble concurrently?"))
    assert answer.status == "complete"
    assert answer.text.startswith(("I found no direct answer to this.", "I found nothing about this"))


def test_adding_again_reads_only_what_changed_and_answers_change_with_it(run, folder):
    again = json.loads(run("docs", "add", str(folder), "--json"))
    assert not again["added"]
    assert not again["changed"]
    page = folder / "faq.html"
    page.write_text(page.read_text(encoding="utf-8").replace("four gigabytes", "nine gigabytes"), encoding="utf-8")
    once_more = json.loads(run("docs", "add", str(folder), "--json"))
    assert once_more["changed"] == [str(page)]
    assert once_more["unchanged"] == again["unchanged"] - 1
    assert "nine gigabytes" in Answer(run("ask", "--json", "How large can a box be?")).text


def test_what_is_removed_is_no_longer_answered_from(run, folder):
    run("docs", "remove", str(folder / "faq.html"))
    assert "faq.html" not in Answer(run("ask", "--json", "How large can a box be?")).cited
