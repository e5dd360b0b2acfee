"""The input of stub generation: functions, types and fields from their libraries' data, and the command's options."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import _core
from .._types.function_metadata import FunctionMetadata, parameters_of
from .._types.metadata import MetadataError, schema_in
from .._types.schema import TypeSchema
from ..core import MISSING
from ..dataclasses.enum import _variant_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .._types.info import TypeField, TypeInfo, TypeMethod

__all__ = [
    "FuncInfo",
    "InitConfig",
    "InitFieldInfo",
    "NamedTypeSchema",
    "ObjectInfo",
    "Options",
    "function_schema",
]


@dataclass(frozen=True)
class InitConfig:
    """The purpose of missing files: the distribution `pkg`, its library `shared_target`, names under `prefix`."""

    pkg: str
    shared_target: str
    prefix: str


@dataclass
class Options:
    """The command line of ffi-hpy-stubgen."""

    imports: list[str] = field(default_factory=list)
    dlls: list[str] = field(default_factory=list)
    init: InitConfig | None = None
    indent: int = 4
    files: list[str] = field(default_factory=list)
    verbose: bool = False
    dry_run: bool = False
    check: bool = False
    target: str = "python"
    coverage_out: str | None = None
    modules: list[str] = field(default_factory=list)
    """The bound modules, and the libraries of such modules, that get stubs."""
    output: str | None = None
    """The folder for these stubs."""


class NamedTypeSchema:
    """A named type; for a field also the data of the field.

    `size`, `alignment` and `offset` are in bytes, None if unknown; `default` is MISSING, a value, or, if
    `default_is_factory`, a function that creates one. A `frozen` field is read-only; `doc` is the author's
    documentation, `written` the signature that the author has written for the function that reads a property.
    """

    def __init__(
        self,
        name: str,
        schema: TypeSchema | NamedTypeSchema,
        *,
        size: int | None = None,
        alignment: int | None = None,
        offset: int | None = None,
        default: Any = MISSING,
        default_is_factory: bool = False,
        structural_eq: str | None = None,
        frozen: bool = False,
        doc: str = "",
        written: str | None = None,
    ) -> None:
        self.name = name
        self.schema: TypeSchema = schema.schema if isinstance(schema, NamedTypeSchema) else schema
        self.size = size
        self.alignment = alignment
        self.offset = offset
        self.default = default
        self.default_is_factory = default_is_factory
        self.structural_eq = structural_eq
        self.frozen = frozen
        self.doc = doc
        self.written = written

    @staticmethod
    def from_type_field(type_field: TypeField) -> NamedTypeSchema:
        """A field of a registered type."""
        default, is_factory = MISSING, False
        if type_field.c_has_default:
            is_factory = type_field.c_default_factory is not MISSING
            default = type_field.c_default_factory if is_factory else type_field.c_default
        return NamedTypeSchema(
            type_field.name,
            type_field.ty or TypeSchema("Any"),
            size=type_field.size,
            alignment=type_field.alignment,
            offset=type_field.offset,
            default=default,
            default_is_factory=is_factory,
            structural_eq=type_field.c_structural_eq,
            frozen=type_field.frozen,
            doc=type_field.doc or "",
            written=type_field.metadata.get("written"),
        )

    @property
    def origin(self) -> str:
        """The type's name, without the brackets."""
        return self.schema.origin

    @property
    def args(self) -> tuple[TypeSchema, ...]:
        """The types in brackets."""
        return self.schema.args or ()

    @property
    def type_key(self) -> str | None:
        """The type's name if `origin` is less specific: "ffi.BigInt" for an int."""
        return self.schema.type_key

    @property
    def named_args(self) -> dict[str, tuple[TypeSchema, ...]] | None:
        """A function's "params" and "return"; None if there are no named groups."""
        return self.schema.named_args

    def repr(self, ty_map: Callable[[str], str] | None = None) -> str:
        """Return the type as a str, with each name in it replaced by the result of `ty_map`."""
        return self.schema.repr(ty_map)

    def __repr__(self) -> str:
        return f"NamedTypeSchema({self.name!r}, {self.schema.repr()})"


