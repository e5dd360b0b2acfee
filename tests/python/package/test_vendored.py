"""A copy of the package that is unknown to installers: as a part of another package, at the top level, or in a zip
file. In these processes the name ffi_hpy does not exist, so that every use of the installed package fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import IS_DEBUG
from support.native_build import BINARIES, PACKAGE

import ffi_hpy

NAME = "proj._vendor.ffi_hpy"
WITHOUT_INSTALLED = "import sys; sys.modules['ffi_hpy'] = None\n"
IMPORT = WITHOUT_INSTALLED + "from proj._vendor import ffi_hpy as m\n"

pytestmark = pytest.mark.thread_unsafe(reason="each thread would copy the package")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package proj, which contains a copy of ffi_hpy."""
    folder = tmp_path_factory.mktemp("vendored")
    vendor = folder / "proj" / "_vendor"
    shutil.copytree(PACKAGE, vendor / "ffi_hpy", ignore=shutil.ignore_patterns("__pycache__"))
    for package in (vendor, vendor.parent):
        (package / "__init__.py").touch()
    return folder


def run(folder: Path, *words: object, fails: bool = False) -> str:
    """Return the output of a Python that imports from a folder, or the last line of its error message."""
    environ = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, words)], env=environ, cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr.splitlines()[-1] if fails else done.stdout


VALUES = """
import pickle
from proj._vendor.ffi_hpy.dataclasses import py_class

@py_class("proj.Point")
class Point(m.Object):
    x: int
    width: int = 2

values = [m.Array([1, 2]), m.Map({1: 2}), m.dtype("float32"), m.device("cpu"), m.DLDeviceType.kDLCPU, Point(3)]
again = pickle.loads(pickle.dumps(values))
print(m.structural_equal(values[0], again[0]), m.structural_equal(values[1], again[1]), again[2:5] == values[2:5])
print(again[5].x, m.testing.add_one(41), m.convert(lambda text: text * 2)("ab"))
print(*sorted({type(value).__module__ for value in again[:5]}))
"""


def test_a_copy_in_another_package_has_values_classes_and_pickles(folder: Path) -> None:
    said = run(folder, "-c", IMPORT + VALUES).splitlines()
    assert said == ["True True True", "3 42 abab", NAME]


MODULE = """
module = m.load_module(sys.argv[1])
print(type(module).__module__, m.libinfo.find_libtvm_ffi())
"""


def test_a_copy_in_another_package_loads_libraries(folder: Path, testing_library: object) -> None:
    core = folder / "proj" / "_vendor" / "ffi_hpy" / BINARIES.relative_to(PACKAGE) / "lib" / "libtvm_ffi.so"
    said = run(folder, "-c", IMPORT + MODULE, testing_library)
    assert said == f"{NAME}.module {core}\n"


ERRORS = """
def said(error, function, *args, **names):
    try:
        function(*args, **names)
    except error as caught:
        print(caught)

def fail():
    raise KeyError("key")

said(KeyError, m.convert(fail))
said(TypeError, m.testing.add_one, m.core.CAny.__new__(m.core.CAny))
said(AttributeError, lambda: m.module.load_modul)
said(ValueError, m.get_global_func, "testing.ecco")
said(TypeError, m.testing.TestObjectBase, v_i46=1)
"""


def test_errors_of_a_copy_in_another_package_have_the_words_of_the_package(folder: Path) -> None:
    said = run(folder, "-c", IMPORT + ERRORS)
    as_usual = run(folder, "-c", "import ffi_hpy as m, ffi_hpy.module, ffi_hpy.testing, ffi_hpy.core\n" + ERRORS)
    assert said.replace(NAME, "ffi_hpy") == as_usual
    assert as_usual.count("Did you mean") == 3


