"""Recall in seven languages: a look back fires and brings its turn; a follow-up recalls nothing (DEMAND 23, 32)."""

from dataclasses import dataclass, replace

import pytest

from lumina.memory.recall import query_words
from lumina.memory.scope import ThreadScope
from lumina.memory.thread import Thread
from lumina.memory.words import forms
from lumina.stores.in_memory import InMemoryStore
from lumina.testing.clock import FixedClock


@dataclass(frozen=True)
class Talk:
    """A conversation: what was said first, small talk after it; look-backs with the turn they need; follow-ups."""

    said: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    back: tuple[tuple[str, int], ...]
    follow: tuple[str, ...]


TALKS = {
    "en": Talk(
        said=(("My sister Clara is allergic to walnuts.", "I will keep walnuts out."),
              ("Which museum is quiet?", "I recommend the tile museum, it is quiet on Mondays.")),
        after=(("How do I boil an egg?", "Eight minutes."), ("And a soft one?", "Five minutes.")),
        back=(("What is Clara allergic to?", 1), ("Which museum did you recommend earlier?", 2)),
        follow=("Ok, what do you recommend?", "And why?", "Tell me more.", "How long for a hard one?"),
    ),
    "de": Talk(
        said=(("Meine Schwester Clara verträgt keine Walnüsse.", "Dann lasse ich Walnüsse weg."),
              ("Welches Museum ist ruhig?", "Ich empfehle das Fliesenmuseum, montags ist es ruhig.")),
        after=(("Wie koche ich ein Ei?", "Acht Minuten."), ("Und ein weiches?", "Fünf Minuten.")),
        back=(("Was verträgt Clara nicht?", 1), ("Welches Museum hast du vorhin empfohlen?", 2)),
        follow=("Und was empfiehlst du?", "Warum denn?", "Erzähl mir mehr.", "Und wie lange dann?"),
    ),
    "fr": Talk(
        said=(("Ma sœur Clara est allergique aux noix.", "Je laisserai les noix de côté."),
              ("Quel musée est calme ?", "Je recommande le musée des carreaux, calme le lundi.")),
        after=(("Comment cuire un œuf ?", "Huit minutes."), ("Et à la coque ?", "Trois minutes.")),
        back=(("À quoi Clara est-elle allergique ?", 1), ("Quel musée as-tu recommandé tout à l'heure ?", 2)),
        follow=("Et que recommandes-tu ?", "Pourquoi ?", "Et quoi encore ?"),
    ),
    "es": Talk(
        said=(("Mi hermana Clara es alérgica a las nueces.", "Dejaré las nueces fuera."),
              ("¿Qué museo es tranquilo?", "Recomiendo el museo del azulejo, tranquilo los lunes.")),
        after=(("¿Cómo cuezo un huevo?", "Ocho minutos."), ("¿Y uno blando?", "Cinco minutos.")),
        back=(("¿A qué es alérgica Clara?", 1), ("¿Qué museo me recomendaste antes?", 2)),
        follow=("¿Y qué me recomiendas?", "¿Por qué?", "¿Y entonces?"),
    ),
    "zh": Talk(
        said=(("我妹妹小兰对核桃过敏。", "好的，我会避开核桃。"),
              ("哪个博物馆安静？", "我推荐瓷砖博物馆，星期一很安静。")),
        after=(("鸡蛋要煮多久？", "八分钟。"), ("溏心的呢？", "五分钟。")),
        back=(("小兰对什么过敏？", 1), ("你刚才推荐的博物馆是哪个？", 2)),
        follow=("那你推荐什么？", "为什么呢？", "还有吗？"),
    ),
    "ja": Talk(
        said=(("妹のクララはくるみアレルギーです。", "くるみは避けます。"),
              ("静かな博物館はどこですか？", "タイル博物館をお勧めします。月曜日は静かです。")),
        after=(("卵は何分ゆでますか？", "八分です。"), ("半熟は？", "五分です。")),
        back=(("クララのアレルギーは何ですか？", 1), ("さっき勧めてくれた博物館はどこですか？", 2)),
        follow=("おすすめは？", "どうしてですか？", "他には？"),
    ),
    "ar": Talk(
        said=(("أختي كلارا تعاني من حساسية الجوز.", "سأتجنب الجوز."),
              ("أي متحف هادئ؟", "أنصح بمتحف البلاط، فهو هادئ يوم الاثنين.")),
        after=(("كيف أسلق بيضة؟", "ثماني دقائق."), ("ونصف مسلوقة؟", "خمس دقائق.")),
        back=(("من ماذا تعاني كلارا؟", 1), ("أي متحف نصحتني به سابقا؟", 2)),
        follow=("وبماذا تنصحني؟", "لماذا؟", "وماذا أيضا؟"),
    ),
}  # fmt: skip


async def played(talk: Talk) -> Thread:
    store = InMemoryStore()
    scope = ThreadScope(tenant="local", subject="ada", thread="main")
    thread = Thread(store=store, scope=scope, info=await store.open_thread(scope, deltas=False), clock=FixedClock())
    context = await thread.context("x")
    for question, answer in (*talk.said, *talk.after * 5):
        await thread.record(replace(context, question=question), answer)
    return thread


@pytest.mark.parametrize("language", TALKS)
async def test_a_look_back_fires_and_its_turn_is_sent(language: str):
    talk = TALKS[language]
    thread = await played(talk)
    for question, seq in talk.back:
        receipt = (await thread.context(question)).receipt
        assert receipt.recall_fired, (question, receipt.recall_reason)
        recalled = [item.seq for item in receipt.items if item.kind == "recalled" and item.included]
        assert seq in recalled, (question, recalled)


@pytest.mark.parametrize("language", TALKS)
async def test_a_follow_up_recalls_nothing(language: str):
    """DEMAND "Memory" 23: a vague follow-up leans on the last turns."""
    talk = TALKS[language]
    thread = await played(talk)
    for question in talk.follow:
        receipt = (await thread.context(question)).receipt
        assert not receipt.recall_fired, (question, receipt.recall_reason)


def test_the_current_question_is_the_query():
    """DEMAND "Memory" 24."""
    assert query_words("Which food suits Biscuit the beagle?") == ["food", "suit", "biscuit", "beagl"]


def test_a_word_keeps_its_vowel_signs():
    assert forms("हिन्दी भाषा में") == ["हिन्दी", "भाषा", "में"]
    assert forms("தமிழ் বাংলা") == ["தமிழ்", "বাংলা"]
    assert forms("ภาษาไทย") == ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]
    assert forms("CAFE\u0301 naïve") == ["cafe", "naïve"]
