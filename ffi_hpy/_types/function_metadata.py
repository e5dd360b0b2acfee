"""The metadata and documentation of functions: kept by number, parsed on first use.

A Function stores only a number (`_about`). The entry of a number is permanent, and functions with equal metadata and
documentation share it, so there are at most as many entries as different texts. A global function without a number gets
its entry by its name.
"""

from __future__ import annotations

import sys

from .. import _core, _ffi_api
from .._core import Function
from .._start.fork import new_lock
from .._start.late import find_late
from .._start.memo import Lazy
from .metadata import MetadataError, names_unbound, parse_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from .parameters import Order, Parameters

__all__ = [
    "FunctionMetadata",
    "add_global_metadata",
    "add_metadata",
    "arguments_by_names",
    "forget_parameters",
    "has_names",
    "is_bound",
    "metadata_of",
    "names_unbound_class",
    "order_of_arguments",
    "parameters_of",
    "set_scope",
    "signature_of_init",
    "static_method",
    "takes_positions_only",
    "text_of_bound",
]


class FunctionMetadata:
    """The data of a function: its `metadata` (JSON), its documentation, and whether its first parameter is the object
    of a method (`is_member`). `overloads` are the metadata of several functions behind one name; `full_name` is the
    name of a global function whose metadata was not looked up yet."""

    def __init__(
        self,
        metadata: str = "",
        doc: str = "",
        is_member: bool = False,
        overloads: tuple[FunctionMetadata, ...] = (),
        full_name: str = "",
    ) -> None:
        self.metadata = metadata
        self.doc = doc
        self.is_member = is_member
        self.overloads = overloads
        self.full_name = full_name
        self.parameters: Parameters | None = None  # made at first use

    names: Any = Lazy(lambda self: _Names(self))
    signature: Any = Lazy(lambda self: _signature_in(self.metadata))


class _Names:
    """How a function takes arguments by name. `first` and `rest` are the parameters of its overloads. The function
    assigns the names itself (`are_passed`) if its overloads have different names, or to refuse all names; an overload
    may have **kwargs (`takes_all`). `are_declared`: the author has named the parameters of an overload; `are_refused`:
    the author has declared the types of all parameters and no names, and the function does not check names itself, as
    functions of bind.h do."""

    def __init__(self, entry: FunctionMetadata) -> None:
        declared = [parameters_of(each) for each in entry.overloads or (entry,)]
        self.first, *self.rest = declared
        names = {each.names for each in declared}
        passes = any(each.are_named_by_function for each in declared)
        is_bound = [each.signature is not None for each in declared]
        self.are_passed = passes or ((len(names) > 1 or None in names) and all(is_bound))
        self.takes_all = any("kwargs" in each.kinds for each in declared)
        self.are_declared = names != {None}
        has_types = all(each.schemas is not None for each in declared)
        self.are_refused = not (passes or any(is_bound) or self.are_declared) and has_types


_UNKNOWN = FunctionMetadata()
_SILENT = 1  # the number of a Function that shows nothing for the moment
_entries = [_UNKNOWN, _UNKNOWN]  # by number; only grows
_numbers: dict[tuple[Any, ...], int] = {}
_lock = new_lock()


def _number_of(*key: Any) -> int:
    number = _numbers.get(key)
    if number is None:
        with _lock:
            number = _numbers.get(key)
            if number is None:
                number = len(_entries)
                _entries.append(FunctionMetadata(*key))
                _numbers[key] = number
    return number


def add_metadata(function: Function, metadata: str, doc: str, is_member: bool = False) -> None:
    """Record a function's metadata and documentation. A function that has other metadata already is overloaded: both
    count."""
    number, old = _number_of(metadata, doc, is_member), function._about
    if old not in (0, number):
        entries = _entries[old].overloads or (_entries[old],)
        new = _entries[number]
        number = old if new in entries else _number_of("", "", is_member, (*entries, new))
    function._about = number


def add_global_metadata(function: Function, full_name: str) -> None:
    """Record that a function is the global function of that name, before it gets another name."""
    function._about = _number_of("", "", False, (), full_name)


def static_method(function: Function) -> Any:
    """Return a staticmethod. A staticmethod copies the function's attributes when it is created, so these are hidden to
    avoid computing them."""
    number, function._about = function._about, _SILENT
    try:
        return staticmethod(function)
    finally:
        function._about = number


