"""Modules, classes and enums that a bound library defines: the operations of the global function ffi_hpy.bind.

The library calls this function during its import, once for each definition. A scope is a module or a class.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from functools import cache
from types import FunctionType, GenericAlias, ModuleType

from .. import _core, _ffi_api
from .._containers.mapping import Map
from .._containers.sequence import Array
from .._core import Function
from .._types.function_metadata import add_metadata, forget_parameters, names_unbound_class, set_scope
from .._types.info import info_of_class, info_of_index
from .._types.metadata import PYTHON_ARGUMENTS, apply_nonblocking, apply_python_arguments, finders
from .._values.object import Object, ObjectMeta
from .._values.opaque import OpaquePyObject
from .._values.single import class_name
from ..error import register_error
from ..registry import (
    Constructor,
    add_constructor,
    add_method,
    add_property,
    arguments_of_constructor,
    class_for_type_index,
    flatten_keywords,
    make_class,
    refuse_base,
)
from . import arrays, standard, states, without_value
from .class_dict import ClassDict
from .nb_signature import LateSignatures, NbSignature
from .values import OPERATIONS, keep, keep_module, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from json import JSONEncoder
    from typing import Any

    from .._types.info import TypeInfo, TypeMethod

__all__ = ["StaticProperty", "answer", "answer_kept", "describe_again", "written_setters"]

if not hasattr(Function, "_keep"):  # the cffi backend, where the class has the conversion of arguments
    Function._keep = staticmethod(keep)  # type: ignore[attr-defined]
Function.__nb_signature__ = Constructor.__nb_signature__ = NbSignature()  # type: ignore[attr-defined]

_functions: dict[int, tuple[Any, dict[str, Function]]] = {}
"""The functions of each scope, by its id; the scope is kept, because its library is never unloaded."""


def _functions_of(scope: Any) -> dict[str, Function]:
    return _functions.setdefault(id(scope), (scope, {}))[1]


def _names_in(scope: Any, name: str) -> tuple[str, str]:
    """Return `__module__` and `__qualname__` for a class inside of a scope."""
    if isinstance(scope, ModuleType):
        return scope.__name__, name
    return scope.__module__, f"{scope.__qualname__}.{name}"


# --- functions ------------------------------------------------------------------------------------------------------


def _known_function(scope: Any, name: str) -> Function | None:
    """Return the function that a library has set as an attribute of the scope, to which it can add an overload."""
    return _functions_of(scope).get(name)


def _new_function(scope: Any, name: str, function: Function) -> None:
    function.__name__ = shown = "__init__" if name == "__ffi_init__" else name
    set_scope(function, *_names_in(scope, shown))
    _functions_of(scope)[name] = function


def _describe(function: Function, metadata: str, doc: str) -> None:
    add_metadata(function, metadata, doc)
    apply_nonblocking(function, metadata)
    apply_python_arguments(function, metadata)


def _function(scope: Any, name: str, function: Function, metadata: str, doc: str) -> None:
    """Set a function, or describe one more overload of it."""
    _new_function(scope, name, function)
    _describe(function, metadata, doc)
    setattr(scope, name, function)


def _describe_caller(caller: Any, function: Any, is_constructor: bool = False) -> None:
    """Give a Python function that calls a bound function, an operator for example, the description of the bound
    function."""
    if isinstance(caller, FunctionType) and isinstance(function, Function):
        caller.__nb_signature__ = LateSignatures(function, is_constructor)  # type: ignore[attr-defined]


def _method(cls: type[Any], name: str, function: Function, metadata: str, doc: str, is_static: bool) -> None:
    """Add a method that the type has got to its class, or describe one more overload of it."""
    known = _known_function(cls, name)
    if known is None:
        _new_function(cls, name, function)
    else:
        function = known
    info = info_of_class(cls)
    assert info is not None
    method = info._add_method(name, function, metadata, doc, _core.FIELD_IS_STATIC_METHOD if is_static else 0)
    _set_method(cls, info, method)
    if names_unbound_class(function):
        attribute = "__init__" if name == "__ffi_init__" else name
        _incomplete.append((cls, attribute, vars(cls).get(attribute), method, function))


def _set_method(cls: type[Any], info: TypeInfo, method: TypeMethod) -> None:
    """Set the attribute of a method."""
    name = method.name
    if name == "__ffi_init__":
        add_constructor(cls, info)
        _describe_caller(vars(cls)["__init__"], method.func, True)
    else:
        add_method(cls, method)
        _describe_caller(vars(cls).get(name), method.func)
        if name == "__getstate__":
            states.add_getter(cls)
        elif name == "__next__" and isinstance(method.func, Function) and hasattr(_core, "class_next"):
            _core.class_next(cls, method.func)


_incomplete: list[tuple[type[Any], str, Any, TypeMethod, Function]] = []
"""Methods whose documentation shows C++ names of classes that were not bound when the methods were defined: the
attribute of the class, its value, the method and its function."""


def describe_again() -> None:
    """Make the attributes of methods again whose documentation can show the names of all classes by now."""
    unbound = []
    try:
        while _incomplete:
            try:
                entry = _incomplete.pop()  # one thread makes each attribute
            except IndexError:  # another thread was faster
                break
            if names_unbound_class(entry[-1]):
                unbound.append(entry)
            else:
                _describe_method(*entry)
    finally:
        _incomplete.extend(unbound)


def _describe_method(cls: type[Any], attribute: str, made: Any, method: TypeMethod, function: Function) -> None:
    method._forget_metadata()
    if vars(cls).get(attribute) is not made:  # replaced since then, by one more overload for example
        return
    forget_parameters(function)
    info = info_of_class(cls)
    assert info is not None
    is_frozen = "_ffi_is_frozen" in vars(cls)
    if is_frozen:
        type.__delattr__(cls, "_ffi_is_frozen")
    _set_method(cls, info, method)
    if is_frozen:
        _freeze(cls)


# --- classes --------------------------------------------------------------------------------------------------------


_SLOTS = ("__dict__", "__weakref__")


class StaticProperty(property):
    """A property of a class, which BoundMeta lets the class itself set. As a property it is documented by help()."""

    def __init__(self, get: Callable[[type], Any], set: Callable[[type, Any], None] | None, doc: str) -> None:
        super().__init__(get, set)
        self.__doc__ = doc  # the instance's own, because this class has one

    def __get__(self, obj: Any, cls: type | None = None) -> Any:
        assert self.fget is not None
        return self.fget(type(obj) if cls is None else cls)

    def __set__(self, obj: Any, value: Any) -> None:
        self.change(obj if isinstance(obj, type) else type(obj), value)

    def change(self, cls: type, value: Any) -> None:
        if self.fset is None:
            raise AttributeError(f"a static property of {cls.__qualname__} cannot be set")
        self.fset(cls, value)


def _static_property(cls: type, name: str, get: Any, set: Any, doc: str) -> None:
    type.__setattr__(cls, name, StaticProperty(get, set, doc))


def _static_property_in(cls: type, name: str) -> StaticProperty | None:
    for owner in cls.__mro__:
        found = owner.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, StaticProperty) else None
    return None


def _require_mutable(cls: BoundMeta, name: str) -> None:
    cls._ffi_require_allowed()
    if "_ffi_is_frozen" in cls.__dict__ and not name.startswith("_abc_"):  # caches of isinstance(), on PyPy
        raise TypeError(f"cannot set {name!r} attribute of immutable type {class_name(cls)!r}")
    if name.startswith("@") and name in cls.__dict__:  # C++ may have a borrowed reference of it
        raise AttributeError(f"the attribute {name!r} of {class_name(cls)} cannot be set again, or deleted")


def _require_allowed_bases(name: str, bases: tuple[type, ...]) -> None:
    """TypeError for a base that prohibits subclassing, and for several bound bases, because an object has one C++
    value. Several classes of bind.h are allowed if one of them derives from all others; nanobind refuses them, too."""
    derived = [base for base in bases if isinstance(base, BoundMeta)]
    for base in derived:
        base._ffi_require_allowed()
        if "_ffi_is_final" in vars(base):
            refuse_base(base)
    bound = [next(owner for owner in base.__mro__ if "_ffi_bound_class" in vars(owner)) for base in derived]
    is_nanobind = any(vars(owner)["_ffi_library"] == "nanobind" for owner in bound)
    is_line = not is_nanobind and any(all(other in each.__mro__ for other in bound) for each in bound)
    if len(bound) > 1 and not is_line:
        names = ", ".join(dict.fromkeys(map(class_name, bound)))
        raise TypeError(f"{name} has multiple nanobind bases, or bases that are bound otherwise: {names}")


class BoundMeta(ObjectMeta):
    """Metaclass of bound classes: a class of Python that derives from one is an ordinary class, whose instances have
    attributes and weak references, unless it declares `__slots__`."""

    if not TYPE_CHECKING:  # with these, type checkers would accept every assignment

        def __setattr__(cls, name, value, /):
            _require_mutable(cls, name)
            found = _static_property_in(cls, name)
            if found is None or isinstance(value, StaticProperty):
                super().__setattr__(name, value)
            else:
                found.change(cls, value)

        def __delattr__(cls, name, /):
            _require_mutable(cls, name)
            if _static_property_in(cls, name) is not None:
                raise AttributeError(f"a static property of {cls.__qualname__} cannot be deleted")
            super().__delattr__(name)

    def _ffi_require_allowed(cls) -> None:
        for owner in cls.__mro__:
            if "__slots__" not in vars(owner) and isinstance(owner, BoundMeta):  # type.__new__ asks no metaclass
                _require_allowed_bases(owner.__name__, owner.__bases__)

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **kwargs: Any) -> BoundMeta:
        if not any(isinstance(base, BoundMeta) or base is Object for base in bases):
            raise TypeError(
                f"{name}: the metaclass of bound classes requires a nanobind base type or another bound class"
            )
        _require_allowed_bases(name, bases)
        if _hides_a_mixin(bases):
            mcls = _with_roots_last(mcls)  # type: ignore[arg-type]  # as a class it has a hash
        owners = [owner for base in bases for owner in base.__mro__]
        if "__slots__" not in namespace:
            namespace["__slots__"] = [slot for slot in _SLOTS if not any(slot in vars(owner) for owner in owners)]
        made: Any = super().__new__(mcls, name, bases, namespace, **kwargs)
        return made  # type: ignore[no-any-return]


class _Memberless(metaclass=ABCMeta):
    """A class with the names that every class has."""

    annotated: None


_ROOTS = Object.__mro__[:-1]
_NAMES_OF_ROOTS = {name for root in _ROOTS for name in vars(root)} - vars(_Memberless).keys() - {"__slots__"}


def _hides_a_mixin(bases: tuple[type, ...]) -> bool:
    """Whether Object, from which a bound base derives, hides a member of a base that comes after the bound base."""
    owners = [owner for base in bases for owner in base.__mro__[:-1]]
    mixins = [owner for owner in owners[owners.index(Object) :] if not isinstance(owner, BoundMeta)]
    return any(_NAMES_OF_ROOTS & vars(mixin).keys() for mixin in mixins if mixin not in _ROOTS)


class _RootsLastMeta(BoundMeta):
    """Metaclass of classes whose mixins come before Object, though a bound base comes before the mixins. A class has it
    only if that makes a difference, because the interpreter finds attributes more slowly with such an order."""

    def mro(cls) -> list[type]:
        order = super().mro()
        return [owner for owner in order[:-1] if owner not in _ROOTS] + [*_ROOTS, order[-1]]


@cache
def _with_roots_last(metaclass: type[BoundMeta]) -> type[BoundMeta]:
    """Return the metaclass with the order of _RootsLastMeta."""
    if issubclass(metaclass, _RootsLastMeta):
        return metaclass
    if issubclass(_RootsLastMeta, metaclass):
        return _RootsLastMeta
    return type(metaclass.__name__, (_RootsLastMeta, metaclass), {"__module__": metaclass.__module__})


def _class(scope: Any, name: str, type_index: int, flags: int, address: int, library: str = "ffi_hpy") -> type:
    """Make the class of a bound C++ class. `flags`: 1 for attributes, plus 2 for weak references to its instances, plus
    4 for a class that Python cannot derive from, plus 8 for a generic class. `address`: the address of the C struct of
    the class. `library`: the first word of warnings about its objects."""
    without_value.watch()
    info = info_of_index(type_index)
    bases = [base for base in class_for_type_index(info.parent_type_index).__mro__ if isinstance(base, BoundMeta)]
    inherited = {slot for base in bases for slot in _SLOTS if slot in vars(base)}
    slots = tuple([slot for i, slot in enumerate(_SLOTS) if flags & 1 << i and slot not in inherited])
    attributes: dict[str, Any] = {"_ffi_bound_class": address, "_ffi_library": library}
    attributes["_ffi_is_findable"] = True  # for the cffi backend (_pypy/object/objects.py)
    if flags & 4:
        attributes["_ffi_is_final"] = True
    if flags & 8:
        attributes["__class_getitem__"] = classmethod(GenericAlias)
    cls = make_class(BoundMeta, _names_in(scope, name), info, slots, attributes)
    setattr(scope, name, cls)
    return cls


def _class_address(cls: Any) -> Any:
    """Return the pointer to the bound class of a class, or of the class that an alias such as `Box[int]` names; 0 for
    other values."""
    named = getattr(cls, "__origin__", cls)
    return getattr(named, "_ffi_bound_class", 0) if isinstance(named, type) else 0


def _original_base(cls: type, base: Any) -> None:
    """Note the base class that an author has named, if it is an alias such as `Base[int]`, as Python does."""
    if not issubclass(type(base), type):  # isinstance() takes an alias for its class, before Python 3.11
        type.__setattr__(cls, "__orig_bases__", (base,))


def _freeze(cls: type) -> bool:
    """Make a bound class constant. Return False for another class."""
    if not isinstance(cls, BoundMeta):
        return False
    for base in cls.__bases__:
        if isinstance(base, BoundMeta) and "_ffi_is_frozen" not in vars(base):
            raise TypeError(f"immutable type {class_name(cls)!r} has the mutable base {class_name(base)!r}")
    type.__setattr__(cls, "_ffi_is_frozen", True)
    return True


def _known_class(scope: Any, name: str, type_index: int, warning: str) -> type:
    """Set a class that is bound already as an attribute, too, and let definitions add to it."""
    warn(warning)
    cls = class_for_type_index(type_index)
    if "_ffi_is_frozen" in vars(cls):
        type.__delattr__(cls, "_ffi_is_frozen")
    setattr(scope, name, cls)
    return cls


def _class_entry(cls: type, name: str) -> list[Any] | None:
    """Return a list of the entry of a class or of its bases; None if there is none."""
    return next(([vars(owner)[name]] for owner in cls.__mro__ if name in vars(owner)), None)


def _instance_dict(value: Any) -> dict[str, Any] | None:
    found = getattr(value, "__dict__", None)
    return found if isinstance(found, dict) else None


class _NewMeta(BoundMeta):
    """Metaclass of bound classes whose constructor may return an object that is known already, and of the classes that
    derive from them."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        constructor: Function | None = vars(cls).get("_ffi_constructor")
        if constructor is None:
            return super().__call__(*args, **named)
        if named:
            args = arguments_of_constructor(cls, constructor, args, named, flatten_keywords)
        return constructor(*args)


