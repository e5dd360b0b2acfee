"""The goals of calls.py, tensors.py and instructions.py: the largest ratio to a peer's time in the same row."""

from __future__ import annotations

NANOBIND_GOALS = {"no argument": 1.15, "three ints": 1.15, "int echoed": 1.15, "field read": 1.0}
"""The largest ratio to nanobind's time and instructions, with the GIL kept."""

TVM_FFI_GOALS = {
    "no argument": 0.4,
    "three ints": 0.4,
    "callback": 0.45,
    "method call": 0.45,
    "NumPy array": 0.45,
    "copy": 0.45,
    "deep copy": 0.5,
    "deep copy, nested": 0.5,
    "py_class text field read": 0.5,
}
"""The largest ratio to apache-tvm-ffi's time, with the GIL kept."""

TVM_FFI_GOAL = 0.6
"""The largest ratio to apache-tvm-ffi's time in every other row, with the GIL kept."""

TVM_FFI_RELEASED_GOAL = 0.85
"""The largest ratio to apache-tvm-ffi's time if both release the GIL."""

TENSOR_GOALS = {
    "from_dlpack of a torch tensor": 0.7,
    "from_dlpack of a NumPy array": 0.7,
    "torch.from_dlpack": 1.0,
    "numpy.from_dlpack": 1.0,
    "NumPy array": 0.45,
}
"""The largest ratio to apache-tvm-ffi's time in rows of tensors.py."""

TENSOR_GOAL = 0.5
"""The largest ratio to apache-tvm-ffi's time in every other row of tensors.py."""

MOST_NS = {"object made": 250.0}
"""The most nanoseconds."""
