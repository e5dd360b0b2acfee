"""find_package(tvm_ffi) for each system with a wheel. The packages are made up, and nothing is compiled."""

import re
import shutil
from pathlib import Path

import pytest
from support.cmake_project import CMAKE, Project

import ffi_hpy

pytestmark = pytest.mark.same_everywhere

PACKAGE = Path(ffi_hpy.__file__).resolve().parent

if CMAKE is None:
    pytest.skip("ci/requirements/test.txt has CMake for one interpreter", allow_module_level=True)

# By the name of the target: CMake's names of system and machine
SYSTEMS = {
    "x86_64-linux": ("Linux", "x86_64"),
    "aarch64-linux": ("Linux", "aarch64"),
    "riscv64-linux": ("Linux", "riscv64"),
    "aarch64-macos": ("Darwin", "arm64"),
    "x86_64-macos": ("Darwin", "x86_64"),
    "x86_64-windows": ("Windows", "AMD64"),
    "aarch64-windows": ("Windows", "ARM64"),
}
FILES = {
    "linux": ("libtvm_ffi.so", "libtvm_ffi_cxx.so"),
    "macos": ("libtvm_ffi.dylib", "libtvm_ffi_cxx.dylib"),
    "windows": ("tvm_ffi.dll", "tvm_ffi.lib"),
}

LISTS = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES NONE)
find_package(tvm_ffi 0.1.15 CONFIG REQUIRED)
message("(files=${tvm_ffi_LIB_FILES})")
foreach(name IN ITEMS shared cxx)
  if(TARGET tvm_ffi::${name})
    foreach(property IN ITEMS LOCATION IMPLIB SONAME)
      get_target_property(value tvm_ffi::${name} IMPORTED_${property})
      message("(${name}.${property}=${value})")
    endforeach()
    get_target_property(value tvm_ffi::${name} INTERFACE_LINK_LIBRARIES)
    message("(${name}.links=${value})")
  endif()
endforeach()
"""
LINKS_ON_LINUX = (
    "tvm_ffi_header;$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,--push-state,--as-needed>;"
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:tvm_ffi_cxx>;"
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,--pop-state>"
)
LINKS_ON_MACOS = "tvm_ffi_header;$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:tvm_ffi_cxx>"


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("for another machine")


class Tree:
    """A folder with a package in which only the file names are real, and a project that searches for it."""

    def __init__(self, folder):
        self.package = folder / "root" / "ffi_hpy"
        self.project = Project(folder)
        self.project.write(LISTS)
        shutil.copytree(PACKAGE / "share", self.package / "share")
        touch(self.package / "include" / "tvm" / "ffi" / "c_api.h")

    def add(self, target, folder="."):
        """Add the libraries of a target, and return their folder."""
        libraries = self.package / folder / "lib"
        for name in FILES[target.partition("-")[2]]:
            touch(libraries / name)
        return libraries

    def add_all(self):
        for target in SYSTEMS:
            self.add(target, f"_systems/{target}")

    def find(self, target, *arguments, status=0, **environ):
        """Run CMake for a target, given its name, and return the found files; or the output of a failing run."""
        system, machine = SYSTEMS.get(target, (target, ""))
        options = [f"-DCMAKE_SYSTEM_NAME={system}", f"-DCMAKE_SYSTEM_PROCESSOR={machine}", *arguments]
        environ = {"tvm_ffi_ROOT": str(self.package / "share" / "cmake" / "tvm_ffi"), **environ}
        said = self.project.configure(*options, status=status, **environ)
        return said if status else dict(re.findall(r"\(([\w.]+)=(\S*?)\)(?= |$)", said))

    def find_across(self, target, *arguments, **environ):
        """Like find(), with the package of this machine and a variable that names the other one."""
        root = {"FFI_HPY_CROSS_ROOT": str(self.package.parent), "tvm_ffi_ROOT": str(PACKAGE / "share/cmake/tvm_ffi")}
        return self.find(target, *arguments, **root, **environ)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.delenv("FFI_HPY_CROSS_ROOT", raising=False)
    monkeypatch.delenv("FFI_HPY_CROSS_SYSTEM", raising=False)
    return Tree(tmp_path)


def check(found, target, libraries):
    """Check that the found files are the input of the target's linker."""
    system = target.partition("-")[2]
    expected = {"shared.IMPLIB": "value-NOTFOUND", "cxx.IMPLIB": "value-NOTFOUND", "cxx.links": "value-NOTFOUND"}
    if system == "windows":
        expected = {
            "files": f"{libraries}/tvm_ffi.lib",
            "shared.LOCATION": f"{libraries}/tvm_ffi.dll",
            "shared.IMPLIB": f"{libraries}/tvm_ffi.lib",
            "shared.SONAME": "value-NOTFOUND",
            "shared.links": "tvm_ffi_header",
        }
    else:
        core, cxx = FILES[system]
        lookup = "@rpath/" if system == "macos" else ""
        expected |= {
            "files": f"{libraries}/{core}",
            "shared.LOCATION": f"{libraries}/{core}",
            "shared.SONAME": f"{lookup}{core}",
            "shared.links": LINKS_ON_MACOS if system == "macos" else LINKS_ON_LINUX,
            "cxx.LOCATION": f"{libraries}/{cxx}",
            "cxx.SONAME": f"{lookup}{cxx}",
        }
    assert found == expected