def _new(cls: Any, constructor: Function) -> None:
    cls.__class__ = _NewMeta
    cls._ffi_constructor = constructor

    def new(wanted: Any, /, *args: Any, **named: Any) -> Any:
        if not (isinstance(wanted, type) and issubclass(wanted, cls)):
            text = f"{class_name(cls)}.__new__() takes this class or one that derives from it, not {wanted!r}"
            raise RuntimeError(text)  # noqa: TRY004 - nanobind's class for it
        if wanted is cls and (args or named):
            return cls(*args, **named)
        return super(cls, cls).__new__(wanted)  # without a value; a derived class sets it by `__init__`

    new.__name__ = "__new__"
    new.__qualname__ = f"{cls.__qualname__}.__new__"
    type.__setattr__(cls, "__new__", new)  # calls of the class need not run it (registry._is_made_plainly)


written_setters: dict[tuple[type, str], str] = {}
"""The signatures that authors have written for the functions that set properties, by class and name."""


def _class_signature(cls: type, text: str) -> None:
    """Keep the definition that an author has written, for stubs."""
    type.__setattr__(cls, "_ffi_signature", str(text))


def _property(cls: type[Any], name: str, write: Function | None, metadata: str | None) -> None:
    """Add a property that the type has got. A function that takes Python objects sets it directly; the field of the
    type would convert the value first."""
    info = info_of_class(cls)
    assert info is not None
    add_property(cls, info)
    if metadata is not None and '"written":' in metadata:
        from json import loads

        written_setters[cls, name] = loads(metadata)["written"]
    if write is not None and metadata is not None and PYTHON_ARGUMENTS in metadata:
        write.__name__ = name
        _describe(write, metadata, "")
        setattr(cls, name, cls.__dict__[name].setter(lambda self, value: write(self, value)))


