"""The value that follows the words of a rule: how far it goes, and what it must look like.

Each kind of value has its own reader. A reader takes whole words only, and it gives nothing at all when the words go on
in a way that could change the meaning ("Berlin or Munich", "Anna if she asks"): what is not certain is not noted.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

TOKEN = re.compile(r"[^\s,;:!?()\x00]+")
PARTICLES = frozenset(
    "de del della den der des di da do dos du la le los las van von zu zum zur am an im of upon sur al bin ibn".split()
)
TITLES = frozenset(("Dr.", "St.", "Mr.", "Mrs.", "Ms.", "Prof."))
# Words after a value that leave it as it stands; anything else after it, and nothing is noted.
GOES_ON = frozenset(
    """and but now currently since because so thanks thank please too btw with und aber jetzt seit weil denn danke bitte
    et mais maintenant depuis car parce merci y pero ahora desde porque gracias""".split()
)
GOES_ON_WITH_USE = GOES_ON | frozenset("for on in at every daily mostly as instead to für auf pour sur para en".split())
NO_NAME = frozenset(
    """german french spanish english irish italian polish russian chinese japanese american british indian greek arabic
    hebrew latin turkish dutch swedish danish portuguese korean not no on in the a an sie euch dich ihn uns monday
    tuesday wednesday thursday friday saturday sunday january february march april june july august september october
    november december asap back maybe later crazy old tomorrow today if when or i""".split()
)
NO_PLACE = frozenset(
    """excel vim emacs slack outlook jira word photoshop vscode vs terminal notion figma hope fear miete untermiete
    wg angst scheidung trennung wohnung haus zelt wohnwagen apartment building room flat house unit i not""".split()
)
# What people move to that is no town: programs, services, work.
NO_HOME = frozenset(
    """python java javascript typescript rust go golang ruby kotlin swift scala php node react vue angular svelte django
    flask rails linux windows ubuntu debian fedora arch mac apple android chrome firefox safari edge brave opera docker
    kubernetes podman terraform ansible jenkins git gitlab github bitbucket postgres postgresql mysql sqlite redis
    mongo mongodb oracle azure aws google amazon microsoft cloudflare heroku vercel netlify asana trello linear airtable
    zoom teams signal telegram whatsapp discord mastodon bluesky twitter gmail fastmail protonmail proton thunderbird
    obsidian evernote spotify tidal netflix poetry npm yarn bun deno neovim helix zed pytest fish zsh bash sales
    marketing engineering support finance legal design product operations management research plan option stage phase
    step level chapter part section slide page version team group monday tuesday wednesday thursday friday saturday
    sunday""".split()
)
MOVED_ON = frozenset("back returned return later then left leave again before but temporarily".split())
NO_PROPER = frozenset(
    "night home nacht tag regen monday tuesday wednesday thursday friday saturday sunday i it not the a".split()
)
# A phrase that starts so says nothing by itself, or says less than it seems.
VAGUE = frozenset(
    """it that this these those them one ones him her us you me my your his their our yours mine what whatever something
    anything everything nothing someone whoever to not no if when where how another other both either neither all any
    some more less less different better same former latter flow first second third last next above below here there
    i we he she they to only just neither nobody always never being""".split()
)
PHRASE_ENDS = frozenset(
    """because since so but and then instead for as while although though if when unless or over than rather to please
    thanks in on at with from by of until before after weil denn für als statt aber und oder wenn parce car mais et ou
    si porque pero y o para""".split()
)
CONDITIONS = frozenset(
    "if when unless or while until wenn falls oder solange si ou quand o cuando maybe perhaps provided".split()
)
MORE = re.compile(r"(?:, [a-z]{3,20}){0,5},? and [a-z]{3,20}(?= ?(?:$|[.!;]))", re.IGNORECASE)
SEPARATES = re.compile(r",? and |, ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value within a sentence: offsets into its text; `after` is where reading may go on."""

    text: str
    start: int
    end: int

    @property
    def slug(self) -> str:
        return slug(self.text)


Reader = Callable[[str, int], "Value | None"]


