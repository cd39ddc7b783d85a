"""Prompts in files: a user's own takes the place of Lumina's, is checked when it is read, and old turns replay."""

import json

import pytest

from lumina.agent.model_notes import ModelNotes
from lumina.agent.prompts import ALL, LONGEST, Prompts, named, own_prompts
from lumina.memory.errors import UsageError
from lumina.memory.note import system_text
from lumina.testing import ScriptedModel
from lumina.wiring import open_agent

NOTE = "Answer with ops (key, value, quote, offer, about, source), followups and title, as JSON. Mine."


def test_without_files_of_ones_own_luminas_prompts_are_used(tmp_path):
    assert own_prompts(tmp_path) == own_prompts(tmp_path / "not there") == own_prompts(None) == Prompts()
    assert "2026-11-30" in Prompts().instructions("2026-11-30")
    assert named("note").default() == named("note.md").default() == system_text()


def test_every_prompt_of_lumina_passes_its_own_check(tmp_path):
    for prompt in ALL:
        (tmp_path / prompt.file).write_text(prompt.default(), encoding="utf-8")
    own = own_prompts(tmp_path)
    assert own == Prompts(answer=named("answer").default(), note=named("note").default())
    assert own.instructions("2026-11-30") == Prompts().instructions("2026-11-30")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("answer.md", b"", "is empty"),
        ("answer.md", b" \n", "is empty"),
        ("answer.md", b"\xff\xfe{day}", "is not UTF-8"),
        ("answer.md", b"Be brief.", "does not mention {day}"),
        ("answer.md", b"{day}\0", "U\\+0000 at character 6"),
        ("answer.md", b"{day}" + b"x" * LONGEST, "characters; at most"),
        ("answer.md", b"{day}" + b"x" * 5 * LONGEST, "is larger than"),
        ("note.md", b"Say what changed: ops, key, value, quote", "does not mention offer, about, source"),
    ],
)
async def test_a_prompt_that_cannot_be_used_is_named_with_the_reason_before_anything_is_opened(
    name, content, why, tmp_path
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=why) as caught:
        await open_agent(database=tmp_path / "x.db", prompts=tmp_path)
    assert str(tmp_path / name) in str(caught.value)
    assert not (tmp_path / "x.db").exists()


def test_a_folder_in_a_prompts_place_is_told(tmp_path):
    (tmp_path / "note.md").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        own_prompts(tmp_path)


async def test_promise_8_turns_replay_byte_for_byte_after_the_prompts_have_changed(tmp_path, scope):
    database, folder = tmp_path / "a.db", tmp_path / "prompts"
    folder.mkdir()
    sent = []
    for seq in (1, 2, 3):
        if seq == 2:
            (folder / "answer.md").write_text("Mine, on {day}. {other} stays.\r\n", encoding="utf-8")
            (folder / "note.md").write_text(NOTE, encoding="utf-8")
        if seq == 3:
            (folder / "answer.md").unlink()
            (folder / "note.md").write_text(NOTE + " Changed.", encoding="utf-8")
        model, notes = ScriptedModel(["It is so."]), ScriptedModel([json.dumps({"ops": []})])
        async with await open_agent(
            database=database, model=model, notes=ModelNotes(notes), prompts=folder
        ) as agent:  # fmt: skip
            await (await agent.ask(scope, f"What about {seq}?")).notes(wait=60)
        sent.append([model.requests[0].spoken(), notes.requests[0].spoken()])
    async with await open_agent(database=database) as agent:
        thread = await agent.thread(scope)
        for seq, spoken in enumerate(sent, 1):
            calls = await thread.show(seq)
            assert [call.same for call in calls] == [True, True]
            for call, lines in zip(calls, spoken, strict=True):
                assert [(message.role, message.content) for message in call.messages] == lines
    systems = [[call[0][1] for call in spoken] for spoken in sent]
    assert systems[1][0].startswith("Mine, on 2")
    assert systems[1][0].endswith("{other} stays.")
    assert [note for _, note in systems] == [system_text(), NOTE, NOTE + " Changed."]
