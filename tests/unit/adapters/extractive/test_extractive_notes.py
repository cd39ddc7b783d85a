"""What the built-in note taker notes, and above all what it does not: a table of sentences each way."""

import json

import pytest

from lumina.adapters.extractive.notes import ExtractiveNotes, operations
from lumina.adapters.extractive.rules import RULES
from lumina.memory.delta import DeltaRequest

STANDING = {
    "home.city": "Berlin", "user.name": "Ada", "work.employer": "Acme", "uses.docker": "Docker", "diet.kind": "vegan",
    "allergy.nuts": "nuts", "login.fails": "still not working", "choice.sqlite": "SQLite",
}  # fmt: skip

# (what is said, operation, key, value)
SAID = [
    ("My name is Ada.", "set", "user.name", "Ada"),
    ("my name is Ada Lovelace", "set", "user.name", "Ada Lovelace"),
    ("Hi there, my name is Ada!", "set", "user.name", "Ada"),
    ("Hello! My name is José.", "set", "user.name", "José"),
    ("My name’s not important. My name is Dr. Grace Hopper.", "set", "user.name", "Dr. Grace Hopper"),
    ("My name is Ada, how do I sort a list?", "set", "user.name", "Ada"),
    ("My name is Ada. How do I sort a list?", "set", "user.name", "Ada"),
    ("Actually, my name is Eva.", "set", "user.name", "Eva"),
    ("Please call me Ada.", "set", "user.name", "Ada"),
    ("By the way, call me Grace from now on.", None, "", ""),
    ("I'm called Jean-Luc.", "set", "user.name", "Jean-Luc"),
    ("My name is Ludwig van Beethoven.", "set", "user.name", "Ludwig van Beethoven"),
    ("my name is 花子", "set", "user.name", "花子"),
    ("I am 34 years old.", "set", "user.age", "34"),
    ("I’m 34 years old", "set", "user.age", "34"),
    ("My birthday is on 3 May.", "set", "user.birthday", "3 May"),
    ("My time zone is Europe/Berlin.", "set", "user.timezone", "Europe/Berlin"),
    ("I live in Berlin.", "set", "home.city", "Berlin"),
    ("I live in New York now.", "set", "home.city", "New York"),
    ("I live in Frankfurt am Main and I like it.", "set", "home.city", "Frankfurt am Main"),
    ("I live in Berlin, Germany.", "set", "home.city", "Berlin"),
    ("I'm based in Lyon.", "set", "home.city", "Lyon"),
    ("Actually I live in Paris now.", "set", "home.city", "Paris"),
    ("For the record: I currently live in St. Gallen.", "set", "home.city", "St. Gallen"),
    ("Remember that I live in Oslo.", "set", "home.city", "Oslo"),
    ("Don't forget that I live in Oslo.", "set", "home.city", "Oslo"),
    ("I moved to Oslo.", "set", "home.city", "Oslo"),
    ("Actually, I moved to Oslo.", "set", "home.city", "Oslo"),
    ("I have moved to Oslo.", "set", "home.city", "Oslo"),
    ("I've moved to Oslo now.", "set", "home.city", "Oslo"),
    ("I recently moved to Frankfurt am Main with my family.", "set", "home.city", "Frankfurt am Main"),
    ("I moved from Berlin to Rio de Janeiro last month!", "set", "home.city", "Rio de Janeiro"),
    ("I just moved to Oslo, what is the weather like there?", "set", "home.city", "Oslo"),
    ("I moved to the next chapter.", None, "", ""),
    ("We moved to a new server.", None, "", ""),
    ("We moved to Oslo for the test run.", None, "", ""),
    ("I moved to close the ticket.", None, "", ""),
    ("I moved to Close the ticket.", None, "", ""),
    ("I moved to Chapter 3.", None, "", ""),
    ("I moved to Python 3.11.", None, "", ""),
    ("I've moved to Linux.", None, "", ""),
    ("I moved to AWS.", None, "", ""),
    ("I have moved to GitHub.", None, "", ""),
    ("I moved to Oslo when I was five.", None, "", ""),
    ("I moved to Oslo in 2010 and then to Rome.", None, "", ""),
    ("I moved to Oslo and came back.", None, "", ""),
    ("I moved to Oslo or Bergen.", None, "", ""),
    ("I moved to Oslo but I left again.", None, "", ""),
    ("If I moved to Oslo, I would ski.", None, "", ""),
    ("My brother moved to Oslo.", None, "", ""),
    ("My boss said I moved to Oslo.", None, "", ""),
    ("I work at Acme Corp.", "set", "work.employer", "Acme Corp"),
    ("I work for NASA.", "set", "work.employer", "NASA"),
    ("I work as a night nurse in Berlin.", "set", "work.job", "night nurse"),
    ("I'm allergic to peanuts.", "set", "allergy.peanuts", "peanuts"),
    ("I am severely allergic to tree nuts, so be careful.", "set", "allergy.tree_nuts", "tree nuts"),
    ("I'm a vegetarian.", "set", "diet.kind", "vegetarian"),
    ("I am vegan and I love tofu", "set", "diet.kind", "vegan"),
    ("I prefer dark mode.", "set", "prefers.dark_mode", "dark mode"),
    ("I prefer tea over coffee.", "set", "prefers.tea", "tea"),
    ("My favourite color is dark blue.", "set", "favorite.color", "dark blue"),
    ("I use Python 3.11.", "set", "uses.python", "Python 3.11"),
    ("I use VS Code on Windows.", "set", "uses.vs_code", "VS Code"),
    ("I use macOS", "set", "uses.macos", "macOS"),
    ("We use GitLab for this.", "set", "team_uses.gitlab", "GitLab"),
    ("Let's go with SQLite.", "decide", "choice.sqlite", "SQLite"),
    ("Okay, let’s go with SQLite for the database.", "decide", "database", "SQLite"),
    ("let's go with a monorepo", "decide", "choice.a_monorepo", "a monorepo"),
    ("Let's use FastAPI as our web framework.", "decide", "web_framework", "FastAPI"),
    ("We'll use PostgreSQL 16.", "decide", "choice.postgresql_16", "PostgreSQL 16"),
    ("We decided to use React.", "decide", "choice.react", "React"),
    ("We have decided on weekly releases.", "decide", "choice.weekly_releases", "weekly releases"),
    ("Let's go with Postgres instead.", "decide", "choice.sqlite", "Postgres"),
    ("Let's use Postgres instead of SQLite.", "decide", "choice.sqlite", "Postgres"),
    ("The printer is still not working.", "open", "printer.fails", "still not working"),
    ("It's no use, the login still doesn't work.", "open", "login.fails", "still doesn't work"),
    ("it still doesn't work", "open", "login.fails", "still doesn't work"),
    ("Still not working!", "open", "login.fails", "Still not working"),
    ("My printer doesn't work anymore.", "open", "printer.fails", "doesn't work"),
    ("The app keeps crashing.", "open", "app.fails", "keeps crashing"),
    ("I still can't log in.", "open", "log_in.fails", "still can't log in"),
    ("It works now, thanks!", "resolve", "login.fails", ""),
    ("Great, that fixed it.", "resolve", "login.fails", ""),
    ("That worked.", "resolve", "login.fails", ""),
    ("The login is working again.", "resolve", "login.fails", ""),
    ("Forget that I live in Berlin.", "retract", "home.city", ""),
    ("Please forget where I live.", "retract", "home.city", ""),
    ("forget my name", "retract", "user.name", ""),
    ("I no longer live in Berlin.", "retract", "home.city", ""),
    ("I don't use Docker anymore.", None, "", ""),
    ("I no longer use Docker.", "retract", "uses.docker", ""),
    ("I'm not vegan.", "retract", "diet.kind", ""),
    ("I'm no longer allergic to nuts.", "retract", "allergy.nuts", ""),
    ("It's Munich, not Berlin.", "set", "home.city", "Munich"),
    ("No, sorry, I meant Munich, not Berlin.", "set", "home.city", "Munich"),
    ("Ich heiße Ada.", "set", "user.name", "Ada"),
    ("Hallo, mein Name ist Ada.", "set", "user.name", "Ada"),
    ("Ich wohne in Köln.", "set", "home.city", "Köln"),
    ("Ich bin allergisch gegen Nüsse.", "set", "allergy.nusse", "Nüsse"),
    ("Wir nehmen SQLite.", "decide", "choice.sqlite", "SQLite"),
    ("Es funktioniert immer noch nicht.", "open", "login.fails", "Es funktioniert immer noch nicht"),
    ("Jetzt funktioniert es.", "resolve", "login.fails", ""),
    ("Je m’appelle Ada.", "set", "user.name", "Ada"),
    ("J'habite à Lyon.", "set", "home.city", "Lyon"),
    ("Je suis allergique aux noix.", "set", "allergy.noix", "noix"),
    ("Ça ne marche toujours pas.", "open", "login.fails", "Ça ne marche toujours pas"),
    ("Me llamo Ada.", "set", "user.name", "Ada"),
    ("Vivo en Madrid.", "set", "home.city", "Madrid"),
    ("Ya funciona, gracias.", "resolve", "login.fails", ""),
]