# --- found files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", SYSTEMS)
class TestForEachSystem:
    def test_a_wheel_of_it_is_found(self, tree, target):
        libraries = tree.add(target)
        check(tree.find(target), target, libraries)

    def test_a_wheel_of_it_is_found_by_this_machines_own(self, tree, target):
        libraries = tree.add(target)
        check(tree.find_across(target), target, libraries)

    def test_its_folder_is_found_in_the_wheel_for_every_system(self, tree, target):
        tree.add_all()
        check(tree.find(target), target, tree.package / "_systems" / target / "lib")
        check(tree.find_across(target), target, tree.package / "_systems" / target / "lib")

    def test_the_variable_names_the_target_if_cmake_does_not(self, tree, target):
        tree.add_all()
        processor = "-DCMAKE_SYSTEM_PROCESSOR=unknown"
        found = tree.find_across(target, processor, FFI_HPY_CROSS_SYSTEM=target)
        check(found, target, tree.package / "_systems" / target / "lib")


def test_without_options_the_system_is_this_one(tree):
    import platform

    tree.add_all()
    target = f"{platform.machine()}-linux"
    said = tree.project.configure(tvm_ffi_ROOT=str(tree.package / "share" / "cmake" / "tvm_ffi"))
    assert f"(files={tree.package}/_systems/{target}/lib/libtvm_ffi.so)" in said


@pytest.mark.parametrize(("architecture", "target"), [("x86_64", "x86_64-macos"), ("arm64;arm64", "aarch64-macos")])
def test_on_macos_the_architecture_that_is_asked_for_counts_more_than_the_processor(tree, architecture, target):
    tree.add_all()
    other = "aarch64-macos" if target == "x86_64-macos" else "x86_64-macos"
    found = tree.find(other, f"-DCMAKE_OSX_ARCHITECTURES={architecture}")
    check(found, target, tree.package / "_systems" / target / "lib")


@pytest.mark.parametrize("variable", ["CMAKE_VS_PLATFORM_NAME", "MSVC_CXX_ARCHITECTURE_ID", "MSVC_C_ARCHITECTURE_ID"])
def test_on_windows_the_compilers_machine_counts_more_than_the_processor(tree, variable):
    tree.add_all()
    for said, target in (("x64", "x86_64-windows"), ("ARM64", "aarch64-windows")):
        other = "aarch64-windows" if said == "x64" else "x86_64-windows"
        check(tree.find(other, f"-D{variable}={said}"), target, tree.package / "_systems" / target / "lib")


