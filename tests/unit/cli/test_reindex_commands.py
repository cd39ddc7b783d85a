"""`lumina reindex` as it is used, with the local model."""

import json
import sqlite3
from contextlib import closing

import pytest


def stored(home, query: str) -> list[tuple]:
    with closing(sqlite3.connect(home / "lumina.db")) as connection:
        return connection.execute(query).fetchall()


def test_vectors_are_made_for_what_was_said_before(lumina, home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lumina("ask", "-t", "main", "How does Lumina remember?").code == 0
    assert stored(home, "SELECT count(*) FROM vectors") == [(0,)]
    refused = lumina("reindex")
    assert refused.code == 2
    assert "No embedder is set" in refused.err

    monkeypatch.setenv("LUMINA_EMBEDDER", "minilm")
    (count,) = stored(home, "SELECT count(*) FROM passages")[0]
    done = lumina("reindex")
    assert done.code == 0
    assert done.out == f"{count} vectors made by minilm-l6-v2-int8/384; 0 were there already.\n"
    assert stored(home, "SELECT DISTINCT embedder, length(vector) FROM vectors") == [("minilm-l6-v2-int8/384", 1536)]
    again = json.loads(lumina("reindex", "--json").out)
    assert again == {"embedder": "minilm-l6-v2-int8/384", "made": 0, "there": count, "refused": [],
                     "threads_with_words_indexed": 0}  # fmt: skip


def test_a_turn_has_its_vectors_when_the_command_ends(lumina, home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_EMBEDDER", "minilm")
    monkeypatch.setattr("lumina.agent.search_agent.CLOSING_SECONDS", 60)  # however slow the machine of this test is
    assert lumina("ask", "-t", "main", "How does Lumina remember?").code == 0
    assert stored(home, "SELECT count(*) FROM vectors") == stored(home, "SELECT count(*) FROM passages")


def test_a_damaged_word_index_is_written_anew(lumina, home) -> None:
    assert lumina("ask", "-t", "main", "How does Lumina remember zebras?").code == 0
    find = "SELECT count(*) FROM turn_words WHERE turn_words MATCH 'zebra'"
    (held,) = stored(home, find)[0]
    assert held
    for damage in ("DELETE FROM turn_words", "DELETE FROM turn_words_data WHERE id > 10"):
        with closing(sqlite3.connect(home / "lumina.db")) as connection, connection:
            connection.execute(damage)
        done = lumina("reindex", "--words")
        assert (done.code, done.out) == (0, "The word index of 1 conversation was written anew.\n"), done
        assert stored(home, find) == [(held,)]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("mini", "LUMINA_EMBEDDER is 'mini'"),
        ("openai", "LUMINA_EMBEDDER is 'openai'"),
        ("none:x", "LUMINA_EMBEDDER is 'none:x'"),
        ("openai:text-embedding-3-small", "OPENAI_API_KEY"),
        ("openai:nobody/knows", "How many dimensions has nobody/knows?"),
        ("minilm:/nowhere", "/nowhere is not there"),
    ],
)
def test_an_embedder_that_cannot_be_used_is_told_before_anything_is_done(
    lumina, home, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("LUMINA_EMBEDDER", value)
    for command in (("reindex",), ("ask", "What is a receipt?")):
        done = lumina(*command)
        assert done.code == 2
        assert said in done.err


def test_an_address_that_is_none_is_refused(lumina, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_EMBEDDER_URL", "localhost:1234")
    assert "LUMINA_EMBEDDER_URL is 'localhost:1234'" in lumina("reindex").err