NOT_SAID = """
    is my name Ada?|What is my name?|do I live in Berlin?|I live in Paris, right?|Should we go with Postgres?
    If I live in Paris, do I need a visa?|if I live in Paris I pay less|When I live in Paris, I use Emacs
    My brother lives in Paris.|My wife's name is Eva.|My sister and I live in Paris|People like me live in Paris.
    He said "I live in Paris".|She told me I live in Paris.|I live in Paris, he wrote.|The user says: my name is Eva
    "My name is Eva" has four words.|'my name is Eva' is printed.|print("my name is Eva")|`I live in Paris`
    > My name is Bob|Translate to German: I live in Paris|How do you say my name is Eva in French?
    Pretend my name is Bob.|Suppose I live in Paris.|Let's say I live in Paris.|For example, I live in Paris.
    In the novel I live in Paris.|In Skyrim, I live in Whiterun.|I dreamed that I live in Paris.
    I wish I lived in Paris.|As if I live in Paris
    I don't know if I live in Paris.|Nobody knows that I live in Paris|I think I live in Paris.
    Because I live in Paris I pay more|Assume that I live in Paris.|I read: I live in Paris.|Say my name is Eva
    My name is on the list.|My name is not important.|My name is misspelled everywhere.|My name is German.
    My name tag is Eva.|My name is Eva if you believe my mother|My name is Eva or Eve.|I am not Eva.
    Call me when it is done.|Call me maybe.|Call me Monday.|Call me ASAP.|Call me an optimist.
    I live in a small house.|I live in fear.|I live in Excel.|I live in Paris or Munich.|I live in Paris until March
    I lived in Paris.|I used to live in Paris.|I would live in Paris.|I might live in Paris next year.
    I work at night.|I work at home.|I work as hard as I can.|I work for free.|I worked at Initech.
    I'm not sure I'm allergic to eggs.|I'm allergic to whatever you are having.|I'm a vegetarian curious
    I prefer not to say.|I prefer that you answer briefly.|I prefer it.|I prefer the second one.|I prefer to wait.
    I prefer tea if it is cold.|I could use Emacs.|I'd rather use Emacs.|I use it daily.|I use the same approach.
    I use Emacs when I travel|My favourite part is when he dies.|My birthday is soon.|I am 5 minutes late.
    Let's go with it.|Let's go with that.|Let's go with the flow.|Let's go with your suggestion.
    Let's go with the second option.|Let's go to Paris.|Let's go with Anna to the cinema.|I'll go with Anna.
    Let's use common sense.|Let's use a different approach.|let's use the debugger to find out|We'll use force.
    We could go with Postgres.|Let's not use Postgres.|We'll never use Postgres.|We decided not to use Postgres.
    They decided to use Postgres.|We haven't decided on Postgres.|Maybe we'll use Postgres.|I think we'll use Postgres.
    Why does the printer not work?|How do I fix it if it doesn't work?|The GIL doesn't work in parallel.
    The function doesn't work like that.|It still works.|it is still not clear to me how generators work
    I still can't understand decorators.|Does it work now?|It works now only on my laptop.
    It works now, but crashes later|It works now but only sometimes.|If that fixed it, tell me.|I hope that fixed it.
    Not sure that fixed it.|That worked before.|it doesn't work now
    Don't forget that the list is sorted.|I forget where I live.|I always forget my password.|Did you forget my name?
    Forget it.|Please forget the second option.|Never forget where you live.|Forget the login.|Forget what I said.
    Forget that I live in Paris.|I no longer live in Paris.|It's fine, not great.|It's a list, not a tuple.
    Is it Postgres, not SQLite?|How do I use Python 3.11?|What does lru_cache do?|thanks|Explain my name is a variable
    Translate this to German. My name is Eva.|I am writing a novel. I live in Paris.|I wish, I live in Paris.
    I live in Paris, if that matters.|We'll use Postgres, unless it rains.|It works now, if I restart it.
    Ich heiße Sie willkommen.|Ich wohne in Miete.|Wenn ich in Paris wohne, was dann?|Wie heiße ich?
    Mein Bruder wohnt in Köln.|J'habite chez ma mère.|Est-ce que j'habite à Lyon ?|¿Vivo en Madrid?
    Vivo en casa de mi madre.|Me llamo la atención
"""
NOTHING = [line.strip() for row in NOT_SAID.strip().split("\n") for line in row.split("|")]


