"""Answers made by chance, with what must come out of them: the oracle of `lumina eval citations`.

An answer is put together from parts, each of which is written together with what it must become, so that nothing of
the code under test has a say in what is right: a marker of a good number becomes `[n]`, one of a number that may not be
cited goes with the space before it, everything else stays byte for byte.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WORDS = (
    "the harbour was built of granite by people who came over from Sundvik and stayed in winter Ångström naïve 港は "
    "花崗岩 гавань 😀 e\u0301tat however about 1,902 twenty-five 3.5 % of (all) “quoted” it’s and/or no. 7 & so "
    "<b>bold</b> **strong** _soft_ a:b x=1 C++ 5 $ #tag @name"
).split()
FENCES = ("```", "````", "`````", "~~~", "~~~~~")
CODE = (
    "x = a[1]", "rows[0][9] = [1, 2]", "print(m[2024])  # see [1]", "[1]: https://example.org", "`[9]`", "$x_[1]$", "",
    "    deep[3]", "if [[ $1 ]]; then", "【1】 ［２］", "[^1]", "[1](https://example.org)",
)  # fmt: skip
# Text with brackets that is no citation, by what it is.
KEPT = {
    "code span": ("`a[1]`", "``b[9] ` [1]``", "`[1]`", "`[1](x)`"),
    "formula": ("$x_{[1]} = a[9]$", "\\(a[1]\\)", "\\[ y_1 = [9] \\]", "$$A_[1] = [9, 1]$$"),
    "link": ("[the page](https://example.org/a[1]?b[9]=1)", "[a _b_](<x>)", "[#9](https://example.org/9)"),
    "image": ("![9](https://example.org/9.png)", "![a view](x.png)"),
    "year or count": ("[2024]", "[1987]", "[12345]", "[2024](https://example.org)"),
    "array, interval, box": ("[0, 1]", "[0-9]", "[[0, 1], [1, 0]]", "a[0]", "f(x)[0]", "[-1, 1]", "[1.5]", "[12:30]"),
    "words in brackets": ("[sic]", "[...]", "[a1]", "[see below]", "[ ]", "[x]", "[сик]", "[and][so]"),
    "LaTeX command": ("\\sqrt[3]{x}", "\\item[9]"),
}
# Marker forms: what is written for some numbers. All of them become `[n]` for every number, or `[n][m]`.
ONE = {
    "[1]": "[{}]", "[ 1 ]": "[ {} ]", "[^1]": "[^{}]", "[[1]]": "[[{}]]", "\\[1\\]": "\\[{}\\]", "[#1]": "[#{}]",
    "[Source 1]": "[Source {}]", "[citation:1]": "[citation:{}]", "【1】": "【{}】", "【1†source】": "【{}†source】",
    "【1†L5-L8】": "【{}†L5-L8】", "［１］": "［{}］", "[1](https://...)": "[{}](https://example.org/p_(1)?q=[9])",
    "[[1]](https://...)": "[[{}]](https://example.org)", "[^1](#fn1)": "[^{}](#fn1)",
}  # fmt: skip
SEVERAL = {
    "[1][2]": ("[", "][", "]"), "[1, 2]": ("[", ", ", "]"), "[1,2]": ("[", ",", "]"), "[1; 2]": ("[", "; ", "]"),
    "［１，２］": ("［", "，", "］"), "[1、2]": ("[", "、", "]"), "[[1], [2]]": ("[[", "], [", "]]"),
    "【1】【2】": ("【", "】【", "】"),
}  # fmt: skip
RANGES = {"[1-3]": "-", "[1–3]": "–", "[1 — 3]": " — ", "［１～３］": "～"}
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
LIMIT = 99  # numbers in markers


@dataclass(slots=True)
class Stream:
    """`written` by the model; `answer` that must come of it; `cited` as (number, position in the answer); `removed`
    numbers in order. `forms` and `around` count what is in it."""

    citable: frozenset[int]
    written: str = ""
    answer: str = ""
    cited: list[tuple[int, int]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)

    def keep(self, text: str, kind: str = "") -> None:
        """Text that stays as it is."""
        self.written += text
        self.answer += text
        self.around += [kind] if kind else []

    def mark(self, form: str, written: str, numbers: Sequence[int], *, space: str = " ") -> None:
        """A marker behind `space`, which goes with it when nothing of it stays."""
        good = [n for n in numbers if n in self.citable]
        self.written += space + written
        self.answer += space if good else ""
        for n in good:
            self.cited.append((n, len(self.answer)))
            self.answer += f"[{n}]"
        self.removed += [n for n in numbers if n not in self.citable]
        self.forms.append(form)


def stream_of(seed: int) -> Stream:
    """The stream of a seed: always the same one."""
    draw = random.Random(seed)
    stream = Stream(citable=frozenset(draw.sample(range(1, LIMIT + 1), draw.randint(0, 40))))
    parts: list[Callable[[Stream, random.Random], None]] = [
        _paragraph, _paragraph, _paragraph, _fence, _list, _definitions, _indented, _table, _comment,
    ]  # fmt: skip
    for at in range(draw.randint(1, 5)):
        if at:
            stream.keep("\n\n")
        draw.choice(parts)(stream, draw)
    if draw.random() < 0.1:  # the model was stopped inside a marker
        stream.keep("\n\nAnd so")
        stream.written += draw.choice((" [9", " [1, 2", " 【3", " [[4"))
        stream.forms.append("cut off")
    return stream


def _words(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(1, 8))) + " word"


def _sentence(stream: Stream, draw: random.Random) -> None:
    stream.keep(_words(draw))
    for _ in range(draw.randint(0, 3)):
        if draw.random() < 0.6:
            _marker(stream, draw)
        else:
            kind = draw.choice(list(KEPT))
            stream.keep(" " + draw.choice(KEPT[kind]), kind)
        stream.keep(draw.choice(("", ",", ";", " and")) + " " + _words(draw))
    if draw.random() < 0.6:
        _marker(stream, draw)
    stream.keep(".")


def _marker(stream: Stream, draw: random.Random) -> None:
    kind = draw.random()
    space = draw.choice((" ", " ", ""))
    if kind < 0.6:
        form = draw.choice(list(ONE))
        n = draw.randint(1, LIMIT)
        written = ONE[form].format(str(n).translate(WIDE) if form.startswith("［") else n)
        stream.mark(form, written, [n], space=space)
    elif kind < 0.85:
        form = draw.choice(list(SEVERAL))
        numbers = draw.sample(range(1, LIMIT + 1), draw.randint(2, 4))
        opener, between, closer = SEVERAL[form]
        digits = [str(n).translate(WIDE) if form.startswith("［") else str(n) for n in numbers]
        stream.mark(form, opener + between.join(digits) + closer, numbers, space=space)
    else:
        form = draw.choice(list(RANGES))
        first = draw.randint(1, LIMIT - 6)
        last = first + draw.randint(1, 6)
        stream.mark(form, f"[{first}{RANGES[form]}{last}]", range(first, last + 1), space=space)


def _paragraph(stream: Stream, draw: random.Random) -> None:
    for at in range(draw.randint(1, 4)):
        stream.keep(" " if at else "")
        _sentence(stream, draw)


def _list(stream: Stream, draw: random.Random) -> None:
    bullet = draw.choice(("- ", "* ", "1. ", "> ", "- [x] "))
    for at in range(draw.randint(1, 4)):
        stream.keep(("\n" if at else "") + bullet)
        _sentence(stream, draw)
        if bullet == "- " and draw.random() < 0.3:
            stream.keep("\n\n    ")  # a paragraph of the item, no code
            _sentence(stream, draw)


def _table(stream: Stream, draw: random.Random) -> None:
    stream.keep("| a | b |\n|---|---|")
    for _ in range(draw.randint(1, 3)):
        stream.keep("\n| " + _words(draw))
        _marker(stream, draw)
        stream.keep(" | " + _words(draw) + " |")


def _lines(draw: random.Random) -> list[str]:
    return draw.choices(CODE, k=draw.randint(1, 5))


def _fence(stream: Stream, draw: random.Random) -> None:
    fence, indent = draw.choice(FENCES), draw.choice(("", "", "  ", "> "))
    body = "\n".join(indent + line for line in [fence + draw.choice(("", "python")), *_lines(draw), fence])
    stream.keep(body, "fenced block")
    stream.keep("\n\n")
    _sentence(stream, draw)


def _indented(stream: Stream, draw: random.Random) -> None:
    indent = draw.choice(("    ", "\t"))
    stream.keep("Words that end a list.\n\n")
    stream.keep("\n".join(indent + line for line in ["code[9]", *_lines(draw), "[1]"]), "indented block")
    stream.keep("\n\nWords behind it")
    _marker(stream, draw)
    stream.keep(".")


def _definitions(stream: Stream, draw: random.Random) -> None:
    """What a model puts below an answer. A number defines nothing; a label may."""
    stream.keep("[label]: https://example.org/l", "definition of a label")
    for _ in range(draw.randint(1, 3)):
        n, caret = draw.randint(1, LIMIT), draw.choice(("", "^"))
        body = draw.choice(("https://example.org", "<https://example.org>", "What it says.", "word"))
        stream.keep("\n")
        stream.mark("[1]: ..." if not caret else "[^1]: ...", f"[{caret}{n}]:", [n], space="")
        stream.written += " "
        stream.answer += " " if n in stream.citable else ""
        stream.keep(body)


def _comment(stream: Stream, draw: random.Random) -> None:
    stream.keep("<!-- a comment is prose")
    _marker(stream, draw)
    stream.keep(" -->", "HTML comment")
