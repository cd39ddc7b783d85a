"""Answers the delta step from patterns over the question, and never from the answer or a source."""

import json

from lumina.memory.delta import DeltaRequest

MAX_TITLE = 60


class ExtractiveNotes:
    """A note taker without a language model: what is not plainly said is not noted."""

    name = "extractive"

    async def note(self, request: DeltaRequest) -> str:
        title = " ".join(request.question.split())[:MAX_TITLE] if request.title_wanted else ""
        return json.dumps({"ops": [], "followups": [], "title": title}, ensure_ascii=False)
