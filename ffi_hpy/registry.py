"""Registries of global functions and of classes for native types.

A native function may block, or wait for a thread that runs Python, so a call releases the GIL by default. If a function
is short and does neither, its author can declare that with the key ``"nonblocking": true`` in the function's metadata
(JSON). Functions and methods looked up here or in a module then keep the GIL, which saves about 40 ns a call.
`Function.release_gil` shows and sets this. The flag has no effect on an interpreter without a GIL.

Everything here is safe to call from several threads.
"""

from __future__ import annotations

import sys
from types import MethodType

from . import _core, _ffi_api
from ._core import SHORT_CALLS_KEEP_GIL, CObject, Function
from ._start.fork import importing
from ._start.late import find_attributes, find_late
from ._start.named import named
from ._start.similar import did_you_mean
from ._types.function_metadata import (
    add_global_metadata,
    arguments_by_names,
    has_names,
    takes_positions_only,
    text_of_bound,
)
from ._types.info import (
    TypeInfo,
    index_of_key,
    info_of_index,
    info_of_key,
    load_library_of,
    set_class,
    set_python_class,
)
from ._types.metadata import NONBLOCKING, apply_nonblocking, parse_metadata
from ._values.object import MISSING, Object, ObjectMeta, _raise_not_constructible, watched_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any, Literal, NoReturn, TypeVar, overload

    from ._types.info import TypeMethod

    ObjectClass = TypeVar("ObjectClass", bound=type[CObject])
    _MakesFunction = Callable[[Callable[..., Any]], Function]

__all__ = [
    "get_global_func",
    "get_global_func_metadata",
    "get_registered_type_keys",
    "init_ffi_api",
    "list_global_func_names",
    "register_global_func",
    "register_object",
    "remove_global_func",
]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

_init_method: Any = getattr(_core, "init_method", None)
"""Creates a method that needs no Python frame for the most common call; None if the binding lacks it."""

_class_call: Any = getattr(_core, "class_call", None)
"""Lets a call of a class make the object without `__new__` and `__init__`; None if the binding lacks it."""

_SKIP_UNKNOWN_OBJECTS = False
"""Whether register_object() returns the class unchanged if no loaded library has registered the type. A program that
imports classes without their library sets it, as tvm_ffi.registry._SKIP_UNKNOWN_OBJECTS."""


# --- global functions -----------------------------------------------------------------------------------------------

if TYPE_CHECKING:

    @overload
    def get_global_func(name: str, allow_missing: Literal[False] = False) -> Function: ...
    @overload
    def get_global_func(name: str, allow_missing: bool) -> Function | None: ...


def get_global_func(name: str, allow_missing: bool = False) -> Function | None:
    """Look up a global function that native code or Python has registered.

    Args:
        name: its full name, such as "my_lib.add".
        allow_missing: whether to return None for a name that is not registered.

    Returns:
        The function, which stays usable if the name is removed or registered again.

    Raises:
        ValueError: if no function has that name; the message suggests a similar name.

    Examples:
        >>> shape_of = ffi_hpy.get_global_func("ffi.Shape")
        >>> shape_of(2, 3)
        (2, 3)
        >>> ffi_hpy.get_global_func("not.registered", allow_missing=True)
    """
    function = _core.global_get(name)
    if function is None and load_library_of(name):
        function = _core.global_get(name)
    if function is None:
        if allow_missing:
            return None
        similar = did_you_mean(name, list_global_func_names())
        raise ValueError(f"Cannot find global function {name}: no loaded library registered it{similar}")
    if SHORT_CALLS_KEEP_GIL:
        metadata = _core.global_metadata(name, NONBLOCKING)
        if metadata is not None:
            apply_nonblocking(function, metadata)
    return function


if TYPE_CHECKING:

    @overload
    def register_global_func(func_name: str, f: None = None, override: bool = False) -> _MakesFunction: ...
    @overload
    def register_global_func(func_name: str, f: Callable[..., Any], override: bool = False) -> Function: ...
    @overload
    def register_global_func(func_name: Callable[..., Any], f: None = None, override: bool = False) -> Function: ...


