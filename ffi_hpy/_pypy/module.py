"""Makes the module `_core` for PyPy."""

from __future__ import annotations

from types import FunctionType, ModuleType

from . import covering, registry
from .classes import callbacks, cobject, functions, natives, tensors
from .container import mappings, sequences
from .context import bridge, hooks
from .context.binding import binding
from .context.numbers import ERROR, FUNCTION, OPAQUE_PY_OBJECT, TENSOR
from .convert import results, values
from .object import core_functions
from .object.objects import class_set
from .record import define, field_slots, initializers, schemas

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_module"]


def set_hooks(*args: Any, **given: Any) -> None:
    """Set hooks of the binding."""
    if args:
        raise TypeError("set_hooks() takes keyword arguments only")
    hooks.store(given)


def mark_finalizing() -> None:
    """Leak Python objects owned by native code from now on, instead of releasing them."""
    binding.mark_finalizing()


_FROM_BINDING = ("type_define", "type_key_to_index")
_NAMES: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (callbacks, ("function_from_address", "function_from_callable", "function_from_mlir")),
    (cobject, ("CObject", "ObjectRValueRef")),
    (define, ("fields_define",)),
    (field_slots, ("FieldSlot",)),
    (functions, ("Function",)),
    (initializers, ("Initializer",)),
    (mappings, ("CDict", "CMapping")),
    (natives, ("CAny", "Error", "OpaquePyObject", "cany_value", "convert")),
    (
        registry,
        (
            *("class_find", "class_offer", "class_register", "global_get", "global_set"),
            *("method_define", "type_attr", "type_attr_define", "type_info"),
        ),
    ),
    (schemas, ("Schema", "schema_setter")),
    (sequences, ("CList", "CSequence")),
    (
        tensors,
        (
            *("Tensor", "exchange_address", "exchange_from_python", "exchange_table", "from_dlpack"),
            *("stream_get", "stream_set"),
        ),
    ),
    (values, ("DataType", "Device", "OpaquePtr", "data_type_from_code")),
)


def _document(value: Any, theirs: Any) -> None:
    """Show the docstrings of the binding, which are written for users; those of this folder describe the code."""
    if value is theirs:
        return
    value.__doc__ = theirs.__doc__
    if isinstance(value, type):
        for name, member in vars(value).items():
            if name[0] != "_" and isinstance(member, (FunctionType, property)):
                member.__doc__ = getattr(getattr(theirs, name, None), "__doc__", None)


def make_module(name: str) -> ModuleType:
    """Create the module. Its names are those of the binding."""
    module = ModuleType(name, "The binding between the tvm-ffi C ABI and Python.")
    found = module.__dict__
    for constant in dir(binding):
        if constant.isupper():
            found[constant] = getattr(binding, constant)
    found["HAS_DESCRIPTORS"] = True
    for function in _FROM_BINDING:
        found[function] = getattr(binding, function)
    for source, names in _NAMES:
        for public in names:
            found[public] = getattr(source, public)
            _document(found[public], getattr(binding, public))
    found["set_hooks"] = set_hooks
    found["mark_finalizing"] = mark_finalizing
    for value in found.values():
        if isinstance(value, type) and value.__module__.startswith(__name__.rpartition(".")[0]):
            value.__module__ = name
    bridge.set_get(results.get)
    covering.give_hooks()
    core_functions.set_backtrace_boundary()
    for index, cls in (
        (FUNCTION, functions.Function),
        (TENSOR, tensors.Tensor),
        (ERROR, natives.Error),
        (OPAQUE_PY_OBJECT, natives.OpaquePyObject),
    ):
        class_set(index, cls)
    return module