def _trampoline(cls: type[Any], make: Any, forget: Any, connect: Any) -> None:
    from .._types.overrides import watch_trampoline

    watch_trampoline(cls, make, forget, connect)


def _override(obj: Any, name: str) -> Function | bool | None:
    from .._types.overrides import caller_of_override

    return caller_of_override(obj, name)


def _value_name(value: Any) -> str:
    """Return the name of a value's class as its caller knows it: lists and dicts arrive as native containers."""
    return {Array: "list", Map: "dict"}.get(type(value)) or class_name(type(value))


_exceptions: dict[str, str] = {}
"""The names of exception classes in Python by their C++ names, for exceptions that cross from another library."""


def _exception(scope: Any, name: str, base: type, cpp_name: str = "") -> type:
    """Make an exception class, and register it for errors of its name."""
    module, qualified = _names_in(scope, name)
    if cpp_name:
        _exceptions[cpp_name] = f"{module}.{qualified}"
    body = {"__module__": module, "__qualname__": qualified}
    cls = type(name, (base,), body)
    register_error(f"{module}.{qualified}", cls)
    setattr(scope, name, cls)
    return cls


# --- enums ----------------------------------------------------------------------------------------------------------


def _text_of_member(member: Any) -> str:
    """Return the name after the name of the class, as C++ writes it: `Color.red`, `Access.read|write`."""
    name = member._name_
    if name is None:  # a combination of flags, before Python 3.11
        parts = [each for each in type(member) if each._value_ and each._value_ & member._value_ == each._value_]
        name = "|".join(each._name_ for each in parts) or str(member._value_)
    return f"{type(member).__name__}.{name}"


