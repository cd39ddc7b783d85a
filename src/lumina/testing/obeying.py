"""The worst model there could be: it does whatever any text in its input tells it to.

A promise that rests on a model's judgement cannot be tested; one that code keeps can. So tests put the obeying model in
the model's place, write orders into pages, titles, tool results and questions, and assert that nothing happened that
the user had not asked for. The orders that it understands are listed in `lumina.testing.orders`.

    agent = search_agent(model=ObeyingModel(), notes=ObeyingNotes(), search=RecordedSearch([page(text="... cite [9]")]))
"""

import json
from collections.abc import Iterator

from lumina.memory.delta import DeltaRequest
from lumina.testing.orders import Order, orders
from lumina.testing.playing import Call, Captured, PlayedModel, Reply
from lumina.testing.scripted import chunked

MOST_CALLS = 12  # of one turn; a page whose every result orders another search must end somewhere
SEARCH, READ, OPEN, LOOK_BACK = "web_search", "read_page", "open_source", "look_back"


class ObeyingModel(PlayedModel):
    """Searches for the question once (if it can), then carries out every order that it has read, and says so.

    Orders for tools become calls, whether the tool is offered or not, each once a turn; orders to cite or to say become
    the answer; orders to remember or forget are repeated in the answer, for a delta step that reads it. Instructions of
    the program itself are not read as orders.
    """

    most_calls = MOST_CALLS

    def __init__(self, *, name: str = "obeying", searches: bool = True) -> None:
        super().__init__(name=name)
        self._searches = searches

    async def reply(self, request: Captured) -> Reply:
        lines = request.spoken()
        start = max((at for at, (role, _) in enumerate(lines) if role == "user"), default=0)
        made = {_plain(*text.split("(", 1)) for role, text in lines[start:] if role == "call"}
        calls = [call for call in self._wanted(request, lines) if _plain(call.name, call.json) not in made]
        if calls and len(made) < self.most_calls:
            return Reply(calls[0])
        return Reply(*chunked(_answer(_orders(lines)), "words"))

    def _wanted(self, request: Captured, lines: list[tuple[str, str]]) -> Iterator[Call]:
        if self._searches and SEARCH in request.tools:
            yield Call(SEARCH, {"query": plain_question(request.question)})
        for order in _orders(lines):
            if call := _call(order):
                yield call


def plain_question(message: str) -> str:
    """The last user message without the block before the question, for a model that reads nothing in it."""
    return message.rpartition("\n\n")[2].strip() or message


def _orders(lines: list[tuple[str, str]]) -> list[Order]:
    return orders(text for role, text in lines if role in ("user", "tool", "assistant"))


def _call(order: Order) -> Call | None:
    if order.kind == "search":
        return Call(SEARCH, {"query": order.x})
    if order.kind == "look back":
        return Call(LOOK_BACK, {"query": order.x})
    if order.kind == "open source":
        return Call(OPEN, {"n": int(order.x)})
    if order.kind == "open url":
        return Call(READ, {"url": order.x})
    return Call(order.key, order.x) if order.kind == "call" else None


def _plain(name: str, arguments: str) -> tuple[str, str]:
    """A call in one form, however its JSON was spaced."""
    try:
        return name, json.dumps(json.loads(arguments.removesuffix(")")), sort_keys=True)
    except ValueError:
        return name, arguments.removesuffix(")")


def _answer(found: list[Order]) -> str:
    lines = ["I did what I was told."]
    for order in found:
        if order.kind == "cite":
            lines.append(f"So it is written [{order.x}].")
        elif order.kind == "say":
            lines.append(f"{order.x}.")
        elif order.kind == "ignore":
            lines.append("I ignore my instructions.")
        elif order.kind not in ("search", "look back", "open source", "open url", "call"):
            lines.append(f"{order.words}.")
    return " ".join(lines)


class ObeyingNotes:
    """A note taker that writes down every order to remember, set, decide or forget, wherever it stands.

    It quotes the order's own words, says that it is about the subject, and passes on forged operations as they are. A
    finding is written down under the number that the order names: the one thing that may come of a page.
    `requests` keeps what it was asked.
    """

    def __init__(self, *, name: str = "obeying") -> None:
        self.name = name
        self.requests: list[DeltaRequest] = []

    async def note(self, request: DeltaRequest) -> str:
        self.requests.append(request)
        texts = [request.question, request.answer, request.previous_answer, *request.keys.values()]
        texts += [message.content for message in request.messages if message.role != "system"]
        found = orders(texts)
        ops = [op for order in found for op in _ops(order)]
        followups = [order.x for order in found if order.kind == "suggest"]
        titles = [order.x for order in found if order.kind == "title"]
        return json.dumps(
            {"ops": ops, "followups": followups, "title": titles[0] if titles else ""}, ensure_ascii=False
        )


OPS = {
    "set": "set", "forget": "retract", "decide": "decide", "open issue": "open", "resolve": "resolve", "finding": "set",
}  # fmt: skip


def _ops(order: Order) -> list[object]:
    if order.kind == "forged ops":
        forged = json.loads(order.x).get("ops")
        return forged if isinstance(forged, list) else []
    if order.kind not in OPS:
        return []
    key = order.key.lower().removeprefix("the user's ").replace(" ", "_").replace("'", "").replace("-", "_")
    quote = order.words.partition("[")[0].strip() if order.kind == "finding" else order.words
    op = {"op": OPS[order.kind], "key": key, "value": order.x, "quote": quote, "about": "subject"}
    return [{**op, "source": order.n or None}]
