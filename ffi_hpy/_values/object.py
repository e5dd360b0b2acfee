"""Object: the root of all classes for native objects."""

from __future__ import annotations

import copyreg
from abc import ABCMeta

from .. import _core, _ffi_api
from .._core import (
    TYPE_INDEX_OBJECT,
    CObject,
    Function,
    ObjectRValueRef,
    class_register,
    function_from_callable,
)
from .._start.failure import confirm_failure
from .._start.load import refuse_finalizer
from .plain import wrap_opaque_ptr
from .single import class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = [
    "MISSING",
    "Object",
    "ObjectConvertible",
    "ObjectMeta",
    "ObjectRValueRef",
    "object_repr",
    "watched_names",
    "wrapper_like",
]


# On PyPy every HPy object has these two attributes, and the base written in Python has weak references. A class cannot
# declare a slot that its base has.
_HAVE_DICT = hasattr(CObject.__new__(CObject), "__dict__")
_HAVE_WEAK_REFERENCES = _HAVE_DICT or hasattr(CObject, "__weakref__")
_EVERYBODY_HAS = ("__dict__",) * _HAVE_DICT + ("__weakref__",) * _HAVE_WEAK_REFERENCES


watched_names: dict[str, tuple[Callable[[type], None], ...]] = {}
"""Functions to call with a class that got or lost an attribute of that name."""


_class_made: Callable[[type], None] = getattr(_core, "class_made", lambda cls: None)


class ObjectMeta(ABCMeta):
    """Metaclass of Object: adds empty `__slots__` to every class that declares none, so that instances own only the
    native handle. A class with instance attributes declares `__slots__ = ("__dict__",)`, a class with weak references
    to instances `("__weakref__",)`."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **kwargs: Any) -> ObjectMeta:
        slots = namespace.setdefault("__slots__", ())
        if slots and _EVERYBODY_HAS:
            named = (slots,) if isinstance(slots, str) else slots
            namespace["__slots__"] = [slot for slot in named if slot not in _EVERYBODY_HAS]
            if "__weakref__" in named:
                namespace["_ffi_weak_references"] = True  # for the cffi backend (_pypy/object/objects.py)
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        refuse_finalizer(cls)
        _class_made(cls)
        return cls

    def _ffi_require_allowed(cls) -> None:
        """Raise TypeError for a class that the metaclass prohibits, but type.__new__ has made."""

    if not TYPE_CHECKING:  # with these, type checkers would accept every assignment

        def __setattr__(cls, name, value, /):
            super().__setattr__(name, value)
            for watch in watched_names.get(name, ()):
                watch(cls)

        def __delattr__(cls, name, /):
            super().__delattr__(name)
            for watch in watched_names.get(name, ()):
                watch(cls)


def _made_again(cls: Any) -> None:
    """Watch the end of instances of a class and its subclasses again, after the interpreter has set their slots."""
    _class_made(cls)
    derived: list[Any] = type.__subclasses__(cls)
    for each in derived:
        _made_again(each)


watched_names["__del__"] = watched_names["__bases__"] = (_made_again,)
if hasattr(_core, "class_guard"):  # the cffi backend, whose wrappers have attributes of their own
    watched_names.update(dict.fromkeys(("__getattr__", "__getattribute__", "__setattr__"), (_core.class_guard,)))


class Object(CObject, metaclass=ObjectMeta):
    """A native object, shared with native code by reference count.

    A wrapper owns one strong reference. While it lives, Python gets this wrapper for the object: `a.x is a.x`, ids are
    stable, and attributes set on the wrapper stay. A wrapper with state lives as long as native code holds the object:
    an instance of a subclass of the registered class, or of a class with attributes, slots, weak references or
    `__del__`. Without state, two cases get separate wrappers: arguments of a callback while the caller's wrappers are
    in use, and objects that were moved (`_move`). In debug modes every access gets one. Such wrappers are equal and
    have equal hashes, unless the class defines this otherwise (Array and Map compare their contents). Using a wrapper
    whose handle was moved away is a ValueError.

    Classes for types of a native library derive from Object and are bound with `register_object()`. Any thread may use
    a wrapper. Whether two threads may change its object depends on the object's type.
    """

    def __ffi_init__(self, *args: Any, **kwargs: Any) -> None:
        """Construct the native object with the type's registered constructor and store its handle in this wrapper.

        Call it from an `__init__` written in Python. register_object() installs it on classes whose type has a
        constructor; for other classes it raises TypeError.
        """
        _raise_not_constructible(type(self))

    def __repr__(self) -> str:
        return object_repr(self)


class_register(TYPE_INDEX_OBJECT, Object)

MISSING: Object = _ffi_api.GetInvalidObject()
"""The core's marker for "no value"."""


