"""Where code and the targets of links end in Markdown that is still arriving.

Each function looks at a buffer from a place on and says where something ends, or None: what has arrived does
not decide it. A citation stream asks them, so as to leave both alone byte for byte.
"""

LONGEST_SPAN = 256  # code points from a bracket to what closes the span or the target around it
LONGEST_RUN = 64  # ticks in a row, and blanks behind a fence


def run_end(buffer: str, start: int, *, final: bool) -> int | None:
    """The end of the run of one character at `start`."""
    end = start
    while end < len(buffer) and buffer[end] == buffer[start] and end - start < LONGEST_RUN:
        end += 1
    return None if end == len(buffer) and not final and end - start < LONGEST_RUN else end


def span_end(buffer: str, start: int, ticks: int, *, final: bool) -> int | None:
    """Where the code span around `start` ends: behind exactly `ticks` backticks on its line; 0: nowhere."""
    limit = start + LONGEST_SPAN
    reach = buffer[start:limit].partition("\n")[0]
    at = 0
    while (at := reach.find("`", at)) >= 0:
        end = at
        while end < len(reach) and reach[end] == "`":
            end += 1
        whole = start + end < len(buffer) or final
        if whole and end - at == ticks:
            return start + end
        at = end
    decided = final or len(buffer) >= limit or start + len(reach) < len(buffer)
    return 0 if decided else None


def target_end(buffer: str, start: int, depth: int, *, final: bool) -> int | None:
    """Where the target of a link around `start` ends: behind its last `)`, before any space; 0: nowhere."""
    limit = start + LONGEST_SPAN
    for at in range(start, min(limit, len(buffer))):
        character = buffer[at]
        if character.isspace():
            return 0
        depth += (character == "(") - (character == ")")
        if not depth:
            return at + 1
    return 0 if final or len(buffer) >= limit else None


def link_end(buffer: str, opener: int, *, final: bool) -> int | None:
    """Where the target of a link that opens with the parenthesis at `opener` ends, a title included; 0: there is no
    such target, or it is longer than a span."""
    limit = opener + LONGEST_SPAN
    depth, title = 0, False
    for at in range(opener, min(limit, len(buffer))):
        character = buffer[at]
        if character == "\n":
            return 0
        depth += (character == "(") - (character == ")")
        if not depth:
            return at + 1
        if buffer[at - 1] in " \t" and character not in " \t" and not title:
            if character not in "\"'(":
                return 0
            title = True
    return 0 if final or len(buffer) >= limit else None


def fence_end(buffer: str, start: int, *, final: bool) -> tuple[int, bool | None]:
    """The end of the ticks at `start`, and whether nothing else follows on their line."""
    end = start
    while end < len(buffer) and buffer[end] == buffer[start]:
        end += 1
    blank = end
    while blank < len(buffer) and buffer[blank] in " \t\r" and blank - end < LONGEST_RUN:
        blank += 1
    if blank == len(buffer) and not final and blank - start < 2 * LONGEST_RUN:
        return end, None
    return end, buffer[blank : blank + 1] in ("", "\n")