@dataclass
class FuncInfo:
    """A global function or a method; methods with `is_member` get the object as their first argument."""

    schema: NamedTypeSchema
    is_member: bool
    doc: str = ""
    names: tuple[str, ...] | None = None
    """The author's names of the parameters, including the object; None if not all have a name."""
    defaults: tuple[Any, ...] = ()
    """With names, the default of each parameter; NO_DEFAULT if it has none."""
    kinds: tuple[str, ...] = ()
    """With names, the kind of each parameter, as in Parameters."""
    has_python_results: bool = False
    """Whether results arrive as classes of Python itself: list, not List."""
    written: str | None = None
    """The author's own signature, from `def` or a decorator on."""

    @staticmethod
    def from_schema(name: str, schema: TypeSchema | NamedTypeSchema, *, is_member: bool = False) -> FuncInfo:
        """Return a function by its full name and type."""
        return FuncInfo(NamedTypeSchema(name, schema), is_member)

    @staticmethod
    def from_metadata(name: str, schema: TypeSchema, entry: FunctionMetadata) -> FuncInfo:
        """Return a function by its full name, type, and metadata."""
        parameters = parameters_of(entry)
        named = NamedTypeSchema(name, schema)
        return FuncInfo(
            named,
            entry.is_member,
            entry.doc,
            parameters.names,
            parameters.defaults,
            parameters.kinds,
            parameters.has_python_results,
            parameters.written,
        )

    @staticmethod
    def from_type_method(method: TypeMethod) -> FuncInfo:
        """A method of a registered type."""
        text = method._metadata if isinstance(method._metadata, str) else ""
        entry = FunctionMetadata(text, method.doc or "", not method.is_static)
        return FuncInfo.from_metadata(method.name, _schema_of_function(method.ty, method._title), entry)

    @property
    def name(self) -> str:
        """The last part of the full name."""
        return self.schema.name.rpartition(".")[2]

    def signature(self) -> tuple[tuple[TypeSchema, ...] | None, TypeSchema]:
        """Return the types of the parameters, None if any are accepted, and of the result. ValueError if this is not a
        function."""
        schema = self.schema
        if schema.origin != "Callable":
            raise ValueError(f"{schema.name} is not a function: its type is {schema.repr()}")
        groups = schema.named_args or {}
        (result,) = groups.get("return") or (TypeSchema("Any"),)
        return groups.get("params"), result


@dataclass
class InitFieldInfo:
    """A parameter of a constructor that is generated from the fields."""

    name: str
    schema: NamedTypeSchema
    kw_only: bool
    has_default: bool


@dataclass
class ObjectInfo:
    """A registered type. `fields` and `methods` are its own; `init_fields` the fields of the constructor, ancestors'
    first.

    `ancestors` are type keys from the root to the parent. `total_size` is in bytes, None if it is not registered;
    `is_final` is None if the library does not declare whether types can derive from it. `variants` are the names of the
    instances of an enum; `doc` is the author's documentation.
    """

    fields: list[NamedTypeSchema]
    methods: list[FuncInfo]
    type_key: str | None = None
    parent_type_key: str | None = None
    init_fields: list[InitFieldInfo] = field(default_factory=list)
    has_init: bool = False
    ancestors: list[str] = field(default_factory=list)
    total_size: int | None = None
    is_final: bool | None = None
    variants: list[str] = field(default_factory=list)
    doc: str = ""

    def has_overloaded_methods(self) -> bool:
        """Whether two methods have the same name."""
        names = [method.name for method in self.methods]
        return len(set(names)) < len(names)

    @staticmethod
    def from_type_info(type_info: TypeInfo) -> ObjectInfo:
        """Return a registered type; a type whose registration is not complete has no fields yet."""
        lineage = [type_info]
        while lineage[-1].parent_type_info is not None:
            lineage.append(lineage[-1].parent_type_info)
        ancestors = [info.type_key for info in lineage[:0:-1]]
        methods = [FuncInfo.from_type_method(method) for method in type_info.methods]
        has_init = any(method.name == "__ffi_init__" for method in methods)
        has_init = has_init or _core.type_attr(type_info.type_index, "__ffi_init__") is not None
        is_final = _core.type_attr(type_info.type_index, "__ffi_type_final__")
        total_size = _core.type_info(type_info.type_index)[3]  # 0 if the size is not registered
        return ObjectInfo(
            fields=[NamedTypeSchema.from_type_field(type_field) for type_field in type_info.fields or ()],
            methods=methods,
            type_key=type_info.type_key,
            parent_type_key=ancestors[-1] if ancestors else None,
            init_fields=_init_fields(lineage[::-1]) if has_init else [],
            has_init=has_init,
            ancestors=ancestors,
            total_size=total_size or None,
            is_final=None if is_final is None else bool(is_final),
            variants=_variant_names(type_info.type_index) if "ffi.Enum" in ancestors else [],
            doc=type_info.doc or "",
        )


def function_schema(metadata: dict[str, Any], owner: str = "a function") -> TypeSchema:
    """Return the type of a function, from its metadata; a function type with any arguments if the metadata has none.
    ValueError, which names the `owner`, for metadata that cannot be read or that declares another type."""
    return _schema_of_function(schema_in(metadata, owner), owner)


def _schema_of_function(schema: TypeSchema | None, owner: str) -> TypeSchema:
    if schema is not None and schema.origin != "Callable":
        raise MetadataError(f"the type schema of {owner} must be that of a function, got {schema}")
    return schema or TypeSchema("Callable")


def _init_fields(lineage: list[TypeInfo]) -> list[InitFieldInfo]:
    """Return the fields that a constructor takes, the root's first."""
    return [
        InitFieldInfo(
            type_field.name,
            NamedTypeSchema.from_type_field(type_field),
            kw_only=type_field.c_kw_only,
            has_default=type_field.c_has_default,
        )
        for info in lineage
        for type_field in info.fields or ()
        if type_field.c_init
    ]
