"""A passage in the units that can be quoted: sentences, the signatures that head a definition, blocks of code.

A stored passage is plain text. Blank lines part its blocks; within a block a new line starts a list item, or what is
said about the name above it, or goes on with a wrapped sentence; code stands as it was written. So code and signatures
are told by their looks, and only prose is cut into sentences.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sentencex import get_sentence_boundaries  # pyright: ignore[reportAttributeAccessIssue] (built in Rust, no stubs)

Kind = Literal["sentence", "signature", "code"]

ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", ".)", ".”", '."', "؟", "।")
WRAPPED = range(45, 101)  # lengths of a line that an editor may have wrapped
MAX_SIGNATURE = 200
CODE_STARTS = (
    ">>> ", ">>>", "... ", "$ ", "# ", "#!", "import ", "def ", "class ", "return ", "print(", "with ", "@",
    "async def ", "await ", "raise ", "try:", "except", "else:", "elif ", "SELECT ", "INSERT ", "CREATE ",
    "const ", "let ", "var ", "function ", "public ", "int ", "void ", "<", "{", "}", "//", "/*",
)  # fmt: skip
COMMANDS = (
    "python", "python3", "py", "pip", "pipx", "sudo", "git", "npm", "npx", "docker", "cd", "source", "curl", "apt",
    "apt-get", "brew", "uv", "make", "cargo", "go", "export", "lumina",
)  # fmt: skip
CODE_ENDS = ("{", "}", ";", "):", "(", "[", "\\", ",")
ASSIGNMENT = re.compile(r"[A-Za-z_][\w.]{0,60} ?(?:=|\+=|:=) ?\S")
CALL_LINE = re.compile(r"[A-Za-z_][\w.]{0,80}\(")
KEYWORD_BLOCK = re.compile(r"(?:for|if|while|from|elif|with|def|class) [^.]{1,120}(?::|import .{1,80})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A quotable stretch. `text` is verbatim but for white space: one line, or for code its lines."""

    kind: Kind
    text: str


def units(passage: str, language: str) -> list[Unit]:
    """The units of `passage` in order."""
    found: list[Unit] = []
    for block in _blocks(passage):
        if _is_code(block):
            _add_code(found, "\n".join(block))
        else:
            found.extend(_prose(block, language))
    return found


def _blocks(passage: str) -> Iterator[list[str]]:
    held: list[str] = []
    for line in passage.split("\n"):
        if line.strip():
            held.append(line.rstrip())
        elif held:
            yield held
            held = []
    if held:
        yield held


def _add_code(found: list[Unit], code: str) -> None:
    """Code that goes on after a blank line is one block."""
    if found and found[-1].kind == "code":
        found[-1] = Unit(kind="code", text=f"{found[-1].text}\n\n{code}")
    else:
        found.append(Unit(kind="code", text=code))


def _is_code(block: list[str]) -> bool:
    marks = sum(_looks_like_code(line) for line in block)
    return marks * 2 > len(block) or block[0].startswith(">>>")


def _looks_like_code(line: str) -> bool:
    text = line.strip()
    if text.startswith(("- ", "* ", "• ")):
        return False
    if line.startswith(("    ", "\t")) or text.startswith((">>>", "... ", "$ ", "#!", "//", "/*")):
        return True
    if text.endswith((".", "!", "?")):
        return False
    first, _, rest = text.partition(" ")
    if first in COMMANDS and rest and len(text) <= MAX_SIGNATURE and (" -" in text or len(rest.split()) <= 4):
        return True
    if text.startswith(CODE_STARTS) or KEYWORD_BLOCK.match(text):
        return text.endswith(CODE_ENDS) or "=" in text or "(" in text or text.startswith(("import ", "from "))
    if ASSIGNMENT.match(text):
        return True
    return bool(CALL_LINE.match(text)) and text.endswith(")") and ("'" in text or '"' in text or "=" in text)


def _prose(block: list[str], language: str) -> Iterator[Unit]:
    paragraphs = _paragraphs(block)
    for place, text in enumerate(paragraphs):
        if place + 1 < len(paragraphs) and _is_signature(text):
            yield Unit(kind="signature", text=text)
            continue
        for bounds in get_sentence_boundaries(language, text):
            sentence = text[bounds["start_index"] : bounds["end_index"]].strip()
            if sentence:
                yield Unit(kind="sentence", text=sentence)


def _paragraphs(block: list[str]) -> list[str]:
    """Lines joined where an editor wrapped them; each with single spaces."""
    joined: list[str] = []
    last = ""
    for line in block:
        text = " ".join(line.split())
        goes_on = bool(last) and len(last) in WRAPPED and not last.endswith(ENDS) and not _starts_item(text)
        if goes_on:
            joined[-1] += f" {text}"
        else:
            joined.append(text)
        last = text
    return joined


def _starts_item(text: str) -> bool:
    return text.startswith(("- ", "* ", "• ", "+ ", "|")) or text[:1].isdigit()


def _is_signature(text: str) -> bool:
    """A line that names what the next line is about: `os.path.splitext(path)`, `-m module-name`, `class Name`."""
    return len(text) <= MAX_SIGNATURE and not text.endswith(ENDS) and ("(" in text or len(text.split()) <= 4)
