"""CPython for musl, compiled by zig from Debian's sources: no binary of it works without a system made for musl.

zlib and libffi, which CPython's modules need, are linked into the modules.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import say
from ci.provision.compiled_python import unpack_tree
from ci.provision.debian import debian, run_appending
from ci.provision.entries import add_entry, log_of
from ci.provision.musl import SUITE, musl_tools
from ci.provision.musl_libffi import compile_libffi
from ci.provision.system import require

if TYPE_CHECKING:
    from ci.lib.matrix import Interpreter

OPTIONS = ("--disable-test-modules", "--without-ensurepip", "--without-readline")


def from_source_for_musl(package: str, wanted: Interpreter) -> Path:
    """Compile CPython of a source package into a cache entry. Raises Missing."""

    def fill(staging: Path, final: Path) -> str:
        require("compile free-threaded CPython")
        log = log_of(wanted)
        with tempfile.TemporaryDirectory(prefix="build-", dir=staging) as scratch:
            folder = Path(scratch)
            environ = {"CC": str(musl_tools() / "cc"), "CXX": str(musl_tools() / "c++")}
            environ |= {name: str(musl_tools() / name.lower()) for name in ("AR", "RANLIB")}
            static = folder / "static"
            zlib, libffi = (_unpack_source(name, folder, log) for name in ("zlib", "libffi"))
            _make(zlib, [f"--prefix={static}", "--static"], {**environ, "CFLAGS": "-O2 -fPIC"}, log, ["install"])
            compile_libffi(libffi, SUITE, static, musl_tools(), log)
            environ |= {
                # CPython's configure recognizes musl's headers by the name __DEFINED_va_list, and clang replaces musl's
                # <stdarg.h> by its own. Without this definition the names of extension modules would have no platform.
                "CPP": f"{musl_tools() / 'cc'} -E -D__DEFINED_va_list",
                "OPT": "-DNDEBUG -O1",  # without -g and at -O1, because most of the time goes into compiling
                "PKG_CONFIG": "false",
                "ZLIB_CFLAGS": f"-I{static / 'include'}",
                "ZLIB_LIBS": f"{static / 'lib' / 'libz.a'}",
                "LIBFFI_CFLAGS": f"-I{static / 'include'}",
                "LIBFFI_LIBS": f"{static / 'lib' / 'libffi.a'}",
            }
            say(f"{wanted.name}: compiling, some minutes; log in {log}")
            tree, image = _unpack_source(package, folder, log), folder / "image"
            _make(tree, [f"--prefix={final}", *OPTIONS], environ, log, ["install", f"DESTDIR={image}"])
            for installed in (image / final.relative_to("/")).iterdir():
                installed.rename(staging / installed.name)
        return f"bin/{wanted.executables[0]}"

    return add_entry(wanted, fill)


def _unpack_source(package: str, folder: Path, log: Path) -> Path:
    """Unpack a source package's original tarball, without Debian's changes."""
    tree, tarballs = folder / package, folder / f"{package}-tarballs"
    tarballs.mkdir()
    debian(SUITE, "deb-src").fetch(["source", "--tar-only", package], log, into=tarballs)
    unpack_tree(next(path for path in tarballs.glob("*.orig.tar.*") if path.suffix != ".asc"), tree, log)
    shutil.rmtree(tarballs)
    return tree


def _make(tree: Path, options: list[str], environ: dict[str, str], log: Path, goals: list[str]) -> None:
    """Configure, compile and install."""
    assignments = [f"{name}={value}" for name, value in environ.items()]
    run_appending(["env", *assignments, "./configure", *options], log, cwd=tree)
    run_appending(["env", *assignments, "make", f"-j{os.cpu_count() or 1}"], log, cwd=tree)
    run_appending(["env", *assignments, "make", *goals], log, cwd=tree)
