"""The commands of ci/: each must at least print its help, because no run starts most of them unless by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted(path for path in (ROOT / "ci").iterdir() if path.is_file() and os.access(path, os.X_OK))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda path: path.name)
def test_a_command_prints_its_help(command):
    done = subprocess.run(
        [sys.executable, "-B", str(command), "--help"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: "), done.stdout