def register_global_func(
    func_name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False
) -> Any:
    """Register a function under a global name, for native code and other languages.

    As a decorator, with the name or bare, it replaces the Python function with the Function.

    Args:
        func_name: the name; as a bare decorator, the function, registered as its `__name__`.
        f: a Python callable, or a Function. The registry keeps it alive until the name is removed or replaced. Native
            code may call it on any thread.
        override: whether to replace the function of that name.

    Returns:
        The Function for `f`, `f` itself if it is a Function; a decorator if `f` is not given.

    Raises:
        RuntimeError: if the name is registered, unless `override` is true.
        TypeError: if `f` is not callable.

    Examples:
        >>> @ffi_hpy.register_global_func("example.add")
        ... def add(a, b):
        ...     return a + b
        >>> ffi_hpy.get_global_func("example.add")(1, 2)
        3
        >>> ffi_hpy.remove_global_func("example.add")
    """
    if isinstance(func_name, str):
        name = func_name
    elif callable(func_name):
        name, f = func_name.__name__, func_name
    else:
        raise TypeError(f"register_global_func() expected a name or a callable, got {type(func_name).__name__}")

    def register(function: Callable[..., Any]) -> Function:
        if not callable(function):
            raise TypeError(f"register_global_func() expected a callable for {name!r}, got {type(function).__name__}")
        native = function if isinstance(function, Function) else _core.function_from_callable(function)
        _core.global_set(name, native, override)
        return native

    return register if f is None else register(f)


def remove_global_func(name: str) -> None:
    """Remove a global function name, if it exists. Functions that were looked up stay usable.

    Args:
        name: the full name of a function.
    """
    _ffi_api.FunctionRemoveGlobal(name)


def list_global_func_names() -> list[str]:
    """List the names of all global functions.

    Returns:
        A new list, in no particular order. Libraries that are loaded later add names.

    Examples:
        >>> "ffi.Shape" in ffi_hpy.list_global_func_names()
        True
    """
    name_at = _ffi_api.FunctionListGlobalNamesFunctor()
    return [name_at(i) for i in range(name_at(-1))]


def global_name(function: Function) -> str | None:
    """Return a global name of a native function, None if it has none. A wrapper knows the name by which it was found,
    and a wrapper that native code returns knows no name."""
    named = _core.global_get(function.__name__) if function.__name__ else None
    if named is not None and function.same_as(named):
        return function.__name__
    return next((name for name in list_global_func_names() if function.same_as(_core.global_get(name))), None)


def get_global_func_metadata(name: str) -> dict[str, Any]:
    """Look up the metadata of a global function.

    Args:
        name: the full name of the function.

    Returns:
        The metadata; its "type_schema" has the types of parameters and result, as JSON. {} if there is none, as for
        functions registered by Python.

    Raises:
        RuntimeError: if no function has that name.
        ValueError: if its metadata is not a JSON object.
    """
    text = _ffi_api.GetGlobalFuncMetadata(name)
    return parse_metadata(text, f"function `{name}`") if text else {}


def init_ffi_api(namespace: str, target_module_name: str | None = None) -> None:
    """Set all global functions of a namespace as attributes of a module: ``<namespace>.<name>`` becomes ``<name>``.

    Names with a further dot belong to other namespaces and are left out. Functions that are registered later are not
    added.

    Args:
        namespace: the first part of the functions' names; a leading "tvm." is dropped.
        target_module_name: the name of an imported module; None for the namespace.

    Raises:
        KeyError: if the module is not imported.

    Examples:
        >>> import sys, types
        >>> sys.modules["my_strings"] = types.ModuleType("my_strings")
        >>> ffi_hpy.init_ffi_api("ffi", "my_strings")
        >>> sys.modules["my_strings"].Shape(4, 5)
        (4, 5)
    """
    module = sys.modules.get(target_module_name or namespace)
    if module is None:
        raise KeyError(f"init_ffi_api({namespace!r}): no module {target_module_name or namespace!r} is imported")
    prefix = (namespace[len("tvm.") :] if namespace.startswith("tvm.") else namespace) + "."
    for full_name in list_global_func_names():
        name = full_name[len(prefix) :]
        if not full_name.startswith(prefix) or "." in name:
            continue
        function = get_global_func(full_name, allow_missing=True)
        if function is not None:  # another thread may have removed the function
            add_global_metadata(function, full_name)
            function.__name__ = str(name)
            setattr(module, name, function)


