"""Native types defined in Python: `py_class()`."""

from __future__ import annotations

import typing
from copy import copy
from dataclasses import InitVar
from typing import Any, ClassVar, Final

from .. import core  # noqa: F401 - names that tvm_ffi has here
from .._convert import convert
from .._start.late import suggest_names
from .._start.named import named
from .._types.define import define_type, forget_type
from .._types.flags import STRUCTURE_KINDS
from .._types.info import info_of_class
from .._types.schema import TypeSchema
from .._values.object import Object
from ..registry import _add_class_attrs
from . import _annotations, _pending
from ._dunder import install_dunders
from ._members import TYPE_ATTRS, attr_policies, collect_entries, inherited_entries, method, names_of_kind
from ._members import collect_py_methods as _collect_py_methods
from ._standard import as_own_field, with_slots
from .common import type_chain
from .field import KW_ONLY, MISSING, Field, convert_natively, field, init_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar, overload

    from typing_extensions import dataclass_transform

    Class = TypeVar("Class", bound=type)

__all__ = ["TYPE_ATTRS", "_collect_py_methods", "method", "py_class"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

if TYPE_CHECKING:

    @overload
    @dataclass_transform(eq_default=False, order_default=False, field_specifiers=(Field, field))
    def py_class(
        cls_or_type_key: Class,
        /,
        *,
        type_key: str | None = None,
        frozen: bool = False,
        init: bool = True,
        repr: bool = True,
        eq: bool = False,
        order: bool = False,
        unsafe_hash: bool = False,
        match_args: bool = True,
        kw_only: bool = False,
        structural_eq: str | None = "tree",
        slots: bool = True,
        weakref_slot: bool = False,
    ) -> Class: ...
    @overload
    @dataclass_transform(eq_default=False, order_default=False, field_specifiers=(Field, field))
    def py_class(
        cls_or_type_key: str | None = None,
        /,
        *,
        type_key: str | None = None,
        frozen: bool = False,
        init: bool = True,
        repr: bool = True,
        eq: bool = False,
        order: bool = False,
        unsafe_hash: bool = False,
        match_args: bool = True,
        kw_only: bool = False,
        structural_eq: str | None = "tree",
        slots: bool = True,
        weakref_slot: bool = False,
    ) -> Callable[[Class], Class]: ...


def py_class(
    cls_or_type_key: Any = None,
    /,
    *,
    type_key: str | None = None,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    structural_eq: str | None = "tree",
    slots: bool = True,
    weakref_slot: bool = False,
) -> Any:
    """Class decorator: define a native type whose fields are the annotations of the class.

    Objects of the class live in native memory, and any language can make, read, compare, print, copy and serialise
    them. The class derives from Object, or from the class of a native type, whose fields it inherits. The decorator is
    used bare, with the type key, or with options.

    Annotations may name classes that are defined later: the class is completed when its first instance is created, at
    the latest. An annotation that cannot be a field's type may raise only then; the key can be used again after that.

    In the body, functions with the names of native protocols (`__ffi_repr__`, `__s_hash__`, ...) and functions marked
    by `method()` become native ones, too. Extensions may set `__ffi_type_attr_names__`, a list of further such names;
    `__ffi_inherit_type_attrs__`, a list of names that are inherited from a parent; and `__ffi_field_markers__`, a list
    of annotations that are not fields (they are in `_decorator_args["field_markers"]` of the TypeInfo). Functions with
    a true attribute `__ffi_on_fields_resolved__` are called with the TypeInfo and the list of Fields before these are
    registered.

    Args:
        cls_or_type_key: the name of the type; as a bare decorator, the class.
        type_key: the name of the type, "module.qualname" by default. Processes that exchange its objects by name, as in
            a JSON graph, must use the same name.
        frozen: whether fields cannot be assigned.
        init: whether to generate an `__init__`. That method takes the fields by the options of `field()`, those without
            a default first, and then calls `__post_init__` if there is one. An `__init__` that the class defines runs
            on an object whose fields are all zero or None.
        repr: whether to generate a `__repr__` of the fields. This and the following methods are not generated if the
            class defines them.
        eq: whether to generate `__eq__` from the fields. If false, objects are equal if they are identical.
        order: whether to generate `__lt__`, `__le__`, `__gt__` and `__ge__` from the fields.
        unsafe_hash: whether to generate `__hash__` from the fields. `eq` does so, too, unless there is another hash.
        match_args: whether to set `__match_args__` to the names of positional arguments.
        kw_only: whether `__init__` takes the fields by keyword only.
        structural_eq: how structural comparison and hashing treat the type: "tree" by its fields; "var" as a variable,
            by the place of its binding; "dag" by its fields and by sharing; "const-tree" like "tree", but faster for
            identical objects, for types without variables; "singleton" by identity; None not at all.
        slots: if false, instances have a `__dict__`, for `functools.cached_property` and other attributes. This option
            and the next one may return a new class with the same body. `__slots__` in the body does so, too.
        weakref_slot: whether there can be weak references to instances.

    Returns:
        The decorator; as a bare decorator, the class.

    Raises:
        ValueError: if the type key is registered; for `order` without `eq`; for an unknown `structural_eq`.
        TypeError: for a class that does not derive from the class of a native type; for an annotation that cannot be a
            field's type.

    Examples:
        >>> from ffi_hpy.dataclasses import py_class
        >>> @py_class("example.Point", eq=True)
        ... class Point(ffi_hpy.Object):
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1)
        example.Point(x=1, y=0)
        >>> Point(1) == Point(1, y=0)
        True
    """
    if order and not eq:
        raise ValueError("order=True requires eq=True")
    if structural_eq not in STRUCTURE_KINDS:
        words = ", ".join(f"{word!r}" for word in STRUCTURE_KINDS)
        raise ValueError(f"structural_eq must be one of {words}, got {structural_eq!r}")
    if isinstance(cls_or_type_key, str):
        type_key = cls_or_type_key
    elif cls_or_type_key is not None and not isinstance(cls_or_type_key, type):
        raise TypeError(f"py_class: expected str or type, got {type(cls_or_type_key).__name__}")
    options = {
        "frozen": frozen,
        "init": init,
        "repr": repr,
        "eq": eq,
        "order": order,
        "unsafe_hash": unsafe_hash,
        "match_args": match_args,
        "kw_only": kw_only,
        "structural_eq": structural_eq,
    }

    added = ("__dict__",) * (not slots) + ("__weakref__",) * weakref_slot

    def decorate(cls: Class) -> Class:
        if added:
            cls = with_slots(cls, *added)
        _define(cls, type_key, dict(options))
        return cls

    return decorate(cls_or_type_key) if isinstance(cls_or_type_key, type) else decorate


# The attribute that typing.dataclass_transform would set, which Python 3.9 lacks; and the converter of fields.
py_class.__dataclass_transform__ = {  # type: ignore[attr-defined]
    "eq_default": False,
    "order_default": False,
    "kw_only_default": False,
    "frozen_default": False,
    "field_specifiers": (Field, field),
    "kwargs": {"converter": convert_natively},
}


# --- the class and its type -------------------------------------------------------------------------------------------


def _info_of(cls: type) -> Any:
    """Return the TypeInfo of the class itself, None if it has none."""
    return info_of_class(cls) or cls.__dict__.get("__tvm_ffi_type_info__")


def _define(cls: type, type_key: str | None, options: dict[str, Any]) -> None:
    parent = next(filter(None, map(_info_of, cls.__mro__[1:])), None)
    if parent is None:
        raise TypeError(f"{cls.__name__} must inherit from a registered FFI Object type (e.g. ffi_hpy.Object)")
    key = type_key or f"{cls.__module__}.{cls.__qualname__}"
    _pending.give_up(key)
    info = define_type(parent, key, cls)
    info._decorator_args = options
    cls.__tvm_ffi_type_info__ = info  # type: ignore[attr-defined]
    _annotations.announce(cls)
    definition = _pending.Definition(cls, key, lambda: _attempt(cls, info), lambda: _undo(cls, info))
    info._definition = definition  # type: ignore[attr-defined]
    _defer_init(cls, definition)
    definition.complete()
    definition.complete_others()
    cls.__ffi_is_dataclass__ = True  # type: ignore[attr-defined]
    cls.__tvm_ffi_is_dataclass__ = True  # type: ignore[attr-defined]  # its name in 0.1.12


def _undo(cls: type, info: Any) -> None:
    """Undo everything except the class, so that its key can be used again."""
    forget_type(info)
    _annotations.withdraw(cls)
    for name in ("__tvm_ffi_type_info__", "__ffi_is_dataclass__", "__tvm_ffi_is_dataclass__"):
        if name in cls.__dict__:
            delattr(cls, name)


def _defer_init(cls: type, definition: _pending.Definition) -> None:
    """Make the first instance complete the class, until it is complete. A class that failed has no instances."""
    own_init = cls.__dict__.get("__init__")

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if not definition.complete():
            unresolved = _annotations.describe_unresolved(cls, _annotations.owners_of(cls, _info_of))
            unresolved = unresolved or "those of the class that it derives from"
            raise TypeError(f"Cannot instantiate {cls.__name__}: unresolved forward references: {unresolved}")
        definition.complete_others()
        cls.__init__(self, *args, **kwargs)  # type: ignore[misc]

    __init__._ffi_own_init = own_init  # type: ignore[attr-defined]
    cls.__init__ = named(__init__, cls, "__init__")  # type: ignore[misc]


def _attempt(cls: type, info: Any) -> set[Any]:
    """Complete a class whose annotations can be resolved and whose parent is complete. Otherwise return the reasons to
    wait: names, or the definition of its parent. All steps that may fail, except for lack of memory, run before
    anything is registered."""
    parent = info.parent_type_info
    waiting = getattr(parent, "_definition", None)
    if parent.fields is None and (waiting is None or not waiting.complete()):
        return {waiting}
    owners = _annotations.owners_of(cls, _info_of)
    hints, missing = _annotations.resolve(cls, owners)
    if missing:
        return missing
    fields, markers, computed = _collect_fields(cls, info, owners, hints)
    options = info._decorator_args
    options["field_markers"] = markers
    if computed:
        cls.__ffi_init_property_funcs__ = computed  # type: ignore[attr-defined]
    for hook in _field_hooks(cls, info):
        hook(info, fields)
    for f in fields:
        if f.extra_kwargs:
            unknown = ", ".join(sorted(f.extra_kwargs))
            raise TypeError(f"{cls.__name__}.{f.name}: unrecognized field options: {unknown}")
    names, inherited = attr_policies(cls)
    entries = [*collect_entries(cls, names), *inherited_entries(info, inherited)]
    for _name, value, _is_static, _metadata in entries:
        convert(value)  # raises TypeError now rather than after the fields are registered
    info._inherited_attrs = inherited
    info._register_fields(fields, STRUCTURE_KINDS[options["structural_eq"]])
    for own, registered in zip(fields, info.fields):
        registered.dataclass_field = own
    info._register_py_methods(entries, type_attr_names=names)
    _finish_class(cls, info, fields, names)
    return set()


def _finish_class(cls: type, info: Any, fields: list[Field], names: frozenset[str]) -> None:
    """Set the attributes of a class whose type is complete."""
    options = info._decorator_args
    _add_class_attrs(cls, info, type_attr_names=names)
    install_dunders(
        cls,
        init=options["init"],
        repr=options["repr"],
        eq=options["eq"],
        order=options["order"],
        unsafe_hash=options["unsafe_hash"],
        match_args=options["match_args"],
        py_class_mode=True,
    )


# --- fields -----------------------------------------------------------------------------------------------------------


def _field_hooks(cls: type, info: Any) -> tuple[Callable[[Any, list[Field]], None], ...]:
    """Return the hooks in the bodies of a class and its bases, the root's first. The parent's hooks come from its own
    definition."""
    parent = next((base for base in cls.__mro__[1:] if _info_of(base)), Object)
    inherited = getattr(_info_of(parent), "_field_hooks", None)
    known = frozenset((Object if inherited is None else parent).__mro__)
    bases = [base for base in reversed(cls.__mro__) if base not in known]
    values = [value for base in bases for value in list(base.__dict__.values())]  # copied: threads may set others
    own = [v for v in values if getattr(v, "__ffi_on_fields_resolved__", False) is True and callable(v)]
    info._field_hooks = (*(inherited or ()), *own)
    return info._field_hooks  # type: ignore[no-any-return]


def _collect_fields(
    cls: type, info: Any, owners: list[type], hints: dict[type, dict[str, Any]]
) -> tuple[list[Field], tuple[Any, ...], dict[str, Callable[[Any], Any]]]:
    """Return the fields, the markers with their positions, and the functions that compute fields."""
    options = info._decorator_args
    marker_types = names_of_kind(cls, "__ffi_field_markers__", (), type, "types")
    markers = list(getattr(info.parent_type_info, "_decorator_args", {}).get("field_markers", ()))
    fields: dict[str, Field] = {}
    computed: dict[str, Callable[[Any], Any]] = {}
    init_vars: dict[str, tuple[int, Field]] = {}  # by name: the number of fields before it, its description
    kw_only = options["kw_only"]
    for owner in owners:
        for name, hint in hints[owner].items():
            if hint is ClassVar or typing.get_origin(hint) is ClassVar:
                continue
            if hint is KW_ONLY:
                kw_only = True
                if owner is cls and name in cls.__dict__:
                    delattr(cls, name)
                continue
            if any(hint is marker for marker in marker_types):
                n_inherited = sum(len(ancestor.fields) for ancestor in type_chain(info.parent_type_info))
                markers.append((hint, owner, name, n_inherited + len(fields)))
                continue
            value = as_own_field(owner.__dict__.get(name, MISSING))
            if hint is InitVar or isinstance(hint, InitVar):
                described = _init_var(name, hint, value)
                described.kw_only = kw_only if described.kw_only is None else described.kw_only
                init_vars[name] = (len(fields), described)
                if owner is cls and isinstance(value, Field):
                    _set_default(cls, described)
                continue
            if isinstance(value, init_property):
                computed[name] = value.func
            f = _field_from(value, is_own=owner is cls)
            if owner is cls and value is not MISSING:
                delattr(cls, name)
            f.name, f.type, f._ty_schema = name, hint, _schema_of(hint, cls)
            _check_default(cls, f)
            f.kw_only = kw_only if f.kw_only is None else f.kw_only
            f.frozen = f.frozen or options["frozen"]
            f.hash = f.compare if f.hash is None else f.hash
            fields[name] = f
    info._init_vars = list(init_vars.values())
    return list(fields.values()), tuple(markers), computed


def _check_default(cls: type, f: Field) -> None:
    """OverflowError for a default beyond int64, TypeError for one that is not in a Literal or an Enum, ValueError for
    an object of Python that all instances would share and change. Other defaults are converted when an object is
    made."""
    schema, default = f._ty_schema, f.default
    is_shared = schema is not None and schema.check is not None and schema.check.comes_first
    if is_shared and default is not MISSING and type(default).__hash__ is None:
        raise ValueError(f"mutable default {type(default)} for field {f.name} is not allowed: use default_factory")
    is_large = type(default) is int and not -(1 << 63) <= default < 1 << 63
    if default is MISSING or schema is None or not (is_large or schema.check is not None):
        return
    try:
        schema.check_value(default)
    except TypeError as error:
        reason = str(error).partition(f"{schema!r}: ")[2] or error
        raise (OverflowError if is_large else TypeError)(f"{cls.__name__}.{f.name}: the default: {reason}") from None


def _init_var(name: str, hint: Any, value: Any) -> Field:
    """Return the description of a parameter of `__init__` that is not a field."""
    made = _field_from(value, is_own=False)
    made.name, made.type = name, getattr(hint, "type", Any)
    made.hash = made.compare = made.repr = False
    return made


def _set_default(cls: type, described: Field) -> None:
    """Replace a `field()` in the body of a class with its default, as the standard library does."""
    if described.default is MISSING:
        delattr(cls, described.name)
    else:
        setattr(cls, described.name, described.default)


def _schema_of(hint: Any, cls: type) -> TypeSchema:
    """Return the schema of an annotation in a class; the same object each time for the most frequent types."""
    found = _scalar_schemas.get(hint) if isinstance(hint, type) else None
    if found is not None:
        return found
    return TypeSchema._of_field(Any if hint is Final else _annotations.in_class(hint, cls))


_scalar_schemas: dict[type, TypeSchema] = {
    scalar: TypeSchema.from_annotation(scalar) for scalar in (int, float, bool, str, bytes)
}


def _field_from(value: Any, is_own: bool) -> Field:
    """Return the Field for the value that a class body assigns to a name, MISSING for none."""
    made: Field
    if isinstance(value, Field):
        made = value if is_own else copy(value)
    elif isinstance(value, init_property):
        made = field(init=False, structural_eq="ignore", repr=False, hash=False, compare=False)
    else:
        made = field(default=value)
    return made
