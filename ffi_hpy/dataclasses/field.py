"""The description of one field in the body of a class, for `py_class()` and `c_class()`."""

from __future__ import annotations

import sys
from typing import Any, Generic, TypeVar

from .._start.late import suggest_names
from .._types.class_annotations import forward_annotations
from .._types.flags import STRUCTURAL_FLAGS
from .._types.schema import TypeSchema
from .._values.object import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import overload

__all__ = ["KW_ONLY", "MISSING", "Field", "field", "init_property"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

if sys.version_info >= (3, 10):
    from dataclasses import KW_ONLY
else:

    class KW_ONLY:
        """Annotation after which all fields are keyword-only: ``_: KW_ONLY``."""


Result = TypeVar("Result")


def convert_natively(value: Any) -> Any:
    """The default `converter` of fields: returns the value unchanged, and the field's type then converts it."""
    return value


class Field:
    """One field of a class. `field()` creates it without a name and a type; the decorator adds these.

    The parameters are also attributes. The further attribute `type` is the annotation (None if it is missing or cannot
    be resolved).

    Args:
        name: the field's name.
        default: a value, converted like a passed value; MISSING for none.
        default_factory: a callable without arguments that makes a value for each object.
        frozen: whether the attribute cannot be assigned; `Class.field.set(obj, value)` still can.
        init: whether `__init__` takes it.
        repr: whether it is shown in `repr`.
        hash: whether it counts in hashing by value; None means the value of `compare`.
        compare: whether it counts in comparison by value.
        kw_only: whether `__init__` takes it by keyword only; None means the option of the class.
        metadata: a dict for extensions, copied and otherwise ignored.
        structural_eq: None, or "ignore" (structural comparison and hashing leave the field out), or "def-pattern"
            (alias "def": variables in it, also in their types, are bound at their first occurrence), or "def-simple"
            (only the variable itself is).
        doc: text for the attribute.
        converter: tells type checkers the accepted values. At run time the field's type converts.
        **extra_kwargs: further options, which hooks of the class must consume; the attribute is a dict.

    Raises:
        ValueError: for both a default and a factory, and for an unknown `structural_eq`.
        TypeError: for a factory that is not callable.
    """

    __slots__ = (
        "_ty_schema",
        "compare",
        "converter",
        "default",
        "default_factory",
        "doc",
        "extra_kwargs",
        "frozen",
        "hash",
        "init",
        "kw_only",
        "metadata",
        "name",
        "repr",
        "structural_eq",
        "type",
    )

    def __init__(
        self,
        name: str | None = None,
        _ty_schema: TypeSchema | None = None,
        *,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        frozen: bool = False,
        init: bool = True,
        repr: bool = True,
        hash: bool | None = True,
        compare: bool = False,
        kw_only: bool | None = False,
        metadata: Mapping[str, Any] | None = None,
        structural_eq: str | None = None,
        doc: str | None = None,
        converter: Callable[[Any], Any] = convert_natively,
        **extra_kwargs: Any,
    ) -> None:
        if default_factory is not MISSING:
            if default is not MISSING:
                raise ValueError("cannot specify both default and default_factory")
            if not callable(default_factory):
                raise TypeError(f"default_factory must be a callable, got {type(default_factory).__name__}")
        if structural_eq not in STRUCTURAL_FLAGS:
            words = ", ".join(repr_of(word) for word in STRUCTURAL_FLAGS)
            raise ValueError(f"structural_eq must be one of {words}, got {structural_eq!r}")
        self.name: Any = name
        self._ty_schema = _ty_schema
        self.type: Any = None
        self.default = default
        self.default_factory = default_factory
        self.frozen = frozen
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.kw_only = kw_only
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.structural_eq = structural_eq
        self.doc = doc
        self.converter = converter
        self.extra_kwargs: dict[str, Any] = extra_kwargs

    def __copy__(self) -> Field:
        """Return a copy with its own `metadata` and `extra_kwargs`, which have the same values."""
        if not isinstance(self, Field):  # on PyPy the slots of a wrapper have the address of its object
            raise TypeError(f"descriptor '__copy__' requires a 'Field' object but received a {type(self).__name__!r}")
        copied = type(self).__new__(type(self))
        for cls in type(self).__mro__:
            names = cls.__dict__.get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                if name not in ("__dict__", "__weakref__") and hasattr(self, name):
                    setattr(copied, name, getattr(self, name))
        if hasattr(self, "__dict__"):
            copied.__dict__.update(self.__dict__)
        copied.metadata = dict(self.metadata)
        copied.extra_kwargs = dict(self.extra_kwargs)
        return copied

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in ("name", "type", "default") if hasattr(self, name)]
        return f"Field({', '.join(shown)})"

    @property
    def has_default(self) -> bool:
        """Whether the field gets a value if none is passed."""
        return self.default is not MISSING or self.default_factory is not MISSING


