"""Which indented lines of an answer are code, told line by line.

A line that begins with four spaces or a tab is code when a blank line, the begin of the answer or another such line
stands before it, and when no list is open: in a list the same indentation is a paragraph of an item, or an item of an
item. (CommonMark; the width of a list's own indentation is not counted, any list keeps indented lines from being code.)
"""

import re

INDENT = re.compile(r" {0,3}\t| {4}")
ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
LINE = 80  # code points of an open line that are kept: more decide nothing


class IndentedCode:
    """Takes the text of an answer in pieces. `begins`: of the current line, its first code points."""

    def __init__(self) -> None:
        self.begins = ""
        self._list = self._code = False
        self._blank = True  # nothing, or a blank line, stands before the current line

    def read(self, text: str) -> None:
        first, *lines = text.split("\n")
        self.begins = (self.begins + first)[:LINE]
        for line in lines:
            self._end_line()
            self.begins = line[:LINE]

    def holds(self) -> bool:
        """Whether the current line, if it is indented, is code."""
        return self._code or (self._blank and not self._list)

    def _end_line(self) -> None:
        line = self.begins
        if not line or line.isspace():
            self._blank = True
            return
        if INDENT.match(line):
            self._code = self._code or (self._blank and not self._list)
        else:
            self._list = ITEM.match(line) is not None or (self._list and not (self._blank and line[0] != " "))
            self._code = False
        self._blank = False
