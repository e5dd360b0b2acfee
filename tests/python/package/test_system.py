"""The choice of the binaries in a package with those of many systems. The tests use a copied package."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.native_build import BINARIES, PACKAGE

from ffi_hpy import _system

OWN = f"{platform.machine()}-linux"
NOT_COPIED = shutil.ignore_patterns("__pycache__", "_systems", "lib", "*.so")
WINDOWS = "3.13.0 (main) [MSC v.1941 64 bit ({})]"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with the binaries of this system, and fake files for another system."""
    package = tmp_path_factory.mktemp("everywhere") / "ffi_hpy"
    shutil.copytree(PACKAGE, package, ignore=NOT_COPIED)
    for path in [*BINARIES.glob("*.so"), *BINARIES.glob("lib/*.so")]:
        for system, copied in ((OWN, path), ("another-linux", None)):
            place = package / "_systems" / system / path.relative_to(BINARIES)
            place.parent.mkdir(parents=True, exist_ok=True)
            if copied:
                shutil.copyfile(copied, place)
            else:
                place.write_text("for another system")
    return package


def run(package: Path, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program or a module, with the package before the installed one on the path."""
    program = f"import runpy, sys\n{before}\nif sys.argv[1] == '-c':\n    exec(sys.argv[2])\nelse:\n"
    program += "    sys.argv[:] = sys.argv[2:]\n    runpy.run_module(sys.argv[0], run_name='__main__')"
    environ = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, *words], env=environ, cwd=os.sep, capture_output=True, text=True
    )


LOADED = """
import ffi_hpy, ffi_hpy.hpy, ffi_hpy.testing
from ffi_hpy import libinfo
from ffi_hpy.testing._library import TESTING_LIBRARY
print(ffi_hpy.testing.add_one(41))
print(*[libinfo.find_libtvm_ffi(), libinfo.find_cython_lib(), ffi_hpy._hpy.__file__, TESTING_LIBRARY], sep="\\n")
"""


def test_the_binaries_of_this_system_are_loaded(package: Path) -> None:
    done = run(package, "-c", LOADED)
    said, *files = done.stdout.splitlines()
    assert (said, done.stderr) == ("42", "")
    runtime = "_hpy_pypy.so" if sys.implementation.name == "pypy" else "_hpy.so"
    names = ("lib/libtvm_ffi.so", "_core.hpy0.so", runtime, "lib/libtvm_ffi_testing.so")
    assert files == [str(package / "_systems" / OWN / name) for name in names]


def test_the_command_for_compilers_names_the_libraries_of_this_system(package: Path) -> None:
    done = run(package, "-m", "ffi_hpy.config", "--includedir", "--libdir")
    assert done.stdout.splitlines() == [f"{package}/include", f"{package}/_systems/{OWN}/lib"]


ELSEWHERE = "import os\nos.uname = lambda: type('Uname', (), {'machine': 's390x'})"


def test_on_a_system_without_binaries_the_import_error_names_it_and_the_available_systems(package: Path) -> None:
    done = run(package, "-c", "import ffi_hpy", before=ELSEWHERE)
    there = ", ".join(sorted(["another-linux", OWN]))
    said = f"ffi_hpy has no binaries for this system, s390x-linux; it has those for {there}"
    assert done.stderr.splitlines()[-1] == f"ImportError: {said}"


def test_headers_are_found_on_a_system_without_binaries(package: Path) -> None:
    main = "import sys; sys.argv = ['ffi-hpy-config', {!r}]; import ffi_hpy"
    assert run(package, "-c", main.format("--includedir"), before=ELSEWHERE).stdout == f"{package}/include\n"
    lacking = run(package, "-c", main.format("--libdir"), before=ELSEWHERE)
    core = package / "_systems" / "s390x-linux" / "lib" / "libtvm_ffi.so"
    assert lacking.stderr == f"ffi-hpy-config: Cannot find the core: expected {core}\n"


def test_a_library_for_another_system_is_not_found_for_this_one(package: Path) -> None:
    info = package.parent / "ffi_hpy-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ffi-hpy\nVersion: 1.0\n")
    files = [f"ffi_hpy/_systems/{system}/lib/libtvm_ffi.so,,\n" for system in ("another-linux", OWN)]
    (info / "RECORD").write_text("".join([*files, "ffi_hpy/__init__.py,,\n"]))
    find = "from ffi_hpy import libinfo; print(libinfo.find_library('ffi-hpy', 'tvm_ffi'))"
    found = str(package / "_systems" / OWN / "lib" / "libtvm_ffi.so")
    assert run(package, "-c", find).stdout == f"{found}\n"
    as_another = (
        "from ffi_hpy import dropin; dropin.install(); from importlib import metadata\n"
        "files = metadata.files('apache-tvm-ffi')\n"
        "print(*[file.locate() for file in files if file.name == 'libtvm_ffi.so'], len(files))"
    )
    assert run(package, "-c", as_another).stdout == f"{found} 2\n"


@pytest.mark.parametrize(
    ("platform_name", "machine", "expected"),
    [
        ("linux", "x86_64", "x86_64-linux"),
        ("linux", "aarch64", "aarch64-linux"),
        ("linux", "riscv64", "riscv64-linux"),
        ("linux", "aarch64_be", "aarch64_be-linux"),
        ("darwin", "arm64", "aarch64-macos"),
        ("darwin", "x86_64", "x86_64-macos"),
        ("win32", "AMD64", "x86_64-windows"),
        ("win32", "ARM64", "aarch64-windows"),
        ("freebsd15", "amd64", "x86_64-freebsd15"),
        ("linux", "AMD64", "x86_64-linux"),
        ("darwin", "arm64e", "aarch64-macos"),
        ("darwin", "x86_64h", "x86_64-macos"),
        ("linux", "i686", "x86_64-linux"),  # Linux's answer under `setarch i686`, and similar cases
        ("linux", "i386", "x86_64-linux"),
        ("linux", "armv8l", "aarch64-linux"),
        ("linux", "riscv32", "riscv64-linux"),
    ],
)
@pytest.mark.thread_unsafe(reason="the description of the system belongs to the process")
def test_a_system_is_named_by_machine_and_system(
    monkeypatch: pytest.MonkeyPatch, platform_name: str, machine: str, expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform_name)
    if platform_name == "win32":
        monkeypatch.delattr(os, "uname")
        monkeypatch.setattr(sys, "version", WINDOWS.format(machine))
    else:
        monkeypatch.setattr(os, "uname", lambda: os.uname_result(("-", "-", "-", "-", machine)))
    assert _system.name_system() == expected


@pytest.mark.thread_unsafe(reason="the description of the system belongs to the process")
def test_unsupported_systems_have_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    own = _system.name_system()
    assert own == OWN
    monkeypatch.setattr(sys, "getandroidapilevel", lambda: 24, raising=False)
    assert _system.name_system() == f"{platform.machine()}-android"
    monkeypatch.delattr(sys, "getandroidapilevel")
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert _system.name_system() == f"{own}-32-bit"
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("-", "-", "-", "-", "armv8l")))
    assert _system.name_system() == "armv8l-linux-32-bit"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "version", WINDOWS.replace("64", "32").format("Intel"))
    assert _system.name_system() == "i686-windows-32-bit"


def test_a_package_for_one_system_has_its_binaries_itself(tmp_path: Path) -> None:
    assert _system.find_binaries(str(tmp_path)) == str(tmp_path)
    assert not _system.is_of_another(str(tmp_path / "lib" / "libtvm_ffi.so"), str(tmp_path))