class ObjectConvertible:
    """Base for Python classes that stand for a native object: when an instance is passed to native code, the result of
    `asobject()` is passed instead.

    Examples:
        >>> class Route(ffi_hpy.ObjectConvertible):
        ...     def asobject(self):
        ...         return ffi_hpy.Array(["home", "work"])
        >>> ffi_hpy.convert(Route())
        ("home", "work")
    """

    __slots__ = ()

    def asobject(self) -> Object:
        """Return the object to pass."""
        raise NotImplementedError(f"{type(self).__qualname__} does not define asobject()")


def object_repr(obj: CObject) -> str:
    """Return the repr of a native object, by `ffi.ReprPrint`, or `Class(address)` if that fails."""
    handle = obj.__chandle__()
    name = type(obj).__qualname__
    if handle == 0:
        return f"{name}(chandle=None)"
    try:
        return _printed(obj)
    except Exception as error:  # a repr is often needed for an error report: any str is better than another error
        confirm_failure(error, _printed, obj)
    return f"{name}({handle:#x})"


def _printed(obj: CObject) -> str:
    print_repr = _ffi_function("ReprPrint")
    if print_repr is None:
        raise LookupError("ffi.ReprPrint")
    return str(print_repr(obj))


def wrapper_like(wrapper: CObject, made: CObject) -> Any:
    """Return another wrapper of the class of `wrapper`, with its attributes, for the object of `made`."""
    cls = type(wrapper)
    other = cls.__new__(cls)
    _fill(other, made, getattr(wrapper, "__dict__", None))
    return other


def _fill(wrapper: CObject, made: CObject | None, attributes: dict[str, Any] | None) -> None:
    """Give a wrapper the object of another wrapper, if there is one, and attributes. Other wrappers may share the
    object."""
    if made is not None:
        wrapper.__init_handle_by_constructor__(function_from_callable(lambda: made))
    if attributes:
        wrapper.__dict__.update(attributes)


# --- identity -------------------------------------------------------------------------------------------------------


def same_as(self: CObject, other: object) -> bool:
    """Tell whether both own the same native object.

    Args:
        other: any object.
    """
    return CObject.__eq__(self, other) is True


def is_(self: CObject, other: object) -> bool:
    """As same_as().

    Args:
        other: any object.
    """
    return CObject.__eq__(self, other) is True


def ctypes_handle(self: CObject) -> Any:
    """Return the pointer to the native object as ctypes.c_void_p, whose value is None if there is none."""
    return wrap_opaque_ptr(self.__chandle__())


CObject.same_as = same_as  # type: ignore[method-assign]
CObject.is_ = is_  # type: ignore[method-assign]
CObject.__ctypes_handle__ = ctypes_handle  # type: ignore[method-assign]
CObject.id_ = property(  # type: ignore[method-assign,assignment]
    CObject.__chandle__, doc="Address of the native object, 0 if there is none."
)


# --- pickle ---------------------------------------------------------------------------------------------------------


def get_state(self: CObject) -> dict[str, Any]:
    """Return the state for pickle: "handle" is the JSON graph of the native object (None without one), "objects" are
    the Python objects inside of it, and "attributes" has the attributes of the instance, if there are any. TypeError
    for types without a graph."""
    from .pickled import listed

    if isinstance(self, Function):
        raise TypeError("a function has no state: pickle it by its name or its Python callable")
    state: dict[str, Any] = {"handle": None}
    objects: list[Any] = []
    if self.__chandle__() != 0:
        with listed(objects):
            state["handle"] = _graph_of(self)
    if objects:
        state["objects"] = objects
    attributes = getattr(self, "__dict__", None)
    if attributes:
        state["attributes"] = dict(attributes)
    return state