def metadata_of(function: Function) -> FunctionMetadata:
    """Return the metadata of a function; empty metadata if nothing is recorded."""
    entry = _entries[function._about]
    if entry is not _UNKNOWN and not entry.full_name:
        return entry
    name = entry.full_name or function.__name__
    if not name or function.__chandle__() == 0:
        return _UNKNOWN
    current = _core.global_get(name)
    if current is None or current.__chandle__() != function.__chandle__():
        return _UNKNOWN
    try:
        metadata, doc = str(_ffi_api.GetGlobalFuncMetadata(name)), ""
    except RuntimeError:  # another thread has removed it
        return _UNKNOWN
    read_doc = _core.global_get("ffi_hpy.GetGlobalFuncDoc")  # tvm_ffi's core has none
    if read_doc is not None:
        doc = str(read_doc(name))
    function._about = number = _number_of(metadata, doc, False)
    return _entries[number]


def parameters_of(entry: FunctionMetadata) -> Parameters:
    """Return the parameters in metadata."""
    found = entry.parameters
    if found is None:
        from .parameters import Parameters

        found = entry.parameters = Parameters(entry.metadata, entry.is_member)
    return found


def _signature_in(metadata: str) -> str | None:
    """Return the signature of a function of bind.h, as Parameters has it, but without the time for the schemas: a class
    shows the signatures of all its methods."""
    try:
        signature: str | None = parse_metadata(metadata, "a function").get("signature")
    except MetadataError:
        return None
    return signature


def is_bound(function: Function) -> bool:
    """Return whether a function is one of bind.h."""
    entry = metadata_of(function)
    return all(each.signature is not None for each in entry.overloads or (entry,))


def names_unbound_class(function: Function) -> bool:
    """Return whether the signatures of a function name a class that is still not bound."""
    entry = metadata_of(function)
    return any(names_unbound(each.metadata) for each in entry.overloads or (entry,))


def forget_parameters(function: Function) -> None:
    """Let the parameters be read again, with the names that classes have by now."""
    entry = metadata_of(function)
    for each in entry.overloads or (entry,):
        each.parameters = None
        each.__dict__.pop("signature", None)


def text_of_bound(function: Function, is_constructor: bool = False) -> str | None:
    """Return the signatures of a function of bind.h and its documentation, which is shown once if all overloads have
    the same one. None for another function. The signatures of a constructor become signatures of `__init__`."""
    entry = metadata_of(function)
    entries = entry.overloads or (entry,)
    lines = [line for line in [each.signature for each in entries] if line is not None]
    if len(lines) != len(entries):
        return None
    if is_constructor:
        lines = [signature_of_init(line) for line in lines]
    docs = [_clean(each.doc) for each in entries]
    text = "\n".join(lines)
    if len(set(docs)) == 1:
        return f"{text}\n\n{docs[0]}" if docs[0] else text
    parts = [f"\n{i}. ``{line}``\n" + (doc and f"\n{doc}") for i, (line, doc) in enumerate(zip(lines, docs), 1)]
    return "\n".join([f"{text}\n\nOverloaded function.", *parts])


def signature_of_init(line: str) -> str:
    """Return the signature of `__init__` for the signature of a constructor, unless an author has written it."""
    name, _, rest = line.partition("(")
    if rest.startswith("self"):
        return line
    params = rest.rpartition(") -> ")[0]
    return f"{name}(self{params and ', '}{params}) -> None"


def _clean(doc: str) -> str:
    if "\n" not in doc:
        return doc.strip()
    from inspect import cleandoc

    return cleandoc(doc)


_scopes: dict[int, tuple[str, str]] = {}
"""The modules and qualified names of functions of bound libraries, by handle. These functions live as long as the
process."""


def set_scope(function: Function, module: str, qualname: str) -> None:
    """Record the place where pickle and other programs find a function."""
    _scopes[function.__chandle__()] = (module, qualname)


# --- attributes of Function ----------------------------------------------------------------------------------------


def order_of_arguments(function: Function, n: int, names: tuple[str, ...]) -> Order | str:
    """Return the order of the arguments of a call with n positional arguments, and the names of the other arguments:
    see Parameters.order_of(). The first overload with these names counts; the function chooses by the types."""
    declared = metadata_of(function).names
    if declared.are_passed:
        from .parameters import named_by_function

        return named_by_function(n, names, declared.takes_all)
    title = function.__name__ or "native function"
    found: Order | str = declared.first.order_of(title, n, names)
    for each in declared.rest:
        if not isinstance(found, str):
            break
        found = each.order_of(title, n, names)
    return found


def arguments_by_names(
    function: Function, title: str, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...] | str:
    """Return the arguments of a call by position, or a str: see Parameters.in_order() and order_of_arguments()."""
    names = metadata_of(function).names
    if names.are_passed:
        from .parameters import pass_names

        return pass_names(args, named, names.takes_all)
    found: tuple[Any, ...] | str = names.first.in_order(title, args, named)
    if names.rest and isinstance(found, str):  # PyPy compiles a function without a loop into its caller
        return _of_overloads(names.rest, title, args, named)
    return found