# --- types ----------------------------------------------------------------------------------------------------------


if TYPE_CHECKING:

    @overload
    def register_object(type_key: ObjectClass, *, init: bool = True) -> ObjectClass: ...
    @overload
    def register_object(type_key: str | None = None, *, init: bool = True) -> Callable[[ObjectClass], ObjectClass]: ...


def register_object(type_key: Any = None, *, init: bool = True) -> Any:
    """Class decorator: make a class the Python side of a native type.

    Native objects of that type become instances of it. The class gets a descriptor for each reflected field and method,
    unless it defines that name. Registering another class for the type replaces this one: objects that reach Python
    later become instances of the new class, even objects that this class creates afterwards. Instances of its
    subclasses stay themselves.

    Args:
        type_key: the name of the native type; as a bare decorator, the class's name.
        init: whether to add an `__init__` that calls the type's constructor (`__ffi_init__`), with the fields as
            keyword arguments where the type supports them, if the class does not define `__init__`. If the type has no
            constructor, that `__init__` raises TypeError.

    Returns:
        The decorator; as a bare decorator, the class.

    Raises:
        ValueError: if no loaded library has registered the type.
        TypeError: for a class that does not derive from Object.

    Examples:
        >>> import ffi_hpy.testing  # loads the library that has the type
        >>> @ffi_hpy.register_object("testing.TestIntPair")
        ... class Pair(ffi_hpy.Object):
        ...     def swapped(self):
        ...         return Pair(self.b, self.a)
        >>> Pair(1, 2).swapped().a
        2
    """
    if isinstance(type_key, type):
        return _register(type_key, type_key.__name__, init)

    def decorate(cls: ObjectClass) -> ObjectClass:
        return _register(cls, cls.__name__ if type_key is None else type_key, init)

    return decorate


def get_registered_type_keys() -> list[str]:
    """List the keys of all registered types, including plain values and the core's types."""
    return list(_ffi_api.GetRegisteredTypeKeys())


def class_for_type_index(index: int) -> type[CObject]:
    """Return the class of a native type that has no registered class: create it from the type's registered members,
    derived from the class of the parent type, and register it."""
    found = _core.class_offer(index, None)
    if found is not None:
        return found
    info = info_of_index(index)
    found = find_late("registry: classes", info.type_key)
    if found is not None:
        return found  # type: ignore[no-any-return]
    parent = class_for_type_index(info.parent_type_index) if info.parent_type_index >= 0 else Object
    if not issubclass(parent, Object):  # a native type derived from Tensor, Function or Error
        parent = Object
    module, _, name = str(info.type_key).rpartition(".")
    body = {
        "__module__": module or __name__,
        "__qualname__": str(info.type_key),
        "__doc__": f"Auto-generated fallback class for the native type {info.type_key}."
        + (f"\n\n{info.doc}" if info.doc else ""),
    }
    cls: type[CObject] = ObjectMeta(name, (parent,), body)  # type: ignore[assignment]
    _bind(cls, info, init=True)
    # Threads that get here at once make one class each. The first class counts, unless another class was registered in
    # the meantime.
    counting = _core.class_offer(index, cls)
    if counting is cls:
        set_python_class(info, cls)
        _set_variants(cls)
    return counting


def _register(cls: ObjectClass, type_key: str, init: bool) -> ObjectClass:
    if not issubclass(cls, CObject):
        raise TypeError(f"register_object({type_key!r}): {cls.__qualname__} does not derive from ffi_hpy.Object")
    if index_of_key(type_key) < 0 and _SKIP_UNKNOWN_OBJECTS:
        return cls
    info = info_of_key(type_key)
    _bind(cls, info, init)
    if info.doc and cls.__doc__ is None:
        cls.__doc__ = info.doc
    set_class(info, cls)
    _set_variants(cls)
    return cls


def _set_variants(cls: type[CObject]) -> None:
    """Set the variants of an enum, which are instances of this class, as its attributes."""
    set_entries = getattr(cls, "_set_entries", None)
    if set_entries is not None:
        set_entries()


