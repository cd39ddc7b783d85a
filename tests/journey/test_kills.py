"""Case D1: killed at moments that chance picks, and checked by another process (`benchmarks/kills.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[2] / "benchmarks" / "kills.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, so that ten kills cost seconds")
def test_d1_d2_d3_after_kills_at_any_moment_nothing_acknowledged_is_lost_or_doubled() -> None:
    done = subprocess.run(
        [sys.executable, str(HARNESS), "--kills", "10", "--seed", "7"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 kills, 0 with something wrong" in done.stdout
