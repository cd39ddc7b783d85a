"""Citations inside the stream: a marker is checked before any of it is shown.

The model's answer is pushed in as it arrives, cut anywhere; out come pieces of the answer as it will be
stored. Each number in a marker is looked up; one that may be cited stays, rewritten as `[n]` (a group as
`[1][2]`); any other is taken out, with the space before it, and reported. The same text gives the same answer
however it was cut, because nothing is decided before the text that decides it is there: a partial marker
waits (at most 160 characters, mostly three or four), everything else passes at once.

What is a marker, and what is left as it stands:

- In prose every bracketed number from 1 to 999 is a citation, also directly behind a word (`word[1]`), for
  models write it so: one that may not be cited never shows. A larger number is one only if it may be cited or
  was ever given out in the thread; otherwise it is a year or a count, and stays.
- No source has the number 0. `[0]` is taken out where it stands alone, and is an index behind a letter,
  digit, `_`, `)` or `]`. A group that holds a 0, or a number that is no citation, is an array or an interval
  and stays whole.
- A number as the text of a link or of a definition looks like a citation and leads elsewhere. So `[1](https://...)` is
  the marker `[1]`, and its target goes; `[1]: https://...` at the begin of a line is `[1]` without its colon, and
  defines nothing. A space keeps a number and what stands behind it in parentheses or brackets from turning into a
  link. An image, a year and `[#9](https://...)` stay what they are.
- Code, formulas and the targets of links pass as they stand (`lumina.agent.verbatim`). What stands in brackets behind a
  LaTeX command (`\\sqrt[3]{x}`) is its argument. HTML, comments too, is prose: a terminal shows it as it is.
"""

import re
from collections.abc import Callable, Container

from lumina.agent.citation_markers import OPENERS, Marker, Unread, begins_address, read_marker, rows_of
from lumina.agent.citation_pieces import Cited, Piece, Removed, Text
from lumina.agent.code_spans import link_end
from lumina.agent.verbatim import BESIDE, Verbatim

__all__ = ["CitationStream", "Cited", "Piece", "Removed", "Text", "cite"]

LARGEST_PLAIN = 999  # above it, a bracketed number is more often a year or a count than a source

SPECIAL = re.compile(r"[`~$\]\[［【]|\\\(")
# The usual way passes over plain text with `find`, from bracket to bracket, up to the first of these, and reads there
# what is mostly written: a marker with nothing odd beside it, a word in brackets, a link, a code span. What does not
# fit takes the slower way, which decides alike.
ODD = ("`", "~", "$", "\\", "](", "\n    ", "\t", "［", "【")
SHORT = 64  # code points in which the slower way is the faster one
USUAL = re.compile(
    r"\[(?<!\w\[)([1-9]\d{0,2})\](?=\[[1-9]\d{0,2}\]|[,;，、；]?[ \t]?[^ \t\u00a0\u202f,;，、；\[［【\\(:])"
    r"|\[(?!(?i:source|cit|ref))[A-Za-z][^`~$\]\[［【\\\n]{0,200}+\](?:\([^()\s\[［【]{1,250}+\)|(?=[^(]))"
    r"|`[^`\n]{1,200}+`(?=[^`])"
)
BETWEEN = re.compile(r"[ \t\u00a0\u202f]{0,4}+[,;，、；]?[ \t]{0,4}+")
LONE_RETURN = re.compile(r"\r(?!\n)")
PARENTHESES = frozenset("(（")
OPENING = frozenset("([{（“‘«「『<$#\\")  # what needs the space before it
COMMAND = re.compile(r"\\[A-Za-z]{1,40}\*?\Z")

Numbers = Container[int] | Callable[[int], bool]


def _test(numbers: Numbers) -> Callable[[int], bool]:
    return numbers if callable(numbers) else numbers.__contains__