@pytest.mark.parametrize(("said", "op", "key", "value"), SAID, ids=[row[0] for row in SAID])
def test_what_is_plainly_said_is_noted_with_its_words(said, op, key, value):
    found = operations(said, STANDING)
    if op is None:  # beyond the patterns, and known to be
        assert found == []
        return
    assert [(one.op, one.key, one.value) for one in found] == [(op, key, value)]
    assert found[0].quote in said
    assert found[0].value in found[0].quote


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_asked_supposed_quoted_or_said_of_others_is_not_noted(text):
    assert operations(text, STANDING) == []


def test_the_tables_are_long_enough_to_mean_something():
    assert len(SAID) >= 60
    assert len(NOTHING) >= 60


@pytest.mark.parametrize("rule", RULES, ids=[rule.example for rule in RULES])
def test_every_rule_fires_on_its_own_example(rule):
    keys = {"allergy.nuts": "nuts", "home.city": "Berlin", "work.employer": "Acme", "uses.docker": "Docker"}
    keys |= {"diet.kind": "vegan", "login.fails": "still not working"}
    found = operations(rule.example, keys)
    assert [one.op for one in found] == [rule.does.split()[0]]


def test_two_statements_of_one_sentence_are_both_noted():
    found = operations("My name is Ada and I live in Berlin.", {})
    assert [(one.key, one.value, one.quote) for one in found] == [
        ("user.name", "Ada", "My name is Ada"),
        ("home.city", "Berlin", "I live in Berlin"),
    ]


