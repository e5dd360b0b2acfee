"""What dataclass decorators put into a class: construction, repr, comparison, hash, copies.

Everything delegates to the core, which knows the fields. What the class body defines stays, and of `__eq__`/`__ne__` and
of the four of the order one that is defined keeps the others away: generated and written ones would disagree.
"""

from __future__ import annotations

import copy as _copy
import functools

from .. import _core, _ffi_api
from .._object import object_repr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from typing import Any

__all__ = ["constructor_of", "install_dunders", "positional_names", "signature_of"]

# Bits of a field's flags (TVMFFIFieldFlagBitMask).
_HAS_DEFAULT = 1 << 1
_INIT_OFF = 1 << 9
_KW_ONLY = 1 << 10

_EQUALITY = frozenset({"__eq__", "__ne__"})
_ORDER = {"__lt__": "RecursiveLt", "__le__": "RecursiveLe", "__gt__": "RecursiveGt", "__ge__": "RecursiveGe"}


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
    """Install the methods that were asked for, and those for copies, into a class that is bound to its native type.

    In `py_class_mode` an object may be there already when an `__init__` begins: a written `__init__` gets one that is
    empty, and a generated one leaves alone what a subclass made.
    """
    body = cls.__dict__
    type_index: int = cls.__tvm_ffi_type_info__.type_index  # type: ignore[attr-defined]
    if "__init__" not in body:
        _install_init(cls, type_index, init, py_class_mode)
    elif py_class_mode:
        _wrap_init(cls, type_index)
    if repr and "__repr__" not in body:
        cls.__repr__ = object_repr  # type: ignore[assignment,method-assign]
    if eq and not _EQUALITY.intersection(body):
        _install_equality(cls)
    if order and not _ORDER.keys() & set(body):
        for name, function in _ORDER.items():
            _put(cls, name, _comparison(getattr(_ffi_api, function)))
    if unsafe_hash and "__hash__" not in body:
        _install_hash(cls)
    _install_copies(cls, type_index)
    if match_args and "__match_args__" not in body:
        cls.__match_args__ = positional_names(type_index)  # type: ignore[attr-defined]


def _put(cls: type, name: str, function: Any) -> None:
    function.__name__ = name
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    function.__module__ = cls.__module__
    setattr(cls, name, function)


# --- fields ---------------------------------------------------------------------------------------------------------


def _constructor_fields(type_index: int) -> list[tuple[str, int]]:
    """Name and flags of the fields that the constructor takes, those of the root first."""
    described = _core.type_info(type_index)
    own = [_core.type_info(ancestor)[4] for ancestor in described[6]] + [described[4]]
    return [(str(name), flags) for fields in own for name, _, _, flags, *_ in fields if not flags & _INIT_OFF]


def positional_names(type_index: int) -> tuple[str, ...]:
    """The names of the fields that the constructor takes by position, parents' before own."""
    return tuple(name for name, flags in _constructor_fields(type_index) if not flags & _KW_ONLY)


def signature_of(type_index: int) -> Signature:
    """The signature of a generated `__init__`: in each of both groups those that have no default come first."""
    from inspect import Parameter, Signature

    from ..core import MISSING

    fields = sorted(_constructor_fields(type_index), key=lambda field: field[1] & (_KW_ONLY | _HAS_DEFAULT))
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, flags in fields:
        kind = Parameter.KEYWORD_ONLY if flags & _KW_ONLY else Parameter.POSITIONAL_OR_KEYWORD
        default = MISSING if flags & _HAS_DEFAULT else Parameter.empty
        parameters.append(Parameter(name, kind, default=default))
    return Signature(parameters)


# --- construction ---------------------------------------------------------------------------------------------------


def _install_init(cls: type, type_index: int, init: bool, py_class_mode: bool) -> None:
    if not init:
        _put(cls, "__init__", _refusal(cls))
        return
    constructor = constructor_of(type_index)
    if constructor is not None:
        function = _initializer(cls, type_index, constructor, py_class_mode)
        function.__signature__ = signature_of(type_index)  # type: ignore[attr-defined]
        _put(cls, "__init__", function)


