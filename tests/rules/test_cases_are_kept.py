"""Every fault that was listed has a test that is named after it: an id in the name of a test, or in its docstring.

A test of the memory's reports says `test_demand_7_...` or "DEMAND Memory 7"; in tests of citations, streams and search
(tests/unit/agent) `test_demand_7_...` means the other list. A case says `test_d4_...` or "CASES D4".
"""

import ast
import re

CASES = {"D4", "D5", "D9", "D10", "D11", "C5", "C7", "A2", "R1", "M1", "N1", "N2", "N3", "N4", "N5", "N6"}
REPORTS = set(range(1, 37)) - {
    29,  # two servers of the MCP on one memory: there is no such server yet; two processes on one file are C5
}

NAMED = re.compile(r"_([a-zA-Z]\d{1,2})(?=_)")
CASE = re.compile(r"(?:CASES?|[Cc]ases?) ((?:[A-Z]\d{1,2}(?:, | and )?)+)")
REPORT = re.compile(r"DEMAND \"?Memory\"? ((?:\d{1,2}(?:-\d{1,2})?(?:, | and )?)+)")
REPORT_NAMED = re.compile(r"^test_demand((?:_\d{1,2})+)_")


def named(modules) -> tuple[set[str], set[int]]:
    cases: set[str] = set()
    reports: set[int] = set()
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
                continue
            told = ast.get_docstring(node) or ""
            cases |= {name.upper() for name in NAMED.findall(node.name)}
            cases |= {name for found in CASE.findall(told) for name in re.findall(r"[A-Z]\d+", found)}
            for found in REPORT.findall(told):
                for first, _, last in (each.partition("-") for each in re.findall(r"\d+(?:-\d+)?", found)):
                    reports |= set(range(int(first), int(last or first) + 1))
            if "unit/agent/" not in module.place and (match := REPORT_NAMED.match(node.name)):
                reports |= {int(number) for number in match[1].split("_") if number}
    return cases, reports


def test_each_case_and_each_report_has_a_test_that_is_named_after_it(tests, source) -> None:
    cases, reports = named([*tests, *(module for module in source if "/testing/" in module.place)])
    assert CASES - cases == set()
    assert REPORTS - reports == set()
