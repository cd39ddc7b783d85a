"""A recalled passage that holds a replaced value says so: the words that set it, and words that only repeat it."""

from lumina import open_thread
from lumina.memory.replaced import replaced_values
from lumina.memory.thread import Thread


async def conversation(*turns: tuple[str, str, list[tuple[str, str]]]) -> Thread:
    thread = await open_thread(deltas=True)
    for question, answer, said in turns:
        turn = await thread.record(await thread.context(question), answer)
        ops = [{"op": "set", "key": key, "value": value, "quote": question} for key, value in said]
        noted = await thread.apply({"ops": ops}, seq=turn.seq)
        assert not noted.refused
    return thread


async def marked(thread: Thread, *words: str) -> dict[str, int]:
    """Text of each passage that holds one of `words` -> the turn that replaced its value (0: it is not marked)."""
    found = await thread.store.matches(thread.scope, words, before=99, cap=99)
    passages = await thread.store.passages(thread.scope, sorted({id for ids in found.ids.values() for id in ids}))
    replaced = await replaced_values(thread.store, thread.scope, passages, await thread.state(), await thread.profile())
    return {passage.text: replaced.get(passage.id, 0) for passage in passages}


async def test_words_that_set_a_replaced_value_and_words_that_repeat_it_are_marked():
    thread = await conversation(
        ("My router is an XR-5.", "Noted: an XR-5.", [("router", "XR-5")]),
        ("What is my router?", "It is an XR-5.", []),
        ("My router is a ZB-9 and not the XR-5.", "Now a ZB-9, not the XR-5.", [("router", "ZB-9")]),
        ("What is my router now?", "A ZB-9, before that it was an XR-5.", []),
    )
    assert await marked(thread, "router", "xr", "zb") == {
        "My router is an XR-5.": 3,
        "Noted: an XR-5.": 3,
        "What is my router?": 0,
        "It is an XR-5.": 3,
        "My router is a ZB-9 and not the XR-5.": 0,
        "Now a ZB-9, not the XR-5.": 0,
        "What is my router now?": 0,
        "A ZB-9, before that it was an XR-5.": 0,
    }


async def test_a_repeated_value_is_not_old_while_it_stands_under_another_key():
    thread = await conversation(
        ("I fly from Oslo and live in Oslo.", "Fine.", [("flight.start", "Oslo"), ("home.city", "Oslo")]),
        ("Is Oslo cold?", "Oslo is mild.", []),
        ("I will start in Rome.", "Fine.", [("flight.start", "Rome")]),
    )
    found = await marked(thread, "oslo")
    assert found["Oslo is mild."] == 0
    assert found["I fly from Oslo and live in Oslo."] == 3


async def test_a_short_value_is_marked_where_a_word_of_its_key_stands_beside_it():
    thread = await conversation(
        ("I want 2 seats.", "Please confirm: 2 seats on a luxury ride.", [("ride.number_of_seats", "2")]),
        ("Is there one for us?", "There are 2 rides, one with a second row of leather seats.", []),
        ("It is 4 people, so I want 4 seats.", "4 seats, not 2.", [("ride.number_of_seats", "4")]),
    )
    found = await marked(thread, "2", "seat", "ride")
    assert found["Please confirm: 2 seats on a luxury ride."] == 3
    assert found["There are 2 rides, one with a second row of leather seats."] == 0


async def test_a_value_that_stands_under_another_key_now_is_old_where_the_replaced_key_is_named():
    thread = await conversation(
        ("A hotel with 4 stars, and 4 tickets.", "Fine.", [("hotel.stars", "4"), ("tickets", "4")]),
        ("What is free?", "The Clermont has 4 stars.", []),
        ("Which show?", "You get 4 tickets for the Babyshower.", []),
        ("Make it 3 stars.", "Fine.", [("hotel.stars", "3")]),
    )
    found = await marked(thread, "4")
    assert found["The Clermont has 4 stars."] == 4
    assert found["You get 4 tickets for the Babyshower."] == 0


async def test_a_value_of_two_characters_could_be_anything_and_marks_only_its_own_words():
    thread = await conversation(
        ("We are 12 people.", "Fine.", [("party.size", "12")]),
        ("Is 12 o'clock possible?", "At 12 it is.", []),
        ("We are 15 people.", "Fine.", [("party.size", "15")]),
    )
    found = await marked(thread, "12", "people")
    assert (found["We are 12 people."], found["At 12 it is."]) == (3, 0)
