"""Reading in worker processes leaves none of them behind."""

import subprocess
import sys

READER = """
import asyncio, os, signal
from lumina.adapters.documents import reading

async def main():
    pool = await reading._started(1)
    assert pool is not None
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_a_worker_ends_with_its_parent_even_when_that_is_killed(tmp_path):
    script = tmp_path / "reader.py"
    script.write_text(READER)
    # A worker holds the parent's output open: the end of the output is the end of the last of them.
    ended = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, timeout=300, check=False)
    assert ended.stdout == b"ready\n"