def test_a_second_allergy_stands_beside_the_first():
    found = operations("I'm allergic to peanuts, eggs and milk.", {"allergy.nuts": "nuts"})
    assert [(one.key, one.value) for one in found] == [
        ("allergy.peanuts", "peanuts"),
        ("allergy.eggs", "eggs"),
        ("allergy.milk", "milk"),
    ]
    assert [one.key for one in operations("I'm allergic to nuts and I love chocolate.", {})] == ["allergy.nuts"]
    assert [one.key for one in operations("I'm allergic to nuts and love chocolate.", {})] == ["allergy.nuts"]
    assert [one.key for one in operations("I'm also allergic to eggs", {"allergy.nuts": "nuts"})] == ["allergy.eggs"]


def test_facts_about_a_person_are_about_the_subject_and_decisions_about_the_thread():
    assert operations("My name is Ada.", {})[0].about == "subject"
    assert operations("Let's go with SQLite.", {})[0].about == "thread"
    assert operations("The login is still not working.", {})[0].about == "thread"


def test_a_key_that_stands_already_is_used_again_wherever_it_is():
    found = operations("I live in Paris.", {"profile.city": "Berlin"})
    assert [(one.key, one.about) for one in found] == [("profile.city", "")]


def test_a_new_version_takes_the_place_of_the_old_one():
    assert operations("I use Python 3.12.", {"uses.python": "Python 3.11"})[0].key == "uses.python"


def test_nothing_is_resolved_when_two_issues_are_open_or_none():
    assert operations("It works now.", {"login.fails": "a", "printer.fails": "b"}) == []
    assert operations("It works now.", {}) == []


def test_a_correction_whose_old_value_stands_under_two_keys_changes_neither():
    assert operations("It's Munich, not Berlin.", {"home.city": "Berlin", "work.city": "Berlin"}) == []


def test_a_pasted_text_notes_nothing():
    assert operations("My name is Ada. " + "word " * 500, {}) == []


def request(question: str, *, title_wanted: bool = True, answer: str = "") -> DeltaRequest:
    return DeltaRequest(
        seq=1, attempt=1, question=question, answer=answer, previous_answer="My name is Bob.", keys={},
        read_sources=False, title_wanted=title_wanted, messages=(),
    )  # fmt: skip


async def test_the_note_is_json_of_the_agreed_form_and_the_answer_is_not_read():
    note = json.loads(await ExtractiveNotes().note(request("My name is Ada.", answer="I live in Paris.")))
    assert note == {
        "ops": [
            {
                "op": "set", "key": "user.name", "value": "Ada", "quote": "My name is Ada", "about": "subject",
                "offer": "", "source": None,
            }
        ],
        "followups": [],
        "title": "My name is Ada.",
    }  # fmt: skip


async def test_a_title_is_the_question_cut_at_a_word_and_only_when_it_is_wanted():
    long = "How do I create a virtual environment for a project with several Python versions?"
    title = json.loads(await ExtractiveNotes().note(request(long)))["title"]
    assert title == "How do I create a virtual environment for a project with…"
    assert len(title) <= 60
    assert json.loads(await ExtractiveNotes().note(request(long, title_wanted=False)))["title"] == ""
