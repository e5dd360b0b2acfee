#!/usr/bin/env python3
"""The cost of passing PyTorch and NumPy arrays in and out: ffi_hpy against apache-tvm-ffi on CPython 3.11.

Each side runs in a separate process. The processes time the same row in turn, so that a change of the machine's speed
affects both. After some rounds both processes restart, with libraries at other addresses (placement.py). The output has
medians over all rounds; a ratio is the median of the rounds' ratios.

    python benchmarks/tensors.py [ROW ...] [--rounds N] [--processes N]
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from goals import TENSOR_GOAL, TENSOR_GOALS  # noqa: E402
from scaling_sides import PEERS, find_testing_library  # noqa: E402
from sides import Side  # noqa: E402

from ci.lib.command import run_main  # noqa: E402
from ci.lib.folders import REQUIREMENTS  # noqa: E402
from ci.lib.messages import Missing, say, table  # noqa: E402
from ci.provision.envs import cached_env, install_wheel  # noqa: E402
from ci.provision.interpreters import find_interpreters  # noqa: E402
from ci.provision.wheel import build_wheel  # noqa: E402

ROUND_SECONDS = 0.02


def rows() -> list[str]:
    """Return the names of the rows, which only the sides can import because the rows need torch."""
    tree = ast.parse((HERE / "tensor_side.py").read_text())
    table = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    return list(ast.literal_eval(table))


def torch_env(label: str, python: Path, *requirements: str) -> Path:
    """Return an environment with torch for the CPU, from PyPI or from PyTorch's index, which uv knows."""
    words = [*requirements, "numpy", REQUIREMENTS / "torch.txt"]
    try:
        return cached_env(label, python, words)
    except Missing:
        return cached_env(label, python, ["--torch-backend=cpu", *words])


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the cost of arrays on their way in and out.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows of tensor_side.py; none: all")
    parser.add_argument("--rounds", type=int, default=5, help="of each pair of processes (5)")
    parser.add_argument("--processes", type=int, default=8, help="how often both sides begin again (8)")
    options = parser.parse_args()
    python = find_interpreters(["cp311"]).get("cp311")
    if python is None:
        raise Missing("no interpreter for cp311")
    upstream = torch_env("bench-torch-upstream", python, PEERS["tvm_ffi"])
    ours = torch_env("bench-torch", python)
    install_wheel(ours, build_wheel())
    library = find_testing_library()
    lines: list[tuple[object, ...]] = [("row", "GIL", "ffi_hpy ns", "tvm_ffi ns", "ratio", "goal", "")]
    within = True
    for mode in ("kept", "released"):
        extra = {"TVM_FFI_RELEASE_GIL_BY_DEFAULT": str(int(mode == "released"))}
        envs = {"ffi_hpy": ours, "tvm_ffi": upstream}
        pairs: dict[str, list[tuple[float, float]]] = {row: [] for row in options.rows or rows()}
        for _ in range(options.processes):
            sides = [Side(env, "tensor_side.py", kind, library, extra) for kind, env in envs.items()]
            for row, found in pairs.items():
                n = max(200, int(ROUND_SECONDS / (max(sides[1].ns(row, 2000), 5.0) * 1e-9)))
                found += [(sides[0].ns(row, n), sides[1].ns(row, n)) for _ in range(options.rounds)]
            for side in sides:
                side.close()
        for row, found in pairs.items():
            ratio = statistics.median(a / b for a, b in found)
            mine, theirs = (statistics.median(side) for side in zip(*found))
            goal = TENSOR_GOALS.get(row, TENSOR_GOAL)
            within = within and ratio <= goal
            verdict = "met" if ratio <= goal else "not met"
            lines.append((row, mode, f"{mine:.1f}", f"{theirs:.1f}", f"{ratio:.2f}", f"{goal:.2f}", verdict))
    print(table(lines), end="\n\n")
    say("every goal met" if within else "some goals not met: see the table")
    return 0


if __name__ == "__main__":
    run_main(main, "benchmarks/tensors.py")
