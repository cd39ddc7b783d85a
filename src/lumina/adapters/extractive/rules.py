"""The patterns by which the built-in note taker reads what a person plainly says: one table, and nothing else is noted.

A rule is the words that lead to a value, how the value is read, and what is noted. It holds only at the start of a
clause of a sentence that states (see plain_sentences), so "my brother lives in Berlin", "if I live in Berlin" and "do I
live in Berlin?" note nothing. English has all rules, German, French and Spanish the commonest. Each carries an example,
which a test runs.
"""

import re
from dataclasses import dataclass
from typing import Literal

from lumina.adapters.extractive import values

Action = Literal["set", "retract value", "decide", "open", "resolve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`says` is matched at the start of a clause, whatever its case; the value is read right after it.

    `key` may hold {value} (the value as part of a key) and {noun} (a group of `says`). "retract value" takes the key
    back if it holds that value now.
    """

    says: re.Pattern[str]
    reads: values.Reader | None
    does: Action
    key: str
    about: Literal["subject", "thread"]
    example: str


def _rule(says: str, reads: values.Reader | None, key: str, example: str, *, does: Action = "set") -> Rule:
    about: Literal["subject", "thread"] = "subject" if key.split(".")[0] in PERSONAL else "thread"
    return Rule(says=re.compile(says, re.IGNORECASE), reads=reads, does=does, key=key, about=about, example=example)


PERSONAL = frozenset("user home work allergy diet prefers favorite uses".split())
AM = r"(?:i am|i'm)"
DIET = r"(?P<noun>vegetarian|vegan|pescatarian)(?=$|[.!,;]| (?:and|but|so|now|since)\b)"
WE_WILL = r"(?:we'll|we will|we are going to|we're going to)"

FACTS = (
    _rule(r"my (?:full |first )?name is ", values.person, "user.name", "My name is Ada Lovelace."),
    _rule(rf"(?:please )?call me |{AM} called ", values.person, "user.name", "Please call me Ada."),
    _rule(rf"{AM} (?=\d)", values.age, "user.age", "I am 34 years old."),
    _rule(r"my birthday is (?:on )?", values.day, "user.birthday", "My birthday is 3 May."),
    _rule(r"my (?:time ?zone|timezone) is ", values.product, "user.timezone", "My time zone is CET."),
    _rule(rf"(?:i (?:now |currently )?live|{AM} (?:now |currently )?(?:living|based)) in ", values.place, "home.city",
          "I live in Frankfurt am Main."),
    _rule(r"(?:i|i have|i've) (?:just |now |recently |finally )?moved (?:from [^\W\d]{2,30} )?to ", values.new_home,
          "home.city", "I've moved to Oslo."),
    _rule(r"i (?:now |currently )?work (?:at|for) ", values.organisation, "work.employer", "I work at Acme Corp."),
    _rule(r"i (?:now |currently )?work as an? ", values.job, "work.job", "I work as a night nurse."),
    _rule(rf"{AM} (?:also |severely |very )?allergic to ", values.allergens, "allergy.{value}",
          "I'm allergic to peanuts."),
    _rule(rf"{AM} (?:an? )?{DIET}", None, "diet.kind", "I'm a vegetarian."),
    _rule(r"i (?:really |usually |generally |always )?prefer ", values.phrase, "prefers.{value}",
          "I prefer dark mode."),
    _rule(r"my favou?rite (?P<noun>[a-z]{3,20}(?: [a-z]{3,20})?) is ", values.phrase, "favorite.{noun}",
          "My favourite color is dark blue."),
    _rule(r"i (?:mostly |usually |mainly |currently )?use ", values.product, "uses.{value}", "I use Python 3.11."),
    _rule(r"we (?:mostly |usually |mainly |currently )?use ", values.product, "team_uses.{value}", "We use GitLab."),
    _rule(r"ich hei(?:ß|ss)e |mein name ist ", values.person, "user.name", "Ich heiße Ada."),
    _rule(r"ich wohne (?:jetzt )?in ", values.place, "home.city", "Ich wohne in Köln."),
    _rule(r"ich arbeite (?:jetzt )?bei ", values.organisation, "work.employer", "Ich arbeite bei Siemens."),
    _rule(r"ich bin allergisch gegen ", values.phrase, "allergy.{value}", "Ich bin allergisch gegen Nüsse."),
    _rule(r"je m'appelle |mon nom est ", values.person, "user.name", "Je m'appelle Ada."),
    _rule(r"j'habite (?:maintenant )?(?:à |au )", values.place, "home.city", "J'habite à Lyon."),
    _rule(r"je travaille (?:maintenant )?chez ", values.organisation, "work.employer", "Je travaille chez Airbus."),
    _rule(r"je suis allergique (?:au |aux |à la |à )", values.phrase, "allergy.{value}",
          "Je suis allergique aux noix."),
    _rule(r"(?:yo )?me llamo |mi nombre es ", values.person, "user.name", "Me llamo Ada."),
    _rule(r"(?:yo )?(?:ahora )?vivo en ", values.place, "home.city", "Vivo en Madrid."),
    _rule(r"soy alérgic[oa] (?:al |a las |a los |a la |a )", values.phrase, "allergy.{value}",
          "Soy alérgica al gluten."),
)  # fmt: skip

TAKEN_BACK = (
    _rule(rf"(?:i no longer live|i don't live|i do not live|{AM} no longer (?:living|based)) in ", values.place,
          "home.city", "I no longer live in Berlin.", does="retract value"),
    _rule(r"i (?:no longer work|don't work|do not work) (?:at|for) ", values.organisation, "work.employer",
          "I no longer work at Acme.", does="retract value"),
    _rule(r"(?:i no longer use|i don't use|i do not use) ", values.product, "uses.{value}",
          "I no longer use Docker.", does="retract value"),
    _rule(rf"{AM} (?:no longer|not) (?:an? )?{DIET}", None, "diet.kind",
          "I'm no longer vegan.", does="retract value"),
    _rule(rf"{AM} (?:no longer|not) allergic to ", values.phrase, "allergy.{value}",
          "I'm not allergic to nuts.", does="retract value"),
)  # fmt: skip

DECISIONS = (
    _rule(rf"(?:let's|{WE_WILL}) go (?:with|for) ", values.choice, "choice.{value}", "Let's go with SQLite.",
          does="decide"),
    _rule(rf"(?:let's|{WE_WILL}|i'll|i will) use ", values.named_choice, "choice.{value}", "We'll use PostgreSQL 16.",
          does="decide"),
    _rule(r"(?:we|i)(?:'ve| have)? (?:now )?(?:decided|settled|agreed) (?:on|to use|to go with|to go for) ",
          values.choice, "choice.{value}", "We decided to use SQLite for the database.", does="decide"),
    _rule(r"(?:dann )?nehmen wir |wir nehmen |wir haben uns für ", values.named_choice, "choice.{value}",
          "Wir nehmen SQLite.", does="decide"),
    _rule(r"(?:on prend |prenons |partons sur |nous prenons )", values.named_choice, "choice.{value}",
          "Prenons SQLite.", does="decide"),
    _rule(r"(?:vamos con |usemos |usaremos )", values.named_choice, "choice.{value}", "Usemos SQLite.", does="decide"),
)  # fmt: skip

NOUN = r"(?P<noun>[a-z][a-z0-9-]{1,24}(?: [a-z][a-z0-9-]{1,24}){0,2}?)"
THING = rf"(?:(?:the|my|our) {NOUN}|it|this|that)"
END = (
    r"(?= ?(?:$|[.!,;]|(?:anymore|any more|at all|again|yet|properly|correctly|for me|either|though|here|and|but|since)"
    r"\b))"
)
FAILS = (
    r"(?:(?:(?:is |are )?not|isn't|aren't) (?:working|starting|loading|opening|responding|connecting|printing|syncing)|"
    r"(?:doesn't|does not|don't|won't|will not|didn't) (?:work|start|load|open|respond|connect|print|sync|help)|"
    r"(?:keeps |is )?(?:failing|crashing|freezing)|(?:is )?broken|crashes|fails|freezes)"
)
TROUBLE = (
    # With "still" anything may fail, "it" too; without, it must be a thing, and the clause must end there.
    _rule(rf"(?:{THING} (?:is |are )?)?(?P<value>still {FAILS}){END}", None, "{noun}.fails",
          "The login is still not working.", does="open"),
    _rule(rf"(?:my|our|the) {NOUN} (?P<value>{FAILS}){END}", None, "{noun}.fails",
          "My printer doesn't work anymore.", does="open"),
    _rule(r"i (?P<value>still (?:can't|cannot|can not) (?P<noun>log in|login|sign in|connect|print|access it|open it))"
          rf"{END}", None, "{noun}.fails", "I still can't log in.", does="open"),
    _rule(rf"(?P<value>(?:es |das )?(?:funktioniert|geht) (?:immer noch|noch immer) nicht){END}", None, "{noun}.fails",
          "Es funktioniert immer noch nicht.", does="open"),
    _rule(rf"(?P<value>(?:ça|cela|il|elle) ne (?:marche|fonctionne) toujours pas){END}", None, "{noun}.fails",
          "Ça ne marche toujours pas.", does="open"),
    _rule(rf"(?P<value>(?:eso )?(?:sigue|todavía) (?:sin funcionar|no funciona)){END}", None, "{noun}.fails",
          "Sigue sin funcionar.", does="open"),
)  # fmt: skip

DONE = r"(?= ?(?:$|[.!,;]|(?:thanks|thank you|great|perfect|again|danke|merci|gracias|and)\b))"
SOLVED = (
    _rule(rf"{THING} (?:is )?(?:works|working|fixed|solved|resolved) (?:again|now|fine now|fine again){DONE}", None,
          "{noun}.fails", "It works now, thanks.", does="resolve"),
    _rule(rf"{THING} (?:has been |is (?:now )?|was )(?:fixed|solved|resolved){DONE}", None, "{noun}.fails",
          "The login is now fixed.", does="resolve"),
    _rule(rf"(?:that|this|it) (?:fixed|solved|resolved) (?:it|the problem|the issue|my problem|my issue){DONE}", None,
          "{noun}.fails", "That fixed it.", does="resolve"),
    _rule(rf"(?:that worked|works now|working now|problem solved|issue solved|it's working now|it's fixed now){DONE}",
          None, "{noun}.fails", "That worked, thanks!", does="resolve"),
    _rule(rf"(?:jetzt (?:funktioniert|geht) es|es (?:funktioniert|geht) jetzt){DONE}", None, "{noun}.fails",
          "Jetzt funktioniert es.", does="resolve"),
    _rule(rf"ça (?:marche|fonctionne) maintenant{DONE}", None, "{noun}.fails", "Ça marche maintenant.",
          does="resolve"),
    _rule(rf"(?:ya funciona|ahora funciona){DONE}", None, "{noun}.fails", "Ya funciona.", does="resolve"),
)  # fmt: skip

RULES = (*TAKEN_BACK, *FACTS, *DECISIONS, *SOLVED, *TROUBLE)