def _of_overloads(
    rest: list[Parameters], title: str, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...] | str:
    found: tuple[Any, ...] | str = ""
    for each in rest:
        found = each.in_order(title, args, named)
        if not isinstance(found, str):
            break
    return found


def has_names(function: Function) -> bool:
    """Return whether the author has named the parameters of a function, or of an overload of it."""
    declared: bool = metadata_of(function).names.are_declared
    return declared


def takes_positions_only(function: Function) -> bool:
    """Return whether a function refuses arguments by name."""
    refused: bool = metadata_of(function).names.are_refused
    return refused


def _by_names(self: Function, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | str:
    """For the cffi backend."""
    return arguments_by_names(self, self.__name__ or "native function", args, named)


class _Module(str):
    """`__module__`: of a function of a bound library. The str itself is the module of the class."""

    __slots__ = ()

    def __get__(self, instance: Function | None, owner: type) -> str:
        scope = None if instance is None else _scopes.get(instance.__chandle__())
        return str(self) if scope is None else scope[0]

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return str, (str(self),)


def _qualname_of(self: Function) -> str:
    scope = _scopes.get(self.__chandle__())
    return self.__name__ if scope is None else scope[1]


def of_callable(function: Callable[..., Any]) -> Function:
    """Return the Function of a Python callable, for pickles."""
    return _core.function_from_callable(function)


def of_name(module: str, qualname: str) -> Any:
    """Return an attribute of a module, for pickles."""
    __import__(module)
    found: Any = sys.modules[module]
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def _reduce(self: Function) -> Any:
    """Pickle a function of a bound library by its name there, a Function that replaces a Python function by that
    function's name, a global function by its global name, and any other function by its Python callable. TypeError for
    a native function without a name."""
    scope = _scopes.get(self.__chandle__())
    if scope is not None:
        return scope[1]
    place = str(getattr(self._callable, "__module__", "")), str(getattr(self._callable, "__qualname__", ""))
    try:
        there = of_name(*place)
    except (AttributeError, ImportError, KeyError, ValueError):
        there = None
    if self._callable is not None and there is self._callable:
        return of_callable, (self._callable,)
    if isinstance(there, Function) and there.same_as(self):
        return of_name, place
    found: Any = find_late("_types.function_metadata: global functions", "global_name")(self)
    if found is None and self._callable is not None:
        return of_callable, (self._callable,)
    if found is None:
        raise TypeError(f"cannot pickle {self!r}: it has no global name and comes from no Python callable")
    return find_late("_types.function_metadata: global functions", "get_global_func"), (found,)


class _Signature:
    """`__signature__`, for inspect: functions have it, their class does not."""

    def __get__(self, instance: Function | None, owner: type) -> Any:
        if instance is None:
            self._refuse()
        return find_late("_types.function_metadata: signatures", "signature_of")(instance)

    def _refuse(self) -> NoReturn:
        raise AttributeError("__signature__")


class _Annotations(dict[str, Any] if TYPE_CHECKING else dict):  # type: ignore[misc]
    """`__annotations__`, for typing: of functions, and of the class, which has none."""

    def __get__(self, instance: Function | None, owner: type) -> dict[str, Any]:
        if instance is None:
            return self
        if instance._about == _SILENT:
            raise AttributeError("__annotations__")
        found: dict[str, Any] = find_late("_types.function_metadata: signatures", "annotations_of")(instance)
        return found


class _Doc(str):
    """`__doc__`: the signature line and the author's documentation. The str itself is the docstring of the class, and
    of functions without metadata."""

    __slots__ = ()

    def __get__(self, instance: Function | None, owner: type) -> str:
        if instance is None:
            return str(self)
        if instance._about == _SILENT:
            raise AttributeError("__doc__")
        text: str | None = find_late("_types.function_metadata: signatures", "text_of")(instance)
        return str(self) if text is None else text


for _function_class in (Function, *Function.__subclasses__()):  # the cffi backend has another class
    _function_class.__module__ = _Module((__package__ or "").rpartition(".")[0])  # that programs import it from
Function._qualname = property(_qualname_of)  # type: ignore[assignment, method-assign]
Function.__reduce__ = _reduce  # type: ignore[assignment, method-assign]
Function.__signature__ = _Signature()  # type: ignore[attr-defined]
Function.__doc__ = _Doc(Function.__doc__ or "")
Function.__annotations__ = _Annotations()
Function._by_names = _by_names  # type: ignore[method-assign]
