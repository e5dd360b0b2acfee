"""The check that the sources compile for systems on which they are not run: with zig, which has the headers of each.

Systems of 32 bits are refused, and have to be told why. In the place of MSVC is clang, with what a source sees of MSVC.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envs import ROOT, build_env, clean_environ
from headers import WARNINGS, including, is_c_header
from jobs import Result, check_going_on, hpy_include

sys.path.insert(0, str(ROOT))
from tools.build.binaries import BINARIES, Binary

if TYPE_CHECKING:
    from collections.abc import Iterator

FOR_PYTHON = frozenset(binary.output for binary in BINARIES if binary.hpy_headers)
IN_CXX = frozenset(binary.output for binary in BINARIES if binary.is_cxx)
NOT_CORE = frozenset(binary.output for binary in BINARIES) - {"lib/libtvm_ffi.so"}
REFUSAL = "tvm-ffi's layouts are those of 64-bit systems"


@dataclass(frozen=True)
class System:
    """What is compiled for, in zig's words, and which outputs of BINARIES are not for it."""

    target: str
    without: frozenset[str] = frozenset()
    as_msvc: bool = False
    is_refused: bool = False

    @property
    def name(self) -> str:
        return f"{self.target} as MSVC" if self.as_msvc else self.target


SYSTEMS = (
    System("aarch64-linux-gnu.2.17"),
    System("x86_64-linux-musl"),
    System("aarch64-macos"),
    System("x86_64-macos"),
    System("x86_64-windows-gnu", without=FOR_PYTHON),
    System("x86_64-windows-gnu", without=FOR_PYTHON | IN_CXX, as_msvc=True),
    System("arm-linux-gnueabihf", without=NOT_CORE, is_refused=True),
    System("x86-linux-gnu", without=NOT_CORE, is_refused=True),
)

# MSVC's header of intrinsics, most of which MinGW's windows.h has.
INTRIN = "#include <windows.h>\n#define _AddressOfReturnAddress() __builtin_frame_address(0)\n"
AS_MSVC_IN_C = ("-fms-extensions", "-D_MSC_VER=1929", "-DTVM_FFI_EXPORTS")
# A C++ library wants to know its compiler; our headers, after it, see MSVC. And they see the macros of windows.h.
AS_MSVC_IN_CXX = ("-fms-extensions", "-DNOMINMAX", "-Wno-builtin-macro-redefined", "-Wno-unknown-attributes")
LIBRARY_FIRST = """\
#include <algorithm>
#include <any>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <intrin.h>
#undef __clang__
#define _MSC_VER 1929
"""


@dataclass(frozen=True)
class Check:
    """What is to compile, or to be refused: sources with options."""

    label: str
    words: list[str]
    is_refused: bool


def of_binary(binary: Binary, system: System) -> Check:
    """Return the check of the sources of a binary."""
    words = ["c++", "-std=c++17", "-nostdinc++", "-fno-sized-deallocation"] if binary.is_cxx else ["cc", "-std=c11"]
    words += [*AS_MSVC_IN_C] if system.as_msvc else []
    words += [*(f"-D{name}" for name in binary.defines), *(f"-I{ROOT / folder}" for folder in binary.include)]
    if binary.hpy_headers:
        words += ["-isystem", str(hpy_include()), "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
    elif not system.as_msvc:
        words.append("-pedantic")
    words += ["-Wall", "-Wextra", "-Werror", *map(str, sorted(ROOT.glob(binary.sources)))]
    return Check(f"{binary.output}, {system.name}", words, system.is_refused)


def of_headers(system: System, folder: Path) -> Iterator[Check]:
    """Give the checks of the public headers, all together, as C++, and those for C as C; files go to `folder`."""
    include = ROOT / "include"
    headers = [path.relative_to(include).as_posix() for path in sorted(include.rglob("*.h"))]
    headers = [header for header in headers if "/cuda/" not in header]
    source = folder / f"headers-{system.name.replace(' ', '-')}.cc"
    source.write_text((LIBRARY_FIRST if system.as_msvc else "") + including(headers))
    flags = [*WARNINGS, *(AS_MSVC_IN_CXX if system.as_msvc else ())]
    words = ["c++", "-std=c++17", *flags, f"-I{include}", str(source)]
    yield Check(f"all headers, {system.name}", words, system.is_refused)
    if not system.as_msvc and not system.is_refused:
        source = source.with_suffix(".c")
        source.write_text(including([header for header in headers if is_c_header(header)]))
        words = ["cc", "-std=c11", *WARNINGS, f"-I{include}", str(source)]
        yield Check(f"all headers for C, {system.name}", words, is_refused=False)


def fault_of(check: Check, status: int, said: str) -> str | None:
    """Return why the compiler's answer is not the expected one."""
    if not check.is_refused:
        return None if status == 0 else f"exit status {status}"
    if status == 0:
        return "compiles, and should be refused"
    return None if REFUSAL in said else f"is refused without a word of {REFUSAL!r}"


def run_portability(_: Path, log: Path) -> Result:
    """Compile for each system. Raises Missing."""
    zig = [str(build_env() / "python"), "-m", "ziglang"]
    environ = clean_environ({"ZIG_GLOBAL_CACHE_DIR": str(ROOT / "build" / "zig")})
    passed = 0
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, log.open("w") as stream:
        folder = Path(scratch)
        (folder / "intrin.h").write_text(INTRIN)
        for system in SYSTEMS:
            todo = [of_binary(binary, system) for binary in BINARIES if binary.output not in system.without]
            for check in [*todo, *of_headers(system, folder)]:
                check_going_on()
                command = [*zig, *check.words, "-target", system.target, f"-I{folder}", "-c"]
                done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
                fault = fault_of(check, done.returncode, done.stderr)
                stream.write(f"{check.label}: {fault or 'as expected'}\n{done.stderr}")
                stream.flush()
                passed += fault is None
                failed += [f"{check.label}: {fault}"] if fault else []
    closing = "; ".join([f"{passed} passed", *failed])
    return Result("portability", "FAILED" if failed else "ok", passed, len(failed), 0, closing=closing)
