"""The core's data about types: TypeInfo, TypeField and TypeMethod, and the property of a field.

There is one TypeInfo per type, the same object for every caller. A TypeInfo reads the registry when its members are
first accessed.
"""

from __future__ import annotations

from functools import cache

from .. import _core
from .._core import CObject
from .._start.late import find_late
from .._start.memo import Lazy
from .._start.similar import did_you_mean
from .._values.object import MISSING, Object
from .._values.opaque import OpaquePyObject
from .field import arguments_of_declared, arguments_of_row, row_of_declared, schema_of_declared
from .function_metadata import add_metadata, static_method, text_of_bound
from .metadata import MetadataError, apply_nonblocking, apply_python_arguments, parse_metadata, schema_in
from .origin import INDEX_OF_CLASS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from typing_extensions import Self

    from .checks import Check
    from .field import DeclaredField
    from .schema import TypeSchema

__all__ = [
    "FFIProperty",
    "TypeField",
    "TypeInfo",
    "TypeMethod",
    "index_of_key",
    "info_of_class",
    "info_of_index",
    "info_of_key",
    "load_library_of",
]


class _LikeProperty:
    """The other attributes of a property. Replacing one of its functions creates a plain property."""

    fget: Any
    fset: Any
    fdel = None

    def getter(self, fget: Callable[[Any], Any]) -> property:
        """Return a property with another function that reads."""
        return property(fget, self.fset, None, self.__doc__)

    def setter(self, fset: Callable[[Any, Any], None]) -> property:
        """Return a property with another function that an assignment calls."""
        return property(self.fget, fset, None, self.__doc__)

    def deleter(self, fdel: Callable[[Any], None]) -> property:
        """Return a property with a function that `del` calls."""
        return property(self.fget, self.fset, fdel, self.__doc__)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:  # PyPy would pickle it by __class__, as an empty property
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


if TYPE_CHECKING or _core.HAS_DESCRIPTORS:

    class FFIProperty(_LikeProperty, _core.FieldSlot):
        """The attribute of a field. A frozen one rejects assignment, but `set` still writes it."""

        __class__: Any = property(lambda self: property)  # for isinstance()
        __isabstractmethod__ = False

        def __init__(
            self,
            type_index: int,
            field: int,
            frozen: bool = False,
            schema: TypeSchema | None = None,
            doc: str | None = None,
        ) -> None:
            self.__doc__ = doc

        @property
        def fget(self) -> Callable[[Any], Any]:
            """The function that reads the field of an object."""
            get: Callable[[Any], Any] = self.get
            return get

        @property
        def fset(self) -> Callable[[Any, Any], None] | None:
            """The function that an assignment calls, None if the field is frozen."""
            return None if self.frozen else self.set

else:

    class FFIProperty(_LikeProperty, property):
        """The attribute of a field. The property of a frozen field has no setter, but `set` still writes it."""

        def __init__(self, type_index, field, frozen=False, schema=None, doc=None):
            slot = _core.FieldSlot(type_index, field, frozen, schema)
            super().__init__(slot.get, None if frozen else slot.set, None, doc)
            self.__doc__ = doc
            self.set = slot.set
            self.frozen = frozen


class _RestoredProperty(property):
    """The attribute of a field whose native value stands for another value, such as the member of an IntEnum."""

    def __init__(self, field: FFIProperty, checks: list[Check]) -> None:
        get = field.fget

        def read(obj: Any) -> Any:
            value = get(obj)
            for check in checks:
                value = check.restore(value)
            return value

        super().__init__(read, field.fset, None, field.__doc__)
        self.__doc__ = field.__doc__
        self.set = field.set
        self.frozen = field.frozen


@cache
def _adapter() -> Callable[[TypeMethod, type], Any]:
    """Return the function for methods with special names, which the first such method loads. Not within `importing`, as
    in metadata.py."""
    from .operators import adapt

    return adapt


class _Declared:
    """A member of a type with a schema that its author declared."""

    ty: Any

    @property
    def _known_ty(self) -> TypeSchema | None:
        """The value of `ty`, or None for metadata that cannot be read: the member and help() work without it."""
        try:
            found: TypeSchema | None = self.ty
        except MetadataError:
            return None
        return found


