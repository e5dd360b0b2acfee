"""Building for another machine: the variable that names its ffi_hpy, and the parts of the package that read it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ffi_hpy
from ffi_hpy import config, cpp, libinfo
from ffi_hpy.cpp import _cache

PACKAGE = Path(ffi_hpy.__file__).resolve().parent
CROSS_SYSTEM = "FFI_HPY_CROSS_SYSTEM"

# The files in lib of a target's wheel, and the binding's file
LIBRARIES = {
    "linux": ("libtvm_ffi.so", "libtvm_ffi_cxx.so"),
    "macos": ("libtvm_ffi.dylib", "libtvm_ffi_cxx.dylib"),
    "windows": ("tvm_ffi.dll", "tvm_ffi.lib"),
}
BINDINGS = {"linux": "_core.hpy0.so", "macos": "_core.hpy0.so", "windows": "_core.hpy0.pyd"}
SUFFIXES = {"linux": ".so", "macos": ".dylib", "windows": ".dll"}
TARGETS = (
    *("x86_64-linux", "aarch64-linux", "riscv64-linux"),
    *("aarch64-macos", "x86_64-macos", "x86_64-windows", "aarch64-windows"),
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with ffi_hpy's files for another machine."""
    shutil.copytree(PACKAGE, tmp_path / "ffi_hpy", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv(libinfo.CROSS_ROOT, str(tmp_path))
    monkeypatch.delenv(CROSS_SYSTEM, raising=False)
    return tmp_path


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A folder with a package that has headers and no binaries yet."""
    for name in ("include/tvm/ffi/c_api.h", "include/dlpack/dlpack.h"):
        write(tmp_path / "ffi_hpy" / name)
    monkeypatch.setenv(libinfo.CROSS_ROOT, str(tmp_path))
    monkeypatch.delenv(CROSS_SYSTEM, raising=False)
    return tmp_path / "ffi_hpy"


def write(path, text="for another machine"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def add_binaries(target, folder):
    """Add the files of a target's wheel, by the target's name, to a folder, and return the folder."""
    system = target.rpartition("-")[2]
    for name in (*(f"lib/{library}" for library in LIBRARIES[system]), BINDINGS[system]):
        write(folder / name)
    return folder


def check_answers(target, folder, capsys):
    """Check that every query about a package returns the binaries in a folder."""
    system = target.rpartition("-")[2]
    core, second = (str(folder / "lib" / name) for name in LIBRARIES[system])
    assert libinfo.find_libtvm_ffi() == core
    assert libinfo.find_cython_lib() == str(folder / BINDINGS[system])
    if system == "windows":
        assert libinfo.find_windows_implib() == second
        expected = [f"{folder}/lib", second, second, ""]
    else:
        with pytest.raises(RuntimeError, match="which only packages for Windows have"):
            libinfo.find_windows_implib()
        expected = [f"{folder}/lib", core, "-ltvm_ffi", f"-L{folder}/lib"]
    assert config.main(["--libdir", "--libfiles", "--libs", "--ldflags"]) == 0
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.thread_unsafe(reason="the environment is the process's")
class TestWithTheVariable:
    def test_a_build_uses_the_other_machines_files(self, root):
        package = root / "ffi_hpy"
        assert libinfo.find_libtvm_ffi() == str(package / "lib" / "libtvm_ffi.so")
        assert libinfo.include_paths() == [str(package / "include")]
        assert libinfo.find_cmake_path() == str(package / "share" / "cmake" / "tvm_ffi")
        assert libinfo.find_pkgconfig_path() == str(package / "share" / "pkgconfig")

    def test_the_command_prints_flags_for_it(self, root, capsys):
        assert config.main(["--cflags", "--ldflags"]) == 0
        assert capsys.readouterr().out == f"-I{root}/ffi_hpy/include\n-L{root}/ffi_hpy/lib\n"

    def test_the_package_itself_runs_with_its_own_files(self, root):
        (root / "ffi_hpy" / "lib" / "libtvm_ffi.so").write_bytes(b"for another machine")
        program = "import ffi_hpy; print(ffi_hpy.convert([1]), ffi_hpy.__file__)"
        environ = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
        done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
        assert done.stdout == f"(1,) {PACKAGE}/__init__.py\n"

    def test_a_folder_without_the_package_is_named_with_the_variable(self, root):
        shutil.rmtree(root / "ffi_hpy" / "include")
        with pytest.raises(RuntimeError, match=f"{root}/ffi_hpy/include/.*, and FFI_HPY_CROSS_ROOT says to look there"):
            libinfo.find_include_path()

    def test_an_empty_variable_names_nothing(self, root, monkeypatch):
        monkeypatch.setenv(libinfo.CROSS_ROOT, "")
        assert libinfo.find_libtvm_ffi() == str(PACKAGE / "lib" / "libtvm_ffi.so")


@pytest.mark.thread_unsafe(reason="the environment is the process's")
@pytest.mark.parametrize("target", TARGETS)
class TestForEachSystem:
    def test_the_files_of_a_wheel_show_its_system(self, made_up, target, capsys):
        check_answers(target, add_binaries(target, made_up), capsys)

    def test_the_variable_may_name_it_without_another(self, made_up, target, capsys, monkeypatch):
        monkeypatch.setenv(CROSS_SYSTEM, target)
        check_answers(target, add_binaries(target, made_up), capsys)

    def test_the_variable_names_its_folder_in_the_wheel_for_every_system(self, made_up, target, capsys, monkeypatch):
        folders = {each: add_binaries(each, made_up / "_systems" / each) for each in TARGETS}
        monkeypatch.setenv(CROSS_SYSTEM, target)
        check_answers(target, folders[target], capsys)

    def test_a_library_is_built_with_its_names(self, made_up, target, monkeypatch, tmp_path):
        folder = add_binaries(target, made_up / "_systems" / target)
        compiler = write(tmp_path / "cc", COMPILER)
        compiler.chmod(0o755)
        monkeypatch.setenv("CC", str(compiler))
        monkeypatch.setenv("SAID", str(tmp_path / "said"))
        source = write(tmp_path / "user.c", "")
        built = cpp.build("user", sources=[str(source)], build_directory=str(tmp_path / "build"))
        compiled, linked = (line.split() for line in (tmp_path / "said").read_text().splitlines())
        system = target.rpartition("-")[2]
        assert built == str(tmp_path / "build" / f"user{SUFFIXES[system]}")
        assert ("-fPIC" in compiled) == (system != "windows")
        assert ("-Wl,-z,now" in linked) == (system == "linux")
        by_path, by_name = str(folder / "lib" / "tvm_ffi.lib"), [f"-L{folder}/lib", "-ltvm_ffi"]
        assert (by_path in linked) == (system == "windows")
        assert [word for word in linked if word.startswith(("-L", "-l"))] == ([] if system == "windows" else by_name)


# Writes its arguments to a file, and some text to its output file
COMPILER = """#!/bin/sh
[ "$1" = --version ] && exec echo "a compiler of the tests"
echo "$@" >> "$SAID"
while [ $# -gt 0 ]; do
  case $1 in
    -o) echo made > "$2" ;;
    -MF) echo "object:" > "$2" ;;
  esac
  shift