def slug(text: str) -> str:
    """`text` as one part of a key: ASCII letters and digits, joined by underscores; "" if it has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "_".join(re.findall(r"[a-z0-9]+", plain))[:40].strip("_")


def person(text: str, at: int) -> Value | None:
    """One to three capitalised words; or words of a script without capitals."""
    return _proper(text, at, most=3, but_not=NO_NAME, goes_on=GOES_ON, is_part=_is_name_part)


def place(text: str, at: int) -> Value | None:
    """One to four capitalised words without digits: `Frankfurt am Main`."""
    return _proper(text, at, most=4, but_not=NO_PLACE, goes_on=GOES_ON, is_part=_is_name_part)


def new_home(text: str, at: int) -> Value | None:
    """A place that one moved to and did not leave again: every word plainly capitalised, and no program or team."""
    goes_on = (GOES_ON - {"but"}) | {"last", "this", "recently", "from", "with"}
    found = _proper(text, at, most=4, but_not=NO_PLACE | NO_HOME, goes_on=goes_on, is_part=_is_town_part)
    if found is None or not MOVED_ON.isdisjoint(re.findall(r"[a-z]+", text[found.end :].lower())):
        return None
    return found


def organisation(text: str, at: int) -> Value | None:
    """Up to four words, each with a capital or a digit."""
    return _proper(text, at, most=4, but_not=NO_PROPER, goes_on=GOES_ON | {"in", "as", "als"}, is_part=_is_proper_part)


def product(text: str, at: int) -> Value | None:
    """As an organisation, with versions, and a purpose may follow: `Python 3.11`."""
    return _proper(text, at, most=4, but_not=NO_PROPER, goes_on=GOES_ON_WITH_USE, is_part=_is_proper_part)


def phrase(text: str, at: int) -> Value | None:
    """Up to five words until the clause ends or goes on with a reason; not a pronoun, and under no condition."""
    tokens = _tokens(text, at)
    held: list[re.Match[str]] = []
    for token in tokens:
        word = _word(token)
        if word in PHRASE_ENDS:
            if word in CONDITIONS or word in ("of", "in", "on", "at", "with", "from", "by", "before", "after"):
                return None
            break
        held.append(token)
        if len(held) > 5:
            return None
    if not held or _word(held[0]) in VAGUE or _first_noun(held) in VAGUE:
        return None
    return _value(text, held)


def allergens(text: str, at: int) -> Value | None:
    """A phrase, and single words joined to it by commas and "and" up to the clause's end: `nuts, eggs and milk`.

    Offsets span all of them; SEPARATES takes them apart.
    """
    first = phrase(text, at)
    more = MORE.match(text, first.end) if first else None
    if first is None or more is None:
        return first
    return Value(text=text[first.start : more.end()], start=first.start, end=more.end())


def day(text: str, at: int) -> Value | None:
    """A phrase with a number in it: `3 May`."""
    found = phrase(text, at)
    return found if found and any(map(str.isdigit, found.text)) else None


def choice(text: str, at: int) -> Value | None:
    """What was decided on: a name, or a phrase. "With Anna to Berlin" is no choice."""
    but_not = NO_PROPER | VAGUE
    goes_on = GOES_ON | {"for", "as", "instead", "für", "pour", "para"}
    named = _proper(text, at, most=4, but_not=but_not, goes_on=goes_on, is_part=_is_proper_part)
    found = named or phrase(text, at)
    return None if found is None or text.startswith(" to ", found.end) else found


def named_choice(text: str, at: int) -> Value | None:
    """What will be used: a name with a capital or a digit."""
    found = product(text, at)
    return found if found and found.text.lower() not in VAGUE else None


def job(text: str, at: int) -> Value | None:
    """What follows "as a": up to four lower-case words."""
    held: list[re.Match[str]] = []
    for token in _tokens(text, at):
        word = _word(token)
        if word in CONDITIONS or word in VAGUE:
            return None
        if word in PHRASE_ENDS:
            break
        held.append(token)
    return _value(text, held) if 0 < len(held) <= 4 else None


def age(text: str, at: int) -> Value | None:
    """A number of one to three digits before "years old"."""
    found = re.compile(r"\d{1,3}(?= (?:years old|jahre alt|ans\b|años\b))", re.IGNORECASE).match(text, at)
    return Value(text=found.group(), start=found.start(), end=found.end()) if found else None


def _tokens(text: str, at: int) -> list[re.Match[str]]:
    """The words from `at` to the end of the clause."""
    held: list[re.Match[str]] = []
    while (token := TOKEN.match(text, at)) and len(held) < 12:
        held.append(token)
        if token.group().endswith((".", "…")) and token.group() not in TITLES and not _is_initial(token.group()):
            break
        at = token.end()
        if text[at : at + 1] != " ":
            break
        at += 1
    return held


def _proper(
    text: str,
    at: int,
    *,
    most: int,
    but_not: frozenset[str],
    goes_on: frozenset[str],
    is_part: Callable[[str], bool],
) -> Value | None:
    held: list[re.Match[str]] = []
    tokens = _tokens(text, at)
    rest = ""
    for place_, token in enumerate(tokens):
        word = token.group()
        following = tokens[place_ + 1].group() if place_ + 1 < len(tokens) else ""
        if is_part(word) or (held and word.lower() in PARTICLES and is_part(following)):
            held.append(token)
        else:
            rest = word.lower().rstrip(".!")
            break
    if not held or len(held) > most or (rest and rest not in goes_on):
        return None
    if any(token.group().lower().strip(".") in but_not for token in held):
        return None
    return _value(text, held)


def _value(text: str, held: list[re.Match[str]]) -> Value | None:
    start, end = held[0].start(), held[-1].end()
    raw = text[start:end]
    kept = raw if raw.split()[-1] in TITLES else raw.rstrip(".…'\"-–—*_")
    return Value(text=kept, start=start, end=start + len(kept)) if kept and any(map(str.isalnum, kept)) else None


def _is_initial(word: str) -> bool:
    return len(word) == 2 and word[0].isupper()


def _is_name_part(word: str) -> bool:
    letters = word.rstrip(".").replace("-", "").replace("'", "")
    return letters.isalpha() and (word[0].isupper() or (not word[0].islower() and not word.isascii()))


def _is_town_part(word: str) -> bool:
    """As of a name, but no capital after the first within a part: not `AWS`, not `GitHub`."""
    return _is_name_part(word) and not any(any(map(str.isupper, part[1:])) for part in re.split(r"[-'.]", word))


def _is_proper_part(word: str) -> bool:
    letters = word.rstrip(".")
    return bool(letters) and (any(map(str.isupper, letters)) or letters[0].isdigit())


def _first_noun(held: list[re.Match[str]]) -> str:
    """The word after an article: "the first one" is as vague as "first one"."""
    first = _word(held[0])
    return _word(held[1]) if first in ("the", "a", "an") and len(held) > 1 else first


def _word(token: re.Match[str]) -> str:
    return token.group().lower().rstrip(".")
