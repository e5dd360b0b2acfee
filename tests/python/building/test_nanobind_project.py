"""Projects that were written for nanobind: find_package(nanobind), its functions, and the stubs that they write."""

import json
import re
import subprocess
from pathlib import Path

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

HEAD = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES CXX)
find_package(nanobind {version} CONFIG REQUIRED)
"""
LISTS = """
nanobind_add_module(shapes {options} shapes.cc)
nanobind_add_stub(shapes_stub MODULE shapes OUTPUT shapes.pyi PYTHON_PATH . DEPENDS shapes {stub_options})
"""
SHAPES = """
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

struct Shape {
  virtual ~Shape() = default;
  virtual std::string name() const { return "shape"; }
  virtual double area() const = 0;
};
struct PyShape : Shape {
  NB_TRAMPOLINE(Shape, 2);
  std::string name() const override { NB_OVERRIDE(name); }
  double area() const override { NB_OVERRIDE_PURE(area); }
};
struct Meters { double value; };
using Lengths = std::vector<float>;
NB_MAKE_OPAQUE(Lengths)

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
template <> struct type_caster<Meters> {
  NB_TYPE_CASTER(Meters, const_name("float"))
  bool from_python(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
    make_caster<double> number;
    if (!number.from_python(source, flags, cleanup)) return false;
    value.value = number.value;
    return true;
  }
  static handle from_cpp(Meters source, rv_policy policy, cleanup_list *cleanup) noexcept {
    return make_caster<double>::from_cpp(source.value, policy, cleanup);
  }
};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

static_assert(NB_VERSION_MAJOR >= 3, "");

NB_MODULE(shapes, m) {
  nb::class_<Shape, PyShape>(m, "Shape").def(nb::init<>()).def("name", &Shape::name).def("area", &Shape::area);
  nb::class_<Lengths>(m, "Lengths").def(nb::init<>()).def("__len__", [](const Lengths &all) { return all.size(); });
  m.def("describe", [](const Shape &shape) { return shape.name() + " " + std::to_string(int(shape.area())); });
  m.def("double", [](Meters length) { return Meters{length.value * 2}; }, "length"_a, "Twice the length.");
  m.def("sum", [](const std::vector<int> &all) { int n = 0; for (int one : all) n += one; return n; }, "all"_a);
}
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import ffi_hpy, shapes
class Square(shapes.Shape):
    def area(self): return 9.0
print(shapes.describe(Square()), shapes.double(1.5), shapes.sum([1, 2]), len(shapes.Lengths()))
"""
SAID = "shape 9 3.0 3 0\n"
OPTIONS = "STABLE_ABI FREE_THREADED NB_STATIC LTO NOMINSIZE NOSTRIP PROTECT_STACK NB_SUPPRESS_WARNINGS"
VALUES = "NB_DOMAIN geometry STABLE_ABI_VERSION 3.13 BACKEND_MODULE nanobind_backend BACKEND_PYPI nanobind-backend"


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def build(project, version="2.4", options="", stub_options="", more="", make=True):
    lists = LISTS.format(options=options, stub_options=stub_options)
    project.write(HEAD.format(version=version) + lists + more, shapes_cc=SHAPES)
    said = project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", "-DCMAKE_BUILD_TYPE=Release")
    if make:
        project.make()
    return said


def command_of(project):
    entries = json.loads((project.build / "compile_commands.json").read_text())
    (command,) = [entry["command"] for entry in entries if entry["file"].endswith("shapes.cc")]
    return command.split()


def test_a_project_builds_unchanged(project):
    build(project, more="install(TARGETS shapes LIBRARY DESTINATION geometry)\n")
    assert run_python(PROGRAM, project.build) == SAID
    stub = (project.build / "shapes.pyi").read_text()
    assert 'def double(length: float) -> float:\n    """Twice the length."""' in stub
    library = read_library(project.build / "shapes.so")
    assert not [name for name in library.needed if "python" in name or "tvm_ffi" in name or "nanobind" in name]
    assert not [name for name in library.exports if "Shape" in name]
    assert {"-Os", "-fno-stack-protector"} < set(command_of(project))
    project.cmake("--install", "build", "--prefix", "place")
    assert (project.folder / "place" / "geometry" / "shapes.so").exists()


def test_all_options_are_accepted(project):
    build(project, "3.1", f"{OPTIONS} {VALUES}", "VERBOSE EXCLUDE_VALUES INCLUDE_PRIVATE EXCLUDE_DOCSTRINGS")
    words = command_of(project)
    assert "-flto" in " ".join(words)
    assert not {"-Os", "-fno-stack-protector"} & set(words)
    assert run_python(PROGRAM, project.build) == SAID
    assert "Twice" not in (project.build / "shapes.pyi").read_text()


@pytest.mark.parametrize("version", ["", "1.9", "2", "3.0.0", "3.1"])
def test_earlier_versions_are_found(project, version):
    build(project, version, make=False)


@pytest.mark.parametrize("version", ["3.2", "4"])
def test_a_later_version_is_not_found(project, version):
    project.write(HEAD.format(version=version))
    said = project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", status=1)
    assert "nanobind-config.cmake, version: 3.1.0" in said


@pytest.mark.parametrize("earlier", ["", "find_package(ffi_hpy 77 CONFIG QUIET)\n"])
def test_it_is_found_beside_ffi_hpy(project, earlier):
    both = (
        earlier
        + 'find_package(ffi_hpy CONFIG REQUIRED)\nset(nanobind_ROOT "${ffi_hpy_NANOBIND_ROOT}")\nfind_package(nanobind'
    )
    lists = HEAD.format(version="2.4").replace("find_package(nanobind", both)
    project.write(lists + "nanobind_add_module(shapes shapes.cc)\n", shapes_cc=SHAPES)
    project.configure(f"-Dffi_hpy_ROOT={libinfo.find_cmake_path()}")
    project.make()
    assert run_python(PROGRAM, project.build) == SAID


STEPS = """
nanobind_build_library(nanobind-static)
add_library(shapes MODULE shapes.cc)
target_link_libraries(shapes PRIVATE nanobind-static)
nanobind_opt_size(shapes)
nanobind_lto(shapes)
nanobind_set_visibility(shapes)
nanobind_strip(shapes)
nanobind_disable_stack_protector(shapes)
nanobind_extension(shapes)
nanobind_compile_options(shapes)
nanobind_link_options(shapes)
nanobind_musl_static_libcpp(shapes)
nanobind_add_backend(backend NOSTRIP)
"""


def test_the_steps_can_be_called_one_by_one(project):
    project.write(HEAD.format(version="2.4") + STEPS, shapes_cc=SHAPES)
    project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", "-DCMAKE_BUILD_TYPE=Release")
    project.make()
    assert run_python(PROGRAM, project.build) == SAID
    assert run_python(PROGRAM.replace("shapes\n", "backend as shapes\n").partition("class")[0], project.build) == ""


LIBRARIES = """
nanobind_add_module(shapes NB_SHARED shapes.cc)
nanobind_add_module(other STABLE_ABI other.cc)
foreach(library nanobind nanobind-static)
  target_compile_options(${library} PRIVATE -Wall)
  target_compile_definitions(${library} PUBLIC IS_SET)
