"""CMake projects with modules that are bound with ffi_hpy/bind.h: find_package(ffi_hpy) and its functions."""

import json

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, run_python
from support.cmake_project import CMAKE, Project
from support.native_build import read_library

from ffi_hpy import libinfo

pytestmark = pytest.mark.same_everywhere

if CMAKE is None:
    pytest.skip("ci/requirements/test.txt has CMake for one interpreter", allow_module_level=True)
if IS_DEBUG or IS_OWN_DEBUG:
    pytest.skip("programs that CMake builds know nothing of debug modes", allow_module_level=True)

LISTS = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES CXX)
find_package(ffi_hpy 0.1 CONFIG REQUIRED)
"""
ADD_MODULE = f"{LISTS}\nffi_hpy_add_module(kennel kennel.cc)\nffi_hpy_install(kennel DESTINATION dogs)\n"
KENNEL = """
#include <ffi_hpy/bind.h>
namespace nb = ffi_hpy;
using namespace nb::literals;
static_assert(__cplusplus >= 201703L, "");
int hidden(int x) { return x + 1; }
FFI_HPY_MODULE(kennel, m) {
  m.def("next", &hidden, "The next number.", "x"_a = 1);
#ifdef WITH_SUBMODULE
  m.def_submodule("inner").def("twice", [](int x) { return 2 * x; });
#endif
#ifdef FAILS
  throw nb::value_error("no module today");
#endif
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import ffi_hpy, kennel
print(kennel.next(), kennel.next.__doc__)
"""


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def configure(project, *arguments, **more):
    return project.configure(f"-Dffi_hpy_ROOT={libinfo.find_cmake_path()}", *arguments, **more)


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_module_has_its_name_its_stub_and_no_dependency(project):
    project.write(ADD_MODULE, kennel_cc=KENNEL)
    configure(project)
    project.make()
    assert run_python(PROGRAM, project.build) == "2 next(x: int = 1) -> int\n\nThe next number.\n"
    assert 'def next(x: int = 1) -> int:\n    """The next number."""' in (project.build / "kennel.pyi").read_text()
    library = read_library(project.build / "kennel.so")
    assert not [name for name in library.needed if "python" in name or "tvm_ffi" in name]
    assert not [name for name in library.exports if "hidden" in name]
    assert "PyInit_kennel" in library.exports
    project.cmake("--install", "build", "--prefix", "place")
    assert files_of(project.folder / "place") == {"dogs/kennel.so", "dogs/kennel.pyi", "dogs/py.typed"}


def test_the_compiler_gets_the_usual_options(project):
    project.write(ADD_MODULE, kennel_cc=KENNEL)
    configure(project)
    (entry,) = json.loads((project.build / "compile_commands.json").read_text())
    words = entry["command"].split()
    assert {"-O2", "-fvisibility=hidden", "-fPIC"} <= set(words)
    configure(project, "-DCMAKE_BUILD_TYPE=Debug")
    (entry,) = json.loads((project.build / "compile_commands.json").read_text())
    assert "-O2" not in entry["command"].split()


def test_the_stub_follows_the_module(project):
    project.write(ADD_MODULE, kennel_cc=KENNEL)
    configure(project, "-DCMAKE_CXX_FLAGS=-DWITH_SUBMODULE -O0")
    project.make()
    assert not (project.build / "kennel.pyi").exists()
    project.cmake("--install", "build", "--prefix", "place")
    stubs = {"dogs/kennel/__init__.pyi", "dogs/kennel/inner.pyi"}
    assert files_of(project.folder / "place") == {"dogs/kennel.so", "dogs/py.typed", *stubs}
    configure(project, "-DCMAKE_CXX_FLAGS=-O0")
    project.make()
    assert (project.build / "kennel.pyi").exists()
    assert not list((project.build / "kennel").glob("*.pyi"))


def test_a_module_that_cannot_be_imported(project):
    project.write(ADD_MODULE, kennel_cc=KENNEL)
    configure(project, "-DCMAKE_CXX_FLAGS=-DFAILS -O0")
    assert "kennel.so: no module today" in project.make(status=1)
    project.write(ADD_MODULE.replace("(kennel kennel.cc)", "(kennel NO_STUB kennel.cc)"), kennel_cc=KENNEL)
    project.make()
    assert not list(project.build.glob("*.pyi"))
    assert not (project.build / "py.typed").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ffi_hpy_add_module(kennel)", "ffi_hpy_add_module(kennel): no sources"),
        ("ffi_hpy_add_module(ken-nel kennel.cc)", "ffi_hpy_add_module(ken-nel): not the name of a module of Python"),
        ("ffi_hpy_install(kennel)", "ffi_hpy_install(kennel): the target 'kennel' does not exist"),
        ("find_package(ffi_hpy 77 CONFIG REQUIRED)", "ffi_hpy-config.cmake, version: 0.1.0"),
    ],
)
def test_a_wrong_call_is_an_error(project, call, message):
    project.write(f"{LISTS}\n{call}\n", kennel_cc=KENNEL)
    assert message in configure(project, status=1)


def test_a_module_for_another_machine_gets_no_stub(project):
    project.write(ADD_MODULE, kennel_cc=KENNEL)
    said = configure(project, "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_CROSSCOMPILING=ON")
    assert "ffi_hpy_add_module(kennel): no stub is written for a module of another machine" in said
