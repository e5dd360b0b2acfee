#!/usr/bin/env -S python3 -B
"""Fetch apache-tvm-ffi's wheel, and print the folder that it is unpacked in.

    ci/upstream [VERSION]

The tests load its libtvm_ffi_testing.so onto our core and compile C++ libraries against its headers: those of the
current version, which is the default, and of 0.1.11, which libraries of the era before were built with. The wheel is
unpacked and not installed; which interpreter it is for does not matter, because only tvm_ffi/include and tvm_ffi/lib
are used. It is kept in the cache folder (FFI_HPY_CACHE, else XDG_CACHE_HOME/ffi_hpy, else ~/.cache/ffi_hpy). Only the
path goes to stdout.

Exit status: 0 the folder is there, 1 it is not.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from envs import Missing, locked, run_main, run_uv
from matrix import cache_dir, say

VERSIONS = ("0.1.15.post2", "0.1.11")
NEEDED = ("tvm_ffi/include/tvm/ffi/c_api.h", "tvm_ffi/include/dlpack/dlpack.h", "tvm_ffi/lib/libtvm_ffi_testing.so")


def find_lacking(folder: Path) -> list[str]:
    """Return which of the files that are needed an unpacked wheel has not."""
    return [name for name in NEEDED if not (folder / name).is_file()]


def fetch(requirement: str, folder: Path) -> None:
    """Unpack the wheel into `folder`, which appears complete or not at all. Raises Missing."""
    say(f"{requirement}: fetching it ...")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        unpacked = Path(temporary, "unpacked")
        run_uv(
            *("pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--link-mode", "copy"),
            *("--python", sys.executable, "--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28"),
            *("--target", unpacked, requirement),
        )
        lacking = find_lacking(unpacked)
        if lacking:
            raise Missing(f"the wheel of {requirement} has no {', '.join(lacking)}")
        if folder.exists():
            shutil.rmtree(folder)
        unpacked.rename(folder)


def main() -> int:
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="ci/upstream",
        description=summary,
        epilog=details,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("version", nargs="?", choices=VERSIONS, default=VERSIONS[0])
    version = parser.parse_args().version
    folder = cache_dir() / "upstream" / f"apache-tvm-ffi-{version}"
    with locked(folder.with_name(f".{folder.name}.lock")):
        if find_lacking(folder):
            fetch(f"apache-tvm-ffi=={version}", folder)
    print(folder)
    return 0


if __name__ == "__main__":
    run_main(main, "ci/upstream")
