"""What a model is shown of a stored text: cleaned first, cut afterwards.

Stored text stays as it was written. On its way to a model it passes through here, once, by rules that look at that
one text alone (so the same text always reads the same, and an old part of the prompt never changes):

1. `clean`: control characters and invisible ones are replaced by a visible count, special tokens of chat templates
   lose their power visibly (`lumina.memory.control_tokens`). What scripts and emoji need stays: joiners between
   letters, variation selectors after a character that takes one, flags.
2. `clean_answer`: the same, after the reasoning that some models put before their answer is dropped.
3. `shorten`: a long answer becomes its first and last paragraph and the sentences that cite a source.

The order matters as soon as a cut falls inside a message or cleaning drops one: cut first, and half a token, or half
a reasoning block, is left at the edge.

Nothing here reads data out of text: a hidden comment or a marker typed by anyone is text and stays text.
"""

import json
import re
import unicodedata
from collections.abc import Callable

from lumina.memory.control_tokens import CONTROL_TOKENS, inert

LONG_ANSWER = 300  # tokens; real assistants average 800 (ARCHITECTURE, "What the model sees")

UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
MARKS = "\u200e\u200f\u061c"  # direction marks: ordinary in Arabic and Hebrew, harmless elsewhere
JOINERS = "\u200c\u200d"
FLAG = re.compile("[\U000e0020-\U000e007e]{1,8}\U000e007f")  # after a black flag: a region's flag
HIDDEN = re.compile("⟨([0-9]{1,7}) hidden⟩")
LINES = {0x2028: "\n", 0x2029: "\n", 0xAD: None}  # line separators are lines; soft hyphens are layout
THINKING = ("<think>", "</think>")


def clean(text: str, tokens: re.Pattern[str] = CONTROL_TOKENS) -> str:
    """`text` as a model may see it. Idempotent; linear in its length. `tokens`: those that an older rendering knew."""
    if text.isascii() and text.isprintable() and not any(sign in text for sign in "<[]:"):
        return text
    text = text.translate(LINES) if not text.isascii() else text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return inert(UNSEEN.sub(_seen, text), tokens)


def in_json(text: str) -> str:
    """JSON `text` in which nothing is hidden and nothing is a token: both are escaped, as JSON writes any character.
    Read as JSON it says what it said."""
    text = UNSEEN.sub(lambda match: _seen(match, _escaped), text)
    text = CONTROL_TOKENS.sub(lambda match: _escaped(match.group()[0]) + match.group()[1:], text)
    return text.replace("<", _escaped("<"))


def hidden_in(text: str) -> int:
    """How many hidden characters the counts in a cleaned text stand for."""
    return sum(int(match[1]) for match in HIDDEN.finditer(text))


def clean_answer(answer: str, tokens: re.Pattern[str] = CONTROL_TOKENS) -> str:
    """An answer as a later turn's model may see it: a reasoning block at its very beginning is dropped first."""
    start = answer.lstrip()
    if start.startswith(THINKING[0]):
        end = start.find(THINKING[1])
        # An unclosed block has no answer after it: all of it is reasoning.
        answer = start[end + len(THINKING[1]) :].lstrip() if end >= 0 else ""
    return clean(answer, tokens)


def one_line(text: str, limit: int = 500, tokens: re.Pattern[str] = CONTROL_TOKENS) -> str:
    """`text` cleaned and on one line, at most `limit` characters; a cut ends in `…`."""
    line = " ".join(clean(text, tokens).split())
    return line if len(line) <= limit else line[: cut_place(line, limit - 1)] + "…"


def shorten(answer: str, count: Callable[[str], int], limit: int = LONG_ANSWER) -> str:
    """A cleaned answer of at most about `limit` tokens, with a note of what was left out; short ones are unchanged.

    Kept, in this order of claim and then in the order of the text: the first paragraph, the last one, the sentences
    that cite a source, the first sentence of each paragraph. The result depends on the answer and on `count` alone.
    """
    whole = count(answer)
    if whole <= limit:
        return answer
    pieces, openings = _pieces(answer)
    cited = [at for at, piece in enumerate(pieces) if re.search(r"\[\d{1,4}\]", piece)]
    order = [0, len(pieces) - 1, *cited, *openings]
    kept: dict[int, str] = {}
    room = limit - 16
    for at in order:
        cost = count(pieces[at]) + 1
        if at not in kept and cost <= room:
            kept[at] = pieces[at]
            room -= cost
    if not kept:
        share = len(pieces[0]) * max(room, 1) // max(count(pieces[0]), 1)
        kept[0] = pieces[0][: cut_place(pieces[0], max(share, 1))] + "…"
    body = "\n".join(kept[at] for at in sorted(kept))
    return f"{body}\n(shortened: {whole - count(body)} of {whole} tokens left out)"


