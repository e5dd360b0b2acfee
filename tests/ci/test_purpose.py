"""The target of a build's compiler: it is queried before anything is compiled, and refused with one sentence."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig

import pytest

from ci.provision.compilers import find_c_compiler
from tools.build import compiler as building
from tools.build.compiler import find_compiler
from tools.build.errors import BuildError
from tools.build.purpose import Purpose, check_purpose, find_purpose
from tools.build.targets import VARIABLE

LITTLE, BIG = "__ORDER_LITTLE_ENDIAN__", "__ORDER_BIG_ENDIAN__"
ORDERS = f"#define {LITTLE} 1234\n#define {BIG} 4321\n"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("CC", "CFLAGS", "_PYTHON_HOST_PLATFORM", VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def make_compiler(tmp_path):
    """Return a function that makes a program that prints predefined macros, as a compiler does, and records its
    calls."""

    def make(*macros, size=8, order=LITTLE):
        lines = [f"#define __SIZEOF_POINTER__ {size}", f"#define __BYTE_ORDER__ {order}"]
        text = ORDERS + "".join(f"{line}\n" for line in [*lines, *(f"#define {name} 1" for name in macros)])
        (tmp_path / "macros").write_text(text)
        program = tmp_path / "some-cc"
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/macros\n')
        program.chmod(0o755)
        return str(program)

    return make


@pytest.mark.parametrize(
    ("macros", "system", "machine"),
    [
        (("__linux__", "__x86_64__"), "linux", "x86_64"),
        (("__linux__", "__aarch64__"), "linux", "aarch64"),
        (("__linux__", "__powerpc64__"), "linux", "ppc64le"),
        (("__linux__", "__loongarch__"), "linux", "loongarch64"),
        (("__APPLE__", "__aarch64__"), "macos", "aarch64"),
        (("_WIN32", "__x86_64__"), "windows", "x86_64"),
        (("__linux__", "__alpha__"), "linux", ""),
        (("__FreeBSD__", "__x86_64__"), "", "x86_64"),
    ],
)
def test_a_compiler_says_its_system_and_its_machine(make_compiler, macros, system, machine):
    assert find_purpose([make_compiler(*macros)], "CC names") == Purpose(system, machine)


def test_the_compiler_of_this_machine_is_for_it():
    check_purpose(find_c_compiler(), "PATH has", sysconfig.get_platform())


@pytest.mark.parametrize(
    ("purpose", "platform", "is_for"),
    [
        (Purpose("linux", "x86_64"), "linux-x86_64", True),
        (Purpose("linux", "aarch64"), "linux-x86_64", False),
        (Purpose("windows", "x86_64"), "linux-x86_64", False),
        (Purpose("", "x86_64"), "linux-x86_64", False),
        (Purpose("linux", ""), "linux-x86_64", False),
        (Purpose("linux", "x86_64"), "linux-alpha", False),
        (Purpose("linux", ""), "linux-alpha", True),
    ],
)
def test_two_machines_count_as_one_only_if_both_are_unknown(purpose, platform, is_for):
    assert purpose.is_for(platform) == is_for


def test_a_compiler_for_32_bits_is_refused_before_it_compiles(make_compiler, monkeypatch, tmp_path):
    compiler = make_compiler("__linux__", "__arm__", size=4)
    monkeypatch.setenv("CC", compiler)
    with pytest.raises(
        BuildError, match=f"^only systems of 64 bits .* '?{compiler}'?, which compiles for pointers of 4"
    ):
        find_compiler()
    assert (tmp_path / "calls").read_text() == f"--version\n-dM -E -x c {os.devnull}\n"


def test_flags_that_make_it_one_for_32_bits_are_seen(monkeypatch, tmp_path):
    program = tmp_path / "cc"
    program.write_text(f'#!/bin/sh\ncase "$*" in *-m32*) size=4;; *) size=8;; esac\ncat <<EOF\n{ORDERS}EOF\n')
    program.write_text(program.read_text() + f"echo '#define __BYTE_ORDER__ {LITTLE}'\n")
    program.write_text(program.read_text() + 'echo "#define __SIZEOF_POINTER__ $size"\n')
    program.chmod(0o755)
    assert find_purpose([str(program)], "CC names") == Purpose("", "")
    monkeypatch.setenv("CFLAGS", "-m32 -g")
    with pytest.raises(BuildError, match="which with CFLAGS compiles for pointers of 4 bytes"):
        find_purpose([str(program)], "CC names")


def test_a_compiler_for_a_big_endian_machine_is_refused(make_compiler, monkeypatch):
    monkeypatch.setenv("CC", make_compiler("__linux__", "__s390x__", order=BIG))
    with pytest.raises(
        BuildError, match=r"^only little-endian machines .*some-cc'?, which compiles for a big-endian one$"
    ):
        find_compiler()


@pytest.fixture
def on_linux(monkeypatch):
    """Make this machine look like Linux x86-64."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sysconfig, "get_platform", lambda: os.environ.get("_PYTHON_HOST_PLATFORM", "linux-x86_64"))


@pytest.mark.usefixtures("on_linux")
def test_a_cross_compiler_is_refused_with_the_variable_to_set_and_accepted_once_it_is_set(make_compiler, monkeypatch):
    monkeypatch.setenv("CC", make_compiler("__linux__", "__aarch64__"))
    with pytest.raises(BuildError) as refused:
        find_compiler()
    said = "linux-aarch64, and the wheel would be tagged for linux-x86_64: _PYTHON_HOST_PLATFORM=linux-aarch64 tags it"
    assert said in str(refused.value)
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "linux-aarch64")
    assert find_compiler().platform_tag == "linux_aarch64"


@pytest.mark.usefixtures("on_linux")
def test_a_compiler_for_another_system_is_refused_and_no_tag_would_help(make_compiler, monkeypatch):
    monkeypatch.setenv("CC", make_compiler("_WIN32", "__x86_64__"))
    with pytest.raises(BuildError, match=r"for windows-x86_64, .*: FFI_HPY_TARGET takes ziglang") as refused:
        find_compiler()
    assert "_PYTHON_HOST_PLATFORM" not in str(refused.value)


def test_on_macos_the_machine_is_that_of_the_target(make_compiler, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setenv("CC", make_compiler("__APPLE__", "__aarch64__"))
    assert find_compiler().platform_tag == "macosx_11_0_arm64"
    monkeypatch.setenv("CC", make_compiler("__APPLE__", "__x86_64__"))
    with pytest.raises(BuildError, match="compiles for macos-x86_64, and the wheel would be tagged for macos-aarch64"):
        find_compiler()


def test_a_program_that_is_not_a_compiler_is_refused(monkeypatch):
    monkeypatch.setenv("CC", "echo")
    with pytest.raises(BuildError, match="the C compiler 'echo', which does not report its target by -dM -E"):
        find_compiler()


@pytest.mark.parametrize("variable", ["CC", "CFLAGS"])
def test_words_that_no_shell_would_read_are_refused_with_their_variable(monkeypatch, variable):
    monkeypatch.setenv("CC", "echo")
    monkeypatch.setenv(variable, 'gcc "')
    with pytest.raises(BuildError, match=f"^{variable} has to be words as in a shell, and is 'gcc \"': No closing"):
        find_compiler()


@pytest.mark.usefixtures("on_linux")
def test_a_cc_of_blanks_is_as_none(make_compiler, monkeypatch, tmp_path):
    make_compiler("__linux__", "__x86_64__")
    (tmp_path / "some-cc").rename(tmp_path / "cc")
    monkeypatch.setattr(building, "_find_zig", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CC", "  ")
    assert find_compiler().command == ("cc",)