endforeach()
target_compile_options(other PRIVATE $<${NB_OPT_SIZE}:-DIS_SMALL>)
install(TARGETS shapes nanobind LIBRARY DESTINATION place)
add_subdirectory(inner)
"""
INNER = """
find_package(nanobind 2.0...<4 CONFIG REQUIRED)
nanobind_add_module(inner ../other.cc)
target_compile_definitions(inner PRIVATE IS_SMALL)
set_target_properties(inner PROPERTIES OUTPUT_NAME other)
if(NOT EXISTS "${NB_DIR}/include/nanobind/nanobind.h" OR NOT NB_SUFFIX MATCHES "^[.](so|pyd)$")
  message(FATAL_ERROR "[${NB_DIR}] [${NB_SUFFIX}]")
endif()
"""
OTHER = """
#include <nanobind/nanobind.h>
#if !defined(IS_SET) || !defined(IS_SMALL)
#error "the options do not arrive"
#endif
NB_MODULE(other, m) {}
"""


def test_projects_set_options_of_the_libraries_of_nanobind_and_install_them(project):
    (project.folder / "inner").mkdir()
    (project.folder / "inner" / "CMakeLists.txt").write_text(INNER)
    project.write(HEAD.format(version="2.4") + LIBRARIES, shapes_cc=SHAPES, other_cc=OTHER)
    project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", "-DCMAKE_BUILD_TYPE=Release")
    project.make()
    assert run_python(PROGRAM, project.build) == SAID
    assert len(list(project.build.rglob("other.so"))) == 2
    project.cmake("--install", "build", "--prefix", "place")
    assert (project.folder / "place" / "place" / "shapes.so").exists()


SANITIZED = """
add_library(checked STATIC shapes.cc)
target_compile_options(checked PRIVATE -fsanitize=address,undefined)
add_library(plain STATIC shapes.cc)
nanobind_sanitizer_preload_env(with plain checked)
nanobind_sanitizer_preload_env(without plain missing)
nanobind_resolve_python_path()
message(STATUS "preload [${with}] [${without}] python [${NB_PY_PATH}]")
"""


def test_a_project_asks_how_to_load_sanitizers_and_for_the_python_of_stubs(project):
    project.write(HEAD.format(version="2.4") + SANITIZED, shapes_cc=SHAPES)
    said = project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}")
    found = re.search(r"preload \[(.*)\] \[\] python \[(.+)\]", said)
    assert found is not None
    variable, _, files = found[1].partition("=")
    runtime = subprocess.check_output(["c++", "-print-file-name=libasan.so"], text=True).strip()
    assert (variable == "LD_PRELOAD" and Path(runtime).name in Path(files.split(":")[0]).name) == Path(runtime).exists()
    assert all(Path(file).exists() for file in files.split(":") if files)


def test_both_ways_of_linking_exclude_each_other(project):
    project.write(HEAD.format(version="2.4") + "nanobind_add_module(a NB_STATIC NB_SHARED a.cc)\n", a_cc="")
    said = project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", status=1)
    assert "NB_SHARED and NB_STATIC exclude each other" in said


def test_the_files_for_cmake_name_one_configuration_at_a_time():
    """Before release 3.19 CMake refuses several in one expression."""
    for file in Path(libinfo.find_nanobind_cmake_path()).parents[1].rglob("*.cmake"):
        assert not re.search(r"\$<CONFIG:\w+,", file.read_text(encoding="utf-8")), file


STUBS_OF_PARTS = """
nanobind_add_module(shapes shapes.cc)
set_target_properties(shapes PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/geometry)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/geometry/__init__.py "")
nanobind_add_stub(whole MODULE geometry.shapes OUTPUT whole.pyi PYTHON_PATH . DEPENDS shapes)
nanobind_add_stub(part MODULE geometry.shapes.inner OUTPUT part.pyi PYTHON_PATH . DEPENDS shapes)
"""


def test_a_stub_is_that_of_a_submodule(project):
    inner = SHAPES.replace("NB_MODULE(shapes, m) {", 'NB_MODULE(shapes, m) { m.def_submodule("inner").attr("one") = 1;')
    project.write(HEAD.format(version="2.4") + STUBS_OF_PARTS, shapes_cc=inner)
    project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}")
    project.make()
    assert "\none: int" in (project.build / "part.pyi").read_text()
    assert "class Lengths" in (project.build / "whole.pyi").read_text()


PATTERNS = r"""
# A pattern for one function
shapes.sum:
    \from typing import Sequence
    def sum(all: Sequence[int]) -> int:
        \doc

