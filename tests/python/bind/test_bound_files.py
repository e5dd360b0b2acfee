"""A bound library of two files, of which only one has FFI_HPY_MODULE: the other calls functions of that file."""

from __future__ import annotations

import enum
import shutil
import subprocess

import pytest
from support import needs_one_wrapper

from ffi_hpy import cpp, libinfo

pytestmark = [needs_one_wrapper, pytest.mark.thread_unsafe(reason="it compiles a library")]

MAIN = """
#include <ffi_hpy/bind.h>

void add_dogs(ffi_hpy::module_ &m);
FFI_HPY_MODULE(NAME, m) { add_dogs(m); }
"""
DOGS = """
#include <ffi_hpy/bind.h>

#include <stdexcept>
#include <string>

namespace nb = ffi_hpy;
using namespace nb::literals;

namespace NAME {
enum class Color { Black, Brown };
struct Dog {
  std::string name;
  Color color;
  Dog twin() const { return *this; }
};
} // namespace NAME
using namespace NAME;

void add_dogs(nb::module_ &m) {
  nb::enum_<Color>(m, "Color").value("Black", Color::Black).value("Brown", Color::Brown);
  nb::class_<Dog>(m, "Dog")
      .def(nb::init<std::string, Color>(), "name"_a, "color"_a = Color::Brown)
      .def_rw("name", &Dog::name)
      .def_ro("color", &Dog::color)
      .def("twin", &Dog::twin);
  m.def("fail", [](double number) -> int { throw std::out_of_range("no such number"); });
}
"""


SHARED = "-DFFI_HPY_SEVERAL_FILES"


@pytest.fixture(params=["own", "shared"])
def sources(request, tmp_path):
    for file, text in (("main.cc", MAIN), ("dogs.cc", DOGS)):
        (tmp_path / file).write_text(text.replace("NAME", f"{request.param}_functions"))
    return tmp_path


def test_a_file_without_the_macro_binds_classes_enums_and_functions(sources, request):
    kind = request.node.callspec.params["sources"]
    flags = [SHARED] if kind == "shared" else []
    files = [sources / "main.cc", sources / "dogs.cc"]
    made = cpp.load(f"{kind}_functions", cpp_files=files, build_directory=sources, extra_cflags=flags)
    rex = made.Dog("Rex")
    assert (rex.name, rex.color) == ("Rex", made.Color.Brown)
    assert isinstance(rex.twin().color, enum.Enum)
    with pytest.raises(TypeError, match="float"):
        made.fail("x")
    with pytest.raises(IndexError, match="no such number"):
        made.fail(1)


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm")
@pytest.mark.parametrize("sources", ["shared"], indirect=True)
def test_a_file_without_the_macro_compiles_none_of_the_shared_functions(sources):
    include = f"-I{libinfo.find_include_path()}"
    subprocess.run(["g++", "-std=c++17", SHARED, "-c", include, "dogs.cc", "-o", "dogs.o"], cwd=sources, check=True)
    symbols = subprocess.run(["nm", "-C", "dogs.o"], cwd=sources, check=True, capture_output=True, text=True).stdout
    assert "_in_module" not in symbols