class TypeField(_Declared):
    """One field of a native type.

    `getter(obj)` and `setter(obj, value)` read and write it, even if it is `frozen`, which forbids assignment. `size`,
    `alignment` and `offset` (from the object's address) are in bytes; `metadata` is the author's metadata; `ty` is its
    schema, None if none is declared. Reading either raises ValueError for invalid metadata. The `c_*` attributes are
    its options for constructors (`c_init`, `c_kw_only`, `c_has_default`, `c_default`, `c_default_factory`; MISSING if
    there is none), repr, order, hash and structural comparison (None, "ignore", "def-pattern", "def-simple").
    `dataclass_field` is the Field that a dataclass made it from, else None.
    """

    def __init__(
        self,
        name: str,
        doc: str | None,
        size: int,
        alignment: int,
        offset: int,
        field_static_type_index: int,
        frozen: bool,
        metadata: dict[str, Any] | str,
        ty: Any = ...,
        *,
        c_init: bool = True,
        c_kw_only: bool = False,
        c_has_default: bool = False,
        c_default: Any = ...,
        c_default_factory: Any = ...,
        c_repr: bool = True,
        c_compare: bool = True,
        c_hash: bool = True,
        c_structural_eq: str | None = None,
        dataclass_field: Any = None,
    ) -> None:
        self.name = name
        self.doc = doc
        self.size = size
        self.alignment = alignment
        self.offset = offset
        self.field_static_type_index = field_static_type_index
        self.frozen = frozen
        self._metadata = metadata
        if ty is not ...:
            self.ty = ty
        self.c_init = c_init
        self.c_kw_only = c_kw_only
        self.c_has_default = c_has_default
        if c_default is not ...:
            self.c_default = c_default
        if c_default_factory is not ...:
            self.c_default_factory = c_default_factory
        self.c_repr = c_repr
        self.c_compare = c_compare
        self.c_hash = c_hash
        self.c_structural_eq = c_structural_eq
        self.dataclass_field = dataclass_field

    _place: tuple[int, int]  # type index, and number among the type's own fields
    _is_laid_out = False  # whether a Python class defines the type

    @classmethod
    def _at(cls, place: tuple[int, int], arguments: dict[str, Any], is_laid_out: bool = False) -> TypeField:
        """Return the TypeField of a field of a type. The functions that read and write the field are created on first
        use."""
        self = cls(**arguments)
        self._place, self._is_laid_out = place, is_laid_out
        return self

    getter: Any = Lazy(lambda self: _core.FieldSlot(*self._place, False).get)
    setter: Any = Lazy(lambda self: _core.FieldSlot(*self._place, False).set)
    metadata: Any = Lazy(lambda self: parse_metadata(self._metadata, self._title))
    ty: Any = Lazy(lambda self: schema_in(self.metadata, self._title))
    c_default: Any = Lazy(lambda self: MISSING)
    c_default_factory: Any = Lazy(lambda self: MISSING)

    @property
    def _title(self) -> str:
        owner = f"{info_of_index(self._place[0]).type_key}." if "_place" in self.__dict__ else ""
        return f"field `{owner}{self.name}`"

    def __repr__(self) -> str:
        return f"TypeField({self.name!r}, {self._known_ty}, offset={self.offset}, size={self.size})"

    def _takes_payloads(self) -> bool:
        """Whether the field's type is an enum class whose singletons can be passed as their int or str."""
        static_index = self.field_static_type_index
        if static_index != _core.TYPE_INDEX_OBJECT and static_index < _core.TYPE_INDEX_DYNAMIC_BEGIN:
            return False
        schema = self._known_ty
        index = -1 if schema is None else schema.origin_type_index
        if index < _core.TYPE_INDEX_DYNAMIC_BEGIN:
            return False
        lineage = (*info_of_index(index).type_ancestors, index)
        return any(_core.type_key_to_index(key) in lineage for key in ("ffi.IntEnum", "ffi.StrEnum"))

    def normalize_value(self, value: Any) -> Any:
        """Return the value to write for an assigned value. For an enum field, an int or str becomes its singleton;
        TypeError if there is none."""
        if not self._takes_payloads():
            return value
        return _core.cany_value(self.ty.convert(value))

    def as_property(self, cls: type) -> FFIProperty | _RestoredProperty:
        """Return the attribute for a class."""
        takes_payloads = not self._is_laid_out and self._takes_payloads()
        made = FFIProperty(*self._place, self.frozen, self.ty if takes_payloads else None, self.doc)
        checks = self.ty._restoring_checks() if self._is_laid_out else []
        return _RestoredProperty(made, checks) if checks else made


