"""Embedding the bytes of a file in an object file: ffi_hpy.utils.embed_cubin."""

import ctypes
import subprocess
import sys

import pytest
from support.native_build import find_c_compiler, read_library

import ffi_hpy.libinfo
from ffi_hpy.utils.embed_cubin import embed_cubin, main

_SOURCE = """
extern const unsigned char __tvm_ffi__cubin_kernel[], __tvm_ffi__cubin_kernel_end[];
extern const unsigned char __tvm_ffi__cubin_other[], __tvm_ffi__cubin_other_end[];
const unsigned char* begin_of(int other) { return other ? __tvm_ffi__cubin_other : __tvm_ffi__cubin_kernel; }
const unsigned char* end_of(int other) { return other ? __tvm_ffi__cubin_other_end : __tvm_ffi__cubin_kernel_end; }
"""


@pytest.fixture
def compiled(tmp_path):
    """An object file whose code needs the bytes of two files."""
    source, obj = tmp_path / "user.c", tmp_path / "user.o"
    source.write_text(_SOURCE)
    subprocess.run([*find_c_compiler(), "-c", "-fPIC", str(source), "-o", str(obj)], check=True)
    return obj


def embedded(library, other):
    loaded = ctypes.CDLL(str(library))
    loaded.begin_of.restype = loaded.end_of.restype = ctypes.c_void_p
    begin, end = loaded.begin_of(other), loaded.end_of(other)
    assert begin % 16 == 0
    return ctypes.string_at(begin, end - begin)


@pytest.mark.thread_unsafe(reason="the threads would write the same files")
def test_code_finds_the_bytes_under_their_names(tmp_path, compiled):
    contents = {"kernel": b"\x7fELF kernel" * 1001, "other": b""}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        embed_cubin(tmp_path / name, compiled, compiled, name)  # each call adds one to the object file
    library = tmp_path / "user.so"
    done = subprocess.run([*find_c_compiler(), "-shared", str(compiled), "-o", str(library)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")  # an executable stack would cause a warning
    assert [embedded(library, other) for other in (0, 1)] == list(contents.values())
    assert {name for name in read_library(library).exports if "cubin" in name} == set()


@pytest.mark.thread_unsafe(reason="the threads would write the same files")
def test_the_command_does_the_same(tmp_path, compiled):
    (tmp_path / "kernel").write_bytes(b"abc")
    command = [sys.executable, "-m", "ffi_hpy.utils.embed_cubin", "--cubin", tmp_path / "kernel", "--name", "kernel"]
    command += ["--input-obj", compiled, "--output-obj", tmp_path / "out.o", "-v"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert " -r -o " in done.stdout
    assert (tmp_path / "out.o").stat().st_size > compiled.stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernel", "out.o", "user.c", "user.o"]


def test_a_file_that_cannot_be_embedded_is_an_error_that_names_it(tmp_path, compiled, capsys):
    blob, missing = tmp_path / "blob", tmp_path / "missing"
    blob.write_bytes(b"x" * 100)
    with pytest.raises(FileNotFoundError, match="missing"):
        embed_cubin(missing, compiled, tmp_path / "out.o", "kernel")
    with pytest.raises(FileNotFoundError, match="missing"):
        embed_cubin(blob, missing, tmp_path / "out.o", "kernel")
    with pytest.raises(ValueError, match="blob is not an ELF file"):
        embed_cubin(blob, blob, tmp_path / "out.o", "kernel")
    with pytest.raises(ValueError, match="is not an object file for 64 bits, or is linked already"):
        embed_cubin(blob, ffi_hpy.libinfo.find_libtvm_ffi(), tmp_path / "out.o", "kernel")
    for name in ("", "two words", "1st", "größe"):
        with pytest.raises(ValueError, match="name must be an identifier in C"):
            embed_cubin(blob, compiled, tmp_path / "out.o", name)
    embed_cubin(blob, compiled, tmp_path / "out.o", "kernel")
    with pytest.raises(RuntimeError, match=r"(?s)exit status 1.*__tvm_ffi__cubin_kernel"):
        embed_cubin(blob, tmp_path / "out.o", tmp_path / "again.o", "kernel")
    assert not (tmp_path / "again.o").exists()
    arguments = ["--cubin", str(missing), "--name", "x", "--input-obj", "x", "--output-obj", "x"]
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("embed_cubin: ")


@pytest.mark.thread_unsafe(reason="the environment is the process's")
def test_the_linker_may_be_several_words(tmp_path, compiled, monkeypatch, capsys):
    (tmp_path / "blob").write_bytes(b"x")
    monkeypatch.setenv("LD", "ld  --build-id='none'")
    embed_cubin(tmp_path / "blob", compiled, tmp_path / "out.o", "kernel", verbose=True)
    assert capsys.readouterr().out.startswith("ld --build-id=none -r -o ")


@pytest.mark.thread_unsafe(reason="the environment is the process's")
def test_without_a_linker_the_error_names_the_variable(tmp_path, compiled, monkeypatch):
    (tmp_path / "blob").write_bytes(b"x")
    monkeypatch.setenv("LD", "no-such-linker")
    with pytest.raises(RuntimeError, match="the linker 'no-such-linker' is not on PATH; LD can name one"):
        embed_cubin(tmp_path / "blob", compiled, tmp_path / "out.o", "kernel")
