"""The experiment that Lumina started from: a model that copies every citation it can see, held in several ways.

What is asserted is what a reader gets who follows a number. The program itself is `benchmarks/stale_citations.py`.
"""

import asyncio
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from lumina.agent.prompts import Prompts

ROOT = Path(__file__).resolve().parents[2]
BAD = ("wrong", "stale", "nowhere")
both = pytest.mark.parametrize("conversation", ["three turns", "five turns"])


@pytest.fixture(scope="module")
def experiment():
    spec = spec_from_file_location("stale_citations", ROOT / "benchmarks" / "stale_citations.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["stale_citations"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["stale_citations"]


@pytest.fixture(scope="module")
def held(experiment):
    """Conversation to way to its answers."""
    return asyncio.run(experiment.measure())


@pytest.fixture
def bad(experiment):
    """How many numbers of these answers do not lead a reader to what they stood for."""
    return lambda answers: sum(experiment.counts(answers)[verdict] for verdict in BAD)


@both
@pytest.mark.parametrize("page_takes", ["hidden, the page takes the first comment", "hidden, it takes the last one"])
def test_hidden_source_data_is_copied_and_the_page_shows_sources_of_another_turn(
    experiment, held, bad, conversation, page_takes
):
    """Whichever comment the page takes, when the model has written some of its own."""
    answers = held[conversation][page_takes]
    assert bad(answers[-1:]) > 0
    counts = experiment.counts(answers)
    assert counts["stale"] + counts["wrong"] > 0


@both
def test_with_the_hidden_data_stripped_old_numbers_are_still_copied(experiment, held, conversation):
    last = experiment.counts(held[conversation]["stripped"][-1:])
    assert last["right"] == 0
    assert last["wrong"] + last["nowhere"] > 0


def test_a_turn_that_reads_anew_gives_a_copied_number_another_source(held):
    last = held["five turns"]["stripped"][-1]
    assert [(marker.n, marker.meant, marker.got) for marker in last.markers if marker.verdict == "wrong"] == [
        (1, "https://docs.test/functools", "https://docs.test/typed"),
        (2, "https://docs.test/caching", "https://docs.test/functools"),
    ]


def test_without_the_numbers_no_old_one_comes_back_and_no_earlier_source_can_be_cited(held):
    last = held["three turns"]["stripped, numbers as well"][-1]
    assert [marker.n for marker in last.markers] == [7]  # the user's own list item, and nothing else


@both
def test_with_lumina_each_number_means_its_source_or_is_removed_and_reported(held, bad, conversation):
    answers = held[conversation]["Lumina"]
    assert bad(answers) == 0
    assert [len(answer.markers) for answer in answers] == {"three turns": [2, 3, 3], "five turns": [2, 2, 3, 3, 4]}[
        conversation
    ]
    assert [answer.removed for answer in answers] == {
        "three turns": [["[12]"], [], ["[7]"]],  # a page's own footnote; an item of the user's list
        "five turns": [["[12]"], [], [], [], ["[12]"]],
    }[conversation]


def test_the_instructions_show_no_number_that_a_model_could_copy(experiment):
    """An example such as [3] is a citation in view, and passes every check once the thread has three sources."""
    assert experiment.numbers(Prompts().instructions("2026-11-30")) == []


def test_cut_first_and_messages_are_lost_and_pieces_are_left(experiment):
    rows = experiment.order()
    sent = rows["messages sent of 6, cleaning drops two"]
    assert (sent["cut, then clean"], sent["clean, then cut"]) == (4, 6)
    for form in ("cuts that leave a piece, comment", "cuts that leave a piece, reasoning and token"):
        assert rows[form]["cut, then clean"] > 0
        assert rows[form]["clean, then cut"] == 0


def test_the_tables_in_the_docs_are_what_the_command_prints(experiment, held):
    lines = (ROOT / "docs" / "why" / "stale-citations.md").read_text(encoding="utf-8").splitlines()
    printed = [*experiment.table(held).splitlines(), *experiment.order_table().splitlines()]
    assert [line for line in printed if line not in lines] == []
