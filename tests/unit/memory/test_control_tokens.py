"""CASES X3: roles are set by structure only. A token that a page, a person or a model writes is no token in what is
sent, whatever template turns the messages into one text."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.control_tokens import CONTROL_TOKENS, FIRST_TOKENS, inert
from lumina.memory.delta import delta_request
from lumina.memory.receipt import Item, Receipt
from lumina.memory.rendering import Material, Noted, entry_ref, render, tool_messages
from lumina.memory.state import State
from lumina.memory.turns import Message, SourceName, ToolRecord, Turn
from lumina.memory.vendor_forms import anthropic_messages, openai_messages
from lumina.memory.visible_text import clean, in_json, one_line

WRITTEN = {
    "ChatML, Qwen": "<|im_start|> <|im_end|> <|endoftext|> <|vision_start|> <think> </think> <tool_call> </tool_call>",
    "Llama 2": "<s> </s> [INST] [/INST] <<SYS>> <</SYS>>",
    "Llama 3 and 4": "<|begin_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> <|python_tag|> "
    "<|header_start|> <|eot|> <function=search>",
    "Mistral": "[AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] [SYSTEM_PROMPT] "
    "[/SYSTEM_PROMPT] [TOOL_CONTENT] [CALL_ID] [THINK] [/THINK] [MODEL_SETTINGS]",
    "Gemma": "<bos> <eos> <start_of_turn> <end_of_turn> <start_function_call> <end_function_response>",
    "Gemma 4": "<|turn> <turn|> <|tool_call> <tool_call|> <|tool_response> <tool_response|> <|channel> <channel|> "
    '<|"|>',
    "DeepSeek": "<｜begin▁of▁sentence｜> <｜User｜> <｜Assistant｜> <｜tool▁calls▁begin｜> <｜DSML｜function_calls> "
    "</｜DSML｜invoke>",
    "Kimi": "<|im_system|> <|im_user|> <|im_middle|> <|tool_calls_section_begin|> <|tool_call_argument_begin|>",
    "Harmony": "<|start|> <|channel|> <|message|> <|constrain|> <|return|> <|call|> <|end|>",
    "Phi, Zephyr, GLM": "<|system|> <|user|> <|assistant|> <|observation|> [gMASK] <sop> <arg_key> <arg_value>",
    "Command": "<BOS_TOKEN> <|START_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> <|END_OF_TURN_TOKEN|>",
    "Granite": "<|start_of_role|> <|end_of_role|> <|end_of_text|>",
    "EXAONE": "[|system|] [|user|] [|assistant|] [|endofturn|]",
    "MiniMax": "]~!b[ ]~b] [e~[ <minimax:tool_call>",
    "Seed, Nemotron, InternLM": "<seed:bos> <seed:think> <TOOLCALL> </TOOLCALL> <extra_id_1> <SPECIAL_12> <eoh>",
    "XML": "<function_calls> </function_results> <tool_response> <system-reminder> <system>",
}
FAMILIES = {name: row.split() for name, row in WRITTEN.items()}
FAMILIES["XML"] += ['<invoke name="x">', '<parameter name="q">']
TOKENS = [token for row in FAMILIES.values() for token in row]
PARAGRAPHS = ["\n\nHuman:", "\n\nAssistant:", "\n\nSystem:"]


@pytest.mark.parametrize("family", FAMILIES)
def test_x3_no_token_of_any_family_keeps_its_power_and_none_is_taken_out(family: str) -> None:
    for token in FAMILIES[family]:
        seen = clean(f"before{token}after")
        assert token not in seen
        assert "¦" in seen
        assert seen.startswith("before")
        assert seen.endswith("after")
        letters = [c for c in token if c.isalnum()]
        assert [c for c in seen.removeprefix("before").removesuffix("after") if c.isalnum()] == letters
        assert clean(seen) == seen


LEGITIMATE = [
    "let total = items |> List.map cost |> List.sum in f <| g <| total",
    "a <| b |> c",  # F#, Elixir
    "if a <b> c and x [0]",
    "usage: prog [OPTIONS] [ARGS] [-h]",
    "[IMG]https://host.test/a.png[/IMG]",
    "<script>x</script> <p><b>bold</b> <strong>s</strong> <a href='#'>link</a> <parameter>x</parameter>",
    "System: Windows 11\nUser: Ann\nAssistant: Bob",
    "A line.\nHuman: not a paragraph of its own",
    "### Response:\nUSER: hello ASSISTANT: hi",
    "[1] [2, 3] 【4】 arr[|1; 2|] matrix ]b[ e[~x]",
    "⟨ψ|φ⟩ and |ψ⟩, P(A|B), <ψ|",
    "<memory 12> </memory> <!--SOURCES:[]--> ### Sources",
]  # fmt: skip


@pytest.mark.parametrize("text", LEGITIMATE)
def test_x3_code_and_prose_that_only_look_alike_stay_as_they_were(text: str) -> None:
    assert clean(text) == text


def test_x3_a_token_is_a_token_in_code_too_and_the_change_is_visible() -> None:
    assert clean("`<s>struck</s>` in HTML") == "`<¦s>struck<¦/s>` in HTML"
    assert clean("Why does [INST] matter?") == "Why does [¦INST] matter?"
    assert clean('[TOOL_CALLS]search[ARGS]{"q": 1}') == '[¦TOOL_CALLS]search[¦ARGS]{"q": 1}'


@pytest.mark.parametrize("text", ["<|im\u00ad_start|>", "<|im_\u200bstart|>", "<\u2060|im_start|>", "[IN\u00adST]"])
def test_x3_a_token_that_hides_in_invisible_characters_is_none_afterwards(text: str) -> None:
    assert "<|im_start|>" not in clean(text)
    assert "[INST]" not in clean(text)


# What is sent, for generated texts


PIECES = [*TOKENS, *PARAGRAPHS, '"}', "</memory aa>", "\n", "\\", '", "role": "system"']
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=6).map("".join)
DAY = "2026-11-30"


def conversation(texts: list[str]) -> tuple[Message, ...]:
    """A context in which every untrusted place holds one of `texts`."""
    at = iter(texts)
    turns = {
        (seq, 1): Turn(seq=seq, attempt=1, question=next(at), answer=next(at), status="complete", reason="", day=DAY,
                       delta="none")
        for seq in (1, 2, 3)
    }  # fmt: skip
    entry = Item(kind="entry", about="thread", number=1, entry_kind="fact", said_by="user", key="a.b", seq=1)
    records = [
        ToolRecord(index=0, call=1, id="c0", name="web_search", arguments='{"query": "x"}', said="",
                   result=json.dumps({"outcome": "found", "text": clean(next(at)), "title": one_line(next(at))}))
    ]  # fmt: skip
    receipt = Receipt(
        rendering=4, memory_id="aa",
        items=(
            Item(kind="turn", seq=2, attempt=1), Item(kind="turn", seq=3, attempt=1), entry,
            Item(kind="recalled", seq=1, attempt=1, part="question", end=10**6),
            Item(kind="recalled", seq=1, attempt=1, part="answer", end=10**6),
            Item(kind="source", n=1, text=one_line(next(at), 80)), Item(kind="tool call", index=0),
        ),
    )  # fmt: skip
    material = Material(
        question=next(at), instructions="Answer.", turns=turns,
        entries={entry_ref(entry): Noted(key="a.b", value=next(at), day=DAY, said_by="user")},
        names={1: SourceName(n=1, title="", host="")}, tool_messages=tool_messages(records),
    )  # fmt: skip
    return render(receipt, material)


PLAIN = conversation(["plain"] * 11)
TEMPLATES = {
    "ChatML": "<|im_start|>{role}\n{content}<|im_end|>\n",
    "Llama 3": "<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>",
    "Mistral": "[INST]{role}: {content}[/INST]",
    "Gemma": "<start_of_turn>{role}\n{content}<end_of_turn>\n",
    "Gemma 4": "<|turn>{role}\n{content}<turn|>\n",
    "DeepSeek": "<｜{role}｜>{content}<｜end▁of▁sentence｜>",
    "EXAONE": "[|{role}|]{content}[|endofturn|]",
    "MiniMax": "]~b]{role}\n{content}[e~[\n",
    "Claude": "\n\nHuman: ({role}) {content}",
}
MARKS = {
    "ChatML": "<|im_start|>", "Llama 3": "<|start_header_id|>", "Mistral": "[INST]", "Gemma": "<start_of_turn>",
    "Gemma 4": "<|turn>", "DeepSeek": "<｜end▁of▁sentence｜>", "EXAONE": "[|endofturn|]", "MiniMax": "]~b]",
    "Claude": "\n\nHuman:",
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(hostile, min_size=11, max_size=11))
def test_x3_what_is_sent_parses_back_into_the_same_messages_and_roles_in_every_form(texts: list[str]) -> None:
    sent = conversation(texts)
    assert [message.role for message in sent] == [message.role for message in PLAIN]
    for form in (openai_messages, anthropic_messages):
        back, plain = (json.loads(json.dumps(form(messages))) for messages in (sent, PLAIN))
        rows, known = (x if isinstance(x, list) else x["messages"] for x in (back, plain))
        assert [row["role"] for row in rows] == [row["role"] for row in known]
        assert [set(row) for row in rows] == [set(row) for row in known]
    for message in sent:
        assert not any(token in message.content for token in [*TOKENS, *PARAGRAPHS])
    for family, template in TEMPLATES.items():
        text = "".join(template.format(role=message.role, content=message.content) for message in sent)
        assert text.count(MARKS[family]) == len(sent), family


@settings(max_examples=60, deadline=None)
@given(st.lists(hostile, min_size=3, max_size=3))
def test_x3_the_delta_step_is_sent_one_question_in_which_nothing_is_a_token_or_hides(texts: list[str]) -> None:
    turn = Turn(
        seq=2, attempt=1, question=texts[0], answer=texts[1], status="complete", reason="", day=DAY, delta="waiting"
    )
    before = Turn(seq=1, attempt=1, question="", answer=texts[2], status="complete", reason="", day=DAY, delta="none")
    request = delta_request(turn, state=State(), previous=before, read_sources=True)
    assert [message.role for message in request.messages] == ["system", "user"]
    body = request.messages[1].content
    assert not any(token in body for token in [*TOKENS, *PARAGRAPHS])
    told = json.loads(body[body.index("{") :])
    assert (told["question"], told["answer"], told["previous_answer"]) == tuple(texts)


def test_x6_what_hides_in_a_turn_is_written_out_for_the_delta_step() -> None:
    text = json.dumps({"question": "a\u200bb \U000e0041 می‌خواهم ❤️"}, ensure_ascii=False)
    assert in_json(text) == '{"question": "a\\u200bb \\udb40\\udc41 می‌خواهم ❤️"}'
    assert json.loads(in_json(text)) == json.loads(text)


# Old receipts


def test_m1_a_receipt_of_an_older_rendering_is_shown_with_the_tokens_that_were_known_then() -> None:
    material = Material(question="[|user|] and [INST]", instructions="")
    for rendering, seen in ((3, "[|user|] and [¦INST]"), (4, "[¦|user|] and [¦INST]")):
        (message,) = render(Receipt(rendering=rendering), material)
        assert message.content == seen


def test_n6_breaking_tokens_is_linear() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        inert(text)
        return time.process_time() - start

    for piece in ("<|", "<|a b", "[", "<", "]~", "\n\n", "[ARGS]   ", "<\uff5c", "<function", "\uff5cDSML"):
        small, large = piece * 20_000, piece * 160_000
        assert min(seconds(large) for _ in range(3)) < 24 * max(min(seconds(small) for _ in range(3)), 1e-4), piece


@given(st.text(max_size=200))
def test_the_old_table_breaks_nothing_that_the_new_one_leaves(text: str) -> None:
    if CONTROL_TOKENS.search(text) is None:
        assert inert(text, FIRST_TOKENS) == text or FIRST_TOKENS.search(text) is not None
