"""The names of `tvm_ffi.core`, for code that imports them from there.

CALLS is "cffi" where PyPy's JIT compiles calls of native functions into the caller, else "binding". CALLS_REASON is the
reason.
"""
# ruff: noqa: F401 - names that are not in __all__ are also here to be imported

from __future__ import annotations

from . import _ffi_api, _hooks
from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._convert import OPAQUE_PTR_HANDLERS as _OPAQUE_PTR_HANDLERS
from ._convert import convert
from ._convert import convert_func as _convert_to_ffi_func
from ._core import (
    CALLS,
    CALLS_REASON,
    CAny,
    CObject,
    Function,
    ObjectRValueRef,
    class_offer,
    class_register,
    type_key_to_index,
)
from ._core import cany_value as _to_py_class_value
from ._core import stream_get as _env_get_current_stream
from ._core import stream_set as _env_set_current_stream
from ._core import type_attr as _lookup_type_attr
from ._core import type_attr_define as _register_type_attr
from ._dtype import (
    DataType,
    _convert_numpy_dtype_to_ffi_dtype,
    _convert_torch_dtype_to_ffi_dtype,
    _create_cdtype_from_tuple,
)
from ._errors.traceback import append_backtrace as _WITH_APPEND_BACKTRACE
from ._errors.traceback import backtrace_of as _TRACEBACK_TO_BACKTRACE_STR
from ._hooks import set_class_device as _set_class_device
from ._hooks import set_class_dtype as _set_class_dtype
from ._start.fork import importing
from ._tensor import DLPACK_VERSION as __dlpack_version__
from ._tensor import (
    DLTensorTestWrapper,
    Shape,
    Tensor,
    _set_class_tensor,
    _shape_obj_get_py_tuple,
    from_dlpack,
)
from ._types.define import define_type as _register_py_class
from ._types.define import forget_type as _rollback_py_class
from ._types.info import FFIProperty, TypeField, TypeInfo, TypeMethod, index_of_key, info_of_index
from ._types.info import info_of_class as _type_cls_to_type_info
from ._types.info import info_of_key as _lookup_or_register_type_info_from_type_key
from ._types.info import set_class as _set_type_cls
from ._types.schema import TypeSchema
from ._values import device as _device
from ._values.device import Device, _create_device_from_tuple
from ._values.object import MISSING, Object, ObjectConvertible, object_repr
from ._values.object import ObjectMeta as _ObjectSlotsMeta
from ._values.opaque import OpaquePyObject
from ._values.opaque import OpaquePyObject as _convert_to_opaque_object
from ._values.string import Bytes, PyNativeObject, String
from .error import ERROR_NAME_TO_TYPE, ERROR_TYPE_TO_NAME, Error
from .error import exception_to_error_value as _convert_to_ffi_error
from .registry import get_global_func as _get_global_func
from .registry import register_global_func as _register_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._values.device_type import DLDeviceType

__all__ = [
    "ERROR_NAME_TO_TYPE",
    "ERROR_TYPE_TO_NAME",
    "KWARGS",
    "MISSING",
    "_OPAQUE_PTR_HANDLERS",
    "_TRACEBACK_TO_BACKTRACE_STR",
    "_WITH_APPEND_BACKTRACE",
    "Bytes",
    "CAny",
    "CContainerBase",
    "CObject",
    "DLDeviceType",
    "DLTensorTestWrapper",
    "DataType",
    "Device",
    "Error",
    "FFIProperty",
    "Function",
    "Object",
    "ObjectConvertible",
    "ObjectRValueRef",
    "OpaquePyObject",
    "PyNativeObject",
    "Shape",
    "String",
    "Tensor",
    "TypeField",
    "TypeInfo",
    "TypeMethod",
    "TypeSchema",
    "__dlpack_version__",
    "_convert_to_ffi_error",
    "_type_cls_to_type_info",
    "convert",
    "from_dlpack",
    "object_repr",
]

if TYPE_CHECKING:
    KWARGS: Object


class CContainerBase(Object):
    """The containers of native code, for `isinstance`: Array, List, Map and Dict."""

    __slots__ = ()


for _container in (Array, List, Map, Dict):
    CContainerBase.register(_container)

_CLASSES: dict[str, Callable[[], Any]] = {
    "_CLASS_DEVICE": lambda: _device._CLASS_DEVICE,
    "_CLASS_DTYPE": lambda: _hooks.class_dtype,
    "_CLASS_OBJECT": lambda: class_offer(type_key_to_index("ffi.Object"), None),
    "_CLASS_TENSOR": lambda: class_offer(type_key_to_index("ffi.Tensor"), None),
}


def _object_type_key_to_index(type_key: str) -> int | None:
    """The index of a type key, None if it is unknown."""
    index = index_of_key(type_key)
    return index if index >= 0 else None


def _type_index_to_type_info(type_index: int) -> TypeInfo | None:
    """The TypeInfo of a type index, None if it is not registered."""
    try:
        return info_of_index(type_index)
    except ValueError:
        return None


def _set_class_object(cls: type[CObject]) -> None:
    """Make objects whose type is ffi.Object itself instances of `cls`."""
    class_register(type_key_to_index("ffi.Object"), cls)


def _new_object(cls: Any) -> Any:
    """Return an instance of a class, without calling its `__init__`."""
    return cls.__new__(cls)


def _make_strides_from_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a compact tensor of that shape, in elements."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides)) if shape else ()


def _member_method_wrapper(method_func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a Python function that calls another function with the same arguments. Unlike a native function it binds
    as a method."""

    def wrapper(self: Any, *args: Any) -> Any:
        return method_func(self, *args)

    return wrapper


def _register_object_by_index(type_index: int, type_cls: type) -> TypeInfo:
    """Make a class the class of a type, without adding the type's members. ValueError for an index without a type."""
    info = info_of_index(type_index)
    _set_type_cls(info, type_cls)
    return info


def __getattr__(name: str) -> Any:
    """Look up the settable classes on each access. KWARGS, the core's marker for "keyword arguments follow", is fetched
    on first use, because not every core has it. DLDeviceType is also fetched on first use, because it is slow to
    import."""
    value: Any
    if name in _CLASSES:
        return _CLASSES[name]()
    if name == "KWARGS":
        value = _ffi_api.GetKwargsObject()
    elif name == "DLDeviceType":
        with importing:
            from ._values.device_type import DLDeviceType
        value = DLDeviceType
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
