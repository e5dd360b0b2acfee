"""Errors, tensors, modules and tools in a program's code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, assert_type

import ffi_hpy
from ffi_hpy import libinfo, serialization
from ffi_hpy.core import TypeSchema
from ffi_hpy.utils import FileLock
from ffi_hpy.utils.kwargs_wrapper import make_kwargs_wrapper

assert_type(libinfo.find_libtvm_ffi(), str)
assert_type(libinfo.find_library("missing", "tvm_ffi"), Path)
assert_type(libinfo.include_paths(), list[str])

assert_type(ffi_hpy.convert([1]), Any)
assert_type(ffi_hpy.convert_func(lambda: None), ffi_hpy.Function)
assert_type(make_kwargs_wrapper(ffi_hpy.convert_func(abs), ["x"]), Callable[..., Any])
assert_type(serialization.to_json_graph_str(ffi_hpy.Array([1])), str)
assert_type(ffi_hpy.structural_equal([1], [1]), bool)
assert_type(ffi_hpy.structural_hash([1]), int)

schema = TypeSchema.from_annotation(list[int])
assert_type(schema, TypeSchema)
assert_type(schema.repr(), str)


def load(path: Path) -> ffi_hpy.Module:
    module = ffi_hpy.load_module(path)
    assert_type(module.get_function("f"), ffi_hpy.Function)
    assert_type(module.imports, Sequence[ffi_hpy.Module])
    return libinfo.load_lib_module("missing", "x")


def locked(path: Path) -> bool:
    with FileLock(path) as lock:
        assert_type(lock, FileLock)
        return lock.acquire()


def exchanged(tensor: ffi_hpy.Tensor) -> tuple[int, ...]:
    assert_type(tensor.dtype, ffi_hpy.dtype)
    assert_type(tensor.device, ffi_hpy.Device)
    assert_type(tensor.numel(), int)
    assert_type(tensor.shape, "tuple[int, ...]")
    return tensor.shape