class _Named:
    """A base of enums, whose members have the texts and the `__name__` of C++."""

    __slots__ = ()
    __name__ = property(lambda self: self._name_)
    __str__ = __repr__ = _text_of_member


@cache
def _enum_base(kind: int) -> Any:
    import enum

    bases: Any = (_Named, (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag, getattr(enum, "StrEnum", None))[kind])
    if bases[1] is None:  # before Python 3.11
        bases = (_Named, str, enum.Enum)
    meta: Any = enum.EnumMeta
    namespace = meta.__prepare__("BoundEnum", bases)
    namespace["__module__"] = __name__  # otherwise the attribute of the metaclass
    return meta("BoundEnum", bases, namespace)


class _EnumBuilder:
    """An enum whose members are not complete. `kind`: 1 for members that are ints, plus 2 for flags; or 4 for members
    that are strings."""

    def __init__(self, scope: Any, name: str, doc: str, kind: int, cpp_name: str = "") -> None:
        self.scope, self.name, self.doc, self.kind = scope, name, doc, kind
        self.members: list[tuple[str, int | str, str]] = []
        self.numbers: list[int] = []  # of the members, in C++
        self.functions: list[tuple[str, str, Any]] = []
        self.made: Any = None
        self.is_exported = False
        if cpp_name:
            _enums.setdefault(cpp_name, self)

    def finish(self) -> type:
        """Make the class, and set it as an attribute of its scope; or return the class if it is made already."""
        if self.made is not None:
            return self.made  # type: ignore[no-any-return]
        base = _enum_base(self.kind)
        module, qualified = _names_in(self.scope, self.name)
        pairs = [(name, value) for name, value, _ in self.members]
        cls: Any = base(self.name, pairs, module=module, qualname=qualified)
        cls.__doc__ = self.doc or None
        if not issubclass(cls, (int, str)):  # members of an IntEnum or StrEnum are passed as int or str
            cls.__ffi_members__ = True  # for _convert.classify()
            for member in cls.__members__.values():
                _core.member_register(member)
        for name, _, doc in self.members:
            if cls[name]._name_ == name:  # another name of a member has no text of its own
                cls[name].__doc__ = doc or None
        for kind, name, function in self.functions:
            setattr(cls, name, _ENUM_FUNCTIONS[kind](function))
        self.made = cls
        setattr(self.scope, self.name, cls)
        if self.is_exported:
            for name, _, _ in self.members:
                setattr(self.scope, name, cls[name])
        return cls  # type: ignore[no-any-return]


