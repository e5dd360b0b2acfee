"""What is built for each system: which target a machine is, how files are called, what the linker is told."""

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
def test_a_machine_is_its_own_target(monkeypatch, system, machine, name):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert find_target().name == name


def test_a_system_without_a_target_is_refused_by_its_name(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sys, "platform", "freebsd14")
    with pytest.raises(BuildError, match="this is freebsd14"):
        find_target()


def test_on_linux_files_have_the_names_of_the_table():
    assert [SYSTEMS["linux"].rename(output) for output in OUTPUTS] == OUTPUTS


def test_on_windows_libraries_have_no_prefix_and_modules_are_pyd():
    names = [SYSTEMS["windows"].rename(binary.output) for binary in BINARIES if "windows" not in binary.not_on]
    assert names == ["lib/tvm_ffi.dll", "lib/tvm_ffi_testing.dll", "_hpy.pyd", "_core.hpy0.pyd"]


def test_on_macos_a_binary_is_found_by_where_it_lies():
    words = SYSTEMS["macos"].link_words("_core.hpy0.so", stays=False, of_python=False, libraries="lib")
    assert words == ["-Wl,-install_name,@rpath/_core.hpy0.so", "-Wl,-rpath,@loader_path/lib", "-Wl,-dead_strip"]


def test_only_what_has_names_of_python_may_lack_names():
    for name, flag in (("linux", "-Wl,--no-undefined"), ("macos", "-Wl,-undefined,dynamic_lookup")):
        words = SYSTEMS[name].link_words("_hpy.so", stays=False, of_python=True, libraries=None)
        assert (flag in words) == (name == "macos")
        words = SYSTEMS[name].link_words("_hpy.so", stays=False, of_python=False, libraries=None)
        assert (flag in words) == (name == "linux")


def test_what_is_looked_up_on_windows_is_in_each_python_since_3_9():
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
