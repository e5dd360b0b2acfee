"""Makes the module `_core` for PyPy."""

from __future__ import annotations

from types import FunctionType, ModuleType

from . import covering, registry
from .classes import callbacks, cobject, functions, tensors
from .container import mappings, sequences
from .context import bridge, hooks
from .context.binding import binding
from .context.hidden import hidden
from .context.numbers import FUNCTION, TENSOR
from .convert import results, values
from .object import core_functions
from .object.objects import class_set
from .record import define, field_slots, initializers, schemas

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
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


_FROM_BINDING = (
    *("CAny", "data_type_name", "data_type_parse", "native_functions", "opaque_hold", "type_define"),
    "type_key_to_index",
)
"""Names with values that both sides share."""
_LOWERED = ("cany_value", "convert")
"""Functions whose results are converted to this side."""
_NAMES: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (callbacks, ("function_from_address", "function_from_callable", "function_from_mlir")),
    (cobject, ("CObject", "ObjectRValueRef")),
    (define, ("fields_define",)),
    (field_slots, ("FieldSlot",)),
    (functions, ("Function",)),
    (initializers, ("Initializer",)),
    (mappings, ("CDict", "CMapping")),
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
    (values, ("PlainValue",)),
)


def _lowered(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @hidden
    def function(*args: Any) -> Any:
        return bridge.lower(theirs(*args))

    function.__name__, function.__doc__ = theirs.__name__, theirs.__doc__
    return function


def _document(value: Any, theirs: Any) -> None:
    """Copy the docstrings of the binding's functions and classes to ours where these have none, as in the wheel
    (tools/build/python_source.py)."""
    if value.__doc__ is None:
        value.__doc__ = theirs.__doc__
    if isinstance(value, type):
        for name, member in vars(value).items():
            if name[0] != "_" and member.__doc__ is None and isinstance(member, (FunctionType, property)):
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
    for function in _LOWERED:
        found[function] = _lowered(getattr(binding, function))
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
    for index, cls in ((FUNCTION, functions.Function), (TENSOR, tensors.Tensor)):
        class_set(index, cls)
    return module
