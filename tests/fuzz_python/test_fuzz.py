"""The fuzzer of the Python API has no findings."""

from __future__ import annotations

import os
import sys

SEED = 12
SECONDS = float(os.environ.get("FFI_HPY_FUZZ_SECONDS", "20"))
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


def test_the_fuzzer_finds_nothing(start):
    done = start("run.py", "--seed", SEED, "--seconds", SECONDS, "--threads", 1 if HAS_GIL else 3)
    print(done.output)
    assert done.status == 0, done.output
    assert done.counts.get("calls", 0) > 100, done.output
