"""What chat templates obey: the tokens by which model families mark roles, turns, tools and thoughts.

A hosted interface keeps roles in fields. A model on one's own machine is often sent one long text that a template made
of them, and a token that a page has written would then be a token. So in everything that was written by somebody these
are broken by one visible sign: `<|im_start|>` reads `<¦im_start¦>`, `[INST]` reads `[¦INST]`. Nothing is taken out.

The table is of forms rather than of models, after the published templates and tokenizer files of the families that
`FAMILIES` of the tests names. What it leaves alone, because prose and code are full of it and it carries no role:
`USER:` and `### Response:` (formats without tokens of their own), `[IMG]`, `[PREFIX]`, `<pad>`, HTML.
"""

import re

SIGN = "¦"

_IN_PIPES = (
    r"<\|(?:[^\s|<>][^|<>\n]{0,62})?[^\s|<>]\|>"  # ChatML, Llama 3 and 4, Qwen, Phi, Kimi, GLM, Granite, Harmony ...
    r"|<\uff5c[^\uff5c<>\n]{1,64}\uff5c>|\uff5cDSML\uff5c"  # DeepSeek, Hunyuan
    r"|<\|(?:turn|tool|tool_call|tool_response|channel|image|audio)>"  # Gemma 4 opens so ...
    r"|<(?:turn|tool|tool_call|tool_response|channel|image|audio)\|>"  # ... and closes so
    r"|\[\|(?:system|user|assistant|tool|endofturn)\|\]"  # EXAONE
)
_IN_BRACKETS = (
    r"|\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|MODEL_SETTINGS|THINK|CALL_ID"
    r"|IMG_BREAK|IMG_END|BEGIN_AUDIO|gMASK|sMASK)\]|\[ARGS\](?=\s{0,4}\{)"  # Mistral, ChatGLM
    r"|<</?SYS>>"  # Llama 2
    r"|\]~!?b[\[\]]|\[e~\[|\]<\]minimax\[>\["  # MiniMax
)
_IN_ANGLES = (
    r"|</?(?:s|bos|eos|sop|eop|eoh|eoa|eosys|think|BOS_TOKEN|EOP_TOKEN|TOOLCALL|AVAILABLE_TOOLS"
    r"|start_of_turn|end_of_turn|(?:start|end)_function_(?:call|response|declaration)|(?:start|end)_of_image"
    r"|system|system-reminder|tool_call|tool_calls|tool_response|tool_result|arg_key|arg_value"
    r"|(?:antml:)?(?:function_calls|function_results)|antml:(?:invoke|parameter)|(?:seed|minimax):[a-z_]{1,30}"
    r"|(?:reserved_|extra_id_|SPECIAL_)\d{1,4})>"
    r"|<(?:function=|(?:antml:)?(?:invoke|parameter) name=)"  # tool calls written as XML
)
_AT_A_PARAGRAPH = r"|(?<=\n\n)(?:Human|Assistant|System):|\A(?:Human|Assistant):"  # Claude's old text format

# Every alternative is bounded, so that the search is linear.
CONTROL_TOKENS = re.compile(_IN_PIPES + _IN_BRACKETS + _IN_ANGLES + _AT_A_PARAGRAPH)
# What receipts up to rendering 3 were rendered with: a receipt is shown again as it was.
FIRST_TOKENS = re.compile(
    r"<\|[^|<>\n]{1,64}\|>"
    r"|<\uff5c[^\uff5c<>\n]{1,64}\uff5c>"
    r"|\[/?INST\]|<</?SYS>>|\[/?(?:AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]"
    r"|</?(?:s|bos|eos|start_of_turn|end_of_turn|system|system-reminder|tool_call|tool_response)>"
    r"|(?<=\n\n)(?:Human|Assistant|System):"
)


def inert(text: str, tokens: re.Pattern[str] = CONTROL_TOKENS) -> str:
    """`text` with every control token broken visibly. Idempotent; linear in its length."""
    return tokens.sub(_broken, text)


def _broken(match: re.Match[str]) -> str:
    token = match.group()
    if token[:2] in ("<|", "<\uff5c") and token[-2:] in ("|>", "\uff5c>"):
        return f"<{SIGN}{token[2:-2]}{SIGN}>"
    if token.startswith("\uff5c"):
        return f"{SIGN}{token[1:-1]}{SIGN}"
    if token.endswith(":"):
        return token[:-1] + f"{SIGN}:"
    return f"{token[0]}{SIGN}{token[1:]}"
