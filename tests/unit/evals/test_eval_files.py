"""Data files are read whole or refused by name; the public sets' own shapes become conversations."""

import gzip
import json
from pathlib import Path

import pytest

from lumina.evals.files import read_files
from lumina.evals.loaders import locomo, own, sgd
from lumina.evals.loaders.search_topics import topics
from lumina.memory.errors import UsageError


def write(path: Path, body: object) -> Path:
    text = "\n".join(json.dumps(row) for row in body) if isinstance(body, list) and path.suffix == ".jsonl" else None
    path.write_text(text if text is not None else json.dumps(body), encoding="utf-8")
    return path


LOCOMO = {
    "conversation": {
        "speaker_a": "Ann", "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a red kayak"},
            {"speaker": "Bo", "dia_id": "D1:3", "text": "Where will you paddle?", "clean_text": "Where to?"},
        ],
        "session_2_date_time": "29.12.2023, 14:49:07",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Happy new year, nearly."}],
    },
    "qa": [
        {"question": "What did Ann buy?", "evidence": ["D1:1; D1:2", "D:2:1"], "category": 4},
        {"question": "What?", "evidence": [], "category": 1},
        {"question": "Never said?", "evidence": ["D9:9"], "category": 1},
        {"question": "A trap?", "evidence": ["D1:1"], "category": 5},
    ],
}  # fmt: skip


def test_a_locomo_conversation_becomes_turns_with_days_captions_and_clean_text(tmp_path: Path) -> None:
    (talk,) = locomo.talks(read_files([write(tmp_path / "a.json", [LOCOMO])])[0])
    assert [(line.id, line.part, line.seq, line.day, line.text) for line in talk.lines] == [
        ("D1:1", "question", 1, "2023-05-08", "I bought a kayak."),
        ("D1:2", "answer", 1, "2023-05-08", "Nice! [photo: a red kayak]"),
        ("D1:3", "answer", 2, "2023-05-08", "Where to?"),
        ("D2:1", "answer", 3, "2023-12-29", "Happy new year, nearly."),
    ]
    assert (talk.user, talk.assistant) == ("Ann", "Bo")


def test_malformed_evidence_is_read_and_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    (talk,) = locomo.talks(read_files([write(tmp_path / "a.json", [LOCOMO])])[0])
    assert [[gold.id for gold in asked.evidence] for asked in talk.asked] == [["D1:1", "D1:2", "D2:1"]]
    assert talk.passed_over == 2


def test_your_own_conversations_are_lines_with_roles_days_and_quotes(tmp_path: Path) -> None:
    row = {
        "id": "t", "messages": [
            {"id": "m1", "role": "user", "text": "It is an XR-5.", "day": "2026-03-05"},
            {"id": "m2", "role": "assistant", "text": "Noted."},
        ],
        "questions": [{"question": "Which?", "evidence": ["m1", {"id": "m2", "quote": "Noted"}]}],
    }  # fmt: skip
    (talk,) = own.talks(read_files([write(tmp_path / "a.jsonl", [row])])[0])
    assert [(line.part, line.seq, line.day) for line in talk.lines] == [
        ("question", 1, "2026-03-05"), ("answer", 1, "2026-03-05"),
    ]  # fmt: skip
    assert [(gold.id, gold.quote) for gold in talk.asked[0].evidence] == [("m1", ""), ("m2", "Noted")]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "system", "text": "x"}, "message 1: its role is 'system'"),
        ({"role": "user"}, "message 1: `text` is missing"),
        ({"role": "user", "text": "x", "day": "tomorrow"}, "its day 'tomorrow'"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_wrong_in_it(tmp_path: Path, message: dict, said: str) -> None:
    file = read_files([write(tmp_path / "a.jsonl", [{"messages": [message]}])])[0]
    with pytest.raises(UsageError, match=said):
        own.talks(file)


def test_a_folder_gives_its_data_files_and_gzip_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b'[{"n": 1}]'))
    write(tmp_path / "a.jsonl", [{"n": 2}])
    (tmp_path / "notes.txt").write_text("not data")
    assert [(file.name, file.content) for file in read_files([tmp_path])] == [
        ("a.jsonl", [{"n": 2}]), ("b.json.gz", [{"n": 1}]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("a.json", b"{broken", "is not JSON: .* at line 1, column 2"),
        ("a.jsonl", b'{"n": 1}\n{broken', "at line 2"),
        ("a.json", b"\xff\xfe", "not text in UTF-8"),
        ("a.json.gz", b"\x1f\x8bnot gzip", "cannot be unpacked"),
        ("a.csv", b"x", "of no kind that is read here"),
        ("a.json", b"[" * 200_000, "cannot be read as JSON|is not JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, name: str, body: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(body)
    with pytest.raises(UsageError, match=said):
        read_files([tmp_path / name])


def test_a_path_that_is_not_there_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        read_files([tmp_path / "x.json"])
    with pytest.raises(UsageError, match=r"holds no \.json"):
        read_files([tmp_path])


def test_a_slot_changes_when_no_spelling_is_shared(tmp_path: Path) -> None:
    def user(said: str, **values: list[str]) -> dict:
        return {"speaker": "USER", "utterance": said,
                "frames": [{"service": "Food_1", "state": {"slot_values": values}, "actions": []}]}  # fmt: skip

    system = {"speaker": "SYSTEM", "utterance": "Fine.", "frames": []}
    turns = [
        user("noon", time=["noon"]),
        system,
        user("yes", time=["12 pm", "noon"]),
        system,
        user("1 pm", time=["1 pm"]),
    ]
    file = read_files([write(tmp_path / "a.json", [{"dialogue_id": "1", "turns": turns}])])[0]
    (dialogue,) = sgd.dialogues(file)
    assert [[(c.key, c.spellings) for c in e.changes] for e in dialogue.exchanges] == [
        [("food_1.time", ("noon",))], [], [("food_1.time", ("1 pm",))],
    ]  # fmt: skip


def test_search_conversations_of_three_kinds_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "cast.json", [{"number": 31, "turn": [{"raw_utterance": "What is it?", "passage": "A cat."},
                                                           {"raw_utterance": "And its age?"}]}])  # fmt: skip
    (tmp_path / "cast.tsv").write_text("31_1\tWhat is it?\n31_2\tWhat is the age of the cat?\n")
    write(tmp_path / "ikat.json", [{"number": "1-1", "ptkb": {"1": "I am vegan."}, "turns": [
        {"utterance": "Dinner?", "resolved_utterance": "A vegan dinner?", "response": "Beans.",
         "ptkb_provenance": [1]}]}])  # fmt: skip
    write(tmp_path / "topiocqa.json", [
        {"Conversation_no": 1, "Turn_no": n, "Question": "q", "Answer": "a", "Topic": "t"} for n in (2, 1)
    ])  # fmt: skip
    found = topics(read_files([tmp_path]))
    assert [(topic.kind, len(topic.turns)) for topic in found] == [("CAsT", 2), ("iKAT", 1), ("TopiOCQA", 2)]
    assert found[0].turns[1].resolved == "What is the age of the cat?"
    assert found[1].turns[0].statements == ("1",)
    write(tmp_path / "other.json", [{"x": 1}])
    with pytest.raises(UsageError, match="none of CAsT"):
        topics(read_files([tmp_path]))
