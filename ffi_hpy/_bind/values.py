"""Operations on Python objects for bound libraries: attributes, items, calls, containers, built-in classes.

An object that C++ holds is None, a bool, int, float, str or bytes, a wrapper of a native object, or any other Python
object, which `keep` puts into a native object.
"""

from __future__ import annotations

import builtins
import collections.abc
import ctypes
import operator
import os
import sys
import types
import weakref

from .. import _core
from .._containers.sequence import Array
from .._convert import convert_func
from .._core import CObject
from .._tensor import Tensor
from .._values.array_numbers import elements_of
from .._values.opaque import OpaquePyObject
from .._values.single import defines, float_of, has_imaginary_part, is_time
from .._values.standard import parts_of_pairs
from .._values.string import Bytes, String
from ..error import arguments_of_os_error, exception_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["OPERATIONS", "is_capsule", "keep", "warn"]

_PLAIN = frozenset({type(None), bool, int, float, str, bytes, String, Bytes, ctypes.c_void_p})


def keep(value: Any) -> Any:
    """Return a value that reaches native code as the Python object itself, if it is not a native value anyway."""
    cls = type(value)
    if cls is str and not value.isascii() and not _is_utf8(value):
        return OpaquePyObject(value)
    is_native = cls in _PLAIN or issubclass(cls, CObject) or hasattr(cls, "__ffi_members__")
    return value if is_native else OpaquePyObject(value)


def _is_utf8(text: str) -> bool:
    """Return whether a str has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_modules: dict[int, OpaquePyObject] = {}


def keep_module(module: types.ModuleType) -> OpaquePyObject:
    """Return the native object of a module, which lives as long as the process: a library may capture a handle."""
    return _modules.setdefault(id(module), OpaquePyObject(module))


def is_kept(module: types.ModuleType) -> bool:
    """Whether keep_module() has got the module."""
    return id(module) in _modules


# --- classes --------------------------------------------------------------------------------------------------------

_KINDS: dict[str, Any] = {
    "str": str,
    "bytes": bytes,
    "int": int,
    "float": float,
    "bytearray": bytearray,
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "set": set,
    "frozenset": frozenset,
    "slice": slice,
    "memoryview": memoryview,
    "ellipsis": type(Ellipsis),
    "not_implemented": type(NotImplemented),
    "weakref": weakref.ReferenceType,
    "module": types.ModuleType,
    "type": type,
}


def _is_sequence(value: Any) -> bool:
    """Whether a value has items by number, as an array of NumPy or an object of a class with `__getitem__` has. Numbers
    of NumPy have that method, too, but neither a length nor items."""
    cls = type(value)
    method = getattr(cls, "__getitem__", None) if defines(cls, "__getitem__") else None
    is_indexed = method is not None and (defines(cls, "__len__") or isinstance(method, types.FunctionType))
    return is_indexed and not isinstance(value, (dict, types.MappingProxyType))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, collections.abc.Mapping) or defines(type(value), "__getitem__", "keys")


_Capsule = type(_core.capsule_new(1, None, 0))  # CPython has a name for the class from 3.13 on


def is_capsule(value: Any) -> bool:
    """Whether a value is a capsule of the interpreter."""
    return type(value) is _Capsule


_TESTS: dict[str, Callable[[Any], bool]] = {
    "callable": callable,
    "capsule": is_capsule,
    "list_or_tuple": lambda value: type(value) in (list, tuple),
    "sequence": _is_sequence,
    "sequence_of_objects": lambda value: _is_sequence(value) and not hasattr(type(value), "__array_interface__"),
    "mapping": _is_mapping,
    "iterable": lambda value: defines(type(value), "__iter__") or _is_sequence(value),
    "iterator": lambda value: defines(type(value), "__next__"),
}


def _is_kind(value: Any, name: str) -> bool:
    """Return whether a value is of a class, or has the methods, that C++ names."""
    test = _TESTS.get(name)
    return issubclass(type(value), _KINDS[name]) if test is None else test(value)


# --- calls ----------------------------------------------------------------------------------------------------------


def _call(function: Any, kinds: str, *values: Any) -> Any:
    """Call a function. `kinds` has a letter for each value: 'p' a positional argument, 'k' a name before its value,
    '*' and '#' a tuple and a dict of arguments."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    at = 0
    for kind in kinds:
        value = values[at]
        at += 1
        if kind == "p":
            args.append(value)
        elif kind == "k":
            named[value] = values[at]
            at += 1
        elif kind == "*":
            args.extend(value)
        else:
            if not hasattr(value, "keys"):
                raise TypeError(f"argument after ** must be a mapping, not {type(value).__name__}")
            repeated = named.keys() & value.keys()
            if repeated:
                raise TypeError(f"got multiple values for keyword argument {min(repeated)!r}")
            named.update(value)
    return function(*args, **named)


