"""The steps of ci/gpu, and the requirements of each."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.suites.gpu.prepare import SCALING, SITE, UPSTREAM, UPSTREAM_TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

CUDA_COMMANDS = Path("/usr/local/cuda/bin")
NEEDS = ("a GPU", "nvcc", "PyTorch", "compute-sanitizer")
UPSTREAM_FILES = (
    "test_cubin_launcher.py",
    "test_current_work_stream_gpu.py",
    "test_dlpack_exchange_api.py",
    "test_load_inline.py",
    "test_optional_torch_c_dlpack.py",
    "test_stream.py",
    "utils/test_embed_cubin.py",
)
OUR_TESTS = ROOT / "tests"
WITHOUT_A_GPU = "tests/python/tensors/test_torch.py::test_torchs_current_stream_needs_cuda"
FAILS_A_LAUNCH = "tests/gpu/test_kernels.py::test_a_kernel_that_cannot_be_launched_is_an_error"
"""compute-sanitizer reports each call that CUDA refuses, so it does not run the test that expects a refusal."""
OUR_FILES = (
    str(OUR_TESTS / "gpu"),
    str(OUR_TESTS / "python" / "tensors" / "test_torch.py"),
    str(OUR_TESTS / "python" / "building" / "test_cpp_gpu.py"),
)


TO_BEGIN_AND_END = 45
"""Seconds that scaling.py needs beside its minutes: it unpacks and starts the sides, and ends a row that it timed."""


@dataclass(frozen=True)
class Step:
    """One command, for at most `seconds`, and only if `least` of them are left.

    If `is_pytest`, an option with the name of a report file is added to the command; if `ends_itself`, --minutes.
    """

    name: str
    needs: tuple[str, ...]
    command: tuple[str, ...]
    seconds: float
    cwd: Path  # not the checkout, because its ffi_hpy is not built
    is_pytest: bool = True
    ends_itself: bool = False
    least: float = 10
    environ: Mapping[str, str] = field(default_factory=dict)


def command_of(step: Step, seconds: float, report: Path) -> list[str]:
    """Return the step's command for that many seconds."""
    command = [*step.command]
    if step.is_pytest:
        command.append(f"--junitxml={report}")
    if step.ends_itself:
        command.append(f"--minutes={(seconds - TO_BEGIN_AND_END) / 60:.2f}")
    return command


def find_command(name: str) -> str | None:
    """Return a command of CUDA, from PATH or from CUDA's default folder."""
    found = shutil.which(name) or shutil.which(name, path=str(CUDA_COMMANDS))
    return str(found) if found else None


def succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_lacking(python: str) -> set[str]:
    """Return the members of NEEDS that this machine lacks."""
    has = {
        "a GPU": succeeds("nvidia-smi", "--list-gpus"),
        "nvcc": find_command("nvcc") is not None,
        "PyTorch": succeeds(python, "-c", "import torch"),
        "compute-sanitizer": find_command("compute-sanitizer") is not None,
    }
    return {need for need in NEEDS if not has[need]}


def steps_of(folder: Path, python: str) -> list[Step]:
    """Return the steps, the most informative first: time may run out."""
    pytest = ("-m", "pytest", "-p", "no:cacheprovider", "--timeout=120", "-v")
    ours = (python, *pytest, "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}")
    dropin = (python, "-m", "ffi_hpy.dropin", *pytest, "-c", "/dev/null")
    sanitizer = (find_command("compute-sanitizer") or "", "--error-exitcode=9", "--target-processes=all")
    launch = (python, "-B", str(ROOT / "benchmarks" / "launch.py"), "--upstream", str(folder / UPSTREAM))
    scaling = (python, "-B", str(ROOT / "benchmarks" / "scaling.py"), "--packed", str(folder / SCALING))
    briefly = ("--rounds=2", "--csv=scaling.csv")
    deselected = (f"--deselect={WITHOUT_A_GPU}",)
    sanitized = (*ours, OUR_FILES[0], f"--deselect={FAILS_A_LAUNCH}")
    chosen = {"FFI_HPY_GPU_TESTS": "1"}
    return [
        Step("our tests", ("PyTorch",), (*ours, *OUR_FILES, *deselected), 150, folder, environ=chosen),
        Step("upstream's tests", ("PyTorch",), (*dropin, *UPSTREAM_FILES), 240, folder / UPSTREAM_TESTS),
        Step("compute-sanitizer", ("a GPU", *NEEDS[1:]), (*sanitizer, *sanitized), 120, folder),
        Step("launches", ("a GPU", "nvcc", "PyTorch"), launch, 120, folder, is_pytest=False),
        Step("scaling", (), (*scaling, *briefly), 240, folder, is_pytest=False, ends_itself=True, least=90),
    ]


def environ_of(folder: Path, python: str) -> dict[str, str]:
    """Return the variables with which the steps find their packages and commands."""
    site = folder / SITE
    path = [str(site / "bin"), str(Path(python).parent), "/usr/local/bin", "/usr/bin", "/bin", str(CUDA_COMMANDS)]
    return {"PYTHONPATH": str(site), "PATH": ":".join(path), "TVM_FFI_CACHE_DIR": str(folder / "build-cache")}
