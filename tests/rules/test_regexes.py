"""Every regular expression of the package is linear in its input, up to 1 MB (case N6).

Patterns are found in the syntax trees: a pattern is a literal in a call of `re`, or an object at the top of a module,
so that none is hidden from this test. Each is run over texts that make a careless pattern backtrack: one character many
times, words of its own alphabet, near misses of its own literals, each with and without an end that it does not expect.
When the text grows by four, the time may grow by four, and by three times that; a quadratic pattern grows by sixteen.
Time is that of the processor, so that a busy machine changes nothing. A pattern is scanned for at every place of the
text even if today's code asks at one place only: a repeat at its beginning needs a bound.
"""

import ast
import dataclasses
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest

ROOM = 3  # how much faster than the text the time may grow from one size to the next
NOISE = 0.05  # seconds that mean nothing
SIZES = (64, 256, 1024, 4096)  # characters; every text
LARGER = ((8, 16384), (3, 65536), (1, 1048576))  # so many of the slowest texts, at so many characters
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
    """Patterns in a value at the top of a module, in its containers and records too."""
    if isinstance(value, re.Pattern):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from (found for field in dataclasses.fields(value) for found in inside(getattr(value, field.name)))
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
    pieces = dict.fromkeys([*COMMON, *own[:16], *literals])
    makers: list[Callable[[int], str]] = []
    for piece in pieces:
        makers.append(lambda size, piece=piece: (piece * (size // len(piece) + 1))[:size])
        makers.append(lambda size, piece=piece: (piece * (size // len(piece) + 1))[: size - 1] + "\x00")
    for seed in range(3):
        chance = random.Random(seed)
        words = [chance.choice([*own, *literals, "a", "0", " "]) for _ in range(997)]
        makers.append(lambda size, words=words: ("".join(words) * (size // len(words) + 1))[:size])
    return makers


def seconds(pattern: re.Pattern, text: str, limit: float) -> float:
    """Processor time of a scan and of a match of the whole. Stops with AssertionError at `limit`."""

    def stop(*_: object) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    start = time.process_time()
    try:
        for _ in pattern.finditer(text):
            pass
        pattern.fullmatch(text)
        return time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def grow(pattern: re.Pattern, text: Callable[[int], str], start: int, before: float, *sizes: int) -> float:
    """Seconds at the last of `sizes`, from `before` seconds at `start`. Fails at the first step that grows too fast."""
    for size in sizes:
        allowed = before * (size / start) * ROOM + NOISE
        try:
            before, start = seconds(pattern, text(size), allowed), size
        except AssertionError:
            raise AssertionError(
                f"{pattern.pattern!r} needs more than {allowed:.2f} s for {size} characters of {text(12)!r}..., "
                f"after {before:.3f} s for {start}"
            ) from None
    return before


def assert_linear(pattern: re.Pattern) -> None:
    start, slow = SIZES[-1], [(grow(pattern, text, 1, 0.0, *SIZES), text) for text in texts(pattern)]
    for count, size in LARGER:
        slow = sorted(slow, key=lambda pair: -pair[0])[:count]
        slow = [(grow(pattern, text, start, took, size), text) for took, text in slow]
        start = size


def test_N6_every_pattern_is_linear_up_to_a_megabyte(source) -> None:
    found = {
        (pattern.pattern, pattern.flags): pattern for _, pattern in patterns(source) if isinstance(pattern.pattern, str)
    }
    assert found, "no pattern was found, so none was checked"
    slow = []
    for pattern in found.values():
        try:
            assert_linear(pattern)
        except AssertionError as error:
            slow.append(str(error))
    assert not slow, "\n".join(slow)


def test_no_pattern_is_made_where_this_test_cannot_see_it(source) -> None:
    """A pattern that is put together is made while its module loads: at the top, or by a function called there."""
    hidden = []
    for module in source:
        at_load = [node for top in module.tree.body for node in outside_functions(top)]
        builders = {node.id for node in at_load if isinstance(node, ast.Name)}
        within = {
            id(below)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            and getattr(node, "name", "") not in builders
            for below in ast.walk(node)
        }
        for name, call in module.calls():
            if name in {f"re.{use}" for use in USES} and id(call) in within and literal_pattern(call) is None:
                hidden.append((module.place, call.lineno))
    assert hidden == []


def outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what is below it, as far as it runs while the module loads."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        yield node
        for below in ast.iter_child_nodes(node):
            yield from outside_functions(below)


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a+)+b", r"<!--.*?-->", r"\w+@\w+", r"(?:a|a)*c", r"\[.*\]\("])
def test_a_pattern_that_backtracks_is_caught(pattern: str) -> None:
    with pytest.raises(AssertionError):
        assert_linear(re.compile(pattern, re.DOTALL))