def test_a_library_that_lipo_made_is_for_several_architectures(tree):
    libraries = tree.add("aarch64-macos")
    (libraries / "libtvm_ffi.dylib").write_bytes(b"\xca\xfe\xba\xbe\0\0\0\2")
    found = tree.find("aarch64-macos", "-DCMAKE_OSX_ARCHITECTURES=arm64;x86_64")
    check(found, "aarch64-macos", libraries)


def test_the_variable_for_a_system_says_nothing_of_a_package_that_is_not_for_another_machine(tree):
    tree.add_all()
    found = tree.find("riscv64-linux", FFI_HPY_CROSS_SYSTEM="aarch64-linux")
    check(found, "riscv64-linux", tree.package / "_systems" / "riscv64-linux" / "lib")


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", SYSTEMS)
def test_each_library_that_is_missing_is_named(tree, target):
    libraries = tree.add(target)
    for name in FILES[target.partition("-")[2]]:
        (libraries / name).rename(libraries / "away")
        said = tree.find(target, status=1)
        assert f"ffi_hpy is not installed completely: {libraries}/{name} is missing" in said
        (libraries / "away").rename(libraries / name)


def test_the_wheel_of_another_system_is_refused_by_its_name(tree):
    libraries = tree.add("x86_64-linux")
    said = tree.find("x86_64-windows", status=1)
    assert f"built for windows, and the ffi_hpy in {tree.package} is for linux: {libraries}/tvm_ffi" in said
    assert "FFI_HPY_CROSS_ROOT can name a folder with that for windows" in said


def test_the_error_of_a_machine_without_a_folder_lists_the_folders(tree):
    for target in ("aarch64-linux", "x86_64-macos"):
        tree.add(target, f"_systems/{target}")
    said = tree.find("riscv64-linux", status=1)
    assert "no binaries for riscv64-linux, which this project is built for" in said
    assert f"{tree.package}/_systems has those for aarch64-linux, x86_64-macos" in said
    said = tree.find_across("aarch64-linux", FFI_HPY_CROSS_SYSTEM="x86_64-linux", status=1)
    assert "no binaries for x86_64-linux" in said


def test_a_project_that_does_not_tell_the_machine_is_refused(tree):
    tree.add_all()
    said = tree.find("Linux", status=1)
    assert "CMAKE_SYSTEM_PROCESSOR must name the machine that this project is built for, and is empty" in said
    assert f"{tree.package}/_systems has binaries for {', '.join(sorted(SYSTEMS))}" in said


@pytest.mark.parametrize("system", ["FreeBSD", "Generic"])
def test_a_system_without_a_wheel_is_refused(tree, system):
    tree.add("aarch64-linux")
    said = tree.find(system, status=1)
    assert f"ffi_hpy has binaries for Linux, Darwin and Windows, and CMAKE_SYSTEM_NAME is '{system}'" in said


def test_several_architectures_are_refused_where_no_library_is_for_them(tree):
    several = "CMAKE_OSX_ARCHITECTURES names several: aarch64-macos, x86_64-macos"
    tree.add("aarch64-macos")
    assert several in tree.find("aarch64-macos", "-DCMAKE_OSX_ARCHITECTURES=arm64;x86_64", status=1)
    tree.add_all()
    assert several in tree.find("aarch64-macos", "-DCMAKE_OSX_ARCHITECTURES=arm64;x86_64", status=1)


def test_a_variable_that_contradicts_the_toolchain_is_refused(tree):
    tree.add_all()
    said = tree.find_across("x86_64-linux", FFI_HPY_CROSS_SYSTEM="x86_64-windows", status=1)
    assert "FFI_HPY_CROSS_SYSTEM is x86_64-windows, and CMAKE_SYSTEM_NAME is Linux" in said


def test_a_root_without_a_package_is_an_error(tree, tmp_path):
    root = tmp_path / "missing"
    said = tree.find("x86_64-linux", FFI_HPY_CROSS_ROOT=str(root), status=1)
    assert f"{root}/ffi_hpy/include/tvm/ffi/c_api.h is missing" in said
