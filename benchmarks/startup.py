"""What starting costs: the import of the memory, and the help of the command line, beside a bare Python.

    python benchmarks/startup.py [--json]

Seconds are wall time, the best of five runs, each in a process of its own; `modules` are those loaded at the end.
"""

import argparse
import json
import subprocess
import sys
import time

STARTS = {
    "python alone": "pass",
    "import pydantic": "import pydantic",
    "import lumina.memory": "import lumina.memory",
    "from lumina import Thread": "from lumina import Thread",
    "lumina --help": "import sys; sys.argv = ['lumina', '--help']\nfrom lumina.cli.main import run\ntry:\n    run()\n"
    "except SystemExit:\n    pass",
}
COUNT = "\nimport sys; print(f'modules={len(sys.modules)}', file=sys.stderr)"


def measure(code: str, runs: int = 5) -> dict[str, float]:
    best, modules = float("inf"), 0
    for _ in range(runs):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code + COUNT], capture_output=True, text=True, check=True)
        best = min(best, time.perf_counter() - started)
        modules = int(done.stderr.rsplit("modules=", 1)[1])
    return {"seconds": round(best, 3), "modules": modules}


def main() -> None:
    parser = argparse.ArgumentParser(description="What starting costs.")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = {name: measure(code) for name, code in STARTS.items()}
    if given.json:
        print(json.dumps(rows))
        return
    for name, row in rows.items():
        print(f"{name:28} {row['seconds']:7.3f} s   {row['modules']:5.0f} modules")


if __name__ == "__main__":
    main()
