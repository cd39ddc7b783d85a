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
- Code stays byte for byte: fenced blocks, also in lists and quotes, and spans closed on their line. A
  backtick that nothing closes within 256 characters of a bracket is only a backtick. What stands in brackets
  behind a LaTeX command (`\\sqrt[3]{x}`) is its argument.
- Links stay: the target of any `[text](target)` that ends within as many characters, and a number as the text
  of a link (`[1](https://...)`) or of a definition (`[1]: https://...`), which is no citation. A number
  counts as a link's text only if what follows begins like an address; else it is a citation, and a space
  keeps it and a parenthesis behind it from turning into a link.
"""

import re
from collections.abc import Callable, Container

from lumina.agent.citation_markers import OPENERS, Marker, Unread, begins_address, read_marker, rows_of
from lumina.agent.citation_pieces import NEAR, Answer, Cited, Piece, Removed, Text
from lumina.agent.code_spans import fence_end, run_end, span_end, target_end

__all__ = ["CitationStream", "Cited", "Piece", "Removed", "Text", "cite"]

LARGEST_PLAIN = 999  # above it, a bracketed number is more often a year or a count than a source

SPECIAL = re.compile(r"[`~\]\[［【]")
IN_SPAN = re.compile(r"[`\n\[［【]")
IN_TARGET = re.compile(r"[()\s\[［【]")
BEFORE = re.compile(r"[ \t\u00a0\u202f\u3000]{0,8}+[(（]?[ \t]{0,2}+\Z")
BESIDE = " \t\u00a0\u202f\u3000(（\\"
# Text in which no marker, code or target of a link begins; if it does not end with one of BESIDE, none can behind it.
PLAIN = re.compile(r"[^`~\]\[［【]+")
USUAL = re.compile(r"\[([1-9]\d{0,2})\](?=[^ \t\u00a0\u202f,;，、；\[［【\\(:]|[ \t][^ \t,;，、；\[［【\\])")
BETWEEN = re.compile(r"[ \t\u00a0\u202f]{0,4}+[,;，、；]?[ \t]{0,4}+")
PREFIX = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?")
PARENTHESES = frozenset("(（")
OPENING = frozenset("([{（“‘«「『<$#\\")  # what needs the space before it
COMMAND = re.compile(r"\\[A-Za-z]{1,40}\*?\Z")

Numbers = Container[int] | Callable[[int], bool]


def _test(numbers: Numbers) -> Callable[[int], bool]:
    return numbers if callable(numbers) else numbers.__contains__


class CitationStream:
    """A push parser for one answer.

    `citable`: the numbers that may be cited, asked anew for every marker: they may grow during the turn.
    `given`: the numbers that the thread has ever given out, if that can be more than 999.
    """

    def __init__(self, citable: Numbers, *, given: Numbers | None = None) -> None:
        self._citable = _test(citable)
        self._given = self._citable if given is None else _test(given)
        self._buffer = ""  # read, and not decided yet
        self._at = 0  # up to here the buffer is decided
        self._final = False
        self._in_prose: Callable[[], bool] = self._prose
        self._mode = self._in_prose
        self._ticks = ""  # what closes the code that the answer is in
        self._depth = 0  # open parentheses in the target of a link
        self._run = False  # the last thing read was a marker
        self._pending: str | None = None  # it was taken out; the space before it is not decided yet
        self._answer = Answer()

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain once `text` has arrived; may be empty."""
        text = self._buffer + text
        if self._mode is self._in_prose and not self._run and PLAIN.fullmatch(text) and text[-1] not in BESIDE:
            self._buffer = ""
            self._answer.add(text)
            return self._answer.take()
        self._buffer = text
        return self._read()

    def close(self) -> list[Piece]:
        """The rest. The answer is complete; nothing can be fed any more."""
        self._final = True
        return self._read()

    def _read(self) -> list[Piece]:
        while self._mode():
            pass
        self._buffer, self._at = self._buffer[self._at :], 0
        return self._answer.take()

    # Each mode reads a stretch of the buffer and says whether it can go on; False: it waits for more text.

    def _prose(self) -> bool:
        if self._run:
            return self._after_marker()
        buffer, at = self._buffer, self._at
        if at == len(buffer):
            return False
        found = SPECIAL.search(buffer, at)
        if found is None:
            self._emit_to(len(buffer) if self._final else self._before(len(buffer)))
            return False
        start = found.start()
        if buffer[start] in OPENERS:
            if self._usual(start):
                return True
            return self._opener(self._before(start), start)
        self._emit_to(start)
        if buffer[start] == "]":
            return self._closer(start)
        return self._code(start)

    def _usual(self, start: int) -> bool:
        """The usual case, done at once: `[n]` may be cited, and nothing beside it makes a difference."""
        buffer, at = self._buffer, self._at
        usual = USUAL.match(buffer, start)
        if usual is None or not self._citable(n := int(usual[1])):
            return False
        last = buffer[start - 1] if start > at else self._answer.near[-1:]
        if last.isalpha() or last == "\\":
            return False
        self._at = usual.end()
        self._answer.cite(n, usual[0], buffer[at:start])
        return True

    def _before(self, opener: int) -> int:
        """Where that begins which goes with a marker: a space, a parenthesis, a backslash."""
        if opener == self._at or self._buffer[opener - 1] not in BESIDE:
            return opener
        if self._escapes(opener) and opener > self._at:
            opener -= 1
        near = self._buffer[max(self._at, opener - 16) : opener]
        match = BEFORE.search(near)
        return opener - len(near) + match.start() if match else opener

    def _escapes(self, at: int) -> bool:
        """Whether the backslashes directly before `at` of the buffer escape what stands there."""
        near = (self._answer.near + self._buffer[max(self._at, at - NEAR) : at])[-NEAR:]
        return (len(near) - len(near.rstrip("\\"))) % 2 == 1

    def _opener(self, start: int, opener: int) -> bool:
        self._emit_to(start)
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
            return True
        self._pending, self._run = before, True
        end = opener + 1 if read is Unread.KNOT else len(self._buffer)
        self._answer.remove(self._buffer[opener:end], "unreadable" if read is Unread.KNOT else "cut off", ())
        self._at = end
        return True

    def _marker(self, before: str, opener: int, marker: Marker) -> bool:
        """Decides about a marker. It waits for the character behind it: that can make it a link."""
        end = marker.end
        if end == len(self._buffer) and not self._final:
            return False
        addressed = self._addressed(before, end)
        if addressed is None:
            return False
        good = tuple(n for n in marker.numbers if self._citable(n))
        link = addressed and marker.linkable and not before.endswith("\\")
        if link or (self._is_text(before, marker) and not self._hides_markers(opener, end)):
            self._leave_run(opener - len(before) if self._pending is None else opener)
            self._emit_to(end)
            return True
        if bad := tuple(n for n in marker.numbers if n not in good):
            self._answer.remove(self._buffer[opener:end], "not citable", bad)
        elif not good:
            self._answer.remove(self._buffer[opener:end], "unreadable", ())
        self._at, self._run = end, True
        if not good:
            self._pending = before
            return True
        self._pending = None
        self._answer.add(before.removesuffix("\\"))
        for n in good:
            self._answer.cite(n, f"[{n}]")
        if addressed or self._buffer.startswith("(", end):
            self._answer.add(" ")
        return True

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

    def _addressed(self, before: str, end: int) -> bool | None:
        """Whether what follows a marker would make it a link or a definition; None: not certain yet."""
        following = self._buffer[end : end + 1]
        if following == "(":
            return begins_address(self._buffer, end + 1, final=self._final)
        if following == ":" and not before.strip(" \t\\") and self._answer.at_line_start():
            at = end + 1
            while at < len(self._buffer) and self._buffer[at] in " \t" and at - end < 8:
                at += 1
            return begins_address(self._buffer, at, final=self._final)
        return False

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

    def _closer(self, start: int) -> bool:
        """`](` opens the target of a link, unless a marker stands in the parentheses."""
        following = self._buffer[start + 1 : start + 3]
        if not self._final and (not following or following == "("):
            return False
        if following.startswith("(") and following[1:] not in tuple(OPENERS):
            self._emit_to(start + 2)
            self._depth, self._mode = 1, self._target
        else:
            self._emit_to(start + 1)
        return True

    def _target(self) -> bool:
        """The target of a link. At a bracket it waits until it is certain that there is a link."""
        buffer = self._buffer
        found = IN_TARGET.search(buffer, self._at)
        start = found.start() if found else len(buffer)
        self._emit_to(start)
        if found is None:
            return False
        if buffer[start] in "()":
            self._depth += 1 if buffer[start] == "(" else -1
            self._emit_to(start + 1)
            closed = not self._depth
        else:
            end = 0 if buffer[start].isspace() else target_end(buffer, start, self._depth, final=self._final)
            if end is None:
                return False
            self._emit_to(end or start)
            closed = True
        self._mode = self._in_prose if closed else self._target
        return True

    def _code(self, start: int) -> bool:
        """Backticks or tildes: the begin of a fenced block or of a code span, or just themselves."""
        end = run_end(self._buffer, start, final=self._final)
        if end is None:
            return False
        ticks = self._buffer[start:end]
        if self._escapes(start):
            self._emit_to(start + 1)
            return True
        line = self._answer.line()
        fence = len(ticks) >= 3 and line is not None and PREFIX.fullmatch(line) is not None
        self._emit_to(end)
        if fence:
            self._ticks, self._mode = ticks, self._info if ticks[0] == "`" else self._fence
        elif ticks[0] == "`":
            self._ticks, self._mode = ticks, self._span
        return True

    def _info(self) -> bool:
        """The first line of a fence, unless its backticks are closed on it: then that was a code span."""
        buffer, at = self._buffer, self._at
        start = at
        while start < len(buffer) and buffer[start] not in "`\n":
            start += 1
        self._emit_to(start)
        if start == len(buffer):
            return False
        if buffer[start] == "\n":
            self._mode = self._fence
            return True
        return self._tick_run(start)

    def _tick_run(self, start: int) -> bool:
        """Backticks within a code span: as many as opened it close it."""
        end = run_end(self._buffer, start, final=self._final)
        if end is None:
            return False
        if end - start == len(self._ticks):
            self._mode = self._in_prose
        self._emit_to(end)
        return True

    def _span(self) -> bool:
        """A code span. It passes as it comes; at a bracket it waits until the span is certainly closed."""
        buffer = self._buffer
        found = IN_SPAN.search(buffer, self._at)
        if found is None:
            self._emit_to(len(buffer) if self._final else self._before(len(buffer)))
            return False
        start = found.start()
        if buffer[start] == "`":
            self._emit_to(start)
            return self._tick_run(start)
        if buffer[start] == "\n":
            self._mode = self._in_prose
            return True
        end = span_end(buffer, start, len(self._ticks), final=self._final)
        if end is None:
            self._emit_to(self._before(start))
            return False
        self._mode = self._in_prose
        if end:
            self._emit_to(end)
        else:
            self._emit_to(self._before(start))
        return True

    def _fence(self) -> bool:
        """A fenced block: all of it passes; a line of its own with at least as many ticks closes it."""
        buffer = self._buffer
        start = buffer.find(self._ticks, self._at)
        if start < 0:
            keep = len(buffer) if self._final else len(buffer.rstrip(self._ticks[0]))
            self._emit_to(max(self._at, keep))
            return False
        self._emit_to(start)
        end, alone = fence_end(buffer, start, final=self._final)
        if alone is None:
            return False
        line = self._answer.line()
        if alone and line is not None and not line.strip(" \t>"):
            self._mode = self._in_prose
        self._emit_to(end)
        return True

    def _emit_to(self, end: int) -> None:
        self._answer.add(self._buffer[self._at : end])
        self._at = end


def cite(text: str, citable: Numbers, *, given: Numbers | None = None) -> tuple[str, list[Cited | Removed]]:
    """A whole answer at once: the text as it is stored, and what was cited and taken out, in order."""
    stream = CitationStream(citable, given=given)
    pieces = stream.feed(text) + stream.close()
    answer = "".join(piece.text for piece in pieces if isinstance(piece, Text))
    return answer, [piece for piece in pieces if not isinstance(piece, Text)]
