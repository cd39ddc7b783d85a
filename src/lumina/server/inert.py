"""Answers that load nothing when they are shown.

A chat client shows Markdown: an image in an answer is fetched unasked, and its address can carry away what the model
was led to put there (CASES I4, I5). So an answer goes out without images and without raw HTML: the `!` before a `[`
becomes a full-width one, and the `<` before a tag a quotation mark. Both are one code point for one, so that the
offsets of citations stay what they are; the link stays a link that a person may open.

Inside a fence of code nothing is changed: nothing there is shown as an image. Only a fence that begins at the first
column counts, because every reader of Markdown agrees on where it ends; other code is treated as prose.
"""

BANG, ANGLE = "！", "‹"
TAG_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/!?")
SHORTEST_FENCE = 3


class Inert:
    """Takes an answer in pieces: `feed` returns what can be shown, at most one code point is held, `end` returns it."""

    def __init__(self) -> None:
        self._held = ""
        self._line: list[str] = []
        self._fence = ""  # the run of ticks or tildes that opened the code we are in

    def feed(self, text: str) -> str:
        shown = []
        for character in text:
            if self._held:
                shown.append(self._decided(character))
            if not self._fence and character in "!<":
                self._held = character
            else:
                shown.append(character)
            if character in "\r\n":
                self._end_line()
            else:
                self._line.append(character)
        return "".join(shown)

    def end(self) -> str:
        held, self._held = self._held, ""
        return held

    def _decided(self, following: str) -> str:
        held, self._held = self._held, ""
        if held == "!":
            return BANG if following == "[" else held
        return ANGLE if following in TAG_STARTS else held

    def _end_line(self) -> None:
        line = "".join(self._line)
        self._line.clear()
        if self._fence:
            rest = line.lstrip(" ")
            ticks = len(rest) - len(rest.lstrip(self._fence[0]))
            if len(line) - len(rest) <= 3 and ticks >= len(self._fence) and not rest[ticks:].strip(" \t"):
                self._fence = ""
        elif line[:1] in ("`", "~"):
            ticks = len(line) - len(line.lstrip(line[0]))
            if ticks >= SHORTEST_FENCE and (line[0] == "~" or "`" not in line[ticks:]):
                self._fence = line[:ticks]


def inert(answer: str) -> str:
    """The whole answer as it may be shown; as long as it was."""
    reading = Inert()
    return reading.feed(answer) + reading.end()
