"""apache-tvm-ffi's wheel, unpacked into the cache and not installed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.provision.tools import run_uv

VERSIONS = (
    *("0.1.15.post2", "0.1.9", "0.1.10", "0.1.11", "0.1.12", "0.1.13", "0.1.13.post1", "0.1.13.post3"),
    *("0.1.14", "0.1.14.post0", "0.1.14.post1", "0.1.15"),
)
MACHINE_VARIABLE = "FFI_HPY_UPSTREAM_MACHINE"
"""A variable that names another machine, whose wheel is used: that of an emulated program."""
MACHINES = ("x86_64", "aarch64")
"""The machines with wheels. Other machines get the first one's: the headers are the same in all."""

NEEDED = ("tvm_ffi/include/tvm/ffi/c_api.h", "tvm_ffi/include/dlpack/dlpack.h", "tvm_ffi/lib/libtvm_ffi_testing.so")


def find_lacking(folder: Path) -> list[str]:
    """Return the required files that an unpacked wheel lacks."""
    return [name for name in NEEDED if not (folder / name).is_file()]


def fetch(requirement: str, machine: str, folder: Path) -> None:
    """Unpack the wheel for a machine into `folder`, which appears complete or not at all. Raises Missing."""
    say(f"{requirement}: fetching it ...")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        unpacked = Path(temporary, "unpacked")
        run_uv(
            *("pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--link-mode", "copy"),
            *("--python", sys.executable, "--python-version", "3.11", "--python-platform", f"{machine}-manylinux_2_28"),
            *("--target", unpacked, requirement),
        )
        lacking = find_lacking(unpacked)
        if lacking:
            raise Missing(f"the wheel of {requirement} has no {', '.join(lacking)}")
        if folder.exists():
            shutil.rmtree(folder)
        unpacked.rename(folder)


def fetch_upstream(version: str) -> Path:
    """Return the folder of the unpacked wheel of a version. Raises Missing."""
    named = os.environ.get(MACHINE_VARIABLE)
    machine = named if named in MACHINES else MACHINES[0]
    name = f"apache-tvm-ffi-{version}" if machine == "x86_64" else f"apache-tvm-ffi-{version}-{machine}"
    folder = cache_dir() / "upstream" / name
    with locked(folder.with_name(f".{folder.name}.lock")):
        if find_lacking(folder):
            fetch(f"apache-tvm-ffi=={version}", machine, folder)
    return folder
