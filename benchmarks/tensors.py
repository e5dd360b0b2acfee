#!/usr/bin/env python3
"""What arrays of PyTorch and NumPy cost on their way in and out: ffi_hpy against apache-tvm-ffi on CPython 3.11.

Both sides run in processes of their own, which are told in turn to time the same row, so that a machine that changes
its speed changes both. Printed are medians over the rounds; a ratio is the median of the ratios round by round.

    python benchmarks/tensors.py [--rounds N]
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.folders import REQUIREMENTS  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.provision.envs import cached_env, install_wheel  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

UPSTREAM = "apache-tvm-ffi==0.1.15.post2"
ROUND_SECONDS = 0.02
GOAL = 0.5


def rows() -> list[str]:
    """The names of the rows, which only the sides can import: they need torch."""
    tree = ast.parse((HERE / "tensor_side.py").read_text())
    table = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    return list(ast.literal_eval(table))


def torch_env(label: str, python: Path, *requirements: str) -> Path:
    """An environment with torch for the CPU, from PyPI or from where uv knows it."""
    words = [*requirements, "numpy", REQUIREMENTS / "torch.txt"]
    try:
        return cached_env(label, python, words)
    except Missing:
        return cached_env(label, python, ["--torch-backend=cpu", *words])


def main() -> int:
    parser = argparse.ArgumentParser(description="What arrays cost on their way in and out.")
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    python = find_interpreters(["cp311"]).get("cp311")
    if python is None:
        raise Missing("no interpreter for cp311")
    upstream = torch_env("bench-torch-upstream", python, UPSTREAM)
    ours = torch_env("bench-torch", python)
    install_wheel(ours, build_wheel())
    library = next(upstream.glob("lib/python*/site-packages/tvm_ffi/lib/libtvm_ffi_testing.so"))
    sides = (
        Side(ours, "tensor_side.py", "ffi_hpy", library),
        Side(upstream, "tensor_side.py", "tvm_ffi", library),
    )
    lines: list[tuple[object, ...]] = [("row", "GIL", "ffi_hpy ns", "tvm_ffi ns", "ratio", "")]
    within = True
    for mode in ("kept", "released"):
        for row in rows():
            n = max(200, int(ROUND_SECONDS / (max(sides[1].ns(row, mode, 2000), 5.0) * 1e-9)))
            pairs = [(sides[0].ns(row, mode, n), sides[1].ns(row, mode, n)) for _ in range(options.rounds)]
            ratio = statistics.median(a / b for a, b in pairs)
            mine, theirs = (statistics.median(side) for side in zip(*pairs))
            within = within and ratio <= GOAL
            lines.append((row, mode, f"{mine:.1f}", f"{theirs:.1f}", f"{ratio:.2f}", "" if ratio <= GOAL else "above"))
    for side in sides:
        side.close()
    print(table(lines), end="\n\n")
    say(f"every row within {GOAL}" if within else f"some rows are above {GOAL}")
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/tensors.py")
