"""A model that copies every citation it can see into its answer.

Small models do that: with an old `[1]` in view, they cite it again in an answer that has no source. This double does it
every time, so that what a conversation lets a model see decides, and nothing else, which numbers come out.

    model = CopyingModel(searches=lambda question: "latest" in question)
"""

import re
from collections.abc import Callable, Iterable

from lumina.testing.obeying import SEARCH, plain_question
from lumina.testing.playing import Call, Captured, PlayedModel, Reply
from lumina.testing.scripted import chunked

NUMBER = re.compile(r"[\[【［]\s{0,2}\d{1,7}(?:\s{0,2},\s{0,2}\d{1,7}){0,9}\s{0,2}[\]】］]")
SOURCE = re.compile(r'"source": ?(\d{1,7})\b')
HIDDEN = re.compile(r"<!--SOURCES:[^\n<]{0,20000}-->")


class CopyingModel(PlayedModel):
    """Answers with `text` and then every marker of its whole input, each once, in the order in which they stand there:
    `[n]`, groups, full-width brackets, and hidden `<!--SOURCES:[...]-->` comments.

    `searches` says for which questions it searches first (with the question as it is). Sources in a tool's result are
    JSON fields, `"source": 3`; they are cited as `[3]`.
    """

    def __init__(
        self,
        *,
        searches: Callable[[str], bool] = lambda question: False,
        text: str = "This is what is known.",
        name: str = "copying",
    ) -> None:
        super().__init__(name=name)
        self._searches = searches
        self._text = text

    async def reply(self, request: Captured) -> Reply:
        lines = request.spoken()
        question = plain_question(request.question)
        start = max((at for at, (role, _) in enumerate(lines) if role == "user"), default=0)
        called = any(role == "call" for role, _ in lines[start:])
        if SEARCH in request.tools and not called and self._searches(question):
            return Reply(Call(SEARCH, {"query": question}))
        return Reply(*chunked(" ".join([self._text, *markers(text for _, text in lines)]), "words"))


def markers(texts: Iterable[str]) -> list[str]:
    """The citation-looking markers in `texts`, each once, in the order of their first place."""
    found: list[str] = []
    for text in texts:
        places = [(match.start(), match.group()) for pattern in (NUMBER, HIDDEN) for match in pattern.finditer(text)]
        places += [(match.start(), f"[{match[1]}]") for match in SOURCE.finditer(text)]
        found += [marker for _, marker in sorted(places)]
    return list(dict.fromkeys(found))
