"""The options for compilers of other systems: compared as lists, because none of these compilers runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_hpy.cpp import BuildError, _toolchain
from ffi_hpy.cpp._dialect import GNU, GNU_FOR_WINDOWS, MSVC, OUT, dialect_of, library_suffix
from ffi_hpy.cpp._ninja import Step, ninja_text


@pytest.mark.parametrize(
    ("program", "dialect"),
    [
        ("cl", MSVC),
        ("CL.EXE", MSVC),
        (r"C:\VC\bin\cl.exe", MSVC),
        ("C:/LLVM/bin/clang-cl.exe", MSVC),
        ("clang-cl-19", MSVC),
        ("clang", GNU),
        ("/usr/bin/x86_64-w64-mingw32-gcc", GNU),
        ("/opt/cl/c++", GNU),
        ("nvcc", GNU),
    ],
)
def test_the_name_of_a_compiler_decides_the_form_of_its_options(program, dialect):
    assert dialect_of([program, "-x"]) is dialect


@pytest.mark.parametrize(
    ("program", "platform", "dialect"),
    [
        ("x86_64-w64-mingw32-g++", "win32", GNU_FOR_WINDOWS),
        ("clang", "win32", GNU_FOR_WINDOWS),
        ("clang-cl", "win32", MSVC),
        ("clang", "darwin", GNU),
        ("clang", "linux", GNU),
    ],
)
def test_the_target_system_determines_the_options_of_gnu_compilers(program, platform, dialect):
    assert dialect_of([program], platform) is dialect


def test_msvc_compiles_a_source_with_its_own_words():
    words = ["cl", *MSVC.defaults["c++"], "-Iinclude", *MSVC.compile_words("add.cpp")]
    expected = "cl /nologo /O2 /MD /utf-8 /std:c++17 /EHsc /Zc:__cplusplus -Iinclude /showIncludes /c add.cpp"
    assert words == [*expected.split(), f"/Fo{OUT}"]


def test_msvc_links_with_the_import_library_of_the_core():
    words = MSVC.link_words(["a.obj"], Path("lib", "tvm_ffi.dll"), ["/DEBUG"])
    core = str(Path("lib", "tvm_ffi.lib"))
    expected = ("/nologo", "/LD", "a.obj", "/link", core, "/DEBUG", f"/OUT:{OUT}", f"/IMPLIB:{OUT}.lib")
    assert words == expected


def test_gnu_compilers_link_with_the_core_by_its_name():
    words = GNU.link_words(["a.o"], Path("lib", "libtvm_ffi.so"), ["-g"])
    assert words == ("-shared", "a.o", "-Llib", "-ltvm_ffi", "-g", "-o", OUT)


def test_gnu_compilers_for_windows_link_with_the_import_library_and_know_no_fpic():
    words = GNU_FOR_WINDOWS.link_words(["a.o"], Path("lib", "tvm_ffi.dll"), ["-g"])
    assert words == ("-shared", "a.o", str(Path("lib", "tvm_ffi.lib")), "-g", "-o", OUT)
    assert [*GNU_FOR_WINDOWS.defaults.values()] == [("-O2",), ("-std=c++17", "-O2")]


@pytest.fixture
def compiling() -> Step:
    words = ("C:/Program Files/cl.exe", "/DX=a&b", "/c", "x.cpp", f"/Fo{OUT}")
    return Step("objects/x.obj", ("x.cpp",), words, "made", "stamp", lists_in="msvc")


def test_a_step_for_cmd_writes_elsewhere_and_moves_its_output(compiling):
    part = r"%FFI_HPY_WORK%\x.obj"
    assert compiling.run_in_cmd() == (
        'cmd /d /s /c "set FFI_HPY_STAMP=made stamp&& '
        f'"C:/Program Files/cl.exe" "/DX=a&b" /c x.cpp /Fo{part} && move /y {part} objects\\x.obj >nul"'
    )


def test_ninja_reads_the_headers_from_msvc_s_output(compiling, tmp_path):
    text = ninja_text([compiling], tmp_path)
    assert "  deps = msvc\n" in text
    assert "depfile" not in text


def test_cmd_gets_no_percent_sign():
    with pytest.raises(BuildError, match="percent sign"):
        Step("x", (), ("cl", "/DX=%PATH%")).run_in_cmd()


def test_msvc_is_asked_for_its_version_without_an_argument(tmp_path):
    program = tmp_path / "cl"
    program.write_text('#!/bin/sh\n[ $# = 0 ] && echo "Version 19.40"\n')
    program.chmod(0o755)
    assert _toolchain.identify([str(program)]).endswith("Version 19.40")


@pytest.mark.parametrize(("system", "suffix"), [("linux", ".so"), ("darwin", ".dylib"), ("win32", ".dll")])
def test_libraries_have_the_suffix_of_the_system(system, suffix):
    assert library_suffix(system) == suffix
