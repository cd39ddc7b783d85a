"""The experiment that Lumina started from: a model that copies every citation it can see, held in four ways.

What is asserted is what a reader gets who follows a number. The program itself is `benchmarks/stale_citations.py`.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from lumina.agent.prompts import instructions

PLACE = Path(__file__).resolve().parents[2] / "benchmarks" / "stale_citations.py"
CONVERSATIONS = ["three turns", "five turns"]
BAD = ("wrong", "stale", "nowhere")


@pytest.fixture(scope="module")
def experiment():
    spec = spec_from_file_location("stale_citations", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["stale_citations"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["stale_citations"]


async def the_old_way(experiment: ModuleType, conversation: str, way: str) -> list:
    return await experiment.hold_the_old_way(experiment.CONVERSATIONS[conversation], *experiment.OLD_WAYS[way])


def bad(experiment: ModuleType, answers: list) -> int:
    counts = experiment.counts(answers)
    return sum(counts[verdict] for verdict in BAD)


@pytest.mark.parametrize("page_takes", ["hidden, the page takes the first comment", "hidden, it takes the last one"])
@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_hidden_source_data_is_copied_and_the_page_shows_sources_of_another_turn(
    experiment, conversation, page_takes
):
    """Whichever comment the page takes, when the model has written some of its own."""
    answers = await the_old_way(experiment, conversation, page_takes)
    assert bad(experiment, answers[-1:]) > 0
    counts = experiment.counts(answers)
    assert counts["stale"] + counts["wrong"] > 0


@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_with_the_hidden_data_stripped_old_numbers_are_still_copied(experiment, conversation):
    answers = await the_old_way(experiment, conversation, "stripped")
    last = experiment.counts(answers[-1:])
    assert last["right"] == 0
    assert last["wrong"] + last["nowhere"] > 0


async def test_a_turn_that_reads_anew_gives_a_copied_number_another_source(experiment):
    answers = await the_old_way(experiment, "five turns", "stripped")
    wrong = [(marker.n, marker.meant, marker.got) for marker in answers[-1].markers if marker.verdict == "wrong"]
    assert wrong == [
        (1, "https://docs.test/functools", "https://docs.test/typed"),
        (2, "https://docs.test/caching", "https://docs.test/functools"),
    ]


async def test_without_the_numbers_no_old_one_comes_back_and_no_earlier_source_can_be_cited(experiment):
    answers = await the_old_way(experiment, "three turns", "stripped, numbers as well")
    assert [marker.n for marker in answers[-1].markers] == [7]  # the user's own list item, and nothing else


@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_with_lumina_each_number_means_its_source_or_is_removed_and_reported(experiment, conversation, tmp_path):
    answers = await experiment.hold_with_lumina(experiment.CONVERSATIONS[conversation], tmp_path / "lumina.db")
    assert bad(experiment, answers) == 0
    assert [len(answer.markers) for answer in answers] == {"three turns": [2, 3, 3], "five turns": [2, 2, 3, 3, 4]}[
        conversation
    ]
    assert [answer.removed for answer in answers] == {
        "three turns": [["[12]"], [], ["[7]"]],  # a page's own footnote; an item of the user's list
        "five turns": [["[12]"], [], [], [], ["[12]"]],
    }[conversation]


def test_the_instructions_show_no_number_that_a_model_could_copy(experiment):
    """An example such as [3] is a citation in view, and a right-looking one as soon as the thread has three sources."""
    assert experiment.numbers(instructions("2026-11-30")) == []


def test_cut_first_and_messages_are_lost_and_pieces_are_left(experiment):
    rows = experiment.order()
    sent = rows["messages sent of 6, cleaning drops two"]
    assert (sent["cut, then clean"], sent["clean, then cut"]) == (4, 6)
    for form in ("cuts that leave a piece, comment", "cuts that leave a piece, reasoning and token"):
        assert rows[form]["cut, then clean"] > 0
        assert rows[form]["clean, then cut"] == 0
