"""Lumina's side of the timed comparison: one context at 100 and at 10,000 turns of the peers' history.

Runs where Lumina is installed. The thread is a SQLite file, as in use; each length is timed with a follow-up, which
stays with the last turns, and with a question for which recall fires.
"""

import asyncio
import tempfile
from pathlib import Path

from script import BUDGET, INSTRUCTIONS, LENGTHS, chatter, timed

from lumina import open_thread

FOLLOW_UP = "And what do you recommend?"
POINTING = "What did you say earlier about router 17 after the update of day 54?"


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with await open_thread(Path(folder) / "lumina.db") as thread:
            turn = 0
            for length in LENGTHS:
                while turn < length:
                    turn += 1
                    question, answer = chatter(turn)
                    await thread.record(await thread.context(question, budget=600), answer)
                for name, asked in (("follow-up", FOLLOW_UP), ("recall fires", POINTING)):

                    async def build(asked: str = asked) -> object:
                        return await thread.context(asked, budget=BUDGET, instructions=INSTRUCTIONS)

                    await timed(f"lumina context, {name}", length, build)


if __name__ == "__main__":
    asyncio.run(main())