def _plain_text(value: Any, is_bytes: bool) -> str | bytes | None:
    """Return the text of an object of a class that derives from str or bytes; None for another object, and for a str
    that has no UTF-8."""
    if is_bytes:
        return bytes.__getitem__(value, slice(None)) if isinstance(value, bytes) else None
    text = str.__str__(value) if isinstance(value, str) else None
    return None if text is None or not _is_utf8(text) else text


def _to_function(value: Any) -> Any:
    """Return a native function that calls a Python callable; None for another value."""
    if isinstance(value, _core.Function):
        return value
    return convert_func(value) if callable(value) else None


def _from_function(function: Any) -> Any:
    """Return the Python callable that a native function was made of, or else the function."""
    made_of = function._callable
    return function if made_of is None else made_of


def _call_function(*values: Any) -> Any:
    """Call a native function, the last value, with the other values. The result of the Python callable that the
    function was made of is not converted."""
    return _from_function(values[-1])(*values[:-1])


def _call_method(name: str, value: Any, *args: Any) -> Any:
    return getattr(value, name)(*args)


# --- containers -----------------------------------------------------------------------------------------------------


def _is_iterable(cls: type) -> bool:
    """Whether iter() accepts objects of a class: without `__iter__` these are sequences by the older protocol."""
    return defines(cls, "__iter__") or defines(cls, "__getitem__", "__len__")


def _items(value: Any) -> Array[Any] | None:
    """Return the items of an iterable, as a native value; None for strings, mappings and other values. Those of an
    array with several axes are arrays."""
    if isinstance(value, (str, bytes, bytearray, collections.abc.Mapping)) or not _is_iterable(type(value)):
        return None
    has_numbers = hasattr(type(value), "__array_interface__") and getattr(value, "ndim", 1) == 1
    items = elements_of(value) if has_numbers else None
    return Array([keep(item) for item in (value if items is None else items)])


def _items_of_iterable(value: Any) -> Array[Any] | None:
    """Return the items of any iterable, also of strings and mappings, as a native value; None for other values."""
    return Array([keep(item) for item in value]) if _is_iterable(type(value)) else None


def _pairs(value: Any) -> Array[Any] | None:
    """Return the keys and values of a mapping, in turn, as a native value; None for other values."""
    parts = parts_of_pairs(value)
    return None if parts is None else Array([keep(part) for part in parts])


def _next_pair(iterator: Any, end: Any) -> Any:
    """Return the two items of the next pair, as a native value; or else `end`."""
    pair = next(iterator, None)
    return end if pair is None else Array([keep(pair[0]), keep(pair[1])])


def _slice_range(value: slice, size: int) -> Array[int]:
    start, stop, step = value.indices(size)
    return Array([start, stop, step, len(range(start, stop, step))])


def _resize(value: bytearray, size: int) -> None:
    if size <= len(value):
        del value[size:]
    else:
        value.extend(bytes(size - len(value)))


def _address_of(value: bytearray) -> int:
    return ctypes.addressof((ctypes.c_char * len(value)).from_buffer(value)) if value else 0


# --- numbers --------------------------------------------------------------------------------------------------------


def index_of(value: Any) -> int | None:
    """Return the int of an object with `__index__`; None for another value and a time."""
    try:
        return None if is_time(type(value)) else int.__add__(operator.index(value), 0)  # may be of a class below int
    except TypeError:
        return None


def _is_real(value: Any) -> bool:
    """Whether float() may be asked for the number of a value: a text, a time and a complex number are not real numbers,
    although float() returns one."""
    if isinstance(value, (str, bytes, bytearray)) or is_time(type(value)) or has_imaginary_part(value):
        return False
    return not (isinstance(value, Tensor) and str(value.dtype).startswith("complex"))


