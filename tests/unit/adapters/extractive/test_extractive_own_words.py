"""What the built-in model does with what a person says of themselves: acknowledged, told again, forgotten."""

import json

import pytest

from lumina.adapters.extractive.memory_block import read_message
from lumina.adapters.extractive.moves import Asked, Exchange, Said, next_move

ALL = frozenset({"web_search", "open_source", "look_back"})
BLOCK = """<memory 9f00aa119f00aa11>
About the user, 2026-11:
- 30 home.city: Berlin
- 28 user.name (corrected): Ada
Facts, 2026-11:
- 30 account.status: closed
Open issues, 2026-11:
- 29 login.fails: still not working
Decisions, 2026-11:
- 30 database: SQLite
Findings, 2026-11:
- 30 python.version: 3.11 [3]
- 30 rust.version: 1.80 [8]
Keys not shown: a.b, c.d
Turns 1-38 are not shown; what was noted from them stands above; look_back finds their words.
Turns 7 and 12 were not noted.
From earlier turns:
- turn 12, 2026-11-02, user: We pay for the blue tariff with 40 seats. (replaced at turn 31)
- turn 13, 2026-11-03, assistant: The blue tariff allows 50 seats [3][8].
- turn 14: [forgotten]
Sources that may be cited again:
- [3] Tariffs (documents)
- [4] [forgotten]
</memory 9f00aa119f00aa11>

"""


def asked(question: str, *, block: str = BLOCK, earlier: tuple[Said, ...] = (), tools: frozenset[str] = ALL) -> Asked:
    memory, plain = read_message(block + question)
    return Asked(question=plain, memory=memory, earlier=earlier, tools=tools)


def said(question: str, **options) -> str:
    move = next_move(asked(question, **options))
    assert move.kind == "say", move
    return move.text


def used(question: str, **options) -> tuple[str, dict]:
    move = next_move(asked(question, **options))
    assert move.kind == "use", move
    return move.tool, move.arguments


def composed(question: str, result: object, *, tool: str = "web_search", **options) -> str:
    text = result if isinstance(result, str) else json.dumps(result)
    request = asked(question, **options)
    move = next_move(
        Asked(
            question=request.question, memory=request.memory, earlier=request.earlier, tools=request.tools,
            exchanges=(Exchange(tool=tool, arguments="{}", result=text),),
        )
    )  # fmt: skip
    assert move.kind == "say", move
    return move.text


def hit(source: int, text: str, covers: float = 1.0, title: str = "A page", heading: str = "") -> dict:
    return {"source": source, "title": title, "host": "documents", "heading": heading, "covers": covers, "text": text}


STAYS = "Understood. It stays in this conversation."


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("My phone number is 555-0101.", STAYS),
        ("my phone number is 555-0101", STAYS),
        ("I have two dogs.", STAYS),
        ("My router is an X200.", STAYS),
        ("I bought a ticket yesterday.", STAYS),
        ("By the way, I have two dogs. My router is an X200.", STAYS),
        ("Hi! I've got three kids.", STAYS),
        ("I'm a nurse.", STAYS),
        ("My name is Eva and I have two dogs.", "Understood."),
        ("Meine Telefonnummer ist 555-0101.", "Verstanden. Es bleibt in diesem Gespräch."),
        ("Ich habe zwei Hunde.", "Verstanden. Es bleibt in diesem Gespräch."),
        ("Ich habe gestern ein Ticket gekauft.", "Verstanden. Es bleibt in diesem Gespräch."),
        ("Mon numéro de téléphone est le 555-0101.", "Compris. Cela reste dans cette conversation."),
        ("J’ai un chien et deux chats.", "Compris. Cela reste dans cette conversation."),
        ("Mi número de teléfono es el 555-0101.", "Entendido. Queda en esta conversación."),
        ("Tengo dos perros y un gato en la casa.", "Entendido. Queda en esta conversación."),
    ],
)
def test_a_statement_of_which_nothing_is_noted_is_acknowledged_and_not_searched_for(message, answer):
    assert said(message) == answer


