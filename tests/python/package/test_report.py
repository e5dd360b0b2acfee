"""`python -m ffi_hpy`, the option --version, and pkg-config's file."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ffi_hpy
from ffi_hpy import libinfo

PACKAGE = Path(ffi_hpy.__file__).resolve().parent
TITLES = ["ffi_hpy", "python", "executable", "system", "core", "context", "calls", "compiler", "ninja", "packages"]
TITLES += ["environment"]


def run_module(module, *arguments, cwd=None, status=0, **variables):
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **variables})
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def lines_of(report):
    return {title: said.strip() for title, _, said in (line.partition(":") for line in report.splitlines())}


def test_the_report_has_a_line_for_each_thing():
    said = lines_of(run_module("ffi_hpy"))
    assert list(said) == TITLES
    assert str(PACKAGE) in said["ffi_hpy"]
    assert said["core"].startswith(libinfo.find_libtvm_ffi())
    assert re.search(r", ABI of apache-tvm-ffi 0\.1\.15\.post2 \(TVMFFIGetVersion: 0\.1\.16\)$", said["core"])
    assert said["executable"] == sys.executable
    assert said["calls"].startswith(("binding", "cffi"))
    assert not [title for title, answer in said.items() if answer.startswith("not known: AttributeError")]


def test_the_report_shows_the_variables_that_matter_and_no_others():
    said = lines_of(run_module("ffi_hpy", FFI_HPY_OF_A_TEST="1", SECRET_OF_A_TEST="2"))
    assert "FFI_HPY_OF_A_TEST=1" in said["environment"]
    assert "SECRET_OF_A_TEST" not in said["environment"]


def test_a_reader_of_the_report_may_stop_reading():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        command = [sys.executable, "-u", "-m", "ffi_hpy"]
        done = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_the_report_continues_without_a_compiler(tmp_path):
    said = lines_of(run_module("ffi_hpy", PATH=str(tmp_path), CXX=""))
    assert said["compiler"].startswith("not known: BuildError: no C++ compiler was found")
    assert list(said) == TITLES


@pytest.mark.skipif(not hasattr(sys, "orig_argv"), reason="this Python does not tell a package that it is being run")
def test_the_report_has_the_reason_if_the_package_cannot_be_loaded(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "ffi_hpy", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    said = lines_of(run_module("ffi_hpy", cwd=tmp_path, status=1))
    assert list(said) == [*TITLES, "problem"]
    assert said["core"].startswith("not known: RuntimeError: Cannot find the core")
    assert said["problem"].startswith("ImportError: ffi_hpy is not built or not installed completely")
    assert run_module("ffi_hpy", "--help", cwd=tmp_path).startswith("usage: python -m ffi_hpy [-h] [--version]")


COMMANDS = {
    "ffi_hpy": "python -m ffi_hpy",
    "ffi_hpy.config": "ffi-hpy-config",
    "ffi_hpy.stub.cli": "ffi-hpy-stubgen",
}


@pytest.mark.parametrize("module", COMMANDS)
def test_each_command_prints_its_version(module):
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True)
    assert done.stdout == f"{COMMANDS[module]} {ffi_hpy.__version__}\n"


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("-h", 0), ("--no-such-option", 2), ("word", 2)])
def test_the_report_is_printed_without_arguments_only(argument, status, capsys):
    from ffi_hpy import _report

    with pytest.raises(SystemExit) as stopped:
        _report.main(arguments=[argument])
    printed, complaint = capsys.readouterr()
    assert stopped.value.code == status
    assert (complaint if status else printed).startswith("usage: python -m ffi_hpy [-h] [--version]")
    assert "executable:" not in printed


def test_pkg_config_finds_headers_and_library_wherever_the_package_is(tmp_path):
    program = shutil.which("pkg-config") or shutil.which("pkgconf")
    if program is None:
        pytest.skip("pkg-config is missing")
    moved = tmp_path / "moved" / "ffi_hpy"
    shutil.copytree(PACKAGE / "share", moved / "share")
    for package in (PACKAGE, moved):
        environ = {**os.environ, "PKG_CONFIG_PATH": str(package / "share" / "pkgconfig")}
        command = [program, "--cflags", "--libs", "tvm_ffi"]
        words = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.split()
        shown = [word[:2] + os.path.realpath(word[2:]) if word[:2] in ("-I", "-L") else word for word in words]
        assert shown == [f"-I{package}/include", f"-L{package}/lib", "-ltvm_ffi"]


def test_pkg_configs_version_is_that_of_cmake():
    version = (PACKAGE / "share" / "cmake" / "tvm_ffi" / "tvm_ffi-config-version.cmake").read_text()
    pc = (PACKAGE / "share" / "pkgconfig" / "tvm_ffi.pc").read_text()
    assert f"set(PACKAGE_VERSION {pc.partition('Version: ')[2].split()[0]})" in version
