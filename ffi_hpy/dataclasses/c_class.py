"""c_class: a Python class for a native type that describes its fields, with the methods of a dataclass."""

from __future__ import annotations

from ..registry import register_object
from ._dunder import install_dunders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Class = TypeVar("Class", bound=type[Any])

__all__ = ["c_class"]


def c_class(
    type_key: str,
    *,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
) -> Callable[[Class], Class]:
    """Class decorator: make a class the Python side of the native type `type_key`, as a dataclass over its fields."""

    def decorate(cls: Class) -> Class:
        register_object(type_key, init=False)(cls)
        install_dunders(cls, init=init, repr=repr, eq=eq, order=order, unsafe_hash=unsafe_hash, match_args=match_args)
        cls.__ffi_is_dataclass__ = True
        return cls

    return decorate
