"""The check that the sources compile for systems on which no test runs: zig has the headers of each system.

32-bit and big-endian systems must be refused with the reason as the first and only error. clang with MSVC's macros
stands in for MSVC.
"""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ci.jobs.headers import WARNINGS, including, is_c_header
from ci.jobs.result import Result
from ci.lib.folders import ROOT
from ci.lib.process import check_going_on, clean_environ, output_of
from ci.provision.envs import FIND_ZIG, build_env
from ci.provision.wheel import hpy_include
from tools.build.binaries import BINARIES, HPY_FLAGS, Binary

if TYPE_CHECKING:
    from collections.abc import Iterator

FOR_PYTHON = frozenset(binary.output for binary in BINARIES if binary.hpy_headers)
IN_CXX = frozenset(binary.output for binary in BINARIES if binary.is_cxx)
NOT_CORE = frozenset(binary.output for binary in BINARIES) - {"lib/libtvm_ffi.so"}
AT_ONCE = 2
OF_32_BITS = "tvm-ffi's layouts are those of 64-bit systems, and the pointers of this target are smaller"
BIG_ENDIAN = "ffi_hpy is for little-endian machines, and this target is big-endian"


@dataclass(frozen=True)
class System:
    """A target in zig's words, and the outputs of BINARIES that it does not have."""

    target: str
    without: frozenset[str] = frozenset()
    as_msvc: bool = False
    refusal: str = ""  # the error of the sources for this system
    refusal_of_headers: str = ""

    def has(self, binary: Binary) -> bool:
        return binary.output not in self.without

    @property
    def name(self) -> str:
        return f"{self.target} as MSVC" if self.as_msvc else self.target


SYSTEMS = (
    System("aarch64-linux-gnu.2.17"),
    System("x86_64-linux-musl"),
    System("aarch64-macos"),
    System("x86_64-macos", without=FOR_PYTHON),
    System("x86_64-windows-gnu", without=FOR_PYTHON),
    System("x86_64-windows-gnu", without=FOR_PYTHON | IN_CXX, as_msvc=True),
    *(
        System(target, without=NOT_CORE, refusal=OF_32_BITS, refusal_of_headers=OF_32_BITS)
        for target in ("arm-linux-gnueabihf", "x86-linux-gnu")
    ),
    # The public headers compile there, and the sources without other includes: the C++ names, the testing library.
    System("s390x-linux-gnu", without=NOT_CORE - FOR_PYTHON, refusal=BIG_ENDIAN),
)

