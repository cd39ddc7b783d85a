"""What a word is, in one place.

Recall, document search, the ranking of passages and the check of a citation all compare words. They agree only if
they cut and fold text in the same way, on every store, so the rule lives here and not in a database's tokenizer:

- a word is a run of letters and digits with the vowel signs that belong to them; `lru_cache` is two words, `os.path` is
  two words;
- it is folded by NFKC and case; Latin words lose their English endings by Porter's algorithm (1980), other scripts
  keep their form;
- scripts that write no spaces (Chinese, Japanese, Thai ...) are cut into overlapping pairs of characters, so that a
  word of two characters is found; a run of one character is itself.

Offsets are code points into the text that was given.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# Vowel signs and the like of scripts in which a word falls apart without them: Indic, Thai, Lao, Burmese, Khmer ...
# The signs of Latin, Hebrew and Arabic part a word as they always did: it is found by its letters.
SIGNS = "".join(
    chr(code) for code in (*range(0x900, 0x1100), *range(0x1780, 0x1800)) if unicodedata.category(chr(code))[0] == "M"
)
RUN = re.compile(rf"[^\W_]+(?:[{SIGNS}][^\W_]*)*")
# Han, kana, bopomofo, Thai, Lao, Myanmar, Khmer, and the half-width kana: written without spaces.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing don down during each few for from further get had has have having he her here hers
    him his how i if in into is it its itself just let ll make me might more most must my myself no nor not now of off
    on once only or other our ours out over own please re s same shall she should so some such t tell than that the
    their theirs them then there these they this those through to too under until up us ve very was we were what when
    where whether which while who whom why will with would you your yours yourself""".split()
)


class Word(NamedTuple):
    """One word of a text: its folded form and where it stands (code points, end exclusive)."""

    form: str
    start: int
    end: int


def words(text: str) -> Iterator[Word]:
    """Every word of `text` in order. Pairs from unspaced scripts overlap."""
    for run in RUN.finditer(text):
        token, start = run.group(), run.start()
        if token.isascii():
            yield Word(_latin(token.lower()), start, run.end())
            continue
        at = 0
        for block in UNSPACED.finditer(token):
            if block.start() > at:
                yield _spaced(token[at : block.start()], start + at)
            yield from _pairs(block.group(), start + block.start())
            at = block.end()
        if at < len(token):
            yield _spaced(token[at:], start + at)


def forms(text: str) -> list[str]:
    """The folded forms of the words of `text`, in order, repeated ones repeated. As `words` gives them, at half the
    cost: a search folds a hundred passages for each question."""
    found: list[str] = []
    for token in RUN.findall(text):
        if token.isascii():
            found.append(_latin(token.lower()))
        else:
            found.extend(word.form for word in words(token))
    return found


def content_words(text: str) -> list[str]:
    """The folded words of `text` that carry meaning: stop words and lone letters are left out, order is kept."""
    return [word.form for word in words(text) if _carries(text[word.start : word.end].lower())]


def vocabulary(text: str) -> set[str]:
    """The different content words of `text`: the set of `content_words`, several times as fast on English prose."""
    if not text.isascii():
        return set(content_words(text))
    return {_latin(token) for token in set(RUN.findall(text.lower())) if _carries(token)}


def _carries(raw: str) -> bool:
    return raw not in STOP_WORDS and not (len(raw) == 1 and raw.isascii() and raw.isalpha())


def _spaced(token: str, start: int) -> Word:
    folded = unicodedata.normalize("NFKC", token).casefold()
    return Word(_latin(folded) if folded.isascii() else folded, start, start + len(token))


def _pairs(block: str, start: int) -> Iterator[Word]:
    if len(block) == 1:
        yield Word(unicodedata.normalize("NFKC", block), start, start + 1)
    for at in range(len(block) - 1):
        yield Word(unicodedata.normalize("NFKC", block[at : at + 2]), start + at, start + at + 2)


@lru_cache(maxsize=65536)
def _latin(word: str) -> str:
    return _porter(word) if word.isalpha() and 2 < len(word) <= 40 else word


# Porter's algorithm, "An algorithm for suffix stripping", Program 14(3), 1980: a word is [C](VC){m}[V].


def _shape(stem: str) -> str:
    """`stem` as a string of c (consonant) and v (vowel); y after a consonant is a vowel."""
    shape = ""
    for letter in stem:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    return _shape(stem).count("vc")


def _short(stem: str) -> bool:
    return len(stem) > 2 and _shape(stem)[-3:] == "cvc" and stem[-1] not in "wxy"


STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


# The longest ending that fits decides.
STEP_2, STEP_3 = (tuple(sorted(table, key=lambda row: -len(row[0]))) for table in (STEP_2, STEP_3))
STEP_4 = tuple(sorted(STEP_4, key=len, reverse=True))


def _porter(word: str) -> str:
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    for table in (STEP_2, STEP_3):
        word = _replace(word, table)
    word = _drop(word)
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and "v" in _shape(stem):
            if stem.endswith(("at", "bl", "iz")):
                return stem + "e"
            if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
                return stem[:-1]
            return stem + "e" if _measure(stem) == 1 and _short(stem) else stem
    return word


def _replace(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for ending, new in table:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + new if _measure(stem) > 0 else word
    return word


def _drop(word: str) -> str:
    for ending in STEP_4:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            if _measure(stem) > 1 and (ending != "ion" or stem.endswith(("s", "t"))):
                return stem
            return word
    return word
