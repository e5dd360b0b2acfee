"""The stub of the binary declares the names of the binary."""

import subprocess
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("stubtest_allowed.txt")


def test_the_stub_of_the_binary_fits_it():
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", str(ALLOWED), "ffi_hpy._core"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
