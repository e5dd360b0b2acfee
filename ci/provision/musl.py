"""musl on a machine with another C library: Debian's musl, unpacked, and compilers for programs with musl's loader."""

from __future__ import annotations

import platform
import shutil
import tempfile
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.process import output_of
from ci.provision.debian import debian, unpack
from ci.provision.emulation import write_ninja, write_script
from ci.provision.envs import FIND_ZIG, build_env

SUITE = "trixie"
TOOLS = {"cc": "cc", "gcc": "cc", "c++": "c++", "g++": "c++"}  # command names, and zig's command for each


def musl_target() -> str:
    return f"{platform.machine()}-linux-musl"


def musl_loader() -> Path:
    """Return musl's libc.so from Debian, which is also its loader. Raises Missing."""
    folder = cache_dir() / "musl"
    with locked(folder.with_name(".musl.lock")):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
                made = Path(scratch, "made")
                made.mkdir()
                unpack(debian(SUITE, "deb"), ["musl"], made, cache_dir() / "logs" / "musl.log")
                made.rename(folder)
    return folder / "usr" / "lib" / musl_target() / "libc.so"


def musl_tools() -> Path:
    """Return the folder of compilers for musl; their programs run on this machine. Raises Missing.

    zig compiles C++ and links its own C++ library into the program.
    """
    loader, python = musl_loader(), build_env() / "python"
    folder = cache_dir() / "cross" / "musl"
    with locked(folder.with_name(".musl.lock")):
        if not (folder / "ninja").exists():
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
                made = Path(scratch, "made")
                made.mkdir()
                flags = ["-target", musl_target(), "-dynamic", "-fno-sanitize=undefined"]
                flags += [f"-Wl,--dynamic-linker={loader}", "-Wno-unused-command-line-argument"]
                flags.append("-D__MUSL__")  # musl defines no such macro, and apache-tvm-ffi's headers test it
                flags.append("-Wno-date-time")  # otherwise an error: CPython compiles in its build time
                zig = output_of([python, "-c", FIND_ZIG]).strip()  # a direct path: configure starts it often
                for name, tool in TOOLS.items():
                    write_script(made / name, [zig, tool, *flags])
                for name in ("ar", "ranlib"):
                    write_script(made / name, [zig, name])
                write_ninja(made)
                shutil.rmtree(folder, ignore_errors=True)
                made.rename(folder)
    return folder
