"""The job that loads the wheel for Windows under Wine, into a program in place of Python (tests/windows/host.c). The
job tests the binaries as far as possible without an interpreter."""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path

from ci.jobs.inspection import INSPECTED
from ci.jobs.result import Result
from ci.lib.folders import ROOT
from ci.lib.process import clean_environ, output_of
from ci.provision.wheel import quick_wheel
from ci.provision.wine import TARGET, windows_compiler, wine_runner

SOURCE = ROOT / "tests" / "windows" / "host.c"
KINDS = {"host": (), "without_python": ("-DWITHOUT_PYTHON",)}
NAME = "x86_64-windows"


def run_windows_host(_: Path, log: Path) -> Result:
    """Run the program with and without Python's names."""
    wine, passed, said = wine_runner(), 0, [f"host programs for {TARGET}"]
    with tempfile.TemporaryDirectory() as scratch:
        wheel = quick_wheel(INSPECTED[NAME], Path(scratch))
        # a non-ASCII folder name, as users have
        folder = Path(scratch, "Füße")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        package = folder / "ffi_hpy"
        files = [package / name for name in ("_hpy.pyd", "lib/tvm_ffi.dll", "_core.hpy0.pyd")]
        for kind, flags in KINDS.items():
            program = Path(scratch, f"{kind}.exe")
            words = [*windows_compiler(), "-O1", "-municode", f"-I{ROOT / 'src'}", *flags, SOURCE, "-o", program]
            output_of(words)
            done = subprocess.run(
                [wine, program, *(f"Z:{file}" for file in files)],
                env=clean_environ(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=300,
            )
            passed += done.returncode == 0
            said.append(f"{kind}: exit status {done.returncode}: {(done.stdout + done.stderr).strip()}")
    log.write_text("\n".join([*said, ""]))
    n_bad = len(KINDS) - passed
    closing = f"{passed} passed" if n_bad == 0 else "; ".join(said)
    return Result("windows-host", "FAILED" if n_bad else "ok", passed, n_bad, 0, closing=closing)
