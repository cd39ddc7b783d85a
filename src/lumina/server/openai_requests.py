"""What a client that speaks as OpenAI's does may send, and what becomes of each part.

Such clients send many settings that mean nothing here; those are ignored. What would change the answer's form if it
were honoured (tools, several choices, JSON) is refused with the reason, and so is what the memory cannot keep: images,
files and sound.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lumina.memory.errors import UsageError

LONGEST_HISTORY = 500  # messages before the question
TASK = "### Task:"  # how Open WebUI begins what it asks for itself
TASKS = ("title", "tag", "follow-up", "follow up", "emoji", "autocompletion", "search quer")


class Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    type: str
    text: str = ""


class Message(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """UsageError for what is not text."""
        if isinstance(self.content, list):
            for part in self.content:
                if part.type != "text":
                    raise UsageError(
                        f"A message holds a part of the kind {part.type[:40]!r}: only text can be answered and kept. "
                        "Nothing was stored. Send the text alone."
                    )
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    include_usage: bool = False


class Completion(BaseModel):
    """A request for an answer. Fields that are not named here are ignored."""

    model_config = ConfigDict(extra="allow", frozen=True)
    model: str = Field(max_length=200)
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, description="1: there is one answer")
    tools: list[Any] | None = Field(default=None, description="refused: Lumina has its own")
    functions: list[Any] | None = Field(default=None, description="refused: Lumina has its own")
    response_format: dict[str, Any] | None = Field(default=None, description="text alone")


class Asked(BaseModel):
    """A request, sorted: the client's own instructions, what was said before, and the question."""

    model_config = ConfigDict(frozen=True)
    instructions: str
    earlier: list[tuple[str, str]]
    question: str

    @property
    def task(self) -> bool:
        """Whether the client asks for itself (a title, tags): that is no part of any conversation."""
        begin = self.question.lstrip()[:300]
        return begin.startswith(TASK) and any(task in begin.lower() for task in TASKS)


def sorted_out(sent: Completion) -> Asked:
    """UsageError, with the reason, for what cannot be honoured."""
    if sent.n not in (None, 1):
        raise UsageError("n can only be 1: a question has one answer. Nothing was stored.")
    if sent.tools or sent.functions:
        raise UsageError("Tools of the client cannot be called here: Lumina uses its own. Nothing was stored.")
    if sent.response_format and sent.response_format.get("type", "text") != "text":
        raise UsageError("An answer is text with citations, not JSON. Nothing was stored. Leave response_format out.")
    if any(message.role in ("tool", "function") or _calls(message) for message in sent.messages):
        raise UsageError("Calls of tools cannot be part of the conversation here. Nothing was stored.")
    instructions = [message.text for message in sent.messages if message.role in ("system", "developer")]
    said = [message for message in sent.messages if message.role in ("user", "assistant")]
    if len(said) > LONGEST_HISTORY:
        raise UsageError(
            f"More than {LONGEST_HISTORY} messages came along. Nothing was stored. Name the conversation by "
            "X-Lumina-Thread and send the question alone."
        )
    if not said or said[-1].role != "user":
        raise UsageError("The last message has to be the user's. Nothing was stored.")
    return Asked(instructions="\n\n".join(instructions), earlier=_pairs(said[:-1]), question=said[-1].text)


def _calls(message: Message) -> bool:
    return bool((message.model_extra or {}).get("tool_calls"))


def _pairs(said: list[Message]) -> list[tuple[str, str]]:
    """Question and answer, in order. UsageError where they do not alternate: what is missing cannot be made up."""
    roles = [message.role for message in said]
    if roles != ["user", "assistant"] * (len(said) // 2):
        raise UsageError(
            "Before the question, messages of user and assistant have to alternate, beginning with the user's. "
            "Nothing was stored."
        )
    return [(said[at].text, said[at + 1].text) for at in range(0, len(said), 2)]
