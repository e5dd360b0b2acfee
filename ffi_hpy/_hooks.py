"""The functions and classes of higher layers that the binding calls. `_types.overrides` and `_bind.without_value` set
further hooks."""

from __future__ import annotations

from . import _core
from ._convert import classify_with_protocols
from ._dtype import dtype
from ._errors.reraise import arrive
from ._start.memo import remember_by_class
from ._start.similar import did_you_mean
from ._tensor import (
    Shape,
    Tensor,
    dlpack_capsule,
    refuse_unresolved,
    stream_of_torch,
    tensor_of_torch,
    torch_of_tensor,
)
from ._types.function_metadata import order_of_arguments
from ._types.info import info_of_key, set_class, set_python_class
from ._values import device as _device
from ._values.device import Device
from ._values.object import Object
from ._values.plain import DataType, wrap_opaque_ptr
from ._values.string import Bytes, String
from .error import (
    Error,
    call_guarded,
    check_signals,
    error_to_exception,
    exception_asked_for,
    exception_leaves,
    exception_to_error,
    interrupts,
    raise_for_error,
)
from .registry import class_for_type_index, register_global_func

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["record_objects", "set_class_device", "set_class_dtype"]


def _replace_refused(callee: Any, position: int, value: Any) -> Any:
    from ._types.refused_array import replace_refused

    return replace_refused(callee, position, value)


def _check_annotated(number: int, value: Any) -> Any:
    from ._types.checks import check_annotated

    return check_annotated(number, value)


def _name_classes(message: bytes, places: bytes, first: int, args: tuple[Any, ...]) -> str:
    from ._values.argument_classes import name_classes

    return name_classes(message, places, first, args)


_core.set_hooks(
    # The binding caches the results by type pointer where it can
    classify=classify_with_protocols if _core.HAS_EXTENSION else remember_by_class(classify_with_protocols),
    class_for_type_index=class_for_type_index,
    error_to_exception=error_to_exception if _core.HAS_EXTENSION else raise_for_error,
    exception_to_error=exception_to_error,
    exception_leaves=exception_leaves,
    exception_arrives=arrive,
    exception_asked_for=exception_asked_for,
    interrupts=interrupts,
    call_guarded=call_guarded,
    check_signals=check_signals,
    dlpack_capsule=dlpack_capsule,
    check_memory=refuse_unresolved,
    array_to_tensor=tensor_of_torch,
    tensor_to_array=torch_of_tensor,
    array_stream=stream_of_torch,
    string_class=String,
    bytes_class=Bytes,
    shape_class=Shape._wrap,
    wrap_dtype=dtype._of,
    wrap_opaque_ptr=wrap_opaque_ptr,
    device_class=Device,
    convert=_core.convert,
    did_you_mean=did_you_mean,
    order_of_arguments=order_of_arguments,
    replace_refused=_replace_refused,
    check_annotated=_check_annotated,
    name_classes=_name_classes,
)
for _key, _cls in (("ffi.Error", Error), ("ffi.Tensor", Tensor)):
    set_class(info_of_key(_key), _cls)
    _cls.__tvm_ffi_type_info__ = info_of_key(_key)  # type: ignore[union-attr]
_core.class_register(_core.type_key_to_index("ffi.Shape"), Object)
for _key, _python_class in (
    ("ffi.String", String),
    ("ffi.Bytes", Bytes),
    ("ffi.Shape", Shape),
    ("DataType", DataType),
    ("Device", Device),
):
    set_python_class(info_of_key(_key), _python_class)


def _answer_native(operation: str, *values: Any) -> Any:
    """Return the answer of `_values.standard`, which is loaded by the first question of native code."""
    from ._values.standard import answer

    return answer(operation, *values)


register_global_func("ffi_hpy.Python", _answer_native, override=True)


def _repr_of_opaque(value: Any, _repr: Any) -> str:
    return repr(value)


def _show_opaque_values() -> None:
    """Let the repr of containers and of objects show Python objects inside of them."""
    index = _core.type_key_to_index("ffi.OpaquePyObject")
    if _core.type_attr(index, "__ffi_repr__") is None:
        _core.type_attr_define(index, "__ffi_repr__", _repr_of_opaque)


_show_opaque_values()


class_dtype: type[Any] = dtype


def set_class_dtype(cls: type[Any]) -> None:
    """Make data types from native code instances of `cls`, a str class with an attribute `_tvm_ffi_dtype`."""
    global class_dtype

    def wrap(word: int) -> Any:
        data_type = DataType._of(word)
        value = str.__new__(cls, str(data_type))
        value._tvm_ffi_dtype = data_type
        return value

    _core.set_hooks(wrap_dtype=cls._of if issubclass(cls, dtype) else wrap)
    class_dtype = cls


def set_class_device(cls: type[Device]) -> None:
    """Make devices from native code and from device() instances of `cls`, a subclass of Device."""
    if not issubclass(cls, Device):
        raise TypeError(f"expected a subclass of Device, got {cls!r}")
    _core.set_hooks(device_class=cls)
    _device._CLASS_DEVICE = cls


def record_objects(note: Callable[[int], object] | None) -> None:
    """Call `note` with the pointer of each object that gets a wrapper, for the leak report; None ends that."""
    _core.set_hooks(object_made=note)
