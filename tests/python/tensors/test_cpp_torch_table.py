"""The library with an exchange API for a PyTorch without its own; the job cp311-torch runs this file."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from support import run_python
from support.arrays import native_allocate, native_allocator

import ffi_hpy
from ffi_hpy import _optional_torch_c_dlpack as optional

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def table_folder(tmp_path_factory):
    """A cache with the library in it, installed as a user would."""
    script = Path(ffi_hpy.__file__).parent / "utils" / "_build_optional_torch_c_dlpack.py"
    folder = tmp_path_factory.mktemp("cache")
    done = subprocess.run([sys.executable, str(script), "--output-dir", str(folder)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def Tabled(table_folder):
    """A class of tensors with the library's exchange API."""
    (library,) = table_folder.iterdir()

    class Tabled(torch.Tensor):
        __dlpack_c_exchange_api__ = optional.table_of_library(library)

    return Tabled


def test_torch_without_a_table_has_that_of_the_library(table_folder):
    program = """
import ffi_hpy, torch
from ffi_hpy import testing
del torch.Tensor.__dlpack_c_exchange_api__
x = torch.arange(6.0).reshape(2, 3)
print(testing.echo(x).tolist() == x.tolist(), hasattr(torch.Tensor, "__dlpack_c_exchange_api__"))
"""
    assert run_python(program, environ={"TVM_FFI_CACHE_DIR": str(table_folder)}) == "True True\n"
    assert run_python(program, environ={"TVM_FFI_CACHE_DIR": str(table_folder / "empty")}) == "True False\n"


@pytest.mark.parametrize("make", [lambda: torch.arange(12).reshape(3, 4).t()[1:], lambda: torch.zeros((2, 0, 3))])
def test_the_torch_table_describes_and_makes_tensors(testing, Tabled, make):
    source = make().as_subclass(Tabled)
    returned = testing.make_array_with_tensor(source)[0]
    assert isinstance(returned, torch.Tensor)
    assert (returned.data_ptr(), returned.shape) == (source.data_ptr(), source.shape)
    assert ffi_hpy.from_dlpack(source).data_ptr() == source.data_ptr()
    assert returned.tolist() == source.tolist()


def test_the_torch_table_allocates(Tabled):
    allocated = ffi_hpy.convert(lambda x: native_allocate((2, 3)))(torch.zeros(1).as_subclass(Tabled))
    assert (type(allocated), tuple(allocated.shape)) == (torch.Tensor, (2, 3))
    assert native_allocator() == 0


def test_the_torch_table_refuses_tensors_without_plain_memory(testing, Tabled):
    source = torch.zeros(3, dtype=torch.complex64).conj()
    with pytest.raises(BufferError, match="conjugate bit"):
        testing.nop(source.as_subclass(Tabled))
    with pytest.raises(RuntimeError, match="resolve it first"):
        describe(Tabled.__dlpack_c_exchange_api__, source)


def describe(table, tensor):
    """Let the exchange API describe a tensor, as another client of the API does."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    entry = ctypes.c_void_p.from_address(get(table, b"dlpack_exchange_api") + DESCRIBE_AT).value
    return ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(entry)(
        tensor, ctypes.create_string_buffer(64)
    )


DESCRIBE_AT = 16 + 3 * 8
"""Bytes before the entry in a DLPackExchangeAPI: the header and the first three entries."""
