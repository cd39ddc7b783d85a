"""The desk's customers and what they say: a script in place of people and of a model.

Each customer comes three times. In the first session the account is closed, and why is said once; a decision is taken,
twenty turns before it matters. In the second an issue is opened that is still open in the third, where it is solved.
Between these turns stands small talk about products, which is what makes conversations long.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

NAMES = ("Amara", "Bilal", "Chiara", "Dmitri", "Esra", "Farid", "Greta", "Hana")
PRODUCTS = ("router", "printer", "camera", "speaker", "monitor", "keyboard")
TOPICS = ("its warranty", "its colour", "its weight", "its manual", "its price", "its power use", "its packaging")
SESSIONS = ("first", "second", "third")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A turn: what the customer asks, what the desk answers, and what a model would note (`ops` of its reply)."""

    question: str
    answer: str
    ops: tuple[dict[str, str], ...] = ()
    checks: str = ""  # what a test looks for in the context of this turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """One customer; `secret` stands in what they say and must be seen by nobody else."""

    id: str
    name: str
    secret: str
    reason: str = field(default="")


def customers(count: int) -> list[Customer]:
    return [
        Customer(
            id=f"customer-{n + 1}", name=NAMES[n % len(NAMES)], secret=f"secret{n + 1:03}zq",
            reason=f"moved to Ruritania street {n + 101}",
        )
        for n in range(count)
    ]  # fmt: skip


def session(customer: Customer, which: str, turns: int) -> Iterator[Line]:
    """The lines of one session, `turns` of them; at least 24 in the first, so that the decision is old enough."""
    begin, end = {"first": _first, "second": _second, "third": _third}[which](customer)
    yield from begin
    for n in range(turns - len(begin) - len(end)):
        yield _talk(customer, n)
    yield from end


def _first(customer: Customer) -> tuple[list[Line], list[Line]]:
    name, reason = customer.name, customer.reason
    begin = [
        Line(
            question=f"I am {name}, and my router is an {customer.secret}.",
            answer="Welcome.",
            ops=(
                {"op": "set", "key": "customer.name", "value": name, "quote": f"I am {name}"},
                {"op": "set", "key": "device.router", "value": customer.secret,
                 "quote": f"my router is an {customer.secret}"},
            ),
        ),
        Line(
            question=f"Please close my account: I {reason}. My card was 4111 1111 1111 1111.",
            answer="Your account is closed.",
            ops=(
                {"op": "set", "key": "account.status", "value": "closed", "quote": "close my account"},
                {"op": "set", "key": "account.reason", "value": reason, "quote": f"I {reason}"},
                # A careless model would note this as well. The schema refuses it.
                {"op": "set", "key": "device.card", "value": "4111 1111 1111 1111",
                 "quote": "My card was 4111 1111 1111 1111"},
            ),
        ),
        Line(
            question="We agree: the refund goes by cheque, not by card.",
            answer="Noted: by cheque.",
            ops=({"op": "decide", "key": "decision.refund", "value": "the refund goes by cheque",
                  "quote": "the refund goes by cheque"},),
        ),
    ]  # fmt: skip
    return begin, [Line(question="So how will I get the refund?", answer="By cheque, as agreed.", checks="decision")]


def _second(customer: Customer) -> tuple[list[Line], list[Line]]:
    begin = [
        Line(question="What is the status of my account?", answer="It is closed.", checks="account"),
        Line(
            question="The cheque has not arrived yet.",
            answer="We will look into it.",
            ops=({"op": "open", "key": "issue.cheque", "value": "The cheque has not arrived",
                  "quote": "The cheque has not arrived yet"},),
        ),
    ]  # fmt: skip
    return begin, []


def _third(customer: Customer) -> tuple[list[Line], list[Line]]:
    begin = [
        Line(question="Hello again. Where do we stand?", answer="Your cheque is still open.", checks="issue"),
        Line(
            question="The cheque came this morning, thank you.",
            answer="Good to hear.",
            ops=({"op": "resolve", "key": "issue.cheque", "quote": "The cheque came this morning"},),
        ),
        Line(question="Is anything else open?", answer="No.", checks="no issue"),
    ]
    return begin, [Line(question="And my account, why is it closed?", answer="You moved.", checks="account")]


def _talk(customer: Customer, n: int) -> Line:
    product, topic = PRODUCTS[n % len(PRODUCTS)], TOPICS[n % len(TOPICS)]
    answer = f"About the {product} and {topic} this is what the sheet for {customer.secret} says in row {n}. " * 3
    return Line(question=f"Tell me about the {product} and {topic}, please ({n}).", answer=answer.strip())