repr_of = repr  # the builtin, because a parameter has that name


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    kw_only: bool | None = None,
    metadata: Mapping[str, Any] | None = None,
    structural_eq: str | None = None,
    doc: str | None = None,
    converter: Callable[[Any], Any] = convert_natively,
    **extra_kwargs: Any,
) -> Any:
    """Describe a field in the body of a class; assign the result in place of a default.

    Args:
        default: a value, converted like a passed value.
        default_factory: a callable without arguments that makes a value for each object.
        frozen: whether the attribute cannot be assigned.
        init: whether `__init__` takes it.
        repr: whether it is shown in `repr`.
        hash: whether it counts in hashing by value; None means the value of `compare`.
        compare: whether it counts in comparison by value.
        kw_only: whether `__init__` takes it by keyword only; None means the option of the class.
        metadata: a dict for extensions.
        structural_eq: the treatment by structural comparison; Field lists the words.
        doc: text for the attribute.
        converter: tells type checkers the accepted values.
        **extra_kwargs: further options, for hooks of the class.

    Returns:
        A Field, whose errors apply. For type checkers it has any type, so that it can be assigned.

    Examples:
        >>> from ffi_hpy.dataclasses import field, py_class
        >>> @py_class("example.Label")
        ... class Label(ffi_hpy.Object):
        ...     text: str
        ...     tags: ffi_hpy.List[str] = field(default_factory=list, kw_only=True)
        >>> Label("one", tags=["new"])
        example.Label(text="one", tags=["new"])
    """
    return Field(
        default=default,
        default_factory=default_factory,
        frozen=frozen,
        init=init,
        repr=repr,
        hash=hash,
        compare=compare,
        kw_only=kw_only,
        metadata=metadata,
        structural_eq=structural_eq,
        doc=doc,
        converter=converter,
        **extra_kwargs,
    )


class init_property(Generic[Result]):
    """Decorator for a method without arguments in the body of a `py_class()`: a field that `__init__` computes.

    The value is computed once for each object, after all other fields have their values and before `__post_init__`,
    parents' properties first. The value is stored like a field of the method's return type (Any if there is none). The
    field is not an argument of `__init__` and does not count in comparison, hash or repr.

    Args:
        func: the method.

    Examples:
        >>> from ffi_hpy.dataclasses import init_property, py_class
        >>> @py_class("example.Box")
        ... class Box(ffi_hpy.Object):
        ...     width: float
        ...     height: float
        ...     @init_property
        ...     def area(self) -> float:
        ...         return self.width * self.height
        >>> Box(2, 3).area
        6.0
    """

    def __init__(self, func: Callable[[Any], Result]) -> None:
        self.func = func
        self.name: str | None = None
        returned = func.__annotations__ if sys.version_info < (3, 14) else forward_annotations(func)
        self._annotation = returned.get("return", Any)

    if TYPE_CHECKING:

        @overload
        def __get__(self, obj: None, objtype: type) -> init_property[Result]: ...
        @overload
        def __get__(self, obj: object, objtype: type) -> Result: ...
        def __get__(self, obj: object | None, objtype: type) -> Any: ...

    def __set_name__(self, owner: type, name: str) -> None:
        """Annotate the class, so that the name is among its fields."""
        self.name = name
        annotations = forward_annotations(owner)
        annotations[name] = self._annotation
        owner.__annotations__ = annotations
