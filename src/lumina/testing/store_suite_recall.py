"""The part of the store suite about finding passages of earlier turns."""

from lumina.memory.store import Store
from lumina.memory.turns import IndexedPassage
from lumina.memory.words import forms
from lumina.testing.store_examples import asked, ended, thread_of, told

HERE = thread_of()

# One text each in many scripts, with words that a database's own tokenizer would split, fold or lose.
SCRIPTS = (
    "天気はどうですか", "東京タワー", "안녕하세요 세계", "Привет МИР ещё", "Ελληνικά Σίσυφος", "שָׁלוֹם עולם",
    "مرحبا بالعالم ﷺ",
    "हिन्दी भाषा", "ภาษาไทย", "Straße ﬁn ½ ⑴ ½", "naïve café CAFE\u0301", "İstanbul ıssız", "Ꮳꭰ ᏣᎳᎩ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒳",
    "𐐷𐐯 𞤀𞤣", "ǅ ǆ",
    "lru_cache os.path C3PO", "x" * 300, "ｶﾀｶﾅ", "Ⅷ ⅷ ①②", "𠀋𠮷野家", "ტფილისი ᲢᲤ",
)  # fmt: skip


class RecallSuite:
    """The word index of turns, and passages by id."""

    async def test_matches_are_newest_first_and_bounded(self, store: Store) -> None:
        for n in range(1, 8):
            await told(store, HERE, f"cat number{n}", "a dog" if n % 2 else "a cat")
        found = await store.matches(HERE, ["cat", "dog", "number3", "bird", "cat"], before=8, cap=4)
        assert found.turns == 7
        assert {word: len(ids) for word, ids in found.ids.items()} == {"cat": 4, "dog": 4, "number3": 1, "bird": 0}
        passages = await store.passages(HERE, [id for ids in found.ids.values() for id in ids])
        assert [(one.seq, one.part) for one in passages if one.id in found.ids["cat"]] == [
            (5, "question"), (6, "question"), (6, "answer"), (7, "question"),
        ]  # fmt: skip
        for ids in found.ids.values():
            assert list(ids) == sorted(ids, reverse=True)
        earlier = await store.matches(HERE, ["number3", "number4", "dog"], before=4, cap=9)
        assert {word: len(ids) for word, ids in earlier.ids.items()} == {"number3": 1, "number4": 0, "dog": 2}
        assert (await store.matches(HERE, ["cat"], before=1, cap=9)).ids == {"cat": ()}
        assert (await store.matches(HERE, ["cat"], before=8, cap=0)).ids == {"cat": ()}

    async def test_a_passage_comes_with_its_own_text(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        answer = "👩‍👩‍👧 eins. 天気 zwei. Dr\u0065\u0301i."
        spans = ((0, 11), (12, 20), (20, len(answer)))
        passages = tuple(IndexedPassage(part="answer", start=a, end=b, words=("x",)) for a, b in spans)
        await store.record_turn(HERE, asked("1", "Zähl"), ended(answer=answer, passages=passages), "{}")
        ids = (await store.matches(HERE, ["x"], before=2, cap=9)).ids["x"]
        kept = await store.passages(HERE, [*ids, 1, 12345678901])
        assert [one.text for one in kept] == [answer[a:b] for a, b in spans]
        assert {(one.seq, one.attempt, one.part, one.day) for one in kept} == {(1, 1, "answer", "2026-11-30")}

    async def test_passages_come_in_the_order_of_the_conversation(self, store: Store) -> None:
        for n in range(3):
            await told(store, HERE, f"cat {n}", f"cat {n}")
        ids = (await store.matches(HERE, ["cat"], before=9, cap=9)).ids["cat"]
        passages = await store.passages(HERE, ids)
        assert [(one.seq, one.part) for one in passages] == [
            (seq, part) for seq in (1, 2, 3) for part in ("question", "answer")
        ]

    async def test_neighbours_come_with_a_passage_when_asked_for(self, store: Store) -> None:
        for n in range(1, 6):
            await told(store, HERE, f"question{n}", f"answer{n}")
        await told(store, thread_of(thread="other"), "question3", "answer3")
        (middle,) = (await store.matches(HERE, ["question3"], before=9, cap=9)).ids["question3"]
        (last,) = (await store.matches(HERE, ["answer5"], before=9, cap=9)).ids["answer5"]

        async def texts(ids: list[int], around: int) -> list[str]:
            return [one.text for one in await store.passages(HERE, ids, around=around)]

        assert await texts([middle], 0) == ["question3"]
        assert await texts([middle], 1) == ["answer2", "question3", "answer3"]
        assert await texts([last, last], 2) == ["answer4", "question5", "answer5"]
        assert await texts([middle, last], 2) == [
            "question2", "answer2", "question3", "answer3", "question4", "answer4", "question5", "answer5",
        ]  # fmt: skip
        assert await texts([middle + 1000], 2) == []
        assert await texts([middle], 99) == [f"{part}{n}" for n in range(1, 6) for part in ("question", "answer")]

    async def test_passages_given_out_of_order_are_read_in_order(self, store: Store) -> None:
        await store.open_thread(HERE, deltas=False)
        spans = [("answer", 4, 7), ("answer", 0, 3), ("question", 0, 3)]
        given = tuple(IndexedPassage(part=p, start=a, end=b, words=("x",)) for p, a, b in spans)  # type: ignore[arg-type]
        await store.record_turn(HERE, asked("1", "one"), ended(answer="two six", passages=given), "{}")
        ids = (await store.matches(HERE, ["x"], before=9, cap=9)).ids["x"]
        assert [one.text for one in await store.passages(HERE, ids)] == ["one", "two", "six"]
        assert [one.text for one in await store.passages(HERE, ids[-1:], around=1)] == ["one", "two"]

    async def test_every_word_of_every_script_finds_its_turns_and_no_other(self, store: Store) -> None:
        for text in SCRIPTS:
            await told(store, HERE, text, "ok")
        words = sorted({form for text in SCRIPTS for form in forms(text)})
        found = await store.matches(HERE, words, before=99, cap=99)
        for word in words:
            holding = {seq for seq, text in enumerate(SCRIPTS, 1) if word in forms(text)}
            assert {one.seq for one in await store.passages(HERE, found.ids[word])} == holding, word

    async def test_words_are_words_never_operators(self, store: Store) -> None:
        await told(store, HERE, "secret alpha", "beta")
        hostile = [
            '"',
            "*",
            "sec*",
            "NEAR(",
            "secret OR beta",
            'a" OR "secret',
            "-",
            "",
            "words:secret",
            "NOT",
            "(",
            "'",
        ]
        found = await store.matches(HERE, hostile, before=9, cap=9)
        assert all(ids == () for ids in found.ids.values())
        assert set(found.ids) == set(hostile)

    async def test_many_words_at_once(self, store: Store) -> None:
        words = [f"w{n}" for n in range(700)]
        await told(store, HERE, " ".join(words))
        found = await store.matches(HERE, words, before=9, cap=9)
        assert all(len(found.ids[word]) == 1 for word in words)
