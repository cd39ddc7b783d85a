"""Every fault that was listed has a test that is named after it: an id in the name of a test, or in its docstring.

A test of the memory's reports says `test_demand_7_...` or "DEMAND Memory 7"; in tests of citations, streams and search
(tests/unit/agent) `test_demand_7_...` means the other list, as "DEMAND Search 7" does anywhere. A case says
`test_d4_...` or "CASES D4".
"""

import ast
import re

CASES = {
    "D4", "D5", "D9", "D10", "D11", "C5", "C7", "A2", "R1", "M1", "N1", "N2", "N3", "N4", "N5", "N6", "O4",
    *(f"X{n}" for n in range(1, 8)), "I1", "I2", "I3", "I5", "I7", *(f"P{n}" for n in range(1, 8)),
}  # fmt: skip
# Not here yet. Each goes out when its test comes in; nothing is added.
AWAITED_CASES = {"P2", "P7"}
REPORTS = set(range(1, 37)) - {
    29,  # two servers of the MCP on one memory: there is no such server yet; two processes on one file are C5
}
# The list "Search, citations, streams"; 15, 22 and 23 are the memory's and the server's.
SEARCH_REPORTS = {*range(1, 15), *range(16, 22), 24, 25}
AWAITED_REPORTS = {
    4,  # a policy that forbids citing what was read as a snippet only
    21,  # a local server that cuts what it is sent
}

NAMED = re.compile(r"_([a-zA-Z]\d{1,2})(?=_)")
CASE = re.compile(r"(?:CASES?|[Cc]ases?) ((?:[A-Z]\d{1,2}(?:, | and )?)+)")
REPORT = re.compile(r"DEMAND \"?Memory\"? ((?:\d{1,2}(?:-\d{1,2})?(?:, | and )?)+)")
SEARCH_REPORT = re.compile(r"DEMAND \"?Search\"? ((?:\d{1,2}(?:-\d{1,2})?(?:, | and )?)+)")
REPORT_NAMED = re.compile(r"^test_demand((?:_\d{1,2})+)_")


def numbers(found: list[str]) -> set[int]:
    ends = (each.partition("-") for text in found for each in re.findall(r"\d+(?:-\d+)?", text))
    return {n for first, _, last in ends for n in range(int(first), int(last or first) + 1)}


def named(modules) -> tuple[set[str], set[int], set[int]]:
    """Cases, reports of the memory, reports of search, citations and streams."""
    cases: set[str] = set()
    reports: set[int] = set()
    of_search: set[int] = set()
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
                continue
            told = ast.get_docstring(node) or ""
            cases |= {name.upper() for name in NAMED.findall(node.name)}
            cases |= {name for found in CASE.findall(told) for name in re.findall(r"[A-Z]\d+", found)}
            reports |= numbers(REPORT.findall(told))
            of_search |= numbers(SEARCH_REPORT.findall(told))
            if match := REPORT_NAMED.match(node.name):
                listed = of_search if "unit/agent/" in module.place else reports
                listed |= {int(number) for number in match[1].split("_") if number}
    return cases, reports, of_search


def test_each_case_and_each_report_has_a_test_that_is_named_after_it(tests, source) -> None:
    cases, reports, of_search = named([*tests, *(module for module in source if "/testing/" in module.place)])
    assert CASES - cases - AWAITED_CASES == set()
    assert REPORTS - reports == set()
    assert SEARCH_REPORTS - of_search - AWAITED_REPORTS == set()
