"""A greeting, thanks or "ok" is asked about by no model; whatever says more, or may accept an offer, is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina import open_thread
from lumina.memory.nothing_said import APPROVAL, GREETING, may_offer, says_nothing, why_not_asked
from lumina.memory.turns import Turn

GREETINGS = [
    "Hi", "Hello!", "thanks 😊", "Thank you so much!", "Thanks for the help!", "good morning", "Danke schön",
    "vielen Dank!", "Guten Tag", "merci beaucoup", "Bonjour", "muchas gracias", "¡Hola!", "Buenos días", "Grazie mille",
    "Buongiorno", "Muito obrigado", "Bom dia", "谢谢", "你好！", "ありがとうございます", "こんにちは。", "شكرا جزيلا",
    "مرحبا", "спасибо большое",
]  # fmt: skip
APPROVALS = ["ok", "OK!", "ok thanks", "great, thank you", "Perfekt", "d'accord, merci", "vale", "va bene", "entendi",
             "好的", "了解しました", "حسنا", "got it"]  # fmt: skip
SAYS_MORE = [
    "yes", "Yes please", "no", "no thanks", "ok?", "thanks, that fixed it", "hello I live in York", "Hi, Anna here",
    "The printer works now, thanks", "thanks, the second one", "ok 2", "you so much", "", "  ", "👍", "ja", "oui", "sí",
    "是的", "はい", "نعم", "谢谢，我住在北京", "ありがとう、東京です", "dzięki", "thanks " * 20,
    "merci, à Lyon", "ok let's do that",
]  # fmt: skip


def turn(question="ok", answer="Fine.", seq=2, **more):
    return Turn(
        seq=seq, attempt=1, question=question, answer=answer, status="complete", reason="", day="2026-11-30",
        delta="waiting", number=seq, **more,
    )  # fmt: skip


@pytest.mark.parametrize("question", GREETINGS)
def test_a_greeting_or_thanks_says_nothing_whatever_was_offered(question):
    assert says_nothing(question) == GREETING
    assert why_not_asked(turn(question), turn(seq=1, answer="Shall I open a ticket?"))


@pytest.mark.parametrize("question", APPROVALS)
def test_a_word_of_approval_says_nothing_only_where_nothing_was_offered(question):
    assert says_nothing(question) == APPROVAL
    assert why_not_asked(turn(question), turn(seq=1, answer="The capital of France is Paris.")) == APPROVAL
    assert why_not_asked(turn(question, seq=1), None) == APPROVAL
    for offer in (
        "Shall I open a ticket?",
        "I recommend the 15-inch model.",
        "Polecam model 15-calowy.",
        "予約します。",
    ):
        assert not why_not_asked(turn(question), turn(seq=1, answer=offer))
    assert not why_not_asked(turn(question, seq=2), None)  # the turn before cannot be read


@pytest.mark.parametrize("question", SAYS_MORE)
def test_whatever_says_more_is_asked_about(question):
    assert not says_nothing(question)


@pytest.mark.parametrize(
    "answer",
    ["Soll ich buchen?", "Ich empfehle das große Modell.", "Je vous conseille le train de nuit.",
     "Le recomiendo el modelo grande que es el mejor.", "Le consiglio il modello grande.", "您需要我订票吗",
     "Mogę to zrobić.",      "We could try the larger one.", "Wenn es wieder ausfällt, tauschen wir es."],
)  # fmt: skip
def test_an_answer_that_advises_or_is_in_an_unknown_language_may_offer(answer):
    assert may_offer(answer)


def test_an_answer_that_says_something_of_its_own_is_asked_about():
    assert not why_not_asked(turn("thanks", "x " * 200), None)
    assert not why_not_asked(turn("thanks", read_sources=True), None)
    assert not why_not_asked(turn("thanks", cited=(1,)), None)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=90), st.sampled_from(["thanks ", "ok ", "hello ", ""]))
def test_any_text_is_decided_and_a_digit_is_always_more(text, before):
    said = says_nothing(before + text)
    assert said in ("", GREETING, APPROVAL)
    if any(letter.isdecimal() for letter in text):
        assert said == ""


@pytest.fixture
async def thread():
    async with await open_thread(None, subject="s", thread="t", deltas=True) as opened:
        yield opened


async def test_a_turn_that_says_nothing_is_settled_unasked_and_its_receipt_says_why(thread):
    for question in ("Hello!", "I live in York.", "thanks"):
        await thread.record(await thread.context(question), "Fine.")
    request = await thread.delta_request()
    assert request.seq == 2  # the greeting was passed over, and settled
    assert request.title_wanted
    assert await thread.delta_request(3) is None
    kept = await thread.store.turns(thread.scope, [(1, 1), (2, 1), (3, 1)])
    assert [kept[seq, 1].delta for seq in (1, 2, 3)] == ["applied", "waiting", "applied"]
    [_, unasked] = await thread.show(1)
    assert unasked.receipt.skipped == GREETING
    assert (unasked.messages, unasked.same, unasked.forgotten) == ((), None, 0)
    assert await thread.store.unnoted(thread.scope, before=9) == [2]


async def test_a_try_that_has_failed_or_was_refused_is_not_passed_over(thread):
    await thread.record(await thread.context("thanks"), "Fine.")
    await thread.store.fail_delta(thread.scope, 1, 1, "no JSON", set_aside=False)
    assert (await thread.delta_request(1)).question == "thanks"
