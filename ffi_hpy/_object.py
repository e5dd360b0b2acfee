"""Object: the root of all classes for native objects."""

from __future__ import annotations

import copyreg
from abc import ABCMeta

from . import _ffi_api
from ._core import CObject, Function, ObjectRValueRef
from ._load import refuse_finalizer, subclass_made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Object", "ObjectConvertible", "ObjectMeta", "ObjectRValueRef", "object_repr"]


# PyPy gives every HPy object what CPython gives to those whose class has such slots, and refuses a second one
_HAVE_DICT = hasattr(CObject.__new__(CObject), "__dict__")
_EVERYBODY_HAS = ("__dict__", "__weakref__") if _HAVE_DICT else ()


class ObjectMeta(ABCMeta):
    """Metaclass of Object: gives every class that declares no `__slots__` empty ones, so that instances own nothing but
    the native handle. A class that wants instance attributes says `__slots__ = ("__dict__",)`, one that wants weak
    references to instances `("__weakref__",)`."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **kwargs: Any) -> ObjectMeta:
        slots = namespace.setdefault("__slots__", ())
        if slots and _EVERYBODY_HAS:
            named = (slots,) if isinstance(slots, str) else slots
            namespace["__slots__"] = [slot for slot in named if slot not in _EVERYBODY_HAS]
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        refuse_finalizer(cls)
        subclass_made(cls)
        return cls


class Object(CObject, metaclass=ObjectMeta):
    """A native object, shared with native code by reference count.

    A wrapper owns one strong reference. While it lives, whoever gets the same object gets this wrapper: `a.x is a.x`,
    ids are stable, and attributes that were set on it are there. Only the arguments of a callback, while the caller's
    own wrappers are in use, and what was moved (`_move`) come as wrappers of their own; so does everything in debug
    modes. Such wrappers are equal and hash alike, unless the class says otherwise (Array and Map compare their
    contents). A wrapper whose handle was moved away has none, and using it is a ValueError.

    Classes for types of a native library derive from Object and are bound with :func:`register_object`. Wrappers can be
    used from any thread; whether the object behind one may be changed from two threads is up to its type.
    """

    def __ffi_init__(self, *args: Any, **kwargs: Any) -> None:
        """Construct the native object with the type's registered constructor and take over its handle.

        Meant for an `__init__` written in Python. register_object() installs it on classes whose type has a
        constructor; for the others it is a TypeError.
        """
        _raise_not_constructible(type(self))

    def __repr__(self) -> str:
        return object_repr(self)


class ObjectConvertible:
    """Base for Python classes that stand for a native object: passed to native code, `asobject()` is passed instead."""

    __slots__ = ()

    def asobject(self) -> Object:
        """The object to pass."""
        raise NotImplementedError(f"{type(self).__qualname__} does not define asobject()")


def object_repr(obj: CObject) -> str:
    """Text of a native object, as `ffi.ReprPrint` gives it, or `Class(address)` where that is missing. Never raises."""
    handle = obj.__chandle__()
    name = type(obj).__qualname__
    if handle == 0:
        return f"{name}(chandle=None)"
    try:
        print_repr = _ffi_function("ReprPrint")
        if print_repr is not None:
            return str(print_repr(obj))
    except Exception:
        pass  # a repr is asked for in the middle of error reports: any text is better than another error
    return f"{name}({handle:#x})"


# --- pickle ---------------------------------------------------------------------------------------------------------


def get_state(self: CObject) -> dict[str, Any]:
    """What pickle keeps: as "handle" the JSON graph of the native object (None without one), as "attributes" those of
    the instance, if it has any. TypeError for types that have no graph, as functions and tensors."""
    state: dict[str, Any] = {"handle": None}
    if self.__chandle__() != 0:
        state["handle"] = str(_serializer(type(self), "ToJSONGraphString")(self, None))
    attributes = getattr(self, "__dict__", None)
    if attributes:
        state["attributes"] = dict(attributes)
    return state


def set_state(self: CObject, state: dict[str, Any]) -> None:
    """Become what __getstate__() told. TypeError or ValueError if the graph cannot be read."""
    if state["handle"] is not None:
        self.__init_handle_by_constructor__(_serializer(type(self), "FromJSONGraphString"), state["handle"])
    if "attributes" in state:
        self.__dict__.update(state["attributes"])


def reduce(self: CObject) -> tuple[Any, ...]:
    """Pickle and copy by __getstate__() and __setstate__()."""
    return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]


# Of the root of all, so that functions and tensors refuse here, too: PyPy would pickle a wrapper without its handle
CObject.__getstate__ = get_state  # type: ignore[method-assign]
CObject.__setstate__ = set_state  # type: ignore[method-assign]
CObject.__reduce__ = reduce  # type: ignore[method-assign]


def _ffi_function(name: str) -> Function | None:
    """The core's function `ffi.<name>`, None if this core has none."""
    return getattr(_ffi_api, name, None)


def _serializer(cls: type, name: str) -> Function:
    function = _ffi_function(name)
    if function is None:
        raise TypeError(f"cannot pickle {cls.__qualname__!r} object: the core has no ffi.{name}")
    return function


def _raise_not_constructible(cls: type) -> NoReturn:
    raise TypeError(
        f"{cls.__qualname__} has no registered constructor; write an __init__ or get instances from a native function"
    )
