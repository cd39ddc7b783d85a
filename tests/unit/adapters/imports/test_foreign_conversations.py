"""Conversations of other programs: what becomes of each message, and what the report says of the rest."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from lumina.adapters.imports.as_lines import NO_QUESTION, as_file
from lumina.adapters.imports.chatgpt import read_chatgpt
from lumina.adapters.imports.legacy_sources import canonical, rewrite, take_sources
from lumina.adapters.imports.openai_messages import read_openai
from lumina.memory.errors import UsageError
from lumina.memory.scope import SubjectScope
from lumina.memory.thread import Thread
from lumina.memory.transfer import import_from
from lumina.stores.in_memory import InMemoryStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ME = SubjectScope(tenant="local", subject="me")


def lines_of(read: Any, zone: str = "UTC") -> list[dict[str, Any]]:
    raw, _ = as_file(read, zone=zone, now=NOW, deltas=True)
    return [json.loads(line) for line in raw.splitlines()]


def turns_of(read: Any, zone: str = "UTC") -> list[dict[str, Any]]:
    return [row for row in lines_of(read, zone) if row["kind"] == "turn"]


def hidden(*rows: object) -> str:
    return f"<!--SOURCES:{json.dumps(rows)}-->"


# Markers and lists


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [1] b", "a [7] b"),
        ("[1][2]", "[7][8]"),
        ("[1, 2]", "[7][8]"),
        ("\u30101\u3011", "[7]"),
        ("\uff3b\uff12\uff3d", "[8]"),
        ("[3] [1, 3] [0]", "[3] [1, 3] [0]"),
        ("`[1]` and ``x[1]``", "`[1]` and ``x[1]``"),
        ("```\na[1]\n```\n[1]", "```\na[1]\n```\n[7]"),
        ("[1](https://a.example) [x](https://a.example/[1])", "[1](https://a.example) [x](https://a.example/[1])"),
        ("[1]: https://a.example", "[1]: https://a.example"),
        ("[sic] [x] [12:30]", "[sic] [x] [12:30]"),
    ],
)
def test_exactly_the_markers_that_the_list_defines_are_rewritten(text: str, expected: str) -> None:
    found = rewrite(text, {1: 7, 2: 8})
    assert found.text == expected
    for n, position in found.cited:
        assert found.text[position:].startswith(f"[{n}]")


@pytest.mark.parametrize(
    "text",
    [
        "x <!--SOURCES:[{]-->",
        "x <!--SOURCES:7-->",
        "x <!--SOURCES:[1]-->",
        "x <!--SOURCES:[]--> and on",
        "x <!--SOURCES:" + "[" * 100_000 + "-->",
    ],
)
def test_a_list_that_is_not_well_formed_stays_text_and_is_reported(text: str) -> None:
    taken = take_sources(text)
    assert taken.answer == text
    assert len(taken.problems) == 1


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "\tjava\nscript:alert(1)", "https:evil.com", "//a.example", "",
     "http://evil.com\\@good.org/", "http://a@b.example/", "https://a.example/\x00", "ftp://a.example/", None, 7],
)  # fmt: skip
def test_o2_only_absolute_http_addresses_become_sources(url: object) -> None:
    assert canonical(url) is None
    assert take_sources("x [1]" + hidden({"url": url})).listed == ()


def test_one_address_is_one_source() -> None:
    assert canonical("HTTPS://A.example:443#part") == canonical("https://a.example/") == "https://a.example/"


def test_c5_the_same_number_of_two_answers_may_be_two_sources_and_the_same_source_one_number() -> None:
    a, b = {"url": "https://a.example/", "title": "A"}, {"url": "https://b.example/", "title": "B", "snippet": "Bees."}
    read = read_openai(
        json.dumps([
            {"role": "user", "content": "1"}, {"role": "assistant", "content": "x [1] y [2]" + hidden(a, b)},
            {"role": "user", "content": "2"}, {"role": "assistant", "content": "x [1] y [2]" + hidden(b, a)},
        ]),
        "old",
    )  # fmt: skip
    assert [turn["answer"] for turn in turns_of(read)] == ["x [1] y [2]", "x [2] y [1]"]
    assert [row["title"] for row in lines_of(read) if row["kind"] == "source"] == ["A", "B"]


# Forms


def test_openai_messages_keep_tool_calls_and_report_what_is_no_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    read = read_openai(
        json.dumps([
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "a cat \ud800"},
            {"role": "assistant", "content": "A cat."},
            {"role": "user", "content": "And this?"},
        ]),
        "chat",
    )  # fmt: skip
    turns = turns_of(read)
    assert [(turn["question"], turn["answer"], turn["status"]) for turn in turns] == [
        (NO_QUESTION, "Hello!", "complete"),
        ("What is it?\n[image: not imported]", "A cat.", "complete"),
        ("And this?", "", "failed"),
    ]
    assert [message["role"] for message in turns[1]["exchanges"]] == ["assistant", "tool"]
    assert sorted(change.what for change in read.changes) == ["replaced", "replaced", "replaced"]


def test_several_conversations_in_lines_or_in_a_list_get_names() -> None:
    one = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    for raw in (
        json.dumps([one, one]),
        "\n".join(json.dumps({"messages": one, "title": "T"}) for _ in "12"),
        json.dumps([{"messages": one}, {"messages": one}]),
    ):
        assert [c.name for c in read_openai(raw, "chat").conversations] == ["chat", "chat-2"]
    lines = "\n".join(map(json.dumps, one))
    assert len(turns_of(read_openai(lines, "chat"))) == 1


def node(
    id: str, parent: str | None, role: str, *parts: object, at: float = 1764500000.0, **about: Any
) -> dict[str, Any]:
    message = {
        "author": {"role": role}, "create_time": at, "content": {"content_type": "text", "parts": list(parts)},
        "metadata": about,
    }  # fmt: skip
    return {"id": id, "parent": parent, "message": message}


def test_chatgpts_tree_gives_the_path_that_was_shown() -> None:
    mapping = {
        "r": {"id": "r", "parent": None, "message": None},
        "s": node("s", "r", "system", "", is_visually_hidden_from_conversation=True),
        "q": node("q", "s", "user", "Why?", {"content_type": "image_asset_pointer"}, at=1764543600.0),
        "a1": node("a1", "q", "assistant", "No."),
        "a2": node("a2", "q", "assistant", "Because."),
    }
    raw = json.dumps([{"id": "abc", "title": "T", "create_time": 2.0, "current_node": "a2", "mapping": mapping}])
    read = read_chatgpt(raw)
    (turn,) = turns_of(read, "Asia/Tokyo")
    assert (turn["question"], turn["answer"]) == ("Why?\n[image: not imported]", "Because.")
    assert turn["day"] == "2025-12-01"  # 23:00 UTC on the day before
    assert [(c.what, c.message) for c in read.changes] == [("dropped", 2), ("replaced", 3), ("left out", 0)]


@pytest.mark.parametrize("raw", ["", "{", "[]", "7", '[{"mapping":7}]', "[" * 100_000, '[{"a":1}]'])
def test_what_is_no_conversation_is_refused(raw: str) -> None:
    for read in (read_chatgpt, lambda text: read_openai(text, "x")):
        with pytest.raises(UsageError, match=r"Nothing was imported|No conversation"):
            as_file(read(raw), zone="UTC", now=NOW, deltas=True)


def test_a_circle_in_the_tree_ends() -> None:
    mapping = {"a": node("a", "b", "user", "x"), "b": node("b", "a", "assistant", "y")}
    (turn,) = turns_of(read_chatgpt(json.dumps([{"id": "c", "current_node": "b", "mapping": mapping}])))
    assert (turn["question"], turn["answer"]) == ("x", "y")


async def test_an_imported_conversation_has_a_window_and_recall_at_once() -> None:
    rows = []
    for n in range(30):
        rows += [{"role": "user", "content": f"Question {n}: the zebra was {n} years old."},
                 {"role": "assistant", "content": f"Noted, {n}."}]  # fmt: skip
    raw, _ = as_file(read_openai(json.dumps(rows), "chat"), zone="UTC", now=NOW, deltas=True)
    store = InMemoryStore()
    await import_from(store, ME, io.BytesIO(raw))
    scope = ME.thread("chat")
    thread = Thread(store=store, scope=scope, info=await store.thread_info(scope))
    context = await thread.context("Do you remember what I told you in question 3 about the zebra?")
    sent = [message.content for message in context.messages]
    assert "Noted, 29." in sent
    assert any("the zebra was 3 years old" in text for text in sent)
    assert (await thread.state()).current() == ()
