"""What `lumina.testing` offers, and that it costs nothing until it is used."""

import subprocess
import sys

import pytest

import lumina.testing

NAMES = [
    "Call", "Captured", "CopyingModel", "FixedClock", "Gate", "HashedWords", "ObeyingModel", "ObeyingNotes",
    "PlayedModel", "RecordedSearch", "Reply", "ScriptEnded", "ScriptedModel", "ScriptedNotes", "Thought", "page",
]  # fmt: skip


def test_the_public_names_are_these_and_each_is_there_and_documented():
    assert lumina.testing.__all__ == NAMES
    assert set(NAMES) <= set(dir(lumina.testing))
    for name in NAMES:
        assert getattr(lumina.testing, name).__doc__


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no Nothing"):
        _ = lumina.testing.Nothing


def test_a_search_and_a_clock_load_no_model_library():
    code = (
        "import sys, lumina.testing as t; t.RecordedSearch; t.FixedClock; t.Gate; t.page; "
        "import lumina.adapters.extractive as e; e.ExtractiveNotes; "
        "sys.exit('pydantic_ai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
