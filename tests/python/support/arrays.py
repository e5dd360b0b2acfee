"""The array library of the tests, as Python sees it: its C part is native/arrays.c."""

from __future__ import annotations

import ctypes
import threading

import pytest

import ffi_hpy
from support.dlpack_structs import Tensor
from support.native_build import PACKAGE, Missing, compile_c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEPS = ("none", "managed", "borrow", "make", "stream", "allocate")
CPU, CUDA = 1, 2
FLOAT32 = (2, 32, 1)


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class State(ctypes.Structure):
    """The library's settings and counters for the thread that uses it."""

    _fields_ = (
        ("fails", ctypes.c_int32),
        ("is_mute", ctypes.c_int32),
        ("n_alive", ctypes.c_int64),
        ("n_made", ctypes.c_int64),
        ("n_borrowed", ctypes.c_int64),
        ("flags", ctypes.c_uint64),
        ("major", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
    )

    def fail_in(self, step: str, is_mute: bool = False) -> None:
        self.fails, self.is_mute = STEPS.index(step), is_mute


_states: list[State] = []  # never freed, because leaked tensors point to them
_memories: list[Any] = []  # never freed, because the library's tensors do not keep arrays alive
_loading = threading.Lock()
_library: list[Any] = []


def library() -> Any:
    """Return the loaded C part."""
    with _loading:
        if not _library:
            try:
                _library.append(ctypes.CDLL(str(compile_c("arrays.c", PACKAGE / "include"))))
            except Missing as reason:
                pytest.fail(str(reason), pytrace=False)
    return _library[0]


def new_state() -> State:
    """Return a state without failures, in use on this thread."""
    state = State(major=1)
    _states.append(state)
    library().use_state(ctypes.byref(state))
    return state


def table_address(name: str = "exchange_table") -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(library(), name))


class Array:
    """Float32 memory with a shape; `address` is the address of its DLTensor. Subclasses have an exchange API."""

    def __init__(
        self,
        shape: tuple[int, ...] = (4,),
        strides: tuple[int, ...] | None = None,
        device: tuple[int, int] = (CPU, 0),
        dtype: tuple[int, int, int] = FLOAT32,
        byte_offset: int = 0,
        ndim: int | None = None,
    ) -> None:
        self.memory = (ctypes.c_float * 64)(*range(64))
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.tensor = Tensor(
            ctypes.addressof(self.memory),
            *device,
            len(shape) if ndim is None else ndim,
            *dtype,
            ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(self.strides, ctypes.POINTER(ctypes.c_int64)),
            byte_offset,
        )
        self.address = ctypes.addressof(self.tensor)
        _memories.append((self.memory, self.shape, self.strides, self.tensor))
        self.data = ctypes.addressof(self.memory) + byte_offset


class MadeArray:
    """An array that the library makes from a managed tensor, and that owns the tensor."""

    def __init__(self, managed: int) -> None:
        self.managed = managed
        tensor = Managed.from_address(managed).tensor
        self.data = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))

    def __del__(self) -> None:
        library().drop_managed(ctypes.c_void_p(self.managed))


def made_of(managed: int) -> MadeArray:
    return MadeArray(managed)


def array_class(table: str = "exchange_table", base: type = Array) -> Any:
    """Return a new class of arrays with an exchange API. Each test uses its own, because facts about a class are
    cached."""
    return type("ArrayOfTests", (base,), {"__dlpack_c_exchange_api__": table_address(table)})


def native_stream(device: ffi_hpy.Device) -> int:
    """Return the stream of native code on this thread."""
    get = ffi_hpy.LIB.TVMFFIEnvGetStream
    get.restype, get.argtypes = ctypes.c_size_t, (ctypes.c_int32, ctypes.c_int32)
    stream: int = get(device.dlpack_device_type(), device.index)
    return stream


def native_allocator() -> int:
    """Return the address of native code's allocator on this thread, 0 if there is none."""
    get = ffi_hpy.LIB.TVMFFIEnvGetDLPackManagedTensorAllocator
    get.restype, get.argtypes = ctypes.c_size_t, ()
    allocator: int = get()
    return allocator


def native_allocate(shape: tuple[int, ...]) -> ffi_hpy.Tensor:
    """Return a tensor that native code makes on this thread. Raises native code's error if it fails."""
    like = Array(shape).tensor
    handle = ctypes.c_void_p()
    allocate = ffi_hpy.LIB.TVMFFIEnvTensorAlloc
    if allocate(ctypes.byref(like), ctypes.byref(handle)) != 0:
        take = ffi_hpy.LIB.TVMFFIErrorMoveFromRaised
        take(ctypes.byref(handle))
        raise adopted(handle).py_error() if hasattr(ffi_hpy.Error, "py_error") else RuntimeError("allocation failed")
    return adopted(handle)


def adopted(handle: ctypes.c_void_p) -> Any:
    """Return the wrapper of a native object; steals the caller's reference."""
    give = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)

    def returned(_self: Any, _args: Any, _n: int, result: int) -> int:
        type_index = ctypes.c_int32.from_address(handle.value + 8).value  # type: ignore[operator]
        ctypes.c_int32.from_address(result).value = type_index
        ctypes.c_void_p.from_address(result + 8).value = handle.value
        return 0

    function = give(returned)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return ffi_hpy._core.function_from_address(address, function)()
