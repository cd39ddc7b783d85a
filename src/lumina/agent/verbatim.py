"""What of an answer passes as it stands: code, formulas, and the targets of links.

The text of an answer waits in a buffer until it is decided; each mode here reads a stretch of it and says whether it
can go on (False: it waits for more text). Nothing is decided before the text that decides it is there, so that the
result is the same however the text was cut.

- Code stays byte for byte: fenced blocks, also in lists and quotes; indented ones; and spans closed on their line. A
  backtick that nothing closes within 256 characters of a bracket is only a backtick.
- A formula stays where it is certainly one (`lumina.agent.formulas`).
- The target of any `[text](target)` stays that ends within as many characters.
"""

import re
from collections.abc import Callable

from lumina.agent.citation_pieces import NEAR, Answer
from lumina.agent.code_spans import fence_end, run_end, span_end, target_end
from lumina.agent.formulas import CLOSERS, SIGN, formula_end, opens

IN_SPAN = re.compile(r"[`\n\[［【]")
IN_TARGET = re.compile(r"[()\s\[［【]")
IN_FORMULA = re.compile(r"[`~\n$\[\]［【]|\\[)\]]")
PREFIX = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?")
BEFORE = re.compile(r"[ \t\u00a0\u202f\u3000]{0,8}+[(（]?[ \t]{0,2}+\Z")
BESIDE = " \t\u00a0\u202f\u3000(（\\"  # what can go with a marker that follows


class Verbatim:
    """The buffer, the answer as far as it is certain, and the modes of what is no prose."""

    def __init__(self) -> None:
        self._buffer = ""  # read, and not decided yet
        self._at = 0  # up to here the buffer is decided
        self._final = False
        self._in_prose: Callable[[], bool] = self._prose
        self._mode = self._in_prose
        self._ticks = ""  # what closes the code, or opened the formula, that the answer is in
        self._signed = False  # the formula has a sign that prose has not
        self._depth = 0  # open parentheses in the target of a link
        self._answer = Answer()

    def _prose(self) -> bool:
        """Everything else. What is done there is the subclass's."""
        self._emit_to(len(self._buffer))
        return False

    def _emit_to(self, end: int) -> None:
        if end > self._at:
            self._answer.add(self._buffer[self._at : end])
            self._at = end

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
        last = self._buffer[at - 1] if at > self._at else self._answer.last
        if last != "\\":
            return False
        near = (self._answer.near + self._buffer[max(self._at, at - NEAR) : at])[-NEAR:]
        return (len(near) - len(near.rstrip("\\"))) % 2 == 1

    def _line_of_code(self) -> bool:
        """The rest of a line of an indented block."""
        newline = self._buffer.find("\n", self._at)
        self._emit_to(newline + 1 if newline >= 0 else len(self._buffer))
        if newline >= 0:
            self._mode = self._in_prose
        return newline >= 0

    def _closer(self, start: int, openers: str) -> bool:
        """`](` opens the target of a link, unless a marker stands in the parentheses."""
        following = self._buffer[start + 1 : start + 3]
        if not self._final and (not following or following == "("):
            return False
        if following.startswith("(") and following[1:] not in tuple(openers):
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
        newline, tick = buffer.find("\n", at), buffer.find("`", at)
        if newline < 0 and tick < 0:
            self._emit_to(len(buffer))
            return False
        if tick < 0 or 0 <= newline < tick:
            self._emit_to(newline)
            self._mode = self._fence
            return True
        self._emit_to(tick)
        return self._tick_run(tick)

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
        self._emit_to(end or self._before(start))
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

    def _dollars(self, start: int) -> bool:
        """One dollar or two may open a formula."""
        end = run_end(self._buffer, start, final=self._final)
        if end is None or (end == len(self._buffer) and not self._final):
            return False
        mark, escaped = self._buffer[start:end], self._escapes(start)
        self._emit_to(start)
        before, after = self._answer.last, self._buffer[end : end + 1]
        self._emit_to(end)
        if mark in CLOSERS and not escaped and opens(mark, before, after):
            self._begin_formula(mark)
        return True

    def _begin_formula(self, mark: str) -> None:
        self._ticks, self._signed, self._mode = mark, False, self._formula

    def _formula(self) -> bool:
        """A formula, if it is one. It passes as it comes; at a bracket it waits until that is certain."""
        buffer, mark = self._buffer, self._ticks
        found = IN_FORMULA.search(buffer, self._at)
        start = found.start() if found else len(buffer)
        self._signed = self._signed or SIGN.search(buffer, self._at, start) is not None
        if found is None:
            self._emit_to(start if self._final else self._before(start))
            return False
        if found[0] == "\n" and mark in ("$$", "\\["):
            if start + 1 == len(buffer) and not self._final:
                self._emit_to(start)
                return False
            if buffer[start + 1 : start + 2] != "\n":
                self._emit_to(start + 1)
                return True
        elif found[0] in "[［【":
            end = formula_end(buffer, start, mark, signed=self._signed, final=self._final)
            if end is None:
                self._emit_to(self._before(start))
                return False
            self._mode = self._in_prose
            self._emit_to(end or self._before(start))
            return True
        elif CLOSERS[mark].startswith(found[0]):  # closed, and it held no bracket
            end = start + len(CLOSERS[mark])
            if end > len(buffer) and not self._final:
                self._emit_to(start)
                return False
            self._mode = self._in_prose
            self._emit_to(min(end, len(buffer)))
            return True
        self._emit_to(start)
        self._mode = self._in_prose
        return True