MODULES = """
import importlib, pkgutil
SKIPPED = ("__main__", "_run", "hpy09", "_hpy_universal")  # they run, or are for another interpreter
LEFT_OUT = ("_dropin", "_nanobind", "share", "_hpy", "_binding", "_core")
for info in pkgutil.walk_packages(m.__path__, m.__name__ + "."):
    name = info.name[len(m.__name__) + 1:]
    if name.rpartition(".")[2] in SKIPPED or name.startswith(LEFT_OUT):
        continue
    if not name.startswith("_pypy") or m._core.CALLS == "cffi":
        importlib.import_module(info.name)
at_start = "ffi_hpy._bind.finder"  # on PyPy, ffi_hpy.pth of the installed package imports it
print([name for name in sys.modules if name.startswith("ffi_hpy.") and name != at_start])
strangers = []
for name, module in list(sys.modules.items()):
    if name.startswith(m.__name__):
        for value in list(vars(module).values()):
            if isinstance(value, type) and str(value.__module__).partition(".")[0] == "ffi_hpy":
                strangers.append(value)
print(strangers)
"""


@pytest.mark.skipif(IS_DEBUG, reason="the PyPI package hpy makes the classes, which cannot be changed")
def test_no_module_of_a_copy_in_another_package_asks_for_the_installed_one(folder: Path) -> None:
    assert run(folder, "-c", IMPORT + MODULES) == "[]\n[]\n"


DROPIN = """
m.dropin.install()
import importlib.metadata, tvm_ffi, tvm_ffi.dataclasses
print(tvm_ffi is m, tvm_ffi.dataclasses is m.dataclasses, m.__version__)
print(importlib.metadata.version("apache-tvm-ffi"), importlib.metadata.files("apache-tvm-ffi"))
"""


def test_a_copy_in_another_package_answers_for_tvm_ffi(folder: Path) -> None:
    version = ffi_hpy.dropin.ABI_VERSION
    assert run(folder, "-c", IMPORT + DROPIN) == f"True True {version}\n{version} None\n"


def test_the_commands_of_a_copy_in_another_package_are_its_own(folder: Path) -> None:
    assert run(folder, "-m", f"{NAME}.config", "--includedir") == f"{folder}/proj/_vendor/ffi_hpy/include\n"
    program = "import tvm_ffi; print(tvm_ffi.__name__)"
    assert run(folder, "-m", f"{NAME}.dropin", "-c", program) == f"{NAME}\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_waits_for_the_modules_of_a_copy_in_another_package(folder: Path) -> None:
    names = f"from {NAME}._start import fork; print('{NAME}.module' in fork._find_names())"
    assert run(folder, "-c", IMPORT + names) == "True\n"


@pytest.mark.skipif("FFI_HPY_CONTEXT" in os.environ, reason="the package hpy would not be found either")
def test_a_copy_that_no_installer_knows_has_its_version(folder: Path) -> None:
    isolated = ("-S", "-c")  # without the folder of packages, and thus without their metadata
    program = f"import sys; sys.path.insert(0, {str(folder / 'proj' / '_vendor')!r})\n"
    says = "import ffi_hpy; print(ffi_hpy.__version__, ffi_hpy.__version_tuple__, ffi_hpy._version.version)"
    own = ffi_hpy.__version__
    assert run(folder, *isolated, program + says) == f"{own} {ffi_hpy.__version_tuple__} {own}\n"
    command = "sys.argv = ['ffi-hpy-config', '--version']; from ffi_hpy.config import main; main()"
    assert run(folder, *isolated, program + command) == f"ffi-hpy-config {own}\n"


@pytest.mark.parametrize("binaries", [".", "_systems/x86_64-linux"])
def test_in_a_zip_file_an_import_error_says_to_install_or_unpack_it(tmp_path: Path, binaries: str) -> None:
    wheel = tmp_path / "ffi_hpy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("_start/*.py")]:
            archive.write(path, Path("ffi_hpy", path.relative_to(PACKAGE)))
        archive.writestr(f"ffi_hpy/{binaries}/lib/libtvm_ffi.so", "")
    program = f"import sys; sys.path.insert(0, {str(wheel)!r}); import ffi_hpy"
    assert run(tmp_path, "-c", program, fails=True) == (
        f"ImportError: ffi_hpy cannot be imported from a zip file, {wheel}, because the system's loader takes binaries"
        " from files only: install it with pip, or unpack it into a folder"
    )