_enums: dict[str, _EnumBuilder] = {}
"""The enums of all libraries by their C++ names. If several libraries bind an enum, all share the enum of the first
library."""


def _enum_key(cpp_name: str) -> str | None:
    builder = _enums.get(cpp_name)
    return None if builder is None else ".".join(_names_in(builder.scope, builder.name))


finders.append(_enum_key)
finders.append(_ffi_api.bind_class_key)


def _enum_items(builder: _EnumBuilder) -> list[tuple[int, int | str]]:
    return [(number, value) for number, (_, value, _) in zip(builder.numbers, builder.members)]


def _enum_add(builder: _EnumBuilder, name: str, value: int | str, doc: str, number: int = 0) -> None:
    if builder.made is not None:
        raise RuntimeError(f"{builder.name} is complete: a function has used it already")
    builder.members.append((name, value, doc))
    builder.numbers.append(number)


def _as_method(function: Any) -> Any:
    if isinstance(function, FunctionType):  # it binds its object already
        return function

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return function(self, *args, **named)

    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = function.__doc__
    method.__wrapped__ = function  # type: ignore[attr-defined]  # its signature, for inspect and stubs
    _describe_caller(method, function)
    return method


_ENUM_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"method": _as_method, "static": staticmethod, "property": property}


def _enum_def(builder: _EnumBuilder, kind: str, name: str, function: Any) -> None:
    builder.functions.append((kind, name, function))
    if builder.made is not None:
        setattr(builder.made, name, _ENUM_FUNCTIONS[kind](function))


