"""What the API takes. Unknown fields are refused: nobody sets a role, a status or a source from outside."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from lumina.memory.budget import DEFAULT_BUDGET
from lumina.memory.change import About, Operation
from lumina.memory.scope import MAX_ID

LARGEST_BUDGET = 2_000_000  # tokens


class Taken(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewThread(Taken):
    """A conversation to begin."""

    temporary: bool = Field(default=False, description="reads and writes no profile, deleted after a day")


class Ask(Taken):
    """A question."""

    question: Annotated[str, Field(min_length=1, max_length=1_000_000)]
    client_id: Annotated[str, Field(min_length=1, max_length=MAX_ID)] = Field(
        description="chosen by the client, new for each question: sending it again never makes a second turn"
    )
    instead_of: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0, description="the turn whose place it takes; what came after is superseded and stays readable"
    )
    budget: Annotated[int, Field(ge=1, le=LARGEST_BUDGET)] = Field(
        default=DEFAULT_BUDGET, description="tokens that the model is sent at most"
    )


class Again(Taken):
    """The same question, to be answered again."""

    client_id: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    budget: Annotated[int, Field(ge=1, le=LARGEST_BUDGET)] = DEFAULT_BUDGET


class NewTitle(Taken):
    """What a conversation is called from now on."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


class Correction(Taken):
    """A person's correction of what was noted."""

    op: Operation
    key: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    value: Annotated[str, Field(max_length=10_000)] = ""
    why: Annotated[str, Field(max_length=2_000)] = ""
    about: About | None = Field(default=None, description="where the key belongs; otherwise where it stands already")
