"""Whether a message asks for anything, and which part of it does."""

from lumina.adapters.extractive.own_words import only_states
from lumina.adapters.extractive.statements import stated, unsaid
from lumina.memory.words import RUN

GREETINGS = frozenset("hi hello hey hallo moin bonjour salut hola greetings servus".split())
THANKS = frozenset("thanks thank thx danke merci gracias cheers".split())
AGREES = frozenset(
    "ok okay yes no yeah yep nope great perfect nice good cool fine understood right sure ja nein gut".split()
)
# Words beside which a greeting is still only a greeting.
FILLERS = frozenset(
    """there everyone all again you so much very a lot for your the help that was is it and dir vielen schön dank tag
    guten morgen good morning afternoon evening day buenos días beaucoup bien muchas i see got all""".split()
)
# Words that may stand around a statement and ask for nothing.
AROUND = FILLERS | frozenset(
    """actually now currently also by the way btw fyi please remember that note don t forget so well sorry oh but just
    know for record to be clear correction unfortunately sadly news in case anymore any more at again yet properly
    correctly me either though here everybody team then übrigens eigentlich also doch jetzt aber au fait en alors
    maintenant por cierto realidad bueno ahora""".split()
)
LEADS = GREETINGS | THANKS | AGREES
SEPARATES = ",.!;:–—"
ENDS = " \t\n.,;:!–—-"


def small_talk(message: str) -> str:
    """What kind of small talk the whole message is: "hello", "thanks", "understood" (a statement), "stays" (a
    statement of which nothing is noted); "" if it asks."""
    statements = stated(message)
    rest = unsaid(message, statements) if statements else message
    words = [run.group().lower() for run in RUN.finditer(rest[:500])]
    idle = LEADS | (AROUND if statements else FILLERS)
    if "?" in rest or len(rest) > 500:
        return ""
    if not idle.issuperset(words):
        return ("understood" if statements else "stays") if only_states(rest, idle) else ""
    if statements:
        return "understood"
    kinds = (("thanks", THANKS), ("hello", GREETINGS), ("understood", AGREES))
    return next((kind for kind, signs in kinds if not signs.isdisjoint(words)), "")


def asking(message: str) -> str:
    """The message without what it merely states and the greeting before it; all of it if nothing else is in it."""
    statements = stated(message)
    rest = unsaid(message, statements).strip(ENDS) if statements else message
    while (first := RUN.match(rest)) and first.group().lower() in LEADS and first.end() < len(rest):
        if rest[first.end()] not in SEPARATES and not statements:
            break
        rest = rest[first.end() :].lstrip(ENDS)
    return rest if RUN.search(rest) else message