def _enum_document(builder: _EnumBuilder, doc: str) -> None:
    builder.doc = doc
    if builder.made is not None:
        builder.made.__doc__ = doc


def _enum_export(builder: _EnumBuilder) -> None:
    builder.is_exported = True


def _enum_member(cls: Any, value: int) -> Any:
    member = cls(value)
    return member if hasattr(cls, "__ffi_members__") else OpaquePyObject(member)


def _enum_value(cls: Any, value: Any, may_convert: bool) -> Any:
    """Return the number of a member, or the member itself if its value is a str; None for another value. With
    may_convert also for the value of a member."""
    if not isinstance(value, cls):
        try:
            value = cls(value) if may_convert else None
        except ValueError:
            return None
        if value is None:
            return None
    number = value._value_
    if isinstance(number, str):
        return OpaquePyObject(value)
    if not -(2**63) <= number < 2**64:
        return None
    return number if number < 2**63 else number - 2**64


# --- other values ---------------------------------------------------------------------------------------------------


def _submodule(scope: ModuleType, name: str, doc: str) -> OpaquePyObject:
    made = ModuleType(f"{scope.__name__}.{name}", doc or None)
    sys.modules[made.__name__] = made
    setattr(scope, name, made)
    return keep_module(made)


def _property_metadata(metadata: str) -> str:
    """Return the metadata of a property from the metadata of the function that reads the property."""
    from json import loads

    encode = _encoder().encode
    of_function = loads(metadata)
    schema = loads(of_function["type_schema"])
    result = schema["named_args"]["return"][0]
    own = {"type_schema": encode(result)}
    if "written" in of_function:
        own["written"] = of_function["written"]
    return encode(own)


