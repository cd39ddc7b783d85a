"""Plain text: paragraphs are parted by blank lines; a line underlined with === or --- is a heading."""

from lumina.adapters.documents.document_text import ReadResult, TextBuilder, clean

UNDERLINES = {"=": 1, "-": 2, "~": 3}


def read_plain(text: str, *, name: str, notes: tuple[str, ...] = ()) -> ReadResult:
    """The text as it is; its title is the first heading, else the file's name."""
    builder, title = TextBuilder(), ""
    lines = clean(text).split("\n")
    held: list[str] = []
    for at, line in enumerate(lines):
        level = _underline(line, held[-1] if held else "", lines[at + 1] if at + 1 < len(lines) else "")
        if level:
            heading = held.pop()
            builder.add("text", "\n".join(held))
            builder.add("heading", heading, level=level)
            title = title or heading
            held = []
        elif line.strip():
            held.append(line)
        else:
            builder.add("text", "\n".join(held))
            held = []
    builder.add("text", "\n".join(held))
    return builder.finish(title or name, notes=notes)


def _underline(line: str, above: str, below: str) -> int:
    """The level of the heading `above` if `line` underlines it, else 0. A ruled table's lines are no
    underlines.
    """
    mark = line.strip()
    if len(mark) < 3 or mark[0] not in UNDERLINES or mark.strip(mark[0]):
        return 0
    above = above.strip()
    if not above or len(above) > 120 or len(mark) < len(above) - 2 or below.strip() == mark:
        return 0
    return UNDERLINES[mark[0]]
