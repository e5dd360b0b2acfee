"""The check of wheels for macOS and Windows, which cannot run here: the imports, exports and headers of their binaries.

binary_facts.py reads the facts from both formats. tools/build defines the parts of each binary. The lists in `symbols`
give the names that a binary may import and must export.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ci.jobs.result import Result
from ci.lib.folders import REQUIREMENTS, ROOT
from ci.lib.process import output_of
from ci.provision.envs import tool_env
from ci.provision.wheel import quick_wheel
from tools.build.binaries import BINARIES
from tools.build.systems import is_library
from tools.build.targets import TARGETS

if TYPE_CHECKING:
    from tools.build.binaries import Binary
    from tools.build.targets import Target

LISTS = Path(__file__).resolve().with_name("symbols")
NAMES_OF_WINDOWS = ROOT / "src" / "hpy_runtime" / "abi" / "interpreter_names.def"
INSPECTED = {target.name: target for target in TARGETS if target.system.name != "linux"}

MACHINES = {"aarch64": "ARM64", "x86_64": "X86_64"}
LIBSYSTEM, LIBCXX = "/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib"
ANYWHERE = "*"
OLDEST_MACOS = "11.0.0"
GIVEN_BY_LINKER = {"__dso_handle", "_mh_dylib_header"}  # every library on macOS has them
# the C library of Windows 10, and the functions that wait on addresses
OF_WINDOWS = re.compile(r"api-ms-win-crt-\w+-l1-1-0\.dll|KERNEL32\.dll|api-ms-win-core-synch-l1-2-0\.dll")
HARDENED = {"DYNAMIC_BASE", "NX_COMPAT"}
# Functions that the stable ABI of 3.9 lacks and every interpreter's library has had since 3.9.
TAKEN_WITHOUT_PROMISE = {
    *("PyObject_VectorcallDict", "PyObject_VectorcallMethod", "PyUnicode_AsUTF8AndSize", "PyVectorcall_Call"),
}
# Functions of PyPy that the runtime uses in addition; PyPy 7.3 and 8 have them.
TAKEN_OF_PYPY = {"PyPyGILState_Check", "PyPyInterpreterState_Head", "PyPy_CompileStringFlags"}
ENTRIES = {
    "_hpy.so": {"PyInit__hpy", "PyModExport__hpy"},
    "_hpy_pypy.so": {"PyInit__hpy", "PyModExport__hpy"},
    "_core.hpy0.so": {
        *("HPyInitGlobalContext__core", "HPyInit__core"),
        *("get_required_hpy_major_version__core", "get_required_hpy_minor_version__core"),
    },
}


def listed(name: str) -> set[str]:
    """Return the names in a list of `symbols`."""
    return set((LISTS / f"{name}.txt").read_text().split())


def names_of_python(is_pypy: bool = False) -> set[str]:
    """Return the names that every interpreter provides."""
    names = listed("stable_abi") | TAKEN_WITHOUT_PROMISE
    return {re.sub("^(_?)Py", r"\1PyPy", name) for name in names} | TAKEN_OF_PYPY if is_pypy else names


def given_by(binary: Binary) -> set[str]:
    """Return the names that a binary must export."""
    return listed(Path(binary.output).stem) if is_library(binary.output) else ENTRIES[binary.output]


def differences(wanted: set[str], got: set[str]) -> list[str]:
    lacking = [f"{name} is not exported" for name in sorted(wanted - got)]
    return lacking + [f"{name} is exported and not listed" for name in sorted(got - wanted)]


def problems_on_macos(binary: Binary, target: Target, facts: dict[str, Any]) -> list[str]:
    """Return the problems of a binary for macOS."""
    rename = target.system.rename
    needed = {f"@rpath/{Path(rename(output)).name}" for output in binary.needs}
    folders = [] if binary.folder_of_needs is None else [f"@loader_path/{binary.folder_of_needs}".rstrip("/")]
    expected = {
        "machine": MACHINES[target.machine],
        "name": f"@rpath/{Path(rename(binary.output)).name}",
        "folders": folders,
        "oldest": OLDEST_MACOS,
    }
    problems = [f"its {key} is {facts[key]!r}, not {value!r}" for key, value in expected.items() if facts[key] != value]
    if target.machine == "aarch64" and not facts["is_signed"]:
        problems.append("it has no signature, without which this machine does not load it")
    problems += differences(given_by(binary), set(facts["exports"]) - GIVEN_BY_LINKER)
    known = {LIBSYSTEM: listed("libsystem"), **{library: listed("libtvm_ffi") for library in needed}}
    if binary.of_python:
        known[ANYWHERE] = names_of_python(is_pypy="FHPY_PYPY" in binary.defines)
    if binary.is_cxx:
        known[LIBCXX] = {name for stub in binary.needs_system["macos"] for name in stub.names[""]}
    problems += [f"it needs {library}" for library in facts["libraries"] if library not in known]
    return problems + [
        f"it takes {name} of {library or 'nothing'}"
        for name, library in facts["imports"]
        if name not in known.get(library, ())
    ]


def problems_on_windows(binary: Binary, target: Target, facts: dict[str, Any]) -> list[str]:
    """Return the problems of a binary for Windows."""
    machine = {"x86_64": "AMD64"}.get(target.machine, MACHINES[target.machine])
    problems = [] if facts["machine"] == machine else [f"its machine is {facts['machine']!r}, not {machine!r}"]
    problems += [f"it is built without {flag}" for flag in sorted(HARDENED - set(facts["flags"]))]
    problems += differences(given_by(binary), set(facts["exports"]))
    own = {Path(target.system.rename(output)).name for output in binary.needs}
    problems += [
        f"it needs {name}" for name in facts["libraries"] if name not in own and not OF_WINDOWS.fullmatch(name)
    ]
    abi = listed("libtvm_ffi")
    return problems + [f"it takes {name} of {lib}" for name, lib in facts["imports"] if lib in own and name not in abi]


PROBLEMS_ON = {"macos": problems_on_macos, "windows": problems_on_windows}


def looked_up_on_windows() -> set[str]:
    """Return the names of the interpreter that the HPy runtime looks up on Windows."""
    return set(re.findall(r"\b(?:FUNCTION|EXCEPTION|OBJECT)\((\w+)\) *(?=\n|[FEO/])", NAMES_OF_WINDOWS.read_text()))


def inspect(target: Target, wheel: Path) -> list[list[str]]:
    """Return the problems of each binary of a wheel. Raises Missing."""
    binaries = [binary for binary in BINARIES if target.system.name not in binary.not_on]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        files = [archive.extract(f"ffi_hpy/{target.system.rename(binary.output)}", folder) for binary in binaries]
        python = tool_env("tool-lief", REQUIREMENTS / "lief.txt") / "python"
        facts = json.loads(output_of([python, "-B", Path(__file__).with_name("binary_facts.py"), *files]))
    problems_of = PROBLEMS_ON[target.system.name]
    found = [
        [f"{Path(file).name}: {problem}" for problem in problems_of(binary, target, each)]
        for binary, file, each in zip(binaries, files, facts)
    ]
    if target.system.name == "windows":
        unknown = sorted(looked_up_on_windows() - names_of_python())
        found.append([f"{NAMES_OF_WINDOWS.name}: Python 3.9 does not promise {name}" for name in unknown])
    return found


def run_inspection(target: Target, _: Path, log: Path) -> Result:
    """Build the wheel for a target if necessary, and inspect its binaries."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = quick_wheel(target, Path(folder))
        found = inspect(target, wheel)
    problems = [problem for each in found for problem in each]
    log.write_text("\n".join([wheel.name, *problems, ""]))
    n_bad = sum(bool(each) for each in found)
    passed = len(found) - n_bad
    closing = "; ".join([f"{wheel.name}: {passed} passed", *problems])
    return Result(f"inspect-{target.name}", "FAILED" if problems else "ok", passed, n_bad, 0, closing=closing)
