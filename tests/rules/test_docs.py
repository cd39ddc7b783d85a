"""The docs say what is so: links lead somewhere, the reference is what the code says, the README's commands run."""

import itertools
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path

from markdown_it import MarkdownIt


def pages(root: Path) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def anchors(text: str) -> set[str]:
    """The anchors that a forge gives to headings: lower case, spaces as hyphens, the rest of the punctuation gone."""
    found: set[str] = set()
    tokens = MarkdownIt().parse(text)
    for opened, inline in itertools.pairwise(tokens):
        if opened.type == "heading_open":
            said = "".join(part.content for part in inline.children or [])
            kept = [c for c in said.lower() if c in " -_" or unicodedata.category(c)[0] in "LNM"]
            anchor, count = "".join(kept).replace(" ", "-"), 0
            while f"{anchor}-{count}" in found or (count == 0 and anchor in found):
                count += 1
            found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(text: str) -> list[str]:
    inline = [child for token in MarkdownIt().parse(text) for child in token.children or []]
    return [
        str(part.attrs.get("href") or part.attrs.get("src")) for part in inline if part.type in ("link_open", "image")
    ]


def test_every_link_between_files_leads_to_a_file_and_to_a_heading_in_it(root: Path) -> None:
    broken = []
    for page in pages(root):
        for link in links(page.read_text(encoding="utf-8")):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
                broken.append((page.relative_to(root).as_posix(), link))
    assert broken == []


def test_every_page_of_the_docs_is_reached_from_the_index(root: Path) -> None:
    index = root / "docs" / "index.md"
    reached, todo = {index}, [index]
    while todo:
        page = todo.pop()
        for link in links(page.read_text(encoding="utf-8")):
            file = (page.parent / link.partition("#")[0]).resolve()
            if file.suffix == ".md" and file not in reached and file.exists():
                reached.add(file)
                todo.append(file)
    unreached = [
        page.relative_to(root).as_posix() for page in sorted((root / "docs").rglob("*.md")) if page not in reached
    ]
    assert unreached == []


def test_the_reference_is_what_the_code_says(root: Path) -> None:
    """Every setting, event, error, public name and command, described where it is defined."""
    done = subprocess.run(
        [sys.executable, "tools/write_reference.py", "--check"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_in_the_reference_is_left_without_a_word(root: Path) -> None:
    """A heading with no sentence below it has no docstring in the code; an empty cell has no comment or description."""
    silent = []
    for page in sorted((root / "docs" / "reference").glob("*.md")):
        lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line]
        for line, following in zip(lines, [*lines[1:], "#"], strict=True):
            if line.startswith("#") and following.startswith(("#", "|")):
                silent.append((page.name, line))
        silent += [(page.name, line) for line in lines if line.startswith("| `") and line.endswith("|  |")]
    assert silent == []


def test_the_readme_has_its_two_commands_each_as_one_line(root: Path) -> None:
    """.ci/run reads them out of the README and runs them."""
    lines = [
        line
        for line in (root / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("python3 -m venv")
    ]
    assert [("lumina ask" in line, "-m pytest" in line) for line in lines] == [(True, False), (False, True)]
    for line in lines:
        words = shlex.split(line)
        assert (root / words[words.index("-c") + 1]).is_file()


def test_the_changelog_opens_with_what_is_in_this_version(root: Path) -> None:
    headings = [
        line for line in (root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    ]
    assert headings[0].startswith("## ")
    version = re.search(r'^version = "(.+)"$', (root / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert any(version[1] in heading for heading in headings[:2])


def test_every_decision_is_dated(root: Path) -> None:
    for page in sorted((root / "docs" / "decisions").glob("[0-9]*.md")):
        assert re.search(r"^20\d\d-\d\d-\d\d", page.read_text(encoding="utf-8"), re.MULTILINE), page.name