@cache
def _encoder() -> JSONEncoder:
    """Return the encoder of metadata, with the characters beyond ASCII that with_names() needs. json.dumps() makes one
    for each call."""
    from json import JSONEncoder

    return JSONEncoder(ensure_ascii=False)


def _loose_function(function: Function, metadata: str, name: str, doc: str, is_method: bool) -> Any:
    """Describe a function that is not an attribute of a scope, and return it as a Python object, which keeps its
    description. A method binds its object where it is an attribute."""
    function.__name__ = name
    _describe(function, metadata, doc)
    if not is_method:
        return OpaquePyObject(function)

    def method(*args: Any, **named: Any) -> Any:
        return function(*args, **named)

    method.__name__ = method.__qualname__ = name
    method.__wrapped__ = function  # type: ignore[attr-defined]  # its signature, for inspect and stubs
    _describe_caller(method, function)
    return method


_OPERATIONS: dict[str, Callable[..., Any]] = {
    **OPERATIONS,
    **arrays.OPERATIONS,
    **standard.OPERATIONS,
    "known_function": _known_function,
    "function": _function,
    "loose_function": _loose_function,
    "key_in": lambda scope, name: ".".join(_names_in(scope, name)),
    "method": _method,
    "class": _class,
    "class_dict": ClassDict,
    "class_entry": _class_entry,
    "freeze": _freeze,
    "instance_dict": _instance_dict,
    "known_class": _known_class,
    "class_of_index": class_for_type_index,
    "class_address": _class_address,
    "original_base": _original_base,
    "class_signature": _class_signature,
    "property": _property,
    "static_property": _static_property,
    "setstate": states.add_setter,
    "new": _new,
    "property_metadata": _property_metadata,
    "trampoline": _trampoline,
    "override": _override,
    "class_name": class_name,
    "value_name": _value_name,
    "short_class_name": lambda cls: f"{cls.__module__}.{cls.__name__}",
    "list_repr": lambda self: f"{class_name(type(self))}({list(self)!r})",
    "dict_repr": lambda self: f"{class_name(type(self))}({dict(self.items())!r})",
    "exception": _exception,
    "exception_kind": _exceptions.get,
    "enum": _EnumBuilder,
    "enum_find": _enums.get,
    "enum_key": _enum_key,
    "enum_kind": lambda builder: builder.kind,
    "enum_items": _enum_items,
    "enum_add": _enum_add,
    "enum_def": _enum_def,
    "enum_document": _enum_document,
    "enum_export": _enum_export,
    "enum_finish": _EnumBuilder.finish,
    "enum_member": _enum_member,
    "enum_value": _enum_value,
    "module_name": lambda module: module.__name__,
    "submodule": _submodule,
}


def answer(operation: str, *args: Any) -> Any:
    """Run an operation. The caller passes the result on as a Python object, not as a native value."""
    return _OPERATIONS[operation](*args)


def answer_kept(operation: str, *args: Any) -> Any:
    """Run an operation. Objects of Python are returned as such, not as native values."""
    return keep(_OPERATIONS[operation](*args))
