"""The build for each system: the target of a machine, the names of files, the linker's options."""

from __future__ import annotations

import os
import platform
import struct
import sys

import pytest

from ci.jobs.inspection import looked_up_on_windows, names_of_python
from tools.build.binaries import BINARIES
from tools.build.errors import BuildError
from tools.build.pe_time import forget_time
from tools.build.systems import SYSTEMS
from tools.build.targets import VARIABLE, find_target

OUTPUTS = [binary.output for binary in BINARIES]


@pytest.fixture
def here(monkeypatch):
    """Return a function that makes this machine look like another one to find_target."""

    def pretend(system, machine, bits=64, order="little"):
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(platform, "machine", lambda: machine)
        monkeypatch.setattr(sys, "maxsize", 2 ** (bits - 1) - 1)
        monkeypatch.setattr(sys, "byteorder", order)

    monkeypatch.delenv(VARIABLE, raising=False)
    return pretend


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("linux", "x86_64", "x86_64-linux-gnu"),
        ("linux", "aarch64", "aarch64-linux-gnu"),
        ("darwin", "arm64", "aarch64-macos"),
        ("darwin", "x86_64", "x86_64-macos"),
        ("win32", "AMD64", "x86_64-windows"),
        ("win32", "ARM64", "aarch64-windows"),
    ],
)
def test_a_machine_is_its_own_target(here, system, machine, name):
    here(system, machine)
    assert find_target().name == name


@pytest.mark.parametrize("machine", ["loongarch64", "ppc64le"])
def test_a_linux_of_64_bits_without_a_target_builds_for_itself(here, machine):
    here("linux", machine)
    assert find_target() is None


def test_a_system_without_a_target_is_refused_by_its_name(here):
    here("freebsd14", "amd64")
    with pytest.raises(BuildError, match="this is freebsd14"):
        find_target()


@pytest.mark.parametrize(
    ("system", "machine", "message"),
    [
        ("darwin", "i386", "with macos only aarch64 and x86_64 are served, and this machine is i386;"),
        ("win32", "x86", "with windows only x86_64 and aarch64 are served, and this machine is x86;"),
    ],
)
def test_a_machine_that_its_system_has_no_target_for_is_refused(here, system, machine, message):
    here(system, machine)
    with pytest.raises(BuildError, match=message):
        find_target()


@pytest.mark.parametrize(
    ("system", "machine"),
    [("linux", "x86_64"), ("win32", "AMD64"), ("linux", "aarch64"), ("linux", "i686"), ("linux", "armv7l")],
)
def test_a_python_of_32_bits_is_refused_whatever_the_machine_is(here, system, machine):
    here(system, machine, bits=32)
    with pytest.raises(BuildError, match=f"64 bits are served, and this Python, on {machine.lower()}, has 32;"):
        find_target()


def test_a_big_endian_machine_is_refused(here):
    here("linux", "s390x", order="big")
    with pytest.raises(BuildError, match="only little-endian machines are served, and s390x is big-endian;"):
        find_target()


def test_a_target_that_is_named_is_that_of_any_machine(here, monkeypatch):
    monkeypatch.setenv(VARIABLE, "aarch64-linux-gnu")
    here("freebsd14", "s390x", bits=32, order="big")
    assert find_target().name == "aarch64-linux-gnu"


def test_an_unknown_target_is_refused_with_the_known_ones(monkeypatch):
    monkeypatch.setenv(VARIABLE, "nonsense")
    with pytest.raises(BuildError, match=r"FFI_HPY_TARGET is 'nonsense'; known targets: x86_64-linux-gnu, .*-windows$"):
        find_target()


def test_on_linux_files_have_the_names_of_the_table():
    assert [SYSTEMS["linux"].rename(output) for output in OUTPUTS] == OUTPUTS


def test_on_windows_libraries_have_no_prefix_and_modules_are_pyd():
    names = [SYSTEMS["windows"].rename(binary.output) for binary in BINARIES if "windows" not in binary.not_on]
    assert names == ["lib/tvm_ffi.dll", "lib/tvm_ffi_testing.dll", "_hpy.pyd", "_core.hpy0.pyd"]


def test_on_macos_a_binary_is_found_by_where_it_lies():
    words = SYSTEMS["macos"].link_words("_core.hpy0.so", stays=False, of_python=False, libraries="lib")
    assert words == ["-Wl,-install_name,@rpath/_core.hpy0.so", "-Wl,-rpath,@loader_path/lib", "-Wl,-dead_strip"]


def test_only_binaries_with_names_of_python_may_lack_names():
    for name, flag in (("linux", "-Wl,--no-undefined"), ("macos", "-Wl,-undefined,dynamic_lookup")):
        words = SYSTEMS[name].link_words("_hpy.so", stays=False, of_python=True, libraries=None)
        assert (flag in words) == (name == "macos")
        words = SYSTEMS[name].link_words("_hpy.so", stays=False, of_python=False, libraries=None)
        assert (flag in words) == (name == "linux")


def test_names_that_are_looked_up_on_windows_are_in_each_python_since_3_9():
    looked_up = looked_up_on_windows()
    assert len(looked_up) > 200
    assert looked_up <= names_of_python()


def test_the_time_of_linking_is_taken_out_of_a_file_for_windows(tmp_path):
    header = b"PE\0\0" + struct.pack("<HHI", 0x8664, 5, 1795454023)
    file = tmp_path / "a.dll"
    file.write_bytes(b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40) + header + b"more")
    os.utime(file, ns=(1, 2))
    forget_time(file)
    assert file.read_bytes()[0x40:] == b"PE\0\0" + struct.pack("<HHI", 0x8664, 5, 0) + b"more"
    assert file.stat().st_mtime_ns == 2