def _to_float(value: Any) -> float | None:
    """Return the float of a number; None for another value."""
    if isinstance(value, float):
        return float.__float__(value)
    try:
        return float_of(value) if _is_real(value) else None
    except (TypeError, OverflowError):
        return None


# --- capsules -------------------------------------------------------------------------------------------------------


def _capsule(address: ctypes.c_void_p, name: str | None, cleanup: ctypes.c_void_p | None) -> Any:
    """Return a capsule that calls the C function `cleanup` with the address when it is freed."""
    return _core.capsule_new(address.value or 0, name, 0 if cleanup is None else cleanup.value or 0)


def _capsule_data(capsule: Any, *names: str | None) -> ctypes.c_void_p:
    """Return the address in a capsule. ValueError if the capsule has another name than the given one."""
    address, own = _core.capsule_read(capsule)
    for name in names:
        if name != own:
            raise ValueError(f"expected a capsule with the name {name!r}, got {own!r}")
    return ctypes.c_void_p(address)


def _capsule_address(value: Any, name: str) -> ctypes.c_void_p | None:
    """Return the address in a capsule with that name; None for another value."""
    address, own = _core.capsule_read(value) if is_capsule(value) else (None, None)
    return ctypes.c_void_p(address) if address is not None and own == name else None


def _python_references(value: Any) -> int | None:
    """Return the number of references to a Python object; None on an interpreter that does not count them."""
    count = getattr(sys, "getrefcount", None)
    return None if count is None else count(value)


def _bytes_of(value: Any) -> bytes:
    """Return the bytes of a buffer, or of the ints of an iterable. A number is neither."""
    if isinstance(value, (bytes, bytearray)) or hasattr(value, "__bytes__"):
        return bytes(value)
    if isinstance(value, str) or hasattr(type(value), "__index__") or not hasattr(type(value), "__iter__"):
        try:
            return bytes(memoryview(value))
        except TypeError:
            raise TypeError(f"cannot convert {type(value).__name__!r} object to bytes") from None
    return bytes(value)


# --- errors ---------------------------------------------------------------------------------------------------------


def _raise_from(cause: BaseException | None, cls: type[BaseException], text: str) -> None:
    raise _during(cause, cls(text)) from cause  # a variable would be a cycle of the exception and this frame


def _during(cause: BaseException | None, raised: BaseException) -> BaseException:
    """Return the exception as if the handler of another one raised it."""
    raised.__context__ = cause
    return raised


def _raise_object(cls: type[BaseException], value: Any) -> None:
    if isinstance(value, cls):
        raise value
    raise cls(*(() if value is None else value if isinstance(value, tuple) else (value,)))


def _raise_os_error(number: int, text: str, first: bytes, second: bytes) -> None:
    raise OSError(*arguments_of_os_error(number, text, first or None, second or None))


def _error_text(error: Any) -> bytes:
    """Return the text that Python prints for a native error, with the callers of the frame that caught it, and without
    frames of this package."""
    from re import sub
    from traceback import StackSummary, TracebackException, walk_stack

    exception = exception_in(error)
    shown = TracebackException(type(exception), exception, exception.__traceback__)
    traceback = exception.__traceback__
    outer = [] if traceback is None else StackSummary.extract(walk_stack(traceback.tb_frame.f_back))[::-1]
    folder = __file__.rpartition("_bind")[0]
    shown.stack[:] = [frame for frame in [*outer, *shown.stack] if not frame.filename.startswith(folder)]
    text = "".join(shown.format()).strip()
    return sub("[\ud800-\udfff]", lambda found: f"<unencodable {ord(found[0]):#x}>", text).encode()


def _unraisable(error: Any, context: Any) -> None:
    """Report a native error that cannot be raised."""
    exception = error if isinstance(error, BaseException) else exception_in(error)
    sys.unraisablehook(
        types.SimpleNamespace(
            exc_type=type(exception),
            exc_value=exception,
            exc_traceback=exception.__traceback__,
            err_msg=None,  # Python's hook then shows the repr of the object
            object=context,
        )
    )


def warn(text: str) -> None:
    """Warn of a mistake of the code that has called C++. A warning that is an error cannot be raised from there."""
    import warnings

    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ffi_hpy":
        depth, frame = depth + 1, frame.f_back
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=depth)
    except RuntimeWarning as error:
        _unraisable(error, text)


