import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumina.memory.passages import passages_of
from lumina.memory.recall import (
    AROUND,
    CANDIDATES,
    MATCH_CAP,
    QUERY_WORDS,
    Extent,
    Pick,
    Recalled,
    candidates,
    decide,
    pick_within,
    query_words,
    rarity,
    worth_sending,
)
from lumina.memory.store import StoredPassage, WordMatches

FILLER = (
    ("How do I boil an egg?", "Eight minutes in boiling water."),
    ("Which tea is mild?", "White tea is mild."),
    ("Is the moon round?", "Nearly, a little flat."),
    ("How long is a marathon?", "It has 42.195 kilometres."),
    ("What is a sonnet?", "A poem of fourteen lines."),
    ("Who painted the ceiling?", "Michelangelo did."),
)


@dataclass
class Thread:
    """Turns, and the index that a store keeps of them, as plainly as it can be written."""

    turns: list[tuple[str, str]]
    days: dict[int, str] = field(default_factory=dict)

    def passages(self) -> dict[int, StoredPassage]:
        found = {}
        for seq, (question, answer) in enumerate(self.turns, 1):
            for span in passages_of(question, answer):
                text = (question if span.part == "question" else answer)[span.start : span.end]
                found[len(found) + 1] = StoredPassage(
                    id=len(found) + 1, seq=seq, attempt=1, part=span.part, start=span.start, end=span.end,
                    day=self.days.get(seq, "2026-11-30"), text=text,
                )  # fmt: skip
        return found

    def recall(self, question: str, *, window: int = 6, state: str = "", always_small: bool = False) -> Recalled:
        stored, before = self.passages(), max(1, len(self.turns) - window + 1)
        asked = query_words(question)
        spans = {id: passages_of(p.text, "") for id, p in stored.items() if p.seq < before}
        holding = {word: [id for id, found in spans.items() if found and word in found[0].words] for word in asked}
        matches = WordMatches(
            ids={word: tuple(reversed(ids))[:MATCH_CAP] for word, ids in holding.items()}, turns=before - 1
        )
        wanted = {near for id in candidates(matches) for near in range(id - AROUND, id + AROUND + 1)}
        return decide(
            question,
            before=before,
            window=[f"{q}\n{a}" for q, a in self.turns[before - 1 :]],
            state=state,
            matches=matches,
            passages=[stored[id] for id in sorted(wanted) if id in stored],
            always_small=always_small,
        )


def thread(*early: tuple[str, str], filler: int = 3) -> Thread:
    return Thread([*early, *FILLER * filler])


def texts(found: Recalled) -> list[str]:
    return [pick.passage.text for pick in found.picks]


DOG = ("My dog is called Biscuit, she is a beagle.", "What a lovely name!")
VISA = ("How long does the visa take?", "I recommend the express visa, it takes four days.")


def test_an_older_turn_that_holds_the_rare_words_is_recalled_and_the_reason_says_so():
    found = thread(DOG).recall("Which food suits a beagle like Biscuit?")
    assert found.fire
    assert found.extent == "full"
    assert texts(found)[0] == DOG[0]
    assert found.reason.startswith("An older turn fits the question better: turn 1 holds ")


@pytest.mark.parametrize(
    "question",
    [
        "Ok what do you recommend",
        "and what do you recommend?",
        "What about the second one?",
        "Thanks! Tell me more",
        "Why?",
    ],
)
def test_a_vague_follow_up_recalls_nothing_although_older_turns_hold_its_words(question: str):
    older = [
        (f"What do you recommend for meal {n}?", f"I recommend the second one, thanks. More of {n}.") for n in range(19)
    ]
    found = thread(*older).recall(question)
    assert (found.fire, found.extent, found.picks) == (False, "none", ())
    assert found.reason == "The question names nothing to look for; the last turns are enough."


def test_an_older_turn_that_has_only_the_talk_about_the_talk_in_advance_is_not_recalled():
    older = ("Which tea do you recommend?", "I recommend a mild tea.")
    found = thread(older).recall("Can you recommend a mild tea?")
    assert not found.fire
    assert found.reason.startswith("No older turn fits the question clearly better: turn 1 ")


def test_an_older_turn_that_covers_no_more_than_the_window_is_not_recalled():
    turns = thread(("A beagle it is.", "Good."))
    turns.turns[-1] = ("Biscuit is tired.", "Let her sleep.")
    assert not turns.recall("Does Biscuit the beagle bark?").fire