def constructor_of(type_index: int) -> _core.Function | None:
    """The native constructor of a type: its method `__ffi_init__`, else the attribute of that name."""
    for name, *_, function in _core.type_info(type_index)[5]:
        if name == "__ffi_init__":
            return function  # type: ignore[no-any-return]
    found: _core.Function | None = _core.type_attr(type_index, "__ffi_init__")
    return found


def _refusal(cls: type) -> Callable[..., None]:
    message = f"`{cls.__name__}` cannot be constructed directly. Define a custom __init__ or use a factory method."

    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        raise TypeError(message)

    return __init__


def _initializer(cls: type, type_index: int, constructor: _core.Function, py_class_mode: bool) -> Callable[..., None]:
    from ..core import KWARGS, MISSING

    post_init = hasattr(cls, "__post_init__")
    properties = _init_properties(cls)

    def construct(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs:
            named = (part for pair in kwargs.items() if pair[1] is not MISSING for part in pair)
            args = (*args, KWARGS, *named)
        self.__init_handle_by_constructor__(constructor, *args)
        for name, function in properties:
            getattr(type(self), name).set(self, function(self))
        if post_init:
            self.__post_init__()

    if py_class_mode:

        def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
            if self.__chandle__() == 0:
                construct(self, args, kwargs)

    else:

        def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
            if type(self) is not cls and type(self).__tvm_ffi_type_info__.type_index != type_index:
                raise TypeError(
                    f"Calling `super().__init__()` is not supported for @c_class `{cls.__name__}`. Use @py_class for "
                    f"inheritance with manual __init__, or define `{type(self).__name__}` with init=True."
                )
            construct(self, args, kwargs)

    return __init__


def _init_properties(cls: type) -> list[tuple[str, Callable[[Any], Any]]]:
    """Fields that a class computes at the end of construction, with the functions: parents' before own."""
    found: dict[str, Callable[[Any], Any]] = {}
    for base in reversed(cls.__mro__):
        found.update(base.__dict__.get("__ffi_init_property_funcs__", {}))
    return list(found.items())


def _wrap_init(cls: type, type_index: int) -> None:
    """Give a written `__init__` an object to work on, which is empty unless a subclass made it already."""
    make_empty = _core.type_attr(type_index, "__ffi_new__")
    if make_empty is None:
        return
    written = cls.__dict__["__init__"]

    @functools.wraps(written)
    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if self.__chandle__() == 0:
            self.__init_handle_by_constructor__(make_empty)
        written(self, *args, **kwargs)

    cls.__init__ = __init__  # type: ignore[misc]


# --- comparison and hash --------------------------------------------------------------------------------------------


def _related(self: Any, other: Any) -> bool:
    return isinstance(other, type(self)) or isinstance(self, type(other))


def _comparison(function: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(self: Any, other: Any) -> bool:
        return function(self, other) if _related(self, other) else NotImplemented

    return compare


def _install_equality(cls: type) -> None:
    equal = _ffi_api.RecursiveEq

    def __ne__(self: Any, other: Any) -> bool:
        return not equal(self, other) if _related(self, other) else NotImplemented

    _put(cls, "__eq__", _comparison(equal))
    _put(cls, "__ne__", __ne__)


def _install_hash(cls: type) -> None:
    recursive_hash = _ffi_api.RecursiveHash

    def __hash__(self: Any) -> int:
        return recursive_hash(self)  # type: ignore[no-any-return]

    _put(cls, "__hash__", __hash__)


# --- copies ---------------------------------------------------------------------------------------------------------


def _install_copies(cls: type, type_index: int) -> None:
    shallow_copy = _core.type_attr(type_index, "__ffi_shallow_copy__")
    deep_copy = _ffi_api.DeepCopy

    def __copy__(self: Any) -> Any:
        if shallow_copy is None:
            raise TypeError(
                f"Type `{type(self).__name__}` does not support copy. The underlying C++ type is not copy-constructible."
            )
        return shallow_copy(self)

    def __deepcopy__(self: Any, memo: Any = None) -> Any:
        return deep_copy(self)

    def __replace__(self: Any, /, **changes: Any) -> Any:
        made = _copy.copy(self)
        for name, value in changes.items():
            getattr(type(made), name).set(made, value)
        return made

    for name, function in (("__copy__", __copy__), ("__deepcopy__", __deepcopy__), ("__replace__", __replace__)):
        if name not in cls.__dict__:
            _put(cls, name, function)