def _memory(address: int, n_bytes: int, is_writable: bool) -> memoryview:
    view = memoryview((ctypes.c_ubyte * n_bytes).from_address(address)).cast("B")
    return view if is_writable else view.toreadonly()


def _print(value: Any, end: Any, file: Any) -> None:
    print(value, end="\n" if end is None else end, file=file)


def _globals() -> dict[str, Any]:
    """Return the global variables of the Python code that has called C++, or of `__main__`."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ffi_hpy":
        frame = frame.f_back
    found: dict[str, Any] = vars(sys.modules["__main__"]) if frame is None else frame.f_globals
    return found


def _run(mode: str, source: str, variables: Any, local: Any) -> Any:
    """Evaluate an expression (`eval`), a statement that is printed (`single`), or statements (`exec`)."""
    from textwrap import dedent

    variables = _globals() if variables is None else variables
    return eval(compile(dedent(source), "<string>", mode), variables, local)


def _keep_alive(nurse: Any, patient: Any) -> bool:
    """Keep the patient alive as long as the nurse. Return False if the nurse accepts no weak reference."""
    try:
        weakref.finalize(nurse, _ignore, patient).atexit = False
    except TypeError:
        return False
    return True


def _ignore(_patient: Any) -> None:
    """Do nothing, with an object that lived until now."""


def _runs_in_parallel() -> bool:
    """Return whether native functions run in parallel: on PyPy, and without a GIL."""
    return _core.CALLS == "cffi" or not getattr(sys, "_is_gil_enabled", lambda: True)()


def _import(name: str) -> OpaquePyObject:
    import importlib

    return keep_module(importlib.import_module(name))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "is_kind": _is_kind,
    "isinstance": isinstance,
    "issubclass": issubclass,
    "is": operator.is_,
    "type": type,
    "constant": lambda name: getattr(builtins, name),
    "builtins": lambda: vars(builtins),
    "globals": _globals,
    "call": _call,
    "call_with": lambda function, *args: function(*args),
    "call_function": _call_function,
    "call_method": _call_method,
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "hasattr": hasattr,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "get_or_none": lambda mapping, key: [mapping[key]] if key in mapping else None,
    "contains": operator.contains,
    "operator": lambda *values: getattr(operator, values[-1])(*values[:-1]),
    # an object equals itself, as in containers; but PyPy's floats of one value are one object, also those that are NaN
    "equal": lambda a, b: (a is b and type(a) is not float) or bool(a == b),
    "not_equal": lambda a, b: (a is not b or type(a) is float) and bool(a != b),
    "len": len,
    "len_hint": operator.length_hint,
    "hash": hash,
    "format": format,
    "fspath": os.fspath,
    "iter": iter,
    "next": next,
    "next_pair": _next_pair,
    "repr": repr,
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": _bytes_of,
    "index": index_of,
    "to_float": _to_float,
    "big_int": lambda value: value % 2**64,
    "tuple": lambda *items: items,
    "list": lambda *items: list(items),
    "set": lambda *items: set(items),
    "dict": lambda *items: dict(zip(items[::2], items[1::2])),
    "tuple_of": tuple,
    "list_of": list,
    "set_of": set,
    "dict_of": dict,
    "frozenset": frozenset,
    "append": list.append,
    "bytearray": bytearray,
    "bytearray_resize": _resize,
    "bytearray_data": _address_of,
    "memoryview": memoryview,
    "memory": _memory,
    "slice": slice,
    "slice_range": _slice_range,
    "weakref": weakref.ref,
    "capsule": _capsule,
    "capsule_data": _capsule_data,
    "capsule_address": _capsule_address,
    "python_references": _python_references,
    "capsule_name": lambda capsule: _core.capsule_read(capsule)[1],
    "items": _items,
    "items_of_iterable": _items_of_iterable,
    "pairs": _pairs,
    "plain_text": _plain_text,
    "to_function": _to_function,
    "from_function": _from_function,
    "print": _print,
    "run": _run,
    "import": _import,
    "keep_alive": _keep_alive,
    "runs_in_parallel": _runs_in_parallel,
    "error_value": exception_in,
    "error_text": _error_text,
    "error_matches": lambda error, cls: isinstance(exception_in(error), cls),
    "raise_from": _raise_from,
    "raise_object": _raise_object,
    "raise_os_error": _raise_os_error,
    "unraisable": _unraisable,
    "warn": warn,
}
