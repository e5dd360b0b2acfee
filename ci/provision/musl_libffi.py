"""libffi for musl, which CPython's ctypes needs. The library is compiled without its own build system, whose tools may
be missing.

Debian's tarball is that of the repository, whose `configure` is made by autotools. x86-64 Linux needs only the few
lines below of configure's results. The public headers are generated files, too; they come from Debian's package.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from ci.lib.messages import Missing
from ci.provision.debian import debian, run_appending, unpack

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
#define EH_FRAME_FLAGS "a"
#define FFI_MMAP_EXEC_WRIT 1
#define HAVE_ALLOCA_H 1
#define HAVE_AS_CFI_PSEUDO_OP 1
#define HAVE_AS_X86_PCREL 1
#define HAVE_HIDDEN_VISIBILITY_ATTRIBUTE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_MMAP_ANON 1
#define HAVE_RO_EH_FRAME 1
#define SIZEOF_DOUBLE 8
#define SIZEOF_LONG_DOUBLE 16
#define SIZEOF_SIZE_T 8
#define STDC_HEADERS 1
#ifdef LIBFFI_ASM
#define FFI_HIDDEN(name) .hidden name
#else
#define FFI_HIDDEN __attribute__((visibility("hidden")))
#endif
"""
GENERAL = ("prep_cif.c", "types.c", "raw_api.c", "java_raw_api.c", "closures.c", "tramp.c")
OF_MACHINE = ("x86/ffi64.c", "x86/unix64.S", "x86/ffiw64.c", "x86/win64.S")


def compile_libffi(tree: Path, suite: str, target: Path, tools: Path, log: Path) -> None:
    """Compile the sources in `tree` with the commands in `tools`: headers to target/include, libffi.a to target/lib."""
    if platform.machine() != "x86_64":
        raise Missing(f"libffi is compiled for musl on x86_64 only, and this is {platform.machine()}")
    packages = tree / "debian-package"
    packages.mkdir()
    unpack(debian(suite, "deb"), ["libffi-dev"], packages, log)
    include = target / "include"
    for header in packages.glob("usr/include/*/ffi*.h"):
        header.rename(include / header.name)
    (tree / "include" / "fficonfig.h").write_text(CONFIG)
    folders = [f"-I{folder}" for folder in (include, tree / "include", tree / "src" / "x86")]
    objects = []
    for source in (*GENERAL, *OF_MACHINE):
        objects.append(f"{source.replace('/', '-')}.o")
        compiler = [str(tools / "cc"), "-O2", "-fPIC", "-w", *folders]
        run_appending([*compiler, "-c", str(tree / "src" / source), "-o", objects[-1]], log, cwd=tree)
    run_appending([str(tools / "ar"), "rcs", str(target / "lib" / "libffi.a"), *objects], log, cwd=tree)