@pytest.mark.parametrize(
    "message",
    [
        "I need to know how to reset my password",
        "I want to reset my password",
        "I'd like to reset my password.",
        "tell me the opening hours",
        "I have to sort a list.",
        "I have two lists to merge.",
        "I have a question about seats.",
        "I have an error in my code.",
        "I have no idea how seats are paid.",
        "I am looking for the opening hours.",
        "I'm trying to sort a list.",
        "I was wondering about the price.",
        "I got a 404 from the server.",
        "My code throws an exception.",
        "My container is exiting with code 1.",
        "My plan is to sort a list.",
        "My goal is to sort a list.",
        "My phone is not charging.",
        "My phone doesn't charge.",
        "My router is an X200. Reset it.",
        "my router manual",
        "I have two dogs, which food is good for them",
        "I have two dogs. What food is good for them?",
        "Ich habe ein Problem mit dem Router.",
        "Ich habe eine Frage zu den Plätzen.",
        "Ich möchte mein Passwort ändern.",
        "J'ai besoin d'une nouvelle clé.",
        "J'ai une question.",
        "Tengo que cambiar mi clave.",
        "Tengo una duda.",
        "Translate: I have two dogs.",
    ],
)
def test_a_statement_that_wants_something_is_searched_for(message):
    assert used(message)[0] == "web_search"


def window(*words: str) -> tuple[Said, ...]:
    return tuple(one for text in words for one in (Said(role="user", text=text), Said(role="assistant", text=STAYS)))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my phone number?", "You said: “My phone number is 555-0102.”"),
        ("what's my phone number", "You said: “My phone number is 555-0102.”"),
        ("How many dogs do I have?", "You said: “I have two dogs.”"),
        ("Which router do I have?", "You said: “My router is an X200.”"),
    ],
)
def test_a_question_about_what_the_user_just_said_is_answered_in_their_last_words_about_it(question, answer):
    earlier = window("My phone number is 555-0101.", "I have two dogs. My router is an X200.",
                     "My phone number is 555-0102.")  # fmt: skip
    assert said(question, earlier=earlier) == answer


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my router?",
        "What is a router?",
        "What is my router password?",
        "my router",
        "Can my router mesh?",
    ],
)
def test_a_question_that_own_words_only_touch_is_searched_for(question):
    assert used(question, earlier=window("My router is an X200."))[0] == "web_search"


def test_own_words_are_told_in_the_language_of_the_question():
    assert said("Was ist meine Telefonnummer?", earlier=window("Meine Telefonnummer ist 555.")) == (
        "Du hast gesagt: „Meine Telefonnummer ist 555.“"
    )


NAME, CITY = "You said on 2026-11-28 that your name is Ada.", "You said on 2026-11-30 that you live in Berlin."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my name and where do I live?", f"{NAME} {CITY}"),
        ("Where do I live, and what's my name?", f"{CITY} {NAME}"),
        ("Tell me my name and my city.", f"{NAME} {CITY}"),
        ("What are my name and city?", f"{NAME} {CITY}"),
        ("Tell me my name.", NAME),
        ("What is my name and my shoe size?", NAME),
        ("What is my name and how many dogs do I have?", f"{NAME} You said: “I have two dogs.”"),
        ("Wie heiße ich und wo wohne ich?", "Du hast am 2026-11-28 gesagt: name: Ada. Du hast am 2026-11-30 gesagt: "
         "home city: Berlin."),
    ],
)  # fmt: skip
def test_two_things_asked_at_once_are_both_told_as_far_as_they_are_known(question, answer):
    assert said(question, earlier=window("I have two dogs.")) == answer


@pytest.mark.parametrize(
    "question",
    [
        "How do I change my name and my city?",
        "What is the best way to change my name and my city?",
        "What is the capital of France and how large is it?",
        "Tell me about my name and my city.",
        "Tell me how to sort a list and a name.",
    ],
)
def test_two_things_that_are_not_known_are_searched_for(question):
    assert used(question)[0] == "web_search"


def test_what_is_known_of_a_question_is_told_beside_what_a_search_found_or_alone():
    question = "What is my name and what does the green tariff allow?"
    assert used(question)[0] == "web_search"
    assert composed(question, {"outcome": "empty"}) == NAME
    page = {"results": [hit(5, "The green tariff allows 20 seats.")]}
    assert composed(question, page) == f"{NAME}\n\nThe green tariff allows 20 seats. [5]"


SHOWN = BLOCK.replace("Keys not shown: a.b, c.d\n", "")


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Forget my email.", "Nothing is noted under that."),
        ("Please forget my phone number.", "Nothing is noted under that."),
        ("Forget that I live in Oslo.", "Nothing is noted under that."),
        ("Forget where I work.", "Nothing is noted under that."),
        ("Forget my name.", "Understood."),
        ("Forget where I live.", "Understood."),
        ("Forget my account.", "Understood."),
    ],
)
def test_who_asks_to_forget_what_is_not_noted_is_told_so(message, answer):
    assert said(message, block=SHOWN) == answer


def test_what_may_stand_under_a_key_that_is_not_shown_is_not_called_nothing():
    assert said("Forget my email.") == "Understood."
    assert said("Forget my email.", block="") == "Nothing is noted under that."