def test_words_of_reference_open_the_gate_and_stand_in_the_reason():
    found = thread(VISA).recall("What did you recommend earlier?")
    assert found.fire
    assert "“did you recommend”" in found.reason
    assert texts(found)[0] == VISA[1]


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        (("Mein Hund heißt Keks.", "Schöner Name!"), "Weißt du noch, wie mein Hund heißt?"),
        (("Mon chien s'appelle Biscuit.", "Joli nom !"), "Tu te souviens du nom de mon chien ?"),
        (("Mi perro se llama Galleta.", "¡Qué bonito!"), "¿Te acuerdas de mi perro?"),
        (("我的狗叫饼干。", "好名字！"), "我之前说过我的狗叫什么？"),
        (("私の犬の名前はビスケットです。", "いい名前ですね。"), "私の犬の名前を覚えていますか？"),
        (("كلبي اسمه بسكويت", "اسم جميل"), "هل تتذكر ما اسمه كلبي؟"),
    ],
)
def test_a_look_back_is_recalled_in_the_language_it_was_said_in(turn: tuple[str, str], question: str):
    assert texts(thread(turn).recall(question))[0] == turn[0]


def test_what_the_window_covers_is_not_recalled():
    turns = thread(DOG)
    turns.turns[-2:] = [DOG, ("Is she big?", "Beagles are small.")]
    found = turns.recall("Which food suits a beagle like Biscuit?")
    assert not found.fire
    assert found.reason.startswith("No older turn fits the question clearly better: turn 1 ")


def test_what_the_state_covers_is_not_recalled():
    question = "Which food suits a beagle like Biscuit?"
    assert thread(DOG).recall(question, state="home.city: Lisbon").fire
    assert not thread(DOG).recall(question, state="dog.name: Biscuit\ndog.breed: beagle").fire


def test_a_day_on_which_something_older_was_said_opens_the_gate():
    turns = thread(("We planted the lemon tree.", "Wonderful."))
    turns.days = {1: "2026-06-09"}
    found = turns.recall("What did we plant on 9 June?")
    assert found.fire
    assert found.reason.endswith("2026-06-09.")
    assert texts(found)[0] == "We planted the lemon tree."


def test_a_month_in_which_the_whole_thread_was_said_does_not_open_the_gate():
    found = thread(("Is the weather mild?", "Yes.")).recall(
        "How is the weather in Cairo in November with snow and ice storms?"
    )
    assert "names a time" not in found.reason


def test_reference_to_words_that_no_older_turn_holds_recalls_nothing_and_says_why():
    found = thread(DOG).recall("What did you say earlier about photosynthesis?")
    assert (found.fire, found.picks) == (False, ())
    assert "no older turn holds its words" in found.reason


def test_a_small_recall_is_always_sent_when_asked_for_and_marked_as_small():
    turns = thread(DOG)
    turns.turns[-1] = ("Biscuit is tired", "Let her sleep")
    question = "Is Biscuit fine?"
    assert turns.recall(question).extent == "none"
    small = turns.recall(question, always_small=True)
    assert (small.fire, small.extent) == (False, "small")
    assert texts(small)[0] == DOG[0]
    assert small.reason.endswith("A small recall is sent all the same.")


def test_a_thread_that_fits_the_window_has_nothing_to_recall():
    found = Thread(list(FILLER[:4])).recall("What did you say about tea earlier?")
    assert (found.fire, found.extent, found.picks) == (False, "none", ())


def test_a_passage_of_the_window_is_never_recalled():
    turns = thread(DOG, filler=1)
    turns.turns[1] = ("Is Biscuit hungry?", "Beagles always are.")
    found = turns.recall("Which food for Biscuit did I mention earlier?", window=6)
    assert {pick.passage.seq for pick in found.picks} == {1}


def test_the_words_of_the_current_message_are_the_query_rare_kinds_first():
    assert query_words("What did Melanie's kids paint in 2022?") == ["melani", "kid", "paint", "2022"]
    long = " ".join(f"word{'abcdefghijklmnop'[n]}" for n in range(16)) + " Lisbon 1755"
    assert len(query_words(long)) == QUERY_WORDS
    assert {"lisbon", "1755"} <= set(query_words(long))
    assert query_words("And what about it?") == []


def test_a_chinese_question_keeps_the_pairs_that_name_its_subject():
    asked = query_words("那么请你告诉我关于这个城市里面最古老的图书馆和大教堂的历史")
    assert {"图书", "书馆", "教堂", "历史"} <= set(asked)


def test_candidates_are_bounded_and_prefer_the_rarer_words():
    matches = WordMatches(ids={"tea": tuple(range(400, 0, -1)), "biscuit": (7, 3)}, turns=5000)
    found = candidates(matches)
    assert len(found) == CANDIDATES
    assert {3, 7} <= set(found)
    assert found == sorted(found)
    common = tuple(range(300, 100, -1))
    assert 7 in candidates(WordMatches(ids={"tea": common, "cup": common, "biscuit": (7,)}, turns=5000))


def test_a_word_that_fills_the_cap_with_the_newest_passages_alone_is_taken_to_be_common_everywhere():
    newest = tuple(range(20_000, 20_000 - MATCH_CAP, -1))
    weights = rarity(WordMatches(ids={"tea": newest, "biscuit": (5,)}, turns=10_000))
    assert weights["tea"] < 0.01 * weights["biscuit"]


