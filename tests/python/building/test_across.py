"""Building for another machine: the variable that names its ffi_hpy, and who asks for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ffi_hpy
from ffi_hpy import config, libinfo

PACKAGE = Path(ffi_hpy.__file__).resolve().parent


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with ffi_hpy's files, as for another machine."""
    shutil.copytree(PACKAGE, tmp_path / "ffi_hpy", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv(libinfo.CROSS_ROOT, str(tmp_path))
    return tmp_path


@pytest.mark.thread_unsafe(reason="the environment is the process's")
class TestWithTheVariable:
    def test_what_a_build_needs_is_the_other_machines(self, root):
        package = root / "ffi_hpy"
        assert libinfo.find_libtvm_ffi() == str(package / "lib" / "libtvm_ffi.so")
        assert libinfo.include_paths() == [str(package / "include")]
        assert libinfo.find_cmake_path() == str(package / "share" / "cmake" / "tvm_ffi")
        assert libinfo.find_pkgconfig_path() == str(package / "share" / "pkgconfig")

    def test_the_command_prints_flags_for_it(self, root, capsys):
        assert config.main(["--cflags", "--ldflags"]) == 0
        assert capsys.readouterr().out == f"-I{root}/ffi_hpy/include -I{root}/ffi_hpy/include\n-L{root}/ffi_hpy/lib\n"

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
