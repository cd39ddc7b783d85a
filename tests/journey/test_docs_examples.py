"""The Python that the README and the docs show runs as it stands: each page in a folder and a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_WITH_AWAIT = """
import ast, asyncio, inspect, sys

code = compile(sys.stdin.read(), "the page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

names = {"__name__": "__main__"}
if code.co_flags & inspect.CO_COROUTINE:
    async def main():
        await eval(code, names)

    asyncio.run(main())
else:
    exec(code, names)
"""
PAGES = [
    page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if BLOCK.search(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_python_on_the_page_runs(page: Path, tmp_path: Path) -> None:
    """Blocks of one page follow each other, as a reader would type them. The process has to end by itself."""
    blocks = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    done = subprocess.run(
        [sys.executable, "-c", RUN_WITH_AWAIT],
        input=blocks,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
