"""A passage in the units that can be quoted: sentences, the signatures that head a definition, blocks of code.

A stored passage is plain text. Blank lines part its blocks; within a block a new line starts a list item, or what is
said about the name above it, or goes on with a wrapped sentence; code stands as it was written. So code and signatures
are told by their looks, and only prose is cut into sentences. What says nothing by itself (a label, a lone heading) is
a unit too, so that the others keep their places, but it is not quoted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sentencex import get_sentence_boundaries  # pyright: ignore[reportAttributeAccessIssue] (built in Rust, no stubs)

Kind = Literal["sentence", "signature", "code", "label"]

ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", ".)", ".”", '."', "؟", "।")
WRAPPED = range(45, 101)  # lengths of a line that an editor may have wrapped
MAX_SIGNATURE = 500
MAX_COMMAND = 200
MAX_TERM = 60
MOSTLY_WORDS = 0.6  # share of letters, digits and spaces in what can be a sentence: less is a bar or a drawing
CODE_STARTS = (
    ">>> ", ">>>", "... ", "$ ", "# ", "#!", "import ", "def ", "class ", "return ", "print(", "with ", "@",
    "async def ", "await ", "raise ", "try:", "except", "else:", "elif ", "SELECT ", "INSERT ", "CREATE ",
    "const ", "let ", "var ", "function ", "public ", "int ", "void ", "<", "{", "}", "//", "/*",
)  # fmt: skip
COMMANDS = (
    "python", "python3", "py", "pip", "pipx", "sudo", "git", "npm", "npx", "docker", "cd", "source", "curl", "apt",
    "apt-get", "brew", "uv", "make", "cargo", "go", "export", "lumina",
)  # fmt: skip
PROMPT = re.compile(r"[A-Za-z]:\\[^ >]{0,60}>")  # of a Windows console
CODE_ENDS = ("{", "}", ";", "):", "(", "[", "\\", ",")
ASSIGNMENT = re.compile(r"[A-Za-z_][\w.]{0,60} ?(?:=|\+=|:=) ?\S")
CALL_LINE = re.compile(r"[A-Za-z_][\w.]{0,80}\(")
DEFINED = re.compile(
    r"(?:@|(?:class|classmethod|staticmethod|abstractmethod|async|awaitable|coroutine|exception|function|method) ){0,2}"
    r"[A-Za-z_][\w.]{0,100}"
)
RETURNS = re.compile(r"\s?(?:(?:->|→) .{1,60})?")
# Quotation marks that no parameter's default or annotation explains: what is called there is called, not defined.
GIVEN = re.compile(r"""(?<![=:'"\w\[|])['"]""")
OPTION = re.compile(r"--?[A-Za-z][\w-]{0,40}(?:[ =][^.]{0,60})?")
KEYWORD_BLOCK = re.compile(r"(?:for|if|while|from|elif|with|def|class) [^.]{1,120}(?::|import .{1,80})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A quotable stretch. `text` is verbatim but for white space: one line, or for code its lines."""

    kind: Kind
    text: str


def units(passage: str, language: str) -> list[Unit]:
    """The units of `passage` in order."""
    found: list[Unit] = []
    blocks = list(_blocks(passage))
    for place, block in enumerate(blocks):
        announced = bool(found) and found[-1].kind == "sentence" and found[-1].text.endswith(":")
        if announced and len(block) == 1 and CALL_LINE.match(block[0].strip()) and block[0].rstrip().endswith(")"):
            _add_code(found, block[0])
        elif len(block) == 1 and _names(block[0]) and _is_explained(blocks, place):
            found.append(Unit(kind="signature", text=" ".join(block[0].split())))
        elif _is_code(block):
            _add_code(found, "\n".join(block))
        else:
            found.extend(_prose(block, language))
    return found


def _is_explained(blocks: list[list[str]], place: int) -> bool:
    """Whether prose follows the name at `place`, at once or after other names for the same; or nothing does."""
    for block in blocks[place + 1 :]:
        if len(block) > 1 or not _names(block[0]):
            return not _is_code(block)
    return True


def _names(line: str) -> bool:
    """Whether a line of its own names what is defined below it: `os.path.splitext(path)`, `--sort-keys`."""
    text = line.strip()
    if OPTION.fullmatch(text):
        return True
    name, bracket, rest = text.partition("(")
    if len(text) > MAX_SIGNATURE or not DEFINED.fullmatch(name.rstrip() if not bracket else name):
        return False
    if not bracket:
        return "." in name or name.startswith("@")
    parameters, closing, returned = rest.rpartition(")")
    return bool(closing) and RETURNS.fullmatch(returned) is not None and GIVEN.search(parameters) is None


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
    if PROMPT.match(text):
        return True
    if text.endswith((".", "!", "?")):
        return False
    first, _, rest = text.partition(" ")
    if first in COMMANDS and rest and len(text) <= MAX_COMMAND and (" -" in text or len(rest.split()) <= 4):
        return True
    if text.startswith(CODE_STARTS) or KEYWORD_BLOCK.match(text):
        return text.endswith(CODE_ENDS) or "=" in text or "(" in text or text.startswith(("import ", "from "))
    if ASSIGNMENT.match(text):
        return True
    return bool(CALL_LINE.match(text)) and text.endswith(")") and ("'" in text or '"' in text or "=" in text)


def _prose(block: list[str], language: str) -> Iterator[Unit]:
    paragraphs = _paragraphs(block)
    for place, paragraph in enumerate(paragraphs):
        text = paragraph.removeprefix("- ")
        if place + 1 < len(paragraphs) and (_names(text) or _is_term(text)):
            yield Unit(kind="signature", text=text)
        elif " | " in text:  # a row of a table
            yield Unit(kind="sentence", text=text)
        else:
            for sentence in sentences(text, language):
                yield Unit(kind="sentence" if _says_something(sentence) else "label", text=sentence)


def sentences(text: str, language: str) -> list[str]:
    """The sentences of one paragraph. A full stop with no space after it ends none: `io.BufferedReader`."""
    found: list[str] = []
    goes_on = False
    for bounds in get_sentence_boundaries(language, text):
        piece = text[bounds["start_index"] : bounds["end_index"]]
        if goes_on:
            found[-1] += piece
        elif piece.strip():
            found.append(piece)
        goes_on = bool(found) and piece.endswith((".", "?", "!"))
    return [sentence.strip() for sentence in found]


def _says_something(sentence: str) -> bool:
    if sum(sign.isalnum() or sign.isspace() for sign in sentence) < MOSTLY_WORDS * len(sentence):
        return False
    count = len(sentence.split())
    return count >= 8 or (count >= 4 and sentence.endswith(ENDS)) or (not sentence.isascii() and len(sentence) >= 8)


def _paragraphs(block: list[str]) -> list[str]:
    """Lines joined where an editor wrapped them; each with single spaces."""
    joined: list[str] = []
    last = ""
    for line in block:
        text = " ".join(line.split())
        goes_on = (
            len(last) in WRAPPED and not last.endswith(ENDS) and not _starts_item(text) and " | " not in text + last
        )
        if goes_on:
            joined[-1] += f" {text}"
        else:
            joined.append(text)
        last = text
    return joined


def _starts_item(text: str) -> bool:
    return text.startswith(("- ", "* ", "• ", "+ ", "|")) or text[:1].isdigit()


def _is_term(text: str) -> bool:
    """A line of few words, which the next line explains: `shallow copy`, `-m module-name`, `class Name`."""
    return len(text) <= MAX_TERM and not text.endswith(ENDS) and len(text.split()) <= 4 and " | " not in text
