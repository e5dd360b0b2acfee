"""One side of tensors.py: a process that times how arrays pass through ffi_hpy or tvm_ffi, on request.

Reads lines `ROW N` and answers each with the ns per call of N calls, minus the cost of the empty loop. The environment
determines whether calls release the GIL. Usage: tensor_side.py ffi_hpy|tvm_ffi LIBRARY
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

import numpy
import torch
from placement import scatter
from side import serve_rows

ROWS = {
    "torch tensor": "nop(torch_tensor)",
    "three torch tensors": "nop(torch_tensor, torch_tensor, torch_tensor)",
    "torch tensor echoed": "echo(torch_tensor)",
    "torch tensor out of an Array": "array_of_torch[0]",
    "Array made of a torch tensor": "make_array(torch_tensor)",
    "callback with a torch tensor": "callback(torch_tensor)",
    "callback with a Tensor as torch's": "callback(tensor)",
    "from_dlpack of a torch tensor": "from_dlpack(torch_tensor)",
    "torch.from_dlpack": "torch_from_dlpack(tensor)",
    "NumPy array": "nop(array)",
    "NumPy array echoed": "echo(array)",
    "from_dlpack of a NumPy array": "from_dlpack(array)",
    "numpy.from_dlpack": "numpy_from_dlpack(tensor)",
    "Tensor": "nop(tensor)",
    "shape of a Tensor": "tensor.shape",
    "dtype of a Tensor": "tensor.dtype",
}


def names_of(package: str, library: str) -> dict[str, Any]:
    """Return all names that the statements use. Loading `library` registers the testing.* functions."""
    scatter()
    ffi = importlib.import_module(package)
    if package == "ffi_hpy":
        ctypes.CDLL(library)  # so that both sides use this library: ffi_hpy.testing uses the loaded one
    importlib.import_module(f"{package}.testing")
    tensor = torch.zeros((2, 3))
    array = numpy.zeros((2, 3), dtype="float32")
    make_array = ffi.get_global_func("testing.make_array_with_tensor")
    return {
        "nop": ffi.get_global_func("testing.nop"),
        "echo": ffi.get_global_func("testing.echo"),
        "make_array": make_array,
        "callback": ffi.convert_func(lambda x: None, tensor_cls=torch.Tensor),
        "torch_tensor": tensor,
        "array": array,
        "tensor": ffi.from_dlpack(array),
        "array_of_torch": make_array(tensor),
        "from_dlpack": ffi.from_dlpack,
        "torch_from_dlpack": torch.from_dlpack,
        "numpy_from_dlpack": numpy.from_dlpack,
    }


def main() -> None:
    serve_rows(ROWS, names_of(sys.argv[1], sys.argv[2]))


if __name__ == "__main__":
    main()
