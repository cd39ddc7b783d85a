"""What may not leave in a search query: something remembered that the person did not ask about now.

A page can tell a model to search for what it knows of the user, and a search engine's log would then hold it. So a
query that carries a value of the profile, or a telling word of what was recalled, is refused and shown, unless the
person typed it: in the question, in a turn that is shown, or as a fact of this thread. Code decides; the model is told
why and may search again. Why a turn that is shown counts: docs/decisions/0014.

A value is carried when the query holds one of its names or numbers (a word with a capital or a digit), or all of its
content words, or its digits in any grouping. Of recalled text, which is long, only names and numbers count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lumina.memory.context import Context
from lumina.memory.state import State
from lumina.memory.turns import Turn
from lumina.memory.words import STOP_WORDS, UNSPACED, words

SHORTEST = 4  # characters of a word that tells something by itself
SHORTEST_NAME = 3  # when it begins with a capital or holds a digit
FEWEST_DIGITS = 4
LONGEST_MAILBOX = 64  # characters before an @
ENDS = ".!?:;\n•*-–—\"'“„("  # after these a capital may only open a sentence


@dataclass(frozen=True, slots=True)
class Telling:
    """The words of a value that could give it away. `names` are a part of `words`."""

    text: str
    words: frozenset[str]
    names: frozenset[str]
    digits: str


class QueryGuard:
    """Made for one turn. `typed`: the question, the shown turns' questions, the thread's facts that the user said;
    `shown`: the shown turns' answers, which may repeat what was recalled but not the profile."""

    def __init__(self, *, profile: Iterable[str], recalled: Iterable[str], typed: Iterable[str], shown: Iterable[str]):
        typed = list(typed)
        self._typed = _forms(typed)
        self._visible = self._typed | _forms(shown)
        self._typed_digits = [_digits(text) for text in typed]
        self._profile = [_telling(value, short=True) for value in profile]
        self._recalled: list[Telling] = []
        self.recall(recalled)

    @staticmethod
    def of(
        *, profile: State, state: State, question: str, context: Context, turns: Mapping[tuple[int, int], Turn]
    ) -> "QueryGuard":
        """For a turn that is sent `context`. `turns`: the rows of its turns and recalled passages."""
        items = [item for item in context.receipt.items if item.included]
        shown = [turns[key] for item in items if item.kind == "turn" and (key := (item.seq, item.attempt)) in turns]
        recalled = [
            (turns[key].question if item.part == "question" else turns[key].answer)[item.start : item.end]
            for item in items
            if item.kind == "recalled" and not item.thread and (key := (item.seq, item.attempt)) in turns
        ]
        facts = [entry.value for entry in state.current() if entry.said_by in ("user", "operator")]
        return QueryGuard(
            profile=[entry.value for entry in profile.current()],
            recalled=recalled,
            typed=[question, *(turn.question for turn in shown), *facts],
            shown=[turn.answer for turn in shown],
        )

    def recall(self, texts: Iterable[str]) -> None:
        """What the model was given of earlier turns is guarded from now on."""
        self._recalled += [_telling(text, short=False) for text in texts]

    def carries(self, query: str) -> str:
        """What of the remembered the query holds, as a person may read it; "" when it may be sent."""
        asked, digits = _forms([query]), _digits(query)
        for value in self._profile:
            known = any(value.digits in typed for typed in self._typed_digits)
            left = {word for word in value.words - self._typed if not (known and word.isdecimal())}
            held = left & asked
            if held and (held & value.names or held == left):
                return value.text
            if len(value.digits) >= FEWEST_DIGITS and value.digits in digits and not known:
                return value.text
        for text in self._recalled:
            if named := (text.names - self._visible) & asked:
                return _as_written(query, named)
        return ""


def _telling(text: str, *, short: bool) -> Telling:
    telling: set[str] = set()
    names: set[str] = set()
    for word in words(text):
        raw = text[word.start : word.end]
        named = any(c.isdigit() for c in raw) or _capital(text, word.start, short=short) or _mailbox(text, word.end)
        long_enough = len(raw) >= (SHORTEST_NAME if named else SHORTEST) or UNSPACED.fullmatch(raw)
        if raw.lower() in STOP_WORDS or not long_enough:
            continue
        telling.add(word.form)
        if named:
            names.add(word.form)
    return Telling(text, frozenset(telling), frozenset(names), _digits(text))


def _capital(text: str, at: int, *, short: bool) -> bool:
    """Whether the word at `at` is written like a name. The first word of a short value may be one too."""
    if not text[at].isupper():
        return False
    before = text[max(0, at - 16) : at].rstrip(" \t")[-1:]
    return before not in ENDS if before else short


def _mailbox(text: str, end: int) -> bool:
    """Whether the word that ends here belongs to what stands before an @."""
    at = text.find("@", end, end + LONGEST_MAILBOX)
    return at >= 0 and not any(character.isspace() for character in text[end:at])


def _forms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word.form for text in texts for word in words(text))


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdecimal())


def _as_written(query: str, forms: frozenset[str]) -> str:
    return " ".join(query[word.start : word.end] for word in words(query) if word.form in forms)