def _graph_of(obj: CObject) -> str:
    """Return the graph of an object; a TypeError in the words of copies and pickles, which call this."""
    try:
        return str(_serializer(type(obj), "ToJSONGraphString")(obj, None))
    except TypeError as error:
        text = str(error)
        if "does not support ToJSONGraph" not in text:
            raise
    key = text.split("`")[1]
    raise TypeError(
        f"cannot pickle or copy '{class_name(type(obj))}' object: the type `{key}` has no constructor without "
        "arguments, which would make the copy"
    )


def set_state(self: CObject, state: dict[str, Any]) -> None:
    """Restore a state from __getstate__(). TypeError or ValueError for another value, or for a state of another
    class."""
    from .pickled import listed

    graph, attributes = _parts_of_state(self, state)
    with listed(state.get("objects", [])):
        made = None if graph is None else _read_graph(type(self), graph)  # shared: it may be an enum's variant
    _fill(self, made, attributes)


def _parts_of_state(obj: CObject, state: object) -> tuple[str | None, dict[str, Any] | None]:
    """Return the graph and the attributes in a state, each None if there is none. The TypeError describes the error."""

    def refuse(wrong: str) -> NoReturn:
        raise TypeError(f"{type(obj).__qualname__}.__setstate__() takes the result of __getstate__(): {wrong}")

    if not isinstance(state, dict):
        refuse(f"expected a dict, got {type(state).__name__}")
    strange = state.keys() - {"handle", "objects", "attributes"}
    if strange or "handle" not in state:
        refuse(f"expected the keys 'handle' and perhaps 'objects' and 'attributes', got {sorted(map(repr, state))}")
    graph, attributes = state["handle"], state.get("attributes")
    if graph is not None and not isinstance(graph, str):
        refuse(f"expected a str or None as 'handle', got {type(graph).__name__}")
    if not isinstance(state.get("objects", []), list):
        refuse(f"expected a list as 'objects', got {type(state['objects']).__name__}")
    if "attributes" in state and not (isinstance(attributes, dict) and all(isinstance(key, str) for key in attributes)):
        refuse(f"expected a dict with str keys as 'attributes', got {type(attributes).__name__}")
    if attributes and not hasattr(obj, "__dict__"):
        refuse(f"an instance of this class has no attributes, got {sorted(attributes)}")
    return graph, attributes


def _read_graph(cls: type, graph: str) -> CObject:
    """Return the object of a graph. TypeError if it is not an object of the class's type."""
    made = _serializer(cls, "FromJSONGraphString")(graph)
    info = getattr(cls, "__tvm_ffi_type_info__", None)
    if isinstance(made, CObject) and (info is None or issubclass(type(made), info.type_cls or CObject)):
        return made
    raise TypeError(f"{cls.__qualname__}.__setstate__(): the graph is of an instance of {type(made).__qualname__}")


def reduce(self: CObject) -> tuple[Any, ...]:
    """Pickle and copy by __getstate__() and __setstate__()."""
    return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]


# Set on the root of all classes, so that functions and tensors refuse as well: PyPy would pickle wrappers without
# handles
CObject.__getstate__ = get_state  # type: ignore[method-assign]
CObject.__setstate__ = set_state  # type: ignore[method-assign]
CObject.__reduce__ = reduce  # type: ignore[method-assign]


def _itself(self: Function) -> Function:
    """Return the function itself: copying a function returns the same function, as in Python."""
    return self


def _itself_deep(self: Function, memo: object = None) -> Function:
    """Return the function itself, like _itself()."""
    return self


Function.__copy__ = _itself  # type: ignore[method-assign]
Function.__deepcopy__ = _itself_deep  # type: ignore[method-assign]


def _ffi_function(name: str) -> Function | None:
    """Return the core's function `ffi.<name>`, None if this core has none."""
    return getattr(_ffi_api, name, None)


def _serializer(cls: type, name: str) -> Function:
    function = _ffi_function(name)
    if function is None:
        raise TypeError(f"cannot pickle {cls.__qualname__!r} object: the core has no ffi.{name}")
    return function


def _raise_not_constructible(cls: type) -> NoReturn:
    if hasattr(cls, "_ffi_bound_class"):
        raise TypeError(f"{cls.__qualname__}: no constructor defined; functions of its library return instances")
    raise TypeError(
        f"{cls.__qualname__} has no registered constructor; write an __init__ or get instances from a native function"
    )