class TypeMethod(_Declared):
    """One method of a native type: `func` takes the object first, unless it is static."""

    def __init__(
        self, name: str, doc: str | None, func: Callable[..., Any], metadata: dict[str, Any] | str, is_static: bool
    ) -> None:
        self.name = name
        self.doc = doc
        self.func = func
        self._metadata = metadata
        self.is_static = is_static

    _type_key = ""  # of its type
    metadata: Any = Lazy(lambda self: parse_metadata(self._metadata, self._title))

    def _forget_metadata(self) -> None:
        """Let the metadata be read again, with the names that classes have by now."""
        for name in ("metadata", "ty"):
            self.__dict__.pop(name, None)

    @property
    def _title(self) -> str:
        return f"method `{self._type_key and f'{self._type_key}.'}{self.name}`"

    ty: Any = Lazy(lambda self: schema_in(self.metadata, self._title))

    def __repr__(self) -> str:
        return f"TypeMethod({self.name!r}, is_static={self.is_static})"

    @property
    def text(self) -> str | None:
        """The `__doc__` of the attribute: of a function of bind.h with its signatures."""
        bound = text_of_bound(self.func) if isinstance(self.func, _core.Function) else None
        return self.doc if bound is None else bound

    def as_callable(self, cls: type) -> Any:
        """Return the attribute for a class: a method, or a staticmethod."""
        func = self.func
        if self.is_static:
            return static_method(func) if isinstance(func, _core.Function) else staticmethod(func)
        if self.name.startswith("__"):
            adapted = _adapter()(self, cls)
            if adapted is not None:
                return adapted
        bind = getattr(_core, "method_descriptor", None)
        if bind is not None:
            return bind(func, cls.__module__, self.name, f"{cls.__qualname__}.{self.name}", self.text)

        def method(self: CObject, /, *args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                return func(self, *args, **kwargs)
            return func(self)  # PyPy compiles this into less code

        method.__name__, method.__module__ = self.name, cls.__module__
        method.__qualname__ = f"{cls.__qualname__}.{self.name}"
        method.__doc__ = self.text
        method.__annotations__ = {}  # the annotations of the lines above mean nothing to the caller
        method.__wrapped__ = func  # type: ignore[attr-defined]
        return method


class TypeInfo:
    """The core's data about a type; `__tvm_ffi_type_info__` of its class.

    `type_cls` is its registered class, or None; `type_ancestors` are type indices from the root to the parent;
    `parent_type_info` is the TypeInfo of the parent, None for the root. `fields` and `methods` have only the members
    that the type itself declares, in the order of their registration; `fields` is None for a class that is still being
    defined.
    """

    type_cls: type | None

    def __init__(self, type_index: int) -> None:
        key, self.parent_type_index, self.doc, _size, _fields, _methods, ancestors = _core.type_info(type_index)
        self.type_index = type_index
        self.type_key = str(key)
        self.type_ancestors = list(ancestors)
        self.type_cls = None
        self._decorator_args: dict[str, Any] = {}
        self._inherited_attrs: Collection[str] = ()  # the type attributes that py_class() inherits from a parent

    if TYPE_CHECKING:
        fields: list[TypeField] | None
        methods: list[TypeMethod]
    else:

        @Lazy
        def fields(self) -> list[TypeField]:
            """The type's own fields."""
            rows = _core.type_info(self.type_index)[4]
            return [TypeField._at((self.type_index, i), arguments_of_row(row)) for i, row in enumerate(rows)]

        @Lazy
        def methods(self) -> list[TypeMethod]:
            """The type's own methods."""
            return [_read_method(self.type_key, *method) for method in _core.type_info(self.type_index)[5]]

    @Lazy
    def parent_type_info(self) -> TypeInfo | None:
        """The TypeInfo of the parent type."""
        return info_of_index(self.parent_type_index) if self.parent_type_index >= 0 else None

    def _add_field(self) -> TypeField:
        """Return the field that the type has just got, the last one. The other fields are not read again: a library
        may define hundreds, one by one."""
        rows = _core.type_info(self.type_index)[4]
        number = len(rows) - 1
        made = TypeField._at((self.type_index, number), arguments_of_row(rows[number]))
        if self.fields is not None and len(self.fields) == number:
            self.fields.append(made)
        return made

    def _add_method(self, name: str, function: Callable[..., Any], metadata: str, doc: str, flags: int) -> TypeMethod:
        """Return a method that the type has just got. The other methods are not read again."""
        made = _read_method(self.type_key, name, doc, metadata, flags, function)
        known: list[TypeMethod] | None = self.__dict__.get("methods")
        if known is not None:
            known.append(made)
        return made

    def _register_fields(self, fields: Sequence[DeclaredField], structure_kind: int | None = None) -> None:
        """Define the fields of a type from define_type(), and its constructor. RuntimeError for a second call,
        TypeError for a default that cannot be converted to a native value. An error in a field is raised before
        anything is registered."""
        from .layout import lay_out

        if self.fields is not None:
            raise RuntimeError(f"{self.type_key} has its fields already")
        slots, total_size = lay_out(self.parent_type_info, [schema_of_declared(field).origin for field in fields])
        rows = list(map(row_of_declared, fields, slots))
        _core.fields_define(self.type_index, rows, total_size, structure_kind or _core.STRUCTURE_UNSUPPORTED)
        self.fields = [
            TypeField._at((self.type_index, i), arguments_of_declared(*declared), is_laid_out=True)
            for i, declared in enumerate(zip(fields, slots))
        ]
        self.__dict__.pop("methods", None)

    def _register_py_methods(
        self, entries: list[tuple[Any, ...]] | None = None, type_attr_names: Collection[str] = frozenset()
    ) -> None:
        """Register (name, function or value, whether static, metadata): entries with these names as type attributes,
        all others as methods."""
        for name, value, is_static, metadata in entries or ():
            if name in type_attr_names:
                _core.type_attr_define(self.type_index, name, value)
            else:
                flags = _core.FIELD_IS_STATIC_METHOD if is_static else 0
                _core.method_define(self.type_index, name, value, metadata or "", flags)
        self.__dict__.pop("methods", None)

    @property
    def _has_type_metadata(self) -> bool:
        """Whether the size of the type's objects is registered."""
        return bool(_core.type_info(self.type_index)[3])

    @Lazy
    def _fields_end(self) -> int:
        """The end in bytes of the last field that the type or an ancestor declares."""
        parent = self.parent_type_info
        inherited = _core.OBJECT_HEADER_BYTES if parent is None else parent._fields_end
        return max([inherited, *[field.offset + field.size for field in self.fields or ()]])

    @property
    def total_size(self) -> int:
        """Bytes of an object, header included; if the size is not registered, up to the end of the last field."""
        size: int = _core.type_info(self.type_index)[3]
        if size != 0 or self.parent_type_info is None:
            return size
        ends = [field.offset + field.size for field in self.fields or ()]
        end: int = max(self.parent_type_info.total_size, *ends, _core.OBJECT_HEADER_BYTES)
        return (end + 7) & ~7

    def prototype_py(self) -> str:
        """Return the type as the source of a Python class: its fields and methods with their annotations."""
        parent = self.parent_type_info
        base = "" if parent is None else f"({parent.type_key.rpartition('.')[2]})"
        lines = [f"class {self.type_key.rpartition('.')[2]}{base}:"]
        lines += [f"    {field.name}: {field._known_ty or 'Any'}" for field in self.fields or ()]
        for method in self.methods:
            lines += ["    @staticmethod"] * method.is_static
            lines.append(f"    {method.name}: {method._known_ty or 'Callable[..., Any]'}")
        return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"]) + "\n"

    def __repr__(self) -> str:
        return f"TypeInfo({self.type_key!r}, type_index={self.type_index})"


# --- reading the registry -------------------------------------------------------------------------------------------


def _read_method(type_key: str, name: str, doc: str, metadata: str, flags: int, *rest: Any) -> TypeMethod:
    function = rest[-1]
    is_static = bool(flags & _core.FIELD_IS_STATIC_METHOD)
    if isinstance(function, _core.Function):
        function.__name__ = str(name)
        add_metadata(function, str(metadata), str(doc), not is_static)
        apply_nonblocking(function, metadata)
        apply_python_arguments(function, str(metadata))
    method = TypeMethod(str(name), str(doc) if doc else None, function, str(metadata), is_static)
    method._type_key = type_key
    return method


# --- finding a TypeInfo ---------------------------------------------------------------------------------------------

_infos: dict[int, TypeInfo] = {}


def info_of_index(type_index: int) -> TypeInfo:
    """Return the TypeInfo of a registered type. ValueError for an index without a type."""
    found = _infos.get(type_index)
    return found if found is not None else _infos.setdefault(type_index, TypeInfo(type_index))


def load_library_of(name: str) -> bool:
    """Load the library of a function or type that is not registered, if the package has a module that loads libraries
    with such a prefix, up to a dot. Returns whether there is one."""
    return find_late("_types.info: libraries", name.partition(".")[0]) is not None


def index_of_key(type_key: str) -> int:
    """Return the index of a type key, -1 if no library registered it."""
    index = _core.type_key_to_index(type_key)
    return _core.type_key_to_index(type_key) if index < 0 and load_library_of(type_key) else index


def info_of_key(type_key: str) -> TypeInfo:
    """Return the TypeInfo of a type key. ValueError if no library registered it."""
    index = index_of_key(type_key)
    if index < 0:
        from .. import _ffi_api

        similar = did_you_mean(type_key, _ffi_api.GetRegisteredTypeKeys())
        raise ValueError(f"Cannot find object type index for {type_key}: no loaded library registered it{similar}")
    return info_of_index(index)


def info_of_class(cls: type) -> TypeInfo | None:
    """Return the TypeInfo of the type that a class is registered for, None for another class."""
    index = INDEX_OF_CLASS.get(cls)
    return None if index is None else info_of_index(index)


def set_class(info: TypeInfo, cls: type) -> None:
    """Make a class the class of a type; the latest class counts. Native objects of the type become its instances."""
    _core.class_register(info.type_index, cls)
    set_python_class(info, cls)


def set_python_class(info: TypeInfo, cls: type) -> None:
    """Make a class that does not hold a native object the class of a type. Strings, data types and devices from native
    code become its instances in other ways."""
    info.type_cls = cls
    INDEX_OF_CLASS[cls] = info.type_index


def begin_info(type_index: int) -> TypeInfo:
    """Return a new TypeInfo for a type that was just registered; it replaces the TypeInfo of an earlier definition."""
    info = _infos[type_index] = TypeInfo(type_index)
    return info


def forget_info(info: TypeInfo) -> None:
    """Undo `begin_info` and `set_class`, unless a later call has replaced their entries."""
    if _infos.get(info.type_index) is info:
        del _infos[info.type_index]
    if info.type_cls is not None and INDEX_OF_CLASS.get(info.type_cls) == info.type_index:
        del INDEX_OF_CLASS[info.type_cls]


set_class(info_of_index(_core.TYPE_INDEX_OBJECT), Object)
Object.__tvm_ffi_type_info__ = info_of_index(_core.TYPE_INDEX_OBJECT)  # type: ignore[attr-defined]
set_class(info_of_key("ffi.Function"), _core.Function)
set_class(info_of_key("ffi.OpaquePyObject"), OpaquePyObject)
