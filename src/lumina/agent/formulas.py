"""Where a formula (LaTeX) begins and ends in an answer that is still arriving.

A formula stands between `$` and `$`, `$$` and `$$`, `\\(` and `\\)`, `\\[` and `\\]`. Dollars are money more often than
mathematics, and forged numbers must not hide behind one, so a formula is believed only where all of this holds: it is
closed within 256 characters of the bracket in question, on its line (`$$` and `\\[`: in its paragraph); a single `$`
has no white space inside of it, no letter or digit outside; and, but for `\\(`, it has a sign that prose has not
(`= < > _ ^ { }`, a command). Anything else is prose.
"""

import re

from lumina.agent.code_spans import LONGEST_SPAN

CLOSERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
LINKS = re.compile(r"\]\(|\]:|://")  # what links are made of stands in no formula
SIGN = re.compile(r"[=<>_^{}]|\\[A-Za-z]")


def opens(mark: str, before: str, after: str) -> bool:
    """Whether `mark` can open a formula between the characters beside it ("" at an end)."""
    return mark != "$" or not (before.isalnum() or after.isspace() or not after)


def formula_end(buffer: str, start: int, mark: str, *, signed: bool, final: bool) -> int | None:
    """Where the formula around the bracket at `start` ends; 0: there is none; None: what has arrived does not decide.
    `signed`: a sign stands in it before the bracket."""
    limit, closer = start + LONGEST_SPAN, CLOSERS[mark]
    stop = "\n\n" if mark in ("$$", "\\[") else "\n"
    reach, ended, _ = buffer[start:limit].partition(stop)
    at = reach.find(closer)
    if at >= 0:
        end = start + at + len(closer)
        if not (signed or mark == "\\(" or SIGN.search(reach, 0, at)) or LINKS.search(reach, 0, at):
            return 0
        if mark != "$":
            return end
        if end == len(buffer) and not final:
            return None
        following = buffer[end : end + 1]
        return 0 if reach[at - 1].isspace() or following.isalnum() or following == "$" else end
    return 0 if final or ended or len(buffer) >= limit else None