(double|nothing)$:
    def \1(length: int) -> int:
        \doc

Lengths:

shapes.Shape.area:
    def area(self) -> float: ...  # replaced

shapes.__prefix__:
    first = 1

shapes.__suffix__:
    last = 2
"""


def test_pattern_files_replace_parts_of_stubs(project):
    (project.folder / "patterns.nb").write_text(PATTERNS)
    build(project, stub_options="PATTERN_FILE patterns.nb MARKER_FILE py.typed")
    stub = (project.build / "shapes.pyi").read_text()
    assert "from typing import Sequence\n" in stub
    assert "def sum(all: Sequence[int]) -> int:\n    ..." in stub
    assert 'def double(length: int) -> int:\n    """Twice the length."""' in stub
    assert "Lengths" not in stub
    assert "    def area(self) -> float: ...  # replaced\n" in stub
    assert stub.index("first = 1") < stub.index("class Shape") < stub.index("last = 2")
    assert (project.build / "py.typed").exists()


AT_INSTALLATION = """
nanobind_add_module(shapes shapes.cc)
install(TARGETS shapes LIBRARY DESTINATION .)
nanobind_add_stub(
  shapes_stub INSTALL_TIME COMPONENT Unspecified RECURSIVE MODULE shapes OUTPUT_PATH types PYTHON_PATH .
)
"""


def test_stubs_are_written_by_the_installation(project):
    lists = HEAD.format(version="2.4") + AT_INSTALLATION
    inner = SHAPES.replace("NB_MODULE(shapes, m) {", 'NB_MODULE(shapes, m) { m.def_submodule("inner").attr("one") = 1;')
    project.write(lists, shapes_cc=inner)
    project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}")
    project.make()
    assert not list(project.build.rglob("*.pyi"))
    project.cmake("--install", "build", "--prefix", "place")
    types = project.folder / "place" / "types"
    assert {path.relative_to(types).as_posix() for path in types.rglob("*.pyi")} == {
        "shapes/__init__.pyi",
        "shapes/inner.pyi",
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("nanobind_add_stub(s MODULE shapes)", "nanobind_add_stub(s): no OUTPUT"),
        ("nanobind_add_stub(s OUTPUT a.pyi)", "nanobind_add_stub(s): no MODULE"),
        ("nanobind_add_stub(s MODULE a OUTPUT a.pyi b.pyi)", "several files of OUTPUT need RECURSIVE"),
    ],
)
def test_a_stub_without_its_arguments_is_an_error(project, call, message):
    project.write(HEAD.format(version="") + call + "\n")
    assert message in project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}", status=1)


def test_one_file_includes_the_headers_by_one_name(project):
    project.write(
        HEAD.format(version="") + "nanobind_add_module(m m.cc)\n", m_cc="#include <ffi_hpy/bind.h>\n" + SHAPES
    )
    project.configure(f"-Dnanobind_ROOT={libinfo.find_nanobind_cmake_path()}")
    assert "includes ffi_hpy's or nanobind's headers, not both" in project.make(status=1)