class CitationStream(Verbatim):
    """A push parser for one answer.

    `citable`: the numbers that may be cited, asked anew for every marker: they may grow during the turn.
    `given`: the numbers that the thread has ever given out, if that can be more than 999.
    """

    def __init__(self, citable: Numbers, *, given: Numbers | None = None) -> None:
        super().__init__()
        self._citable = _test(citable)
        self._given = self._citable if given is None else _test(given)
        self._run = False  # the last thing read was a marker
        self._pending: str | None = None  # it was taken out; the space before it is not decided yet
        self._return = False  # a carriage return waits for what follows it
        self._odd = [-1] * len(ODD)  # where each of them comes next in the buffer

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain once `text` has arrived; may be empty."""
        if self._return or "\r" in text:
            text = self._line_ends(text)
        text = self._buffer + text
        if 0 < len(text) < SHORT and not self._run and self._mode is self._in_prose and not SPECIAL.search(text):
            keep = len(text)
            if text[-1] in BESIDE:
                self._buffer = text
                keep = keep - 1 if text[-1] == " " and text[-2:-1] not in BESIDE else self._before(keep)
            self._buffer = text[keep:]
            self._answer.add(text[:keep])
            return self._answer.take()
        self._buffer = text
        return self._read()

    @property
    def held(self) -> int:
        """How many code points have come and are not decided yet."""
        return len(self._buffer) + self._return

    def close(self) -> list[Piece]:
        """The rest. The answer is complete; nothing can be fed any more."""
        self._final = True
        self._buffer += "\n" if self._return else ""
        return self._read()

    def _line_ends(self, text: str) -> str:
        """Every reader takes a carriage return for a line end, so one that stands alone becomes one here too."""
        text = "\r" + text if self._return else text
        self._return = text.endswith("\r")
        return LONE_RETURN.sub("\n", text[: len(text) - self._return])

    def _read(self) -> list[Piece]:
        if len(self._buffer) >= SHORT:
            self._odd = [-1] * len(ODD)
        while self._mode():
            pass
        self._buffer, self._at = self._buffer[self._at :], 0
        return self._answer.take()

    # Each mode reads a stretch of the buffer and says whether it can go on; False: it waits for more text.

    def _prose(self) -> bool:
        if self._run:
            return self._after_marker()
        self._usual()
        buffer, at = self._buffer, self._at
        if at == len(buffer):
            return False
        found = SPECIAL.search(buffer, at)
        if found is None:
            self._emit_to(len(buffer) if self._final else self._before(len(buffer)))
            return False
        at = found.start()
        start = self._before(at)
        self._emit_to(start)
        if self._answer.in_code(buffer[start : at + 1]):
            self._mode = self._line_of_code
            return True
        if buffer[at] in OPENERS:
            return self._opener(start, at)
        self._emit_to(at)
        if buffer[at] == "]":
            return self._closer(at, OPENERS)
        if buffer[at] == "$":
            return self._dollars(at)
        return self._parenthesis(at) if buffer[at] == "\\" else self._code(at)

    def _usual(self) -> None:
        """Plain text, and what is mostly written in it, in one go. Not at a bracket or tick at the begin: what stands
        before it is not in the buffer."""
        buffer, first, answer = self._buffer, self._at, self._answer
        begin = buffer[first : first + 4]
        if len(buffer) < SHORT or begin[:1] in ("`", "[") or answer.in_code(begin):
            return
        at, shift, found = first, answer.length - first, []
        limit = self._limit(at)
        while True:
            start = buffer.find("[", at, limit)
            usual = USUAL.match(buffer, limit if start < 0 else start)
            at = limit if start < 0 else start
            if usual is None or not (usual[1] is None or self._citable(int(usual[1]))):
                break
            if usual[1]:
                found.append(Cited(int(usual[1]), at + shift))
            at = usual.end()
            if at > limit:
                limit = self._limit(at)
        if not (self._final and at == len(buffer)):
            at = at - 1 if at == len(buffer) and buffer[at - 1] == "]" else self._before(at)
        if at > first:
            answer.add_cited(buffer[first:at], found)
            self._at = at

    def _limit(self, at: int) -> int:
        """Where the first odd thing from `at` on stands. Every place is looked for once."""
        buffer = self._buffer
        for which, place in enumerate(self._odd):
            if place < at:
                found = buffer.find(ODD[which], at)
                self._odd[which] = found if found >= 0 else len(buffer)
        return min(self._odd)

    def _parenthesis(self, start: int) -> bool:
        """A backslash and a parenthesis: they open a formula."""
        escaped = self._escapes(start)
        self._emit_to(start + 2)
        if not escaped:
            self._begin_formula("\\(")
        return True

    def _opener(self, start: int, opener: int) -> bool:
        read = read_marker(self._buffer, opener, final=self._final)
        if read is Unread.MORE:
            return False
        before = self._buffer[start:opener]
        if isinstance(read, Marker):
            return self._marker(before, opener, read)
        return self._no_marker(before, opener, read)

    def _no_marker(self, before: str, opener: int, read: Unread) -> bool:
        if read is Unread.TEXT:
            self._emit_to(opener + 1)
            if before.endswith("\\"):
                self._begin_formula("\\[")
            return True
        self._pending, self._run = before, True
        end = opener + 1 if read is Unread.KNOT else len(self._buffer)
        self._answer.remove(self._buffer[opener:end], "unreadable" if read is Unread.KNOT else "cut off", ())
        self._at = end
        return True

    def _marker(self, before: str, opener: int, marker: Marker) -> bool:
        """Decides about a marker. It waits for the character behind it: that can make it a link."""
        end = self._reach(before, opener, marker)
        if end is None:
            return False
        if self._is_link(opener, marker, end) or (
            self._is_text(before, marker) and not self._hides_markers(opener, marker.end)
        ):
            self._leave_run(opener - len(before) if self._pending is None else opener)
            self._emit_to(marker.end - 1)  # its closer may open the target of a link
            return True
        good = tuple(n for n in marker.numbers if self._citable(n))
        if bad := tuple(n for n in marker.numbers if n not in good):
            self._answer.remove(self._buffer[opener:end], "not citable", bad)
        elif not good:
            self._answer.remove(self._buffer[opener:end], "unreadable", ())
        defined = self._buffer[end - 1] == ":"
        self._at, self._run = end, True
        if not good:
            self._pending = before
            return True
        self._pending = None
        self._answer.add(before.removesuffix("\\"))
        for n in good:
            self._answer.cite(n)
        if self._buffer.startswith("(", end) or (defined and not self._buffer[end : end + 1].isspace()):
            self._answer.add(" ")
        return True

    def _reach(self, before: str, opener: int, marker: Marker) -> int | None:
        """Where a marker ends that is written as a link or a definition (`[1](https://...)`, `[1]: ...`); None: not
        certain yet."""
        buffer, end = self._buffer, marker.end
        if buffer.startswith("(", end) and buffer[opener] == "[" and not before.endswith("\\"):
            address = begins_address(buffer, end + 1, final=self._final)
            reached = link_end(buffer, end, final=self._final) if address else address
            if reached is None:
                return None
            end = reached or end
        if buffer.startswith(":", end) and not before.strip(" \t\\") and self._answer.begins_block():
            end += 1
        return end if end < len(buffer) or self._final else None

    def _is_link(self, opener: int, marker: Marker, end: int) -> bool:
        """Whether it is the text of a link that stays one: an image, `[#9](https://...)`, a year."""
        if not self._buffer.startswith("(", marker.end) or end < marker.end + 2:
            return False
        image = opener == self._at and self._answer.last == "!"
        return image or "#" in self._buffer[opener : marker.end] or any(map(self._impossible, marker.numbers))

    def _is_text(self, before: str, marker: Marker) -> bool:
        if marker.certain:
            return False
        if marker.numbers == (0,):
            near = before[-1:] or self._answer.near[-1:]
            return near.isalnum() or near in ("_", ")", "]")
        if any(self._impossible(n) for n in marker.numbers):
            return True
        return not before and COMMAND.search(self._answer.near) is not None

    def _impossible(self, n: int) -> bool:
        return n == 0 or (n > LARGEST_PLAIN and not self._citable(n) and not self._given(n))

    def _hides_markers(self, opener: int, end: int) -> bool:
        """Whether what looks like an array of arrays holds a row that is a marker: `[[9], [2024]]`."""
        return any(not any(map(self._impossible, row)) for row in rows_of(self._buffer[opener + 1 : end - 1]))

    def _after_marker(self) -> bool:
        """What follows a marker: another one, or text that decides about the space before one taken out."""
        buffer, at = self._buffer, self._at
        between = BETWEEN.match(buffer, at)
        end = between.end() if between else at
        opener = end + 1 if buffer[end : end + 1] == "\\" else end
        if opener >= len(buffer) and not self._final:
            return False
        if opener < len(buffer) and buffer[opener] in OPENERS:
            read = read_marker(buffer, opener, final=self._final)
            if read is Unread.MORE:
                return False
            before = buffer[at:end] if self._pending is None else self._pending.removesuffix("\\")
            before += buffer[end:opener]
            if isinstance(read, Marker):
                return self._marker(before, opener, read)
            if read is not Unread.TEXT:
                return self._no_marker(before, opener, read)
            if opener == at and self._pending is None and buffer[opener] == "[":
                self._answer.add(" ")  # else it would be the name of a link whose text is the marker
        self._leave_run(end)
        return True

    def _leave_run(self, following: int) -> None:
        """Ends a run of markers and closes the hole of one taken out. `following`: past space and comma."""
        pending, self._pending, self._run = self._pending, None, False
        if pending is None:
            return
        buffer, pending = self._buffer, pending.removesuffix("\\")
        blank = not buffer[self._at : following].strip()
        after = buffer[following : following + 1] if blank else ""
        bracket = pending.rstrip()[-1:]
        if bracket in PARENTHESES and after in (")", "）"):
            self._at, self._run, self._pending = following + 1, True, pending.rstrip()[:-1]
        elif not pending.strip() and self._answer.at_line_start():
            self._answer.add(pending)
            if blank:
                self._at = following
        else:
            follower = buffer[self._at : self._at + 1]
            if bracket in PARENTHESES or follower.isalnum() or follower in OPENING:
                self._answer.add(pending or self._answer.apart_from(follower))
            elif follower == ":":
                self._answer.add(self._answer.apart_from(follower))


def cite(text: str, citable: Numbers, *, given: Numbers | None = None) -> tuple[str, list[Cited | Removed]]:
    """A whole answer at once: the text as it is stored, and what was cited and taken out, in order."""
    stream = CitationStream(citable, given=given)
    pieces = stream.feed(text) + stream.close()
    answer = "".join(piece.text for piece in pieces if isinstance(piece, Text))
    return answer, [piece for piece in pieces if not isinstance(piece, Text)]
