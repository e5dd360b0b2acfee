"""Enums that native code and other languages share: each variant is one object, found by an integer and by a name.

The EnumState of a type contains its variants, the index that finds them, and the values that extensions attach to them.
The state is the type's attribute `__ffi_enum__`.
"""

from __future__ import annotations

import typing
from functools import partial
from typing import Any, ClassVar

from .. import core  # noqa: F401 - names that tvm_ffi has here
from .._core import type_attr, type_attr_define
from .._start.fork import new_lock
from .._start.late import suggest_names
from .._types.class_annotations import forward_annotations
from .._types.info import index_of_key
from .._values.object import Object, ObjectMeta
from ..container import Dict, List
from ..core import MISSING
from ._enum_entries import _ENTRIES_ATTR as ENUM_ENTRIES_ATTR  # noqa: F401
from ._enum_entries import _VALUES_ATTR as ENUM_ATTRS_ATTR  # noqa: F401
from ._enum_entries import add_entry, adopt_entries, adopt_values, entries_of, value_of
from .c_class import c_class
from .field import Field, field  # noqa: F401
from .py_class import py_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from typing_extensions import Self

    from .._types.info import TypeInfo

    Variant = TypeVar("Variant")

__all__ = ["ENUM_STATE_ATTR", "Enum", "EnumAttrMap", "EnumState", "IntEnum", "StrEnum", "auto", "entry"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

ENUM_STATE_ATTR = "__ffi_enum__"
"""Name of the type attribute that holds the EnumState."""

_making = new_lock()  # held while a state or an attribute is added, never while Python code runs


@c_class("ffi.EnumState")
class EnumState(Object):
    """The variants of a type, and the values that extensions attach to them."""

    entries: List[Object]
    """The variants, in the order of their definition."""
    indexes: Dict[Any, Object]
    """From integers and names to variants."""
    attrs: Dict[str, Dict[Object, Any]]
    """From the names of attributes to their values by variant."""

    if TYPE_CHECKING:

        def __init__(self) -> None: ...


class _EnumEntry:
    """The placeholder of `entry()` and `auto()` in a class body until it becomes a variant."""

    __slots__ = ("args", "kwargs")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        shown = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"entry({', '.join(shown)})"


def entry(*args: Any, **kwargs: Any) -> Any:
    """Declare a variant in the body of an Enum.

    For IntEnum and StrEnum, `value` is the integer or str of the variant; a bare literal means the same.

    Args:
        *args: the values of the fields that the class declares, in order; only for an enum that Python defines.
        **kwargs: values by name.

    Returns:
        A placeholder for the variant until the class is created.
    """
    return _EnumEntry(*args, **kwargs)


def auto() -> Any:
    """Declare a variant without values: its integer is its position, and its name is the name that it is assigned
    to."""
    return _EnumEntry()


def _state(cls: Any, create: bool = False) -> Any:
    """The EnumState of a class, None if it has none."""
    info = getattr(cls, "__tvm_ffi_type_info__", None)
    return None if info is None else _state_of(info.type_index, create)


_states: dict[int, Any] = {}  # by type; a type keeps its EnumState


def _state_of(type_index: int, create: bool = False) -> Any:
    """The EnumState of a type, None if it has none."""
    state = _states.get(type_index)
    if state is None:
        state = type_attr(type_index, ENUM_STATE_ATTR)
    has_entries = entries_of(type_index) is not None
    if state is None and (create or has_entries):
        fresh = EnumState()
        with _making:
            state = type_attr(type_index, ENUM_STATE_ATTR)
            if state is None:
                type_attr_define(type_index, ENUM_STATE_ATTR, fresh)
                state = type_attr(type_index, ENUM_STATE_ATTR)
    if has_entries:
        with _making:
            adopt_entries(type_index, state)
    if state is not None:
        _states[type_index] = state
    return state


def _variant_names(type_index: int) -> list[str]:
    """Return the names of the variants of a type, in the order of their definition; none for a type that is not an
    enum."""
    state = _state_of(type_index)
    return [] if state is None else [str(name) for name in list(state.indexes) if isinstance(name, str)]


_places: dict[int, dict[str, int]] = {}  # by type and name, the positions of the variants whose position was requested


def _place_of(type_index: int, name: str) -> int:
    """Return the position of the variant with a name in its type, in the order of definition, from 0."""
    places, entries = _places.setdefault(type_index, {}), _state_of(type_index).entries
    for place in range(len(places), len(entries)):
        places[entries[place].name] = place
    return places[name]


def _find_variant(name: str, cls: Any) -> Any:
    return _state(cls).indexes[name]


class _EnumMeta(ObjectMeta):
    """Makes the class a collection of its variants, and a call with one index a lookup."""

    def __iter__(cls: type[Variant]) -> Iterator[Variant]:
        state = _state(cls)
        return iter(()) if state is None else iter(list(state.entries))

    def __len__(cls) -> int:
        state = _state(cls)
        return 0 if state is None else len(state.entries)

    def __bool__(cls) -> bool:
        return True

    def __call__(cls: type[Variant], *args: Any, **kwargs: Any) -> Variant:
        if len(args) == 1 and not kwargs:
            (value,) = args
            if isinstance(value, cls):
                return value
            if isinstance(value, (int, str)):
                try:
                    variant: Variant = cls.get(value)  # type: ignore[attr-defined]
                except KeyError:
                    raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None
                return variant
        made: Variant = super().__call__(*args, **kwargs)  # type: ignore[misc]
        return made


class _ClassAttribute:
    """A property of the class, read through the class or an instance."""

    __slots__ = ("_read",)

    def __init__(self, read: Any) -> None:
        self._read = read

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._read(owner)


@c_class("ffi.Enum", init=False)
class Enum(Object, metaclass=_EnumMeta):
    """Base of enums. A subclass that names a type declares its variants in its body. Each variant is one object.

    If a native type has that key, the subclass binds it, and its variants become attributes, too; `ClassVar`
    annotations name them for type checkers, and a name without a variant is a RuntimeError. Otherwise the type is
    defined as by `py_class()`, frozen, and compared by identity; then `ClassVar` annotations declare variants like
    `auto()`.

    Variants are attributes of the class, which is iterable and has a length. A call with an integer or a str is a
    lookup; a missing variant is a ValueError.

    Examples:
        >>> from ffi_hpy.dataclasses import Enum, auto, entry
        >>> class Activation(Enum, type_key="example.Activation"):
        ...     arity: int = 0  # a field of each variant
        ...     relu = entry(arity=1)
        ...     noop = auto()
        >>> Activation("relu").arity, Activation(1) is Activation.noop
        (1, True)
    """

    __slots__ = ()
    _int_index: int
    _str_index: str

    if TYPE_CHECKING:

        def __init__(self, index: int | str | Self, /) -> None: ...

    def __init_subclass__(
        cls,
        *,
        type_key: str | None = None,
        frozen: bool = True,
        init: bool = True,
        repr: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if type_key is None:
            return
        has_repr = "__repr__" in cls.__dict__
        payload = _payload_of(cls)
        bound, declared = _take_declarations(cls, payload)
        is_native = index_of_key(type_key) >= 0
        if is_native:
            c_class(type_key, init=init, repr=repr)(cls)
        else:
            py_class(type_key, frozen=frozen, structural_eq="singleton")(cls)
        if payload is not None:
            _install_payload_methods(cls, payload, has_repr)
        maker = _Maker(cls, is_native, payload)
        for alias in bound:
            setattr(cls, alias, maker.bind(alias, type_key))
        for alias, declaration in declared.items():
            setattr(cls, alias, maker.declare(alias, declaration))

    @classmethod
    def _set_entries(cls) -> None:
        """Set the variants that the library has registered as attributes, except those whose names are taken. Each is
        looked up on access, because a stored variant would keep its class, and another class may be registered
        later."""
        info: TypeInfo = cls.__tvm_ffi_type_info__  # type: ignore[attr-defined]
        for name in _variant_names(info.type_index):
            if name.isidentifier() and not hasattr(cls, name):
                setattr(cls, name, _ClassAttribute(partial(_find_variant, name)))

    @property
    def name(self) -> str:
        """The name of the variant."""
        return str(self._str_index)

    # Names of 0.1.12: there the variants of each enum are counted, including variants of IntEnum.

    @property
    def _name(self) -> str:
        return self.name

    @property
    def _value(self) -> int:
        return _place_of(type(self).__tvm_ffi_type_info__.type_index, self.name)  # type: ignore[attr-defined]

    @classmethod
    def get(cls, index: int | str | None = None, *, name: str | None = None) -> Self:
        """Look up a variant.

        Args:
            index: the integer or str of the variant.
            name: the str, by keyword.

        Raises:
            KeyError: if the variant does not exist.
            OverflowError: for an integer beyond int64.
            TypeError: for other indexes.
        """
        index = index if name is None else name
        if not isinstance(index, (int, str)):
            raise TypeError(f"enum index must be int or str, got {type(index).__name__}")
        if isinstance(index, int):
            index = int.__add__(index, 0)  # a plain int also for a subclass, whatever operators it defines
            if not _fits_int64(index):
                raise OverflowError(f"enum index {index} is beyond int64")
        state = _state(cls)
        if state is None:
            raise KeyError(index)
        variant: Self = state.indexes[index]
        return variant

    @classmethod
    def all_entries(cls) -> Iterator[Self]:
        """The variants in the order of their definition."""
        return iter(list(cls))

    @_ClassAttribute
    def attr_dict(cls: type) -> Any:
        """The attributes that extensions attached to variants: for each name a Dict from variants to values."""
        state = _state(cls)
        if state is None:
            return Dict({})
        with _making:
            adopt_values(cls.__tvm_ffi_type_info__.type_index, state)  # type: ignore[attr-defined]
        return state.attrs

    @classmethod
    def def_attr(cls, name: str, *, default: Any = MISSING) -> EnumAttrMap:
        """Attach values to the variants in a table that other modules and languages find by its name. The enum itself
        does not change.

        Args:
            name: the name of the attribute.
            default: the value of variants without one.

        Returns:
            The table. Assignments fill it.

        Examples:
            >>> from ffi_hpy.dataclasses import Enum, auto
            >>> class Operator(Enum, type_key="example.Operator"):
            ...     add = auto()
            ...     load = auto()
            >>> cost = Operator.def_attr("cost", default=1)
            >>> cost[Operator.load] = 10
            >>> [cost[operator] for operator in Operator]
            [1, 10]
        """
        return EnumAttrMap(cls, name, default=default)


class EnumAttrMap:
    """Values of one attribute that an extension attaches to the variants of an enum: a mapping from variants.

    A key that is not a variant of the enum is a TypeError. A variant without a value is a KeyError unless a default is
    given.

    Args:
        enum_cls: the enum.
        name: the name of the attribute.
        default: the value of variants without one.
    """

    __slots__ = ("_default", "_enum_cls", "_name")

    def __init__(self, enum_cls: type, name: str, *, default: Any = MISSING) -> None:
        self._enum_cls = enum_cls
        self._name = name
        self._default = default

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self._name

    def __setitem__(self, variant: object, value: Any) -> None:
        self._check(variant)
        attrs = _state(self._enum_cls, create=True).attrs
        with _making:
            if self._name not in attrs:
                attrs[self._name] = Dict({})
        attrs[self._name][variant] = value

    def __getitem__(self, variant: object) -> Any:
        self._check(variant)
        value = self._find(variant)
        if value is not MISSING:
            return value
        if self._default is MISSING:
            raise KeyError(f"{variant!r} has no attribute {self._name!r}")
        return self._default

    def __contains__(self, variant: object) -> bool:
        return isinstance(variant, self._enum_cls) and self._find(variant) is not MISSING

    def get(self, variant: object, default: Any = None) -> Any:
        """Look up the value of a variant.

        Args:
            variant: any object.
            default: the result if `variant` is not a variant or has no value.
        """
        value = self._find(variant) if isinstance(variant, self._enum_cls) else MISSING
        return default if value is MISSING else value

    def _find(self, variant: object) -> Any:
        """The value of a variant, MISSING if it has none."""
        column = self._column()
        if column is not None and variant in column:
            return column[variant]
        info = self._enum_cls.__tvm_ffi_type_info__  # type: ignore[attr-defined]
        value = value_of(info.type_index, self._name, variant)
        return MISSING if value is None else value

    def _column(self) -> Any:
        """The values that were set from Python, by variant; None before the first one."""
        state = _state(self._enum_cls)
        return None if state is None else state.attrs.get(self._name)

    def _check(self, variant: object) -> None:
        if not isinstance(variant, self._enum_cls):
            raise TypeError(f"expected {self._enum_cls.__name__}, got {type(variant).__name__}")


class _PayloadEnum(Enum):
    """The common part of IntEnum and StrEnum; not a native type."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if kwargs and ("value" in cls.__dict__ or "value" in forward_annotations(cls)):
            base = next(base for base in (IntEnum, StrEnum) if issubclass(cls, base))
            raise TypeError(f"{base.__name__} reserves `value` for the {_payload_of(cls).__name__} of a variant")
        super().__init_subclass__(**kwargs)


@c_class("ffi.IntEnum", init=False)
class IntEnum(_PayloadEnum):
    """Enum whose variants represent 64-bit integers and are equal to them.

    Examples:
        >>> from ffi_hpy.dataclasses import IntEnum
        >>> class Level(IntEnum, type_key="example.Level"):
        ...     LOW = 1
        ...     HIGH = 10
        >>> Level(10), Level.HIGH == 10
        (Level.HIGH, True)
    """

    __slots__ = ()
    value: int
    """The integer."""


@c_class("ffi.StrEnum", init=False)
class StrEnum(_PayloadEnum):
    """Enum whose variants represent strings and are equal to them: `SMEM = "smem"` in the body declares a variant."""

    __slots__ = ()
    value: str
    """The str."""


# --- the body of a class ----------------------------------------------------------------------------------------------


def _payload_of(cls: type) -> Any:
    return int if issubclass(cls, IntEnum) else str if issubclass(cls, StrEnum) else None


def _fits_int64(value: int) -> bool:
    return -(1 << 63) <= value < 1 << 63


def _is_class_var(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace(" ", "").startswith(("ClassVar", "typing.ClassVar"))
    text = getattr(annotation, "__forward_arg__", None)
    if isinstance(text, str):
        return _is_class_var(text)
    return annotation is ClassVar or typing.get_origin(annotation) is ClassVar


def _take_declarations(cls: type, payload: Any) -> tuple[list[str], dict[str, _EnumEntry]]:
    """Remove the declarations from a class. Returns the names of variants that are only annotated, and the declared
    variants."""
    annotations = forward_annotations(cls)
    bound = [
        name
        for name, annotation in annotations.items()
        if not name.startswith("_") and _is_class_var(annotation) and name not in cls.__dict__
    ]
    declared = {}
    for name, value in list(cls.__dict__.items()):
        if name.startswith("_") or (name in annotations and not _is_class_var(annotations[name])):
            continue
        if isinstance(value, _EnumEntry):
            declared[name] = value
        elif payload is not None and not (callable(value) or hasattr(type(value), "__get__")):
            declared[name] = _EnumEntry(value=value)
        else:
            continue
        delattr(cls, name)
    return bound, declared


def _install_payload_methods(cls: Any, payload: type, has_repr: bool) -> None:
    """Make variants compare and hash like their values."""

    def __eq__(self: Any, other: object) -> Any:
        if isinstance(other, type(self)):
            return self.value == other.value
        return self.value == other if isinstance(other, payload) else NotImplemented

    def __ne__(self: Any, other: object) -> Any:
        equal = __eq__(self, other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self: Any) -> int:
        return hash(self.value)

    def __str__(self: Any) -> str:
        return str(self.value)

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}.{self.name}"

    for function in (__eq__, __ne__, __hash__, __str__):
        if function.__name__ not in cls.__dict__ or cls.__dict__[function.__name__] is None:
            setattr(cls, function.__name__, function)
    if not has_repr:
        cls.__repr__ = __repr__


class _Maker:
    """Creates the variants of one class, and finds existing ones, including variants that another thread adds for
    another class of that type in the meantime."""

    def __init__(self, cls: Any, is_native: bool, payload: Any) -> None:
        self.cls = cls
        self.is_native = is_native
        self.payload = payload
        state = _state(cls, create=True)
        self.entries, self.indexes = state.entries, state.indexes

    def bind(self, alias: str, type_key: str) -> Any:
        """Return the variant for a name that is only annotated."""
        found = self.indexes.get(alias)
        if found is not None:
            return found
        if self.is_native:
            raise RuntimeError(f"{type_key} has no variant at string index {alias!r}")
        if self.payload is int:
            raise TypeError(f"{self.cls.__name__}.{alias} requires an int value")
        return self._find_or_add(None, alias, _EnumEntry())

    def declare(self, alias: str, declaration: _EnumEntry) -> Any:
        """Return the variant of a declaration."""
        kwargs = dict(declaration.kwargs)
        where = f"{self.cls.__name__}.{alias}"
        if "_int_index" in kwargs or "_str_index" in kwargs:
            raise TypeError(f"{where}: the indexes of a variant follow from its place, its name and its value")
        int_index, str_index = None, alias
        value: Any
        if self.payload is not None:
            value = kwargs.pop("value", None)
            if type(value) is not self.payload:
                raise TypeError(f"{where} value must be {self.payload.__name__}, got {type(value).__name__}")
            if self.payload is str:
                str_index = value
            elif _fits_int64(value):
                int_index = value
            else:
                raise OverflowError(f"{where}: {value} is beyond int64")
        return self._find_or_add(int_index, str_index, _EnumEntry(*declaration.args, **kwargs))

    def _find_or_add(self, int_index: int | None, str_index: str, declaration: _EnumEntry) -> Any:
        """Return the variant of these indexes; None means the next position."""
        while True:
            with _making:
                place = len(self.entries) if int_index is None else int_index
                found = self.indexes.get(place if self.payload is int else str_index)
                if found is not None:
                    return found
                if place in self.indexes or str_index in self.indexes:
                    raise ValueError(f"duplicate enum index in {self.cls.__name__}: {place} and {str_index!r}")
            variant = self._make(place, str_index, declaration)
            if self._add(place, str_index, variant):
                return variant

    def _add(self, int_index: int, str_index: str, variant: Any) -> bool:
        """Add a variant. False if one of the indexes was taken while the variant was created."""
        with _making:
            if int_index in self.indexes or str_index in self.indexes:
                return False
            self.entries.append(variant)
            self.indexes[int_index] = variant
            self.indexes[str_index] = variant
            add_entry(self.cls.__tvm_ffi_type_info__.type_index, variant)
            return True

    def _make(self, int_index: int, str_index: str, declaration: _EnumEntry) -> Any:
        try:
            return self._allocate(int_index, str_index, declaration)
        except Exception as error:
            raise TypeError(f"{self.cls.__name__}.{str_index}: invalid enum entry: {error}") from error

    def _allocate(self, int_index: int, str_index: str, declaration: _EnumEntry) -> Any:
        if not self.is_native:
            return self.cls(int_index, str_index, *declaration.args, **declaration.kwargs)
        if declaration.args:
            raise TypeError("variants of a native type take keyword arguments only")
        allocate = type_attr(self.cls.__tvm_ffi_type_info__.type_index, "__ffi_new__")
        if allocate is None:
            raise TypeError("the native type has no allocator")
        variant = allocate()
        values = {"_int_index": int_index, "_str_index": str_index, **declaration.kwargs}
        for name, value in values.items():
            descriptor = getattr(self.cls, name, None)
            if not hasattr(descriptor, "set"):
                raise TypeError(f"the field {name!r} does not exist")
            descriptor.set(variant, value)  # type: ignore[union-attr]
        return variant
