"""A language model as the note taker: one call, held to the note's JSON Schema where the provider can do that.

The messages are those of the request and nothing is added to them: pydantic-ai would write the schema into the
instructions for some providers, so it is told not to. Where a server that claims to know the schema refuses it, the
same is asked as plain text, and from then on. Whatever comes back is read as `lumina.memory.note` reads any text.
"""

from typing import TYPE_CHECKING

from lumina.agent.ports import NoteReply, Tokens
from lumina.memory.delta import DeltaRequest
from lumina.memory.errors import ProviderError
from lumina.memory.note import note_schema

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.usage import RequestUsage

REFUSES_THE_FORM = (
    400,
    404,
    415,
    422,
    501,
)  # HTTP statuses with which servers answer a response format unknown to them
CUT = {
    "length": "the note was cut off at the limit of the model's output",
    "content_filter": "the provider's content filter stopped the note",
    "error": "the provider broke the note off",
}


class ModelNotes:
    """Asks `model`. `name` is the model's."""

    def __init__(self, model: "Model") -> None:
        self.name = model.model_name
        self._model = model
        self._plain = False

    async def note(self, request: DeltaRequest) -> NoteReply:
        from pydantic_ai.exceptions import ModelHTTPError

        from lumina.agent.model_errors import explain

        form = answer_form(self._model)
        try:
            try:
                response = await self._ask(request, None if self._plain else form)
            except ModelHTTPError as error:
                if self._plain or form is None or error.status_code not in REFUSES_THE_FORM:
                    raise
                response = await self._ask(request, None)
                self._plain = True  # it is the form that was refused
        except Exception as error:
            raise ProviderError(explain(error, self.name), provider=self.name, retry=True) from error
        return _reply(self._model, response)

    async def _ask(self, request: DeltaRequest, form: "ModelRequestParameters | None") -> "ModelResponse":
        from pydantic_ai.models import ModelRequestParameters

        from lumina.agent.model_messages import model_messages

        return await self._model.request(model_messages(request.messages), None, form or ModelRequestParameters())


def answer_form(model: "Model") -> "ModelRequestParameters | None":
    """How the model is held to the note's form: by its schema, by JSON alone, or (None) by the instructions."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    by_schema = model.profile.get("supports_json_schema_output", False)
    if not by_schema and not model.profile.get("supports_json_object_output", False):
        return None
    return ModelRequestParameters(
        output_mode="native" if by_schema else "prompted",
        output_object=OutputObjectDefinition(json_schema=note_schema(), name="note", strict=True),
        prompted_output_template=False,  # it is said in the instructions
    )


def model_ref(model: "Model") -> str:
    """Who is paid: `provider:model`, as settings name it."""
    return f"{model.system}:{model.model_name}" if model.system else model.model_name


def tokens_of(usage: "RequestUsage") -> Tokens:
    return Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cache_read_tokens,
        cache_written=usage.cache_write_tokens,
        reasoning=usage.output_reasoning_tokens,
    )


def _reply(model: "Model", response: "ModelResponse") -> NoteReply:
    from pydantic_ai.messages import TextPart

    return NoteReply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        model=model_ref(model),
        tokens=tokens_of(response.usage),
        problem=CUT.get(response.finish_reason or "", ""),
    )
