"""The methods that dataclass decorators add to a class: construction, repr, comparison, hash, copies.

Methods that the class body defines stay. If it defines one of `__eq__` and `__ne__`, or one of the four ordering
methods, the other methods of that group are not generated, because they would disagree with the class.
"""

from __future__ import annotations

import dataclasses

from .._core import CObject
from .._values.object import Object
from ..registry import set_init
from ._comparison import EQUALITY, ORDER, recursive_hash
from ._initializer import make_init, parameters_of, refuse_init, wrap_init
from ._standard import SignatureDoc, StandardFields, params_of
from .common import type_chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["install_dunders"]


def install_dunders(
    cls: type,
    *,
    init: bool,
    repr: bool,
    eq: bool,
    order: bool,
    unsafe_hash: bool,
    match_args: bool = True,
    py_class_mode: bool = False,
) -> None:
    """Install the requested methods, and the copy methods, into a class that is bound to its native type.

    In `py_class_mode` an object may exist already when an `__init__` begins: a written `__init__` gets an empty object,
    and a generated one does not change an object that a subclass made.
    """
    wanted: dict[str, Any] = {"__repr__": Object.__repr__} if repr else {}
    if eq and not EQUALITY.keys() & set(cls.__dict__):
        wanted.update(EQUALITY)
        unsafe_hash = unsafe_hash or not _has_hash(cls)  # equal objects have equal hashes
    if order and not ORDER.keys() & set(cls.__dict__):
        wanted.update(ORDER)
    if unsafe_hash:
        wanted["__hash__"] = recursive_hash
    wanted.update(__copy__=CObject._shallow_copy, __deepcopy__=CObject._deep_copy, __replace__=_replace)
    if match_args:
        taken = parameters_of(cls.__tvm_ffi_type_info__)  # type: ignore[attr-defined]
        wanted["__match_args__"] = tuple([field.name for field in taken if not field.c_kw_only])
    wanted["__dataclass_fields__"] = StandardFields()
    wanted["__dataclass_params__"] = params_of(
        init=init, repr=repr, eq=eq, order=order, unsafe_hash=unsafe_hash, match_args=match_args, frozen=False
    )
    wanted["__doc__"] = SignatureDoc()
    for name, value in wanted.items():
        if cls.__dict__.get(name) is None:  # a class with an __eq__ but without a hash has None as __hash__
            setattr(cls, name, value)
    _install_init(cls, init, py_class_mode)  # last: from here on other threads can create instances


def _has_hash(cls: Any) -> bool:
    """Whether a class has another hash than by identity, also None in its own body."""
    return "__hash__" in cls.__dict__ or cls.__hash__ is not CObject.__hash__


def _install_init(cls: type, init: bool, py_class_mode: bool) -> None:
    written = cls.__dict__.get("__init__")
    written = getattr(written, "_ffi_own_init", written)  # the original method of a class that was deferred
    if written is None:
        function = make_init(cls, py_class_mode) if init else refuse_init(cls)
    elif py_class_mode:
        function = wrap_init(cls, written)
    else:
        return
    if function is None:
        return
    set_init(cls, function, getattr(function, "_ffi_maker", None))


def _replace(self: Any, /, **changes: Any) -> Any:
    """Return a copy with other values in some fields, even frozen ones. The value of an InitVar needs __init__."""
    chain = type_chain(type(self).__tvm_ffi_type_info__)
    if any(described.name in changes for info in chain for _before, described in getattr(info, "_init_vars", ())):
        return dataclasses.replace(self, **changes)
    made = self.__copy__()
    for name, value in changes.items():
        set_field = getattr(getattr(type(made), name, None), "set", None)
        if set_field is None:
            key = type(made).__tvm_ffi_type_info__.type_key
            raise TypeError(f"{key}.__replace__() got an unexpected keyword argument {name!r}")
        set_field(made, value)
    return made