done
"""


@pytest.mark.thread_unsafe(reason="the environment is the process's")
class TestMissingTargets:
    def test_a_root_without_the_package_is_an_error_for_each_option_that_needs_the_library(
        self, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.setenv(libinfo.CROSS_ROOT, str(tmp_path))
        library = tmp_path / "ffi_hpy" / "lib" / "libtvm_ffi.so"
        for option in ("--libs", "--ldflags", "--libdir", "--libfiles", "--cython-lib-path"):
            assert config.main([option]) == 1
            said = capsys.readouterr()
            assert said.out == ""
            assert said.err.startswith(f"ffi-hpy-config: Cannot find the core: expected {library} or ")
            assert said.err.endswith("/lib/tvm_ffi.dll, and FFI_HPY_CROSS_ROOT says to look there\n")

    def test_of_several_systems_none_is_taken_by_chance(self, made_up, monkeypatch):
        for target in ("x86_64-linux", "aarch64-macos"):
            add_binaries(target, made_up / "_systems" / target)
        begin = f"FFI_HPY_CROSS_SYSTEM must name a system that {made_up}/_systems has binaries for, "
        with pytest.raises(RuntimeError) as caught:
            libinfo.find_libtvm_ffi()
        assert str(caught.value) == f"{begin}aarch64-macos or x86_64-linux, and it is not set"
        for named in ("arm64-macos", "linux", "../lib"):
            monkeypatch.setenv(CROSS_SYSTEM, named)
            with pytest.raises(RuntimeError) as caught:
                libinfo.find_libtvm_ffi()
            assert str(caught.value) == f"{begin}aarch64-macos or x86_64-linux, got {named!r}"

    def test_a_folder_with_the_wheels_of_two_systems_needs_the_variable_too(self, made_up, monkeypatch, capsys):
        for target in ("x86_64-linux", "aarch64-windows"):
            add_binaries(target, made_up)
        with pytest.raises(RuntimeError, match="has binaries for, linux or windows, and it is not set"):
            libinfo.find_libtvm_ffi()
        monkeypatch.setenv(CROSS_SYSTEM, "aarch64-windows")
        check_answers("aarch64-windows", made_up, capsys)

    def test_a_wheel_for_another_system_than_the_variable_says_is_refused(self, made_up, monkeypatch):
        add_binaries("x86_64-linux", made_up)
        monkeypatch.setenv(CROSS_SYSTEM, "x86_64-windows")
        with pytest.raises(RuntimeError, match=f"{made_up}/lib has binaries for, linux, got 'x86_64-windows'"):
            libinfo.find_libtvm_ffi()

    def test_headers_are_found_whatever_the_system_is(self, made_up):
        assert libinfo.include_paths() == [str(made_up / "include")]


@pytest.mark.thread_unsafe(reason="the environment is the process's")
def test_the_path_of_an_import_library_is_quoted_for_the_shell_of_this_machine(made_up, monkeypatch, capsys):
    package = made_up.parent / "a root" / "ffi_hpy"
    package.parent.mkdir()
    made_up.rename(package)
    monkeypatch.setenv(libinfo.CROSS_ROOT, str(package.parent))
    add_binaries("x86_64-windows", package)
    assert config.main(["--libs"]) == 0
    assert capsys.readouterr().out == f"'{package}/lib/tvm_ffi.lib'\n"


@pytest.mark.thread_unsafe(reason="the environment is the process's")
def test_without_a_root_the_variable_for_a_system_says_nothing(monkeypatch):
    monkeypatch.delenv(libinfo.CROSS_ROOT, raising=False)
    monkeypatch.setenv(CROSS_SYSTEM, "no-such-system")
    assert libinfo.target_platform() == sys.platform
    assert libinfo.find_libtvm_ffi() == str(PACKAGE / "lib" / "libtvm_ffi.so")


@pytest.mark.thread_unsafe(reason="the environment is the process's")
def test_a_build_for_this_machine_does_not_find_headers_for_another(made_up, monkeypatch):
    there = _cache.environment_digest()
    monkeypatch.delenv(libinfo.CROSS_ROOT)
    here = _cache.environment_digest()
    program = "from ffi_hpy.cpp import _cache; print(_cache.environment_digest())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (here != there, here) == (True, done.stdout.strip())


def test_a_build_for_this_machine_reads_no_module_for_another():
    program = "import sys; from ffi_hpy import config; config.main(['--libs']); print('ffi_hpy._across' in sys.modules)"
    environ = {name: value for name, value in os.environ.items() if name != libinfo.CROSS_ROOT}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "-ltvm_ffi\nFalse\n"