def _bind(cls: type[CObject], info: TypeInfo, init: bool) -> None:
    """Add the members of its type to a class, and the members of ancestor types whose class is not a base."""
    cls.__tvm_ffi_type_info__ = info  # type: ignore[attr-defined]
    for index in (*info.type_ancestors, info.type_index):
        if _core.type_attr(index, "__ffi_overrides__") is not None:
            with importing:
                from ._types.overrides import watch
            watch(info_of_index(index))
    _bind_members(cls, info)
    for ancestor in reversed(info.type_ancestors):  # the nearest first: its members replace those above
        ancestor_class = _core.class_offer(ancestor, None)
        if ancestor_class is None or not issubclass(cls, ancestor_class):
            _bind_members(cls, info_of_index(ancestor))
    constructor = _constructor_of(info)
    if constructor is not None:
        _set_method(cls, "__ffi_init__", _construct_for(cls, info, constructor))
    if init and "__init__" not in cls.__dict__:
        _set_init(cls, info, constructor)


def _set_init(cls: type[CObject], info: TypeInfo, constructor: Function | None) -> None:
    if constructor is None:
        _set_method(cls, "__init__", _refuse_for(cls))
        return
    written = named(_construct_for(cls, info, constructor), cls, "__init__")
    if isinstance(constructor, Function):
        written.__doc__ = text_of_bound(constructor, is_constructor=True)
    set_init(cls, written, _maker_of(info, constructor))


# --- classes that grow while their library is imported ----------------------------------------------------------------


def make_class(
    metaclass: type[ObjectMeta],
    scope_names: tuple[str, str],
    info: TypeInfo,
    slots: tuple[str, ...],
    attributes: dict[str, Any],
) -> type[CObject]:
    """Make the class of a type that has no members yet, with its `__module__`, `__qualname__`, `__slots__` and further
    attributes."""
    parent: Any = class_for_type_index(info.parent_type_index)
    module, qualified = scope_names
    body = {"__module__": module, "__qualname__": qualified, "__doc__": info.doc or None, "__slots__": slots}
    body.update(attributes)
    cls: Any = metaclass(qualified.rpartition(".")[2], (parent,), body)
    _bind(cls, info, init=True)
    set_class(info, cls)
    return cls  # type: ignore[no-any-return]


def add_method(cls: type[CObject], method: TypeMethod) -> None:
    """Add a method to a class of make_class()."""
    setattr(cls, method.name, method.as_callable(cls))
    if method.name == "__eq__":
        _follow_equality(cls)


def add_constructor(cls: type[CObject], info: TypeInfo) -> None:
    """Add the constructor of its type, or one more overload of it, to a class of make_class()."""
    constructor = _constructor_of(info)
    assert constructor is not None
    _set_method(cls, "__ffi_init__", _construct_for(cls, info, constructor))
    _set_init(cls, info, constructor)


def add_property(cls: type[CObject], info: TypeInfo) -> None:
    """Add the property of the field that its type has just got to a class of make_class()."""
    field = info._add_field()
    setattr(cls, field.name, field.as_property(cls))


# --- members of a class ---------------------------------------------------------------------------------------------


def _add_class_attrs(cls: type[Any], info: TypeInfo, type_attr_names: Collection[str] = ()) -> type[Any]:
    """Add to a class the members that its type declares, its constructor as `__ffi_init__`, and the named type
    attributes that the type has."""
    _bind_members(cls, info)
    constructor = _constructor_of(info)
    if constructor is not None:
        _set_method(cls, "__ffi_init__", _construct_for(cls, info, constructor))
    for name in type_attr_names:
        value = None if name in cls.__dict__ else _core.type_attr(info.type_index, name)
        if value is not None:
            setattr(cls, name, value)
    return cls