def test_the_work_does_not_grow_with_the_length_of_the_thread():
    def seconds(turns: int) -> float:
        first = 4 * turns
        ids = {f"word{n}": tuple(range(first - n, first - n - 4 * MATCH_CAP, -4)) for n in range(QUERY_WORDS)}
        matches = WordMatches(ids=ids, turns=turns)
        started = time.process_time()
        for _ in range(5):
            candidates(matches)
        return time.process_time() - started

    seconds(500)
    assert seconds(1_000_000) < 5 * max(seconds(500), 0.005)


def test_what_was_said_again_word_for_word_is_recalled_once_and_where_it_was_said_last():
    early = thread(*[("What does the harbour ferry cost?", f"It costs {n} euros.") for n in (4, 5, 6)])
    found = early.recall("What does the harbour ferry cost?")
    assert [pick.passage.seq for pick in found.picks if pick.passage.part == "question"][:1] == [3]
    assert texts(found).count("What does the harbour ferry cost?") == 1


def test_a_turn_that_names_the_subject_opens_the_gate_beside_one_that_shares_the_manner_of_asking():
    early = thread(("How many miles does it take to matter?", "Many."), ("My hikes were all in Utah.", "Lovely."))
    assert early.recall("How many hikes did it take?").fire


@pytest.mark.parametrize(
    "message", ["My harbour ferry ticket is lost now.", "Noted: die Fähre im Hafen, harbour ferry!"]
)
def test_a_message_that_tells_and_asks_nothing_gets_a_reminder(message: str):
    found = thread(("The harbour ferry ticket costs 4 euros.", "Good to know.")).recall(message)
    assert (found.fire, found.extent) == (True, "small")
    assert "asks nothing" in found.reason


@pytest.mark.parametrize("extent", ["full", "small"])
def test_only_what_comes_near_the_best_passage_is_sent_and_nearer_where_a_reminder_is_enough(extent: Extent):
    picks = tuple(pick(id, score) for id, score in ((1, 6.0), (2, 4.5), (3, 2.5), (4, 1.0)))
    found = Recalled(fire=True, extent=extent, reason="", picks=picks)
    kept = [each.passage.id for each in worth_sending(found)]
    assert kept == ([1, 2, 3] if extent == "full" else [1, 2])
    always = Recalled(fire=False, extent="small", reason="", picks=picks)
    assert len(worth_sending(always)) == 3


def pick(id: int, score: float, *, seq: int = 0, part: str = "question", start: int = 0) -> Pick:
    found = StoredPassage(
        id=id, seq=seq or id, attempt=1, part="answer" if part == "answer" else "question", start=start, end=start + 1,
        day="2026-11-30", text="x",
    )  # fmt: skip
    return Pick(passage=found, score=score)


def chosen(picks: Sequence[Pick], budget: int, cost: dict[int, int]) -> list[int]:
    return [found.passage.id for found in pick_within(picks, budget, lambda passage: cost[passage.id])]


def test_picks_are_taken_by_score_and_come_out_oldest_first_question_before_answer():
    picks = [
        pick(4, 9.0, seq=8, part="answer", start=50), pick(3, 8.0, seq=8, part="answer"), pick(2, 7.0, seq=8),
        pick(1, 6.0, seq=2), pick(5, 1.0, seq=1),
    ]  # fmt: skip
    assert chosen(picks, 40, dict.fromkeys(range(1, 6), 10)) == [1, 2, 3, 4]


def test_a_long_passage_gives_way_to_a_short_one_that_scores_little_less():
    assert chosen([pick(1, 5.0), pick(2, 4.5)], 100, {1: 100, 2: 10}) == [2]
    assert chosen([pick(1, 9.0), pick(2, 4.5)], 100, {1: 100, 2: 10}) == [1]


def test_a_passage_that_does_not_fit_is_passed_over_for_one_that_does():
    assert chosen([pick(1, 9.0), pick(2, 3.0)], 50, {1: 51, 2: 50}) == [2]
    assert chosen([pick(1, 9.0)], 0, {1: 1}) == []


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 15), st.integers(0, 200), st.integers(1, 30)), max_size=40),
    st.integers(0, 1000),
)
def test_picks_never_cost_more_than_the_budget_and_stay_in_order(rows: list[tuple[float, int, int]], budget: int):
    picks = [pick(n, score, seq=seq) for n, (score, _, seq) in enumerate(rows, 1)]
    cost = {n: tokens for n, (_, tokens, _) in enumerate(rows, 1)}
    found = pick_within(picks, budget, lambda passage: cost[passage.id])
    assert sum(max(1, cost[p.passage.id]) for p in found) <= budget
    assert [p.passage.seq for p in found] == sorted(p.passage.seq for p in found)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300))
def test_any_question_is_answered_with_a_reason_and_the_same_picks_twice(question: str):
    turns = thread(DOG, VISA, filler=2)
    first, second = turns.recall(question, always_small=True), turns.recall(question, always_small=True)
    assert first == second
    assert first.reason.endswith(".")
    assert len(query_words(question)) <= QUERY_WORDS