def _pieces(text: str) -> tuple[list[str], list[int]]:
    """First paragraph, the sentences and lines between, last paragraph; and which of them open a paragraph."""
    paragraphs = [paragraph.strip("\n") for paragraph in text.split("\n\n") if paragraph.strip()]
    if len(paragraphs) == 1:
        return _sentences(paragraphs[0]) or [text], []
    pieces, openings = [paragraphs[0]], []
    for paragraph in paragraphs[1:-1]:
        openings.append(len(pieces))
        pieces += _sentences(paragraph) or [paragraph]
    return [*pieces, paragraphs[-1]], openings


def _sentences(paragraph: str) -> list[str]:
    """Cut after a full stop that is followed by white space (a citation may stand between) and at line ends."""
    ends = [match.end() for match in re.finditer(r"[.!?。！？](?:\s?\[\d{1,4}\]){0,8}(?=\s|$)|\n", paragraph)]
    starts = [0, *ends]
    stops = [*ends, len(paragraph)]
    return [piece for a, b in zip(starts, stops, strict=True) if (piece := paragraph[a:b].strip())]


def cut_place(text: str, at: int) -> int:
    """The largest place up to `at` where a cut does not split a grapheme."""
    while splits(text, at):
        at -= 1
    return at


def splits(text: str, at: int) -> bool:
    """Whether a cut at `at` splits what is read as one character: a letter and its marks, a syllable of jamo, an emoji
    of several code points, a flag, a line end of two."""
    if not 0 < at < len(text):
        return False
    last, first = text[at - 1], text[at]
    if last == "\r" or first.isascii():
        return last == "\r" and first == "\n"
    if last == "\u200d" or first in "\u200c\u200d" or unicodedata.category(first)[0] == "M":
        return True
    if "\U0001f3fb" <= first <= "\U0001f3ff" or "\U000e0020" <= first <= "\U000e007f":
        return True
    if _is_half_flag(first):
        begin = at
        while begin and _is_half_flag(text[begin - 1]):
            begin -= 1
        return (at - begin) % 2 == 1
    # A syllable goes on with a vowel or a final; a leading consonant goes on with the syllable.
    return ("\u1160" <= first <= "\u11ff" and "\u1100" <= last <= "\ud7a3") or (
        "\u1100" <= last <= "\u115f" and ("\u1100" <= first <= "\u115f" or "\uac00" <= first <= "\ud7a3")
    )


def _is_half_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _counted(hidden: str) -> str:
    return f"⟨{len(hidden)} hidden⟩"


def _escaped(hidden: str) -> str:
    return json.dumps(hidden)[1:-1] if not hidden.isascii() else "".join(f"\\u{ord(letter):04x}" for letter in hidden)


def _seen(match: re.Match[str], shown: Callable[[str], str] = _counted) -> str:
    """A run of unseen characters: what writing needs stays, the rest is `shown` in its place, a count as a rule."""
    text, run = match.string, match.group()
    before = text[match.start() - 1] if match.start() else ""
    after = text[match.end()] if match.end() < len(text) else ""
    if before == "\U0001f3f4" and FLAG.fullmatch(run):
        return run  # a flag such as Scotland's
    kept, hidden = "", ""
    for character in run:
        if _needed(character, before, after):
            kept += character
            before = character
        else:
            hidden += character
    return kept if not hidden else kept + shown(hidden)


def _needed(character: str, before: str, after: str) -> bool:
    if character in MARKS:
        return True
    if character in JOINERS:
        # After letters of scripts that join (Arabic, Indic ...) and inside emoji; after Latin they only hide.
        return before > "\u05ff" and before not in JOINERS
    if "\ufe00" <= character <= "\ufe0f":
        return bool(before) and (before > "\u203b" or before in "#*0123456789©®") and not _selector(before)
    if "\U000e0100" <= character <= "\U000e01ef":
        return "\u3400" <= before <= "\U0003ffff" and not _selector(before)
    return False


def _selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
