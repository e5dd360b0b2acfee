"""Makes the module `_core` for PyPy."""

from __future__ import annotations

from types import FunctionType, ModuleType

from . import binding_hooks
from .classes import callbacks, cobject, errors, functions, tensors
from .container import builtin, mappings, sequences
from .context import bridge, hooks, py_owners
from .context.binding import binding
from .context.numbers import ERROR, FUNCTION, TENSOR
from .convert import opaque, results, values
from .delegated import DELEGATED
from .object import core_functions, identity
from .object.objects import class_guard, class_set
from .record import field_slots, initializers, schemas

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_module"]

_FROM_BINDING = (
    *(
        "CAny",
        "capsule_new",
        "capsule_read",
        "data_type_name",
        "data_type_parse",
        "exchange_address",
        "exchange_from_python",
        "exchange_table",
        "items_of",
    ),
    *(
        "mark_finalizing",
        "member_register",
        "memory_capsule",
        "method_define",
        "native_functions",
        "stream_get",
        "stream_set",
    ),
    *("tensor_to_read", "type_attr_define", "type_define", "type_key_to_index"),
)
"""Names of the binding whose values are the same on both sides."""

_NAMES: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (callbacks, ("function_from_callable",)),
    (cobject, ("CObject", "ObjectRValueRef")),
    (errors, ("Error",)),
    (field_slots, ("FieldSlot",)),
    (functions, ("Function",)),
    (initializers, ("Initializer",)),
    (mappings, ("CDict", "CMapping")),
    (schemas, ("Schema",)),
    (sequences, ("CList", "CSequence")),
    (tensors, ("Tensor",)),
    (values, ("PlainValue",)),
)


def _document(value: Any, theirs: Any) -> None:
    """Show the docstrings of the binding, which are written for users; the docstrings of this folder describe the
    code."""
    if value is theirs:
        return
    value.__doc__ = theirs.__doc__
    if isinstance(value, type):
        for name, member in vars(value).items():
            if name[0] != "_" and isinstance(member, (FunctionType, property)):
                member.__doc__ = getattr(getattr(theirs, name, None), "__doc__", None)


def make_module(name: str) -> ModuleType:
    """Create the module. The module has the names of the binding."""
    module = ModuleType(name, binding.__doc__)
    found = module.__dict__
    for constant in dir(binding):
        if constant.isupper():
            found[constant] = getattr(binding, constant)
    found["HAS_DESCRIPTORS"] = True
    found["NATIVE_TABLES"] = (py_owners.owned, identity.kept)
    found["class_guard"] = class_guard
    for function in _FROM_BINDING:
        found[function] = getattr(binding, function)
    own = {public: getattr(source, public) for source, names in _NAMES for public in names}
    own.update(
        DELEGATED, enable_builtins=builtin.arrive_as_builtins, opaque_new=opaque.make_opaque, set_hooks=hooks.store
    )
    own.update(wrappers=identity.find_all)
    for public, value in own.items():
        found[public] = value
        if isinstance(value, FunctionType):
            value.__name__ = value.__qualname__ = public
        _document(value, getattr(binding, public))
    folder = __name__.rpartition(".")[0]
    classes = [value for value in found.values() if isinstance(value, type) and value.__module__.startswith(folder)]
    for base in {base for cls in classes for base in cls.__mro__ if base.__module__.startswith(folder)}:
        base.__annotations__ = {}  # theirs describe the attributes inside, for type checkers
    for cls in classes:
        cls.__module__ = name
    bridge.set_get(results.get)
    binding_hooks.give_hooks()
    core_functions.set_backtrace_boundary()
    for index, cls in ((FUNCTION, functions.Function), (TENSOR, tensors.Tensor), (ERROR, errors.Error)):
        class_set(index, cls)
    return module