# MSVC's header of intrinsics; MinGW's windows.h has most of them.
INTRIN = """\
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#define _AddressOfReturnAddress() __builtin_frame_address(0)
"""
AS_MSVC_IN_C = ("-fms-extensions", "-D_MSC_VER=1929", "-DTVM_FFI_EXPORTS")
# A C++ library must know its compiler, so it is included first. Our headers, after it, see MSVC, and the macros of
# windows.h.
AS_MSVC_IN_CXX = (
    *("-fms-extensions", "-DNOMINMAX", "-Wno-builtin-macro-redefined", "-Wno-unknown-attributes"),
    "-Wno-language-extension-token",  # __FUNCSIG__, which names a type there
)
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
#include <windows.h>
#undef __clang__
#define _MSC_VER 1929
"""


@dataclass(frozen=True)
class Check:
    """A source that must compile, or must be refused."""

    label: str
    command: list[str]
    refusal: str


def of_binary(binary: Binary, system: System) -> Iterator[Check]:
    """Yield the checks of the sources of a binary; only one if all are refused."""
    words = ["c++", "-std=c++17", "-nostdinc++", "-fno-sized-deallocation"] if binary.is_cxx else ["cc", "-std=c11"]
    words += [*AS_MSVC_IN_C] if system.as_msvc else []
    words += [*(f"-D{name}" for name in binary.defines), *(f"-I{ROOT / folder}" for folder in binary.include)]
    if not binary.hpy_headers and not binary.is_cxx and not system.as_msvc:
        words.append("-pedantic")
    words += ["-Wall", "-Wextra", "-Wvla", "-Werror"]
    words += ["-Wno-unused-parameter"] if system.as_msvc else []  # MSVC has no attribute for one (FH_MAYBE_UNUSED)
    if binary.hpy_headers:
        words += ["-O1", "-isystem", str(hpy_include()), *HPY_FLAGS]  # hpy refuses calls that an optimiser removes
    sources = binary.find_sources(ROOT)
    for source in sources[:1] if system.refusal else sources:
        label = f"{source.relative_to(ROOT)} of {binary.output}, {system.name}"
        yield Check(label, [*words, str(source)], system.refusal)


def of_headers(system: System, folder: Path) -> Iterator[Check]:
    """Yield the checks of the public headers: all together as C++, and the C headers as C; files go to `folder`."""
    include = ROOT / "include"
    headers = [path.relative_to(include).as_posix() for path in sorted(include.rglob("*.h"))]
    headers = [header for header in headers if "/cuda/" not in header and "/eigen/" not in header]
    source = folder / f"headers-{system.name.replace(' ', '-')}.cc"
    source.write_text((LIBRARY_FIRST if system.as_msvc else "") + including(headers))
    flags = [*WARNINGS, *(AS_MSVC_IN_CXX if system.as_msvc else ())]
    words = ["c++", "-std=c++17", *flags, f"-I{include}", str(source)]
    yield Check(f"all headers, {system.name}", words, system.refusal_of_headers)
    if not system.as_msvc:
        source = source.with_suffix(".c")
        source.write_text(including([header for header in headers if is_c_header(header)]))
        words = ["cc", "-std=c11", *WARNINGS, f"-I{include}", str(source)]
        yield Check(f"headers for C, {system.name}", words, system.refusal_of_headers)


def checks(folder: Path) -> Iterator[Check]:
    """Yield all checks. Raises Missing."""
    for system in SYSTEMS:
        of_sources = [check for binary in BINARIES for check in of_binary(binary, system) if system.has(binary)]
        for check in [*of_sources, *of_headers(system, folder)]:
            words = [*check.command, "-target", system.target, f"-I{folder}", "-fno-sanitize=undefined", "-c"]
            yield replace(check, command=words)


def problem_of(check: Check, status: int, said: str) -> str | None:
    """Return the difference between the compiler's answer and the expected one, None if there is none."""
    if not check.refusal:
        return None if status == 0 else f"exit status {status}"
    if status == 0:
        return "compiles, and should be refused"
    errors = [line.partition(" error: ")[2] for line in said.splitlines() if " error: " in line]
    said_why = [check.refusal in error for error in errors]
    return None if said_why[:1] == [True] and sum(said_why) == 1 else f"does not say {check.refusal!r} first, and once"


def run_portability(_: Path, log: Path) -> Result:
    """Compile for each system. Raises Missing."""
    zig = output_of([build_env() / "python", "-c", FIND_ZIG]).strip()
    environ = clean_environ({"ZIG_GLOBAL_CACHE_DIR": str(ROOT / "build" / "zig")})

    def run(check: Check) -> str | None:
        check_going_on()
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".o") as output:
            command = [zig, *check.command, "-o", output.name]
            done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
        problem = problem_of(check, done.returncode, done.stderr)
        stream.write(f"{check.label}: {problem or 'as expected'}\n{done.stderr if problem else ''}")
        return problem and f"{check.label}: {problem}"

    with tempfile.TemporaryDirectory() as scratch, log.open("w") as stream, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = Path(scratch)
        (folder / "intrin.h").write_text(INTRIN)
        problems = list(pool.map(run, checks(folder)))
    failed = [problem for problem in problems if problem]
    passed = len(problems) - len(failed)
    closing = "; ".join([f"{passed} passed", *failed])
    return Result("portability", "FAILED" if failed else "ok", passed, len(failed), 0, closing=closing)