def _warn_missing_field_annotations(cls: type, info: TypeInfo, *, stacklevel: int) -> None:
    """Warn (UserWarning) if the body of a class does not annotate all fields that its type declares."""
    import warnings

    from ._types.class_annotations import forward_annotations

    annotated = forward_annotations(cls)
    missing = sorted(field.name for field in info.fields or () if field.name not in annotated)
    if missing:
        warnings.warn(
            f"@c_class({str(info.type_key)!r}): class `{cls.__qualname__}` does not annotate the field(s) "
            f"{', '.join(missing)} of its type. Annotations in the class body (`name: type`) tell type checkers and "
            f"readers the fields of the class.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def can_be_member(cls: type, name: str) -> bool:
    """Whether a member may have that name. A name that the metaclass defines as a data descriptor, such as `__dict__`
    or `__bases__`, has another meaning on the class: a member of that name is left out."""
    owner = next((base for base in type.mro(type(cls)) if name in base.__dict__), None)
    return owner is None or name == "__doc__" or not hasattr(type(owner.__dict__[name]), "__set__")


def _bind_members(cls: type[CObject], info: TypeInfo) -> None:
    has_equality = "__eq__" in cls.__dict__
    for field in info.fields or ():
        if field.name not in cls.__dict__ and can_be_member(cls, field.name):
            setattr(cls, field.name, field.as_property(cls))
    for method in info.methods:
        if method.name == "__ffi_init__" or method.name in cls.__dict__ or not can_be_member(cls, method.name):
            continue
        if not (has_equality and method.name == "__ne__"):  # it would disagree with the class's own __eq__
            setattr(cls, method.name, method.as_callable(cls))
    if "__eq__" in cls.__dict__ and not has_equality:
        _follow_equality(cls)


def _follow_equality(cls: type) -> None:
    """Let `!=` negate the `__eq__` that a class has just got from its native type, and remove the hash, as Python does
    for a class that defines `__eq__` alone. Classes of nanobind keep it: their objects may be keys of a dict."""
    target: Any = cls
    if "__ne__" not in cls.__dict__:
        target.__ne__ = object.__ne__  # a parent's may differ, and CObject's is slower
    if "__hash__" not in cls.__dict__ and cls.__dict__.get("_ffi_library") != "nanobind":
        target.__hash__ = None


def _constructor_of(info: TypeInfo) -> Function | None:
    for method in info.methods:
        if method.name == "__ffi_init__":
            return method.func  # type: ignore[return-value]
    constructor: Function | None = _core.type_attr(info.type_index, "__ffi_init__")
    return constructor


_NOT_BY_POSITION: Any = object()


def _self_by_name(kwargs: dict[str, Any], cls: type) -> Any:
    """Remove the object from the arguments by name of a constructor that has none by position, and return it."""
    if "self" not in kwargs:
        raise TypeError(f"method '{cls.__qualname__}.__init__' needs an object to be called on")
    return kwargs.pop("self")


def _construct_for(cls: type[CObject], info: TypeInfo, constructor: Function) -> Callable[..., None]:
    """Return `__ffi_init__` and `__init__` for a class: construct the object and move its handle into `self`."""

    is_of_fields = all(method.name != "__ffi_init__" for method in info.methods)  # the core made it

    def construct(self: CObject = _NOT_BY_POSITION, /, *args: Any, **kwargs: Any) -> None:
        if self is _NOT_BY_POSITION:
            self = _self_by_name(kwargs, cls)
        if type(self) is not cls:
            if not isinstance(self, CObject):
                raise TypeError(
                    f"{cls.__qualname__}.__init__() needs an object of the class, got {type(self).__name__!r}"
                )
            if "__slots__" not in vars(type(self)):  # type.__new__ has made the class, and asks no metaclass
                type(self)._ffi_require_allowed()  # type: ignore[attr-defined]
            own = type(self).__tvm_ffi_type_info__  # type: ignore[attr-defined]
            if own.type_index != info.type_index:
                raise TypeError(
                    f"Calling `{cls.__name__}.__ffi_init__()` on a `{type(self).__name__}` is not supported: it makes "
                    f"a {info.type_key}, not a {own.type_key}"
                )
        if kwargs:
            args = arguments_of_constructor(cls, constructor, args, kwargs, flatten_keywords)
        try:
            self.__init_handle_by_constructor__(constructor, *args)
        except TypeError as error:
            if is_of_fields:
                _suggest_field(error, info, kwargs)
            raise

    construct.__wrapped__ = Constructor(constructor)  # type: ignore[attr-defined]
    return construct


def refuse_base(base: type) -> NoReturn:
    """Raise the TypeError about a class that derives from a final one."""
    raise TypeError(f"The type '{base.__module__}.{base.__qualname__}' prohibits subclassing!")


def _maker_of(info: TypeInfo, constructor: Function) -> Any:
    """Return the object that creates instances in set_init(): the author's constructor, or an Initializer where the
    core has made the constructor of the fields."""
    if any(method.name == "__ffi_init__" for method in info.methods):
        return constructor if type(constructor) is Function else None
    return _core.Initializer(info.type_index, MISSING)


def set_init(cls: Any, written: Callable[..., None], maker: Any) -> None:
    """Set `__init__` of a class: `written`, which has its names, without Python code for the most common calls.
    `maker`, an Initializer or a Function, has the same effect there; with None, `written` handles all calls. If no
    other code has a part in the creation of instances, a call of the class calls `maker` at once."""
    if maker is None or _init_method is None:
        cls.__init__ = written
        return
    names = (cls.__module__, written.__name__, written.__qualname__)
    cls.__init__ = _init_method(cls, written, maker, *names, written.__doc__)
    if _class_call is not None and _is_made_plainly(cls):
        _class_call(cls, maker)


def _is_made_plainly(cls: Any) -> bool:
    """Whether a call of a class runs its `__init__` alone, and _call_by_init() notices if that changes."""
    is_watched = all(isinstance(base, ObjectMeta) or base in (CObject, object) for base in cls.__mro__)
    has_own_metaclass = type(cls) is not ObjectMeta and "_ffi_bound_class" not in cls.__dict__
    has_plain_new = cls.__new__ is CObject.__new__ or "_ffi_constructor" in cls.__dict__  # which it calls
    return is_watched and not has_own_metaclass and has_plain_new


def _call_by_init(cls: type) -> None:
    """Let calls of a class, and of derived classes, run `__new__` and `__init__`, which may be new."""
    _class_call(cls, None)
    derived: list[type] = type.__subclasses__(cls)
    for each in derived:
        _call_by_init(each)


if _class_call is not None:
    for _name in ("__init__", "__new__", "__bases__"):
        watched_names[_name] = (*watched_names.get(_name, ()), _call_by_init)


def arguments_of_constructor(
    cls: type,
    constructor: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    flatten: Callable[[dict[str, Any]], tuple[Any, ...]],
) -> tuple[Any, ...]:
    """Return the arguments for a constructor. The author may have named the parameters. Otherwise the constructor is
    made from the fields and knows their names: then `flatten` converts keyword arguments to the form that it takes.
    TypeError for a constructor of the author with types but without names."""
    if not has_names(constructor):
        if takes_positions_only(constructor):
            name = next(iter(kwargs))
            raise TypeError(f"{cls.__name__}() takes positional arguments only, got keyword argument '{name}'")
        return (*args, *flatten(kwargs))
    ordered = arguments_by_names(constructor, cls.__name__, args, kwargs)
    if isinstance(ordered, str):
        raise TypeError(ordered)
    return ordered


def _suggest_field(error: TypeError, info: TypeInfo, kwargs: dict[str, Any]) -> None:
    """Complete the core's message about a keyword argument that is not a field."""
    for name in kwargs:
        if str(error) == f"{info.type_key}.__ffi_init__() got an unexpected keyword argument '{name}'":
            lineage = (*map(info_of_index, info.type_ancestors), info)
            fields = [str(field.name) for each in lineage for field in each.fields or ()]
            error.args = (f"{error}{did_you_mean(name, fields)}",)


class Constructor:
    """The `__wrapped__` of `__init__`, for inspect: a constructor whose signature is created on access."""

    def __init__(self, function: Function) -> None:
        self.function = function

    @property
    def __signature__(self) -> Any:
        return find_late("registry: signatures", "constructor_signature")(self.function)

    # Some releases of inspect accept only an object that is callable and binds to `self`, as functions do.

    def __call__(self, owner: Any, *args: Any) -> Any:
        return self.function(*args)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)


def _refuse_for(cls: type[CObject]) -> Callable[..., None]:
    """Return `__init__` for a class whose type has no constructor."""

    def refuse(self: CObject, /, *args: Any, **kwargs: Any) -> None:
        _raise_not_constructible(type(self))

    return refuse


def _set_method(cls: type, name: str, function: Any) -> None:
    setattr(cls, name, named(function, cls, name))


def flatten_keywords(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return a marker, then name, value, name, value, ...: the form of native constructors."""
    return (_ffi_api.GetKwargsObject(), *(part for pair in kwargs.items() for part in pair))
