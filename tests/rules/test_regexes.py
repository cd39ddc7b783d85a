"""Every regular expression of the package is linear in its input, up to 1 MB (case N6).

Patterns are found in the syntax trees: a pattern is a literal in a call of `re`, or an object at the top of a module,
so that none is hidden from this test. Each is run over texts that make a careless pattern backtrack: one character
many times, words of its own alphabet, near misses of its own literals. When the text grows by four, the time may grow
by four, and by three times that for what a shared machine adds; a quadratic pattern grows by sixteen.
"""

import ast
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest

GROWTH = 4
ROOM = 3
NOISE = 0.02  # seconds: what a step may take longer without meaning anything
LIMIT = 20  # seconds for one text; a pattern that takes that long has failed
SIZES = (64, 256, 1024, 4096, 16384)  # every text
LARGE = (65536, 262144)  # the slowest three
MEGABYTE = (1048576,)  # the slowest one
USES = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
COMMON = ["a", "0", " ", "\n", "-", "_", ".", "[", "]", "(", "<", "`", "#", "|", '"', "天", "é", "\u0301", "\U0001f600"]
COMMON += [
    "a ",
    "a\n",
    "1,",
    "[1",
    "1]",
    "[[",
    "](",
    "<a",
    "a.",
    "ab ",
    "\r\n",
    "* ",
    "天a",
    "- [",
    "``",
    "a@",
    "0-",
    "https://",
]


def patterns(source) -> Iterator[tuple[str, re.Pattern]]:
    for module in source:
        if any(name == "re" or name.startswith("re.") for name, _ in module.imports()):
            loaded = import_module(module.name)
            for name, value in vars(loaded).items():
                yield from ((f"{module.name}.{name}", found) for found in inside(value))
            for name, call in module.calls():
                if name in {f"re.{use}" for use in USES} and call.args:
                    literal = literal_pattern(call)
                    if literal is not None:
                        yield f"{module.place}:{call.lineno}", literal


def inside(value: object) -> Iterator[re.Pattern]:
    """Patterns in a value at the top of a module, in its containers too."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (found for part in [*value.keys(), *value.values()] for found in inside(part))
    elif isinstance(value, tuple | list | set | frozenset):
        yield from (found for part in value for found in inside(part))


def literal_pattern(call: ast.Call) -> re.Pattern | None:
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    flags += call.args[1:2] if ast.unparse(call.func) == "re.compile" else []
    try:
        pattern = ast.literal_eval(call.args[0])
    except ValueError:
        return None
    return re.compile(pattern, flag_value(flags[0]) if flags else 0)


def flag_value(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return flag_value(node.left) | flag_value(node.right)
    assert isinstance(node, ast.Attribute), f"flags are written as names of re: {ast.unparse(node)}"
    return int(getattr(re, node.attr))


def texts(pattern: re.Pattern) -> list[Callable[[int], str]]:
    """Makers of hostile text of a given length, the same in every run."""
    own = sorted({c for c in pattern.pattern if not c.isspace()} | {" "})
    literals = [run for run in re.split(r"[\\()\[\]{}|*+?^$.]+", pattern.pattern) if 1 < len(run) < 40][:8]
    pieces = dict.fromkeys([*COMMON, *own[:24], *literals])
    makers = [lambda size, piece=piece: (piece * (size // len(piece) + 1))[:size] for piece in pieces]
    for seed in range(3):
        chance = random.Random(seed)
        words = [chance.choice([*own, *literals, "a", "0", " "]) for _ in range(997)]
        makers.append(lambda size, words=words: ("".join(words) * (size // len(words) + 1))[:size])
    return makers


def seconds(pattern: re.Pattern, text: str) -> float:
    start = time.perf_counter()
    for hostile in (text, text + "\x00"):  # with an end that a pattern does not expect
        for _ in pattern.finditer(hostile):
            pass
        pattern.fullmatch(hostile)
    return time.perf_counter() - start


def growth(pattern: re.Pattern, text: Callable[[int], str], sizes: tuple[int, ...], before: float) -> float:
    """Seconds at the last size; fails at the first step that grows too fast. A slow step is measured again."""
    for size in sizes:
        allowed = GROWTH * ROOM * before + NOISE
        took = seconds(pattern, text(size))
        if took > allowed:
            took = min(took, seconds(pattern, text(size)))
        assert took <= allowed, f"{pattern.pattern!r}: {size} characters of {text(12)!r}... take {took:.2f} s"
        before = took
    return before


def assert_linear(pattern: re.Pattern, limit: int = LIMIT) -> None:
    def too_long(*_: object) -> None:
        raise AssertionError(f"{pattern.pattern!r} ran for {limit} s")

    before = signal.signal(signal.SIGALRM, too_long)
    try:
        slow = []
        for text in texts(pattern):
            signal.alarm(limit)
            slow.append((growth(pattern, text, SIZES, 0.0), text))
        for texts_left, sizes in ((3, LARGE), (1, MEGABYTE)):
            slow = sorted(slow, key=lambda pair: -pair[0])[:texts_left]
            signal.alarm(limit)
            slow = [(growth(pattern, text, sizes, took), text) for took, text in slow]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_every_pattern_is_linear_up_to_a_megabyte(source) -> None:
    found = {
        (pattern.pattern, pattern.flags): pattern for _, pattern in patterns(source) if isinstance(pattern.pattern, str)
    }
    assert found, "no pattern was found, so none was checked"
    for pattern in found.values():
        assert_linear(pattern)


def test_no_pattern_is_made_where_this_test_cannot_see_it(source) -> None:
    """Inside a function a pattern is a literal; one that is put together stands at the top of its module."""
    hidden = []
    for module in source:
        functions = [
            n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ]
        within = {id(node) for function in functions for node in ast.walk(function)}
        for name, call in module.calls():
            if name in {f"re.{use}" for use in USES} and id(call) in within and literal_pattern(call) is None:
                hidden.append((module.place, call.lineno))
    assert hidden == []


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a+)+b", r"<!--.*?-->", r"\w+@\w+", r"(?:a|a)*c", r"\[.*\]\("])
def test_a_pattern_that_backtracks_is_caught(pattern: str) -> None:
    with pytest.raises(AssertionError):
        assert_linear(re.compile(pattern, re.DOTALL), limit=2)
