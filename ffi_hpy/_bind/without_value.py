"""Objects of bound classes without a value: results of `cls.__new__(cls)`, and objects of a Python class whose
`__init__` does not call the `__init__` of the bound class.

C++ gets a native object with room for a value: the caster warns of it, and a function with its handle may construct the
value there. The constructor of an object with a value is refused, because C++ may have pointers to the value.
"""

from __future__ import annotations

from .. import _core, _ffi_api
from .values import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["watch"]

_HAS_VALUE = 1  # an answer of ffi_hpy.bind_state
_MISTAKES = {
    _HAS_VALUE: "initialize an already-initialized",
    2: "access a relinquished",
}


def watch() -> None:
    """Begin to give room to objects without a value, and to refuse constructors of objects with a value."""
    _core.set_hooks(object_lacking=_give_room, object_replaced=_refuse_second)


def _bound_base(cls: Any) -> Any:
    """Return the bound class whose native type the objects of a class have; None if that type is not bound."""
    info = getattr(cls, "__tvm_ffi_type_info__", None)
    for owner in cls.__mro__:
        if vars(owner).get("__tvm_ffi_type_info__") is info:
            return owner if "_ffi_bound_class" in vars(owner) else None
    return None


def _give_room(obj: Any) -> bool:
    bound = _bound_base(type(obj))
    if bound is None:
        return False
    obj.__init_handle_by_constructor__(_ffi_api.bind_room, bound.__tvm_ffi_type_info__.type_index)
    return True


def _refuse_second(obj: Any) -> None:
    cls = type(obj)
    bound = _bound_base(cls)
    mistake = None if bound is None else _MISTAKES.get(_ffi_api.bind_state(obj))
    if mistake is not None:
        name = f"{cls.__module__}.{cls.__qualname__}"
        warn(f"{bound._ffi_library}: attempted to {mistake} instance of type '{name}'!")
        raise TypeError(f"__init__() of an object of {name} cannot {mistake} object")
