"""Plays one script through other memories and through Lumina, each in an environment of its own, and times them.

    python benchmarks/peers/run.py [--home FOLDER] [--turns 200,1000] [--peers NAME,...] [--no-time] [--json]

Makes a virtual environment for each peer in FOLDER (`.peers`), with the pinned packages of requirements/. Every peer's
note taker is perfect: it is told by the script what a turn changed. So what differs is what each memory does with it.
mem0 needs LUMINA_TOKENIZER, the path of the tokenizer.json of all-MiniLM-L6-v2; without it mem0 is left out and named.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = ("langchain_summary", "openai_agents_session", "llamaindex_memory", "mem0_search")
TIMED = ("langchain_summary", "openai_agents_session", "mem0_search")
NEEDS_TOKENIZER = "mem0_search"


def environment(peer: str, home: Path) -> Path:
    """The interpreter of a peer's environment, made when missing."""
    place = home / peer
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        say(f"{peer}: making its environment")
        venv.create(place, with_pip=True)
    done = place / "installed"
    wanted = (HERE / "requirements" / f"{peer}.txt").read_text(encoding="utf-8")
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        say(f"{peer}: installing {', '.join(wanted.split())}")
        run([str(python), "-m", "pip", "install", "-q", "-r", str(HERE / "requirements" / f"{peer}.txt")])
        done.write_text(wanted, encoding="utf-8")
    return python


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: list[str]) -> str:
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE)
    if ended.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {ended.returncode}; what was measured before is printed above."
        )
    return ended.stdout


def lumina(*arguments: str) -> Any:
    """`lumina eval conservation` as JSON. It also ends with 1 when a target is missed, which is no fault here."""
    command = [sys.executable, "-m", "lumina", "eval", "conservation", *arguments, "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if not ended.stdout.strip():
        raise SystemExit(f"{' '.join(command)} said nothing.")
    return json.loads(ended.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=Path(".peers"), help="where the environments are kept")
    parser.add_argument("--turns", default="200,1000", help="lengths of the script")
    parser.add_argument("--peers", default=",".join(PEERS), help="which peers")
    parser.add_argument("--no-time", action="store_true", help="play the script only")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    home = given.home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    peers = [peer for peer in given.peers.split(",") if peer in PEERS]
    if NEEDS_TOKENIZER in peers and not os.environ.get("LUMINA_TOKENIZER"):
        say("mem0_search is left out: set LUMINA_TOKENIZER to the path of all-MiniLM-L6-v2's tokenizer.json.")
        peers.remove(NEEDS_TOKENIZER)
    rows: list[dict[str, Any]] = []
    for turns in given.turns.split(","):
        script = home / f"script-{turns}.jsonl"
        own = lumina(
            "--turns", turns, "--write-script", str(script), "--write-sent", str(home / f"lumina-{turns}.jsonl")
        )
        rows += own["tables"][0]["rows"]
        for peer in peers:
            say(f"{peer}: playing {turns} turns")
            sent = home / f"{peer}-{turns}.jsonl"
            run([str(environment(peer, home)), f"{peer}.py", "--play", str(script), "--sent", str(sent)])
            rows += lumina(str(script), "--score", str(sent))["tables"][0]["rows"]
    if given.json:
        for row in rows:
            print(json.dumps(row))
    elif rows:
        print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
        for row in rows:
            cells = (f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row.values())
            print("| " + " | ".join(cells) + " |")
    if not given.no_time:
        for peer in (peer for peer in TIMED if peer in peers):
            say(f"{peer}: timing")
            print(run([str(environment(peer, home)), f"{peer}.py", "--time"]), end="")
        say("lumina: timing")
        print(run([sys.executable, "lumina_context.py"]), end="")


if __name__ == "__main__":
    main()
