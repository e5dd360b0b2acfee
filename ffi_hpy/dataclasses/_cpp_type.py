"""The C++ names for native types: names of structs, and types of members with the layout of the fields."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .. import _core
from .._types.info import info_of_key
from .._types.origin import INDEX_OF_ORIGIN
from ..core import _object_type_key_to_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core import TypeField, TypeInfo, TypeSchema

__all__ = ["CppName", "CppType", "Lowering", "builtin_structs", "identifier"]

_FFI = "::tvm::ffi::"
_OBJECT = _FFI + "Object"
_ESCAPED = "__ffi_escape_"


class CppType(NamedTuple):
    """A C++ type with its size and alignment in bytes."""

    cpp_type: str
    size: int
    alignment: int


class CppName(NamedTuple):
    """The struct of a type key: "my.ir.Node" is `my::ir::NodeObj`."""

    namespaces: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, type_key: str) -> CppName:
        *namespaces, name = map(identifier, type_key.split("."))
        return cls(tuple(namespaces), f"{name}Obj")

    def __str__(self) -> str:
        return "::" + "::".join((*self.namespaces, self.name))


def identifier(name: str) -> str:
    """Return a name as a C++ identifier: the name itself, or a prefix and its UTF-8 in hexadecimal digits."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and not name.startswith(_ESCAPED):
        return name
    return _ESCAPED + name.encode().hex()


def _pointer(cpp_type: str) -> CppType:
    return CppType(cpp_type, 8, 8)


def _arc(struct: str) -> CppType:
    """A reference that is never null."""
    return _pointer(f"{_FFI}Arc<{struct}>")


def _nullable(struct: str) -> CppType:
    return _pointer(f"{_FFI}ObjectPtr<{struct}>")


_ANY = CppType(_FFI + "Any", 16, 8)
_SCALARS = {
    "int": CppType("int64_t", 8, 8),
    "float": CppType("double", 8, 8),
    "bool": CppType("bool", 1, 1),
    "ctypes.c_void_p": CppType("void*", 8, 8),
    "dtype": CppType("DLDataType", 4, 2),
    "DataType": CppType("DLDataType", 4, 2),
    "Device": CppType("DLDevice", 8, 4),
    "Any": _ANY,
    "str": CppType(_FFI + "String", 16, 8),
    "bytes": CppType(_FFI + "Bytes", 16, 8),
    "Callable": _pointer(_FFI + "Function"),
    "Tensor": _pointer(_FFI + "Tensor"),
}
_CONTAINERS = {
    "Array": _FFI + "Array",
    "List": _FFI + "List",
    "Map": _FFI + "Map",
    "Dict": _FFI + "Dict",
    "tuple": _FFI + "Tuple",
}
# C++ types by static type index, for fields without a schema.
_UNTYPED = {
    INDEX_OF_ORIGIN[origin]: origin for origin in ("Any", "int", "bool", "float", "ctypes.c_void_p", "dtype", "Device")
}

# For each origin, the types of native schemas with the same layout; other types are only converted to it.
_OWNING = {
    "int": {"int"},
    "float": {"float"},
    "bool": {"bool"},
    "ctypes.c_void_p": {"void*"},
    "dtype": {"DataType"},
    "DataType": {"DataType"},
    "Device": {"Device"},
    "Any": {"Any"},
    "str": {"ffi.String", "ffi.SmallStr"},
    "bytes": {"ffi.Bytes", "ffi.SmallBytes"},
    "Callable": {"ffi.Function"},
    "Tensor": {"ffi.Tensor"},
    "Object": {"ffi.Object"},
    "Array": {"ffi.Array"},
    "List": {"ffi.List"},
    "Map": {"ffi.Map"},
    "Dict": {"ffi.Dict"},
    "tuple": {"Tuple"},
    "Optional": {"Optional"},
    "Union": {"Variant"},
}

# struct, and the reference class for it if the headers have one; None: Arc<struct>.
_BUILTINS: dict[str, tuple[str, CppType | None]] = {
    "ffi.Object": ("Object", None),
    "ffi.String": ("detail::StringObj", _SCALARS["str"]),
    "ffi.Bytes": ("detail::BytesObj", _SCALARS["bytes"]),
    "ffi.Error": ("ErrorObj", CppType(_FFI + "Error", 16, 8)),
    "ffi.Function": ("FunctionObj", _SCALARS["Callable"]),
    "ffi.Shape": ("ShapeObj", _pointer(_FFI + "Shape")),
    "ffi.Tensor": ("TensorObj", _SCALARS["Tensor"]),
    "ffi.Array": ("ArrayObj", _pointer(f"{_FFI}Array<{_FFI}Any>")),
    "ffi.Map": ("MapObj", _pointer(f"{_FFI}Map<{_FFI}Any, {_FFI}Any>")),
    "ffi.Module": ("ModuleObj", None),
    "ffi.List": ("ListObj", _pointer(f"{_FFI}List<{_FFI}Any>")),
    "ffi.Dict": ("DictObj", _pointer(f"{_FFI}Dict<{_FFI}Any, {_FFI}Any>")),
    "ffi.VisitInterrupt": ("VisitInterruptObj", None),
}


def builtin_structs() -> dict[int, str]:
    """Return the structs in the headers, by type index."""
    return {index: _FFI + struct for index, (struct, _) in _builtins().items()}


def _builtins() -> dict[int, tuple[str, CppType | None]]:
    found = {}
    for key, entry in _BUILTINS.items():
        index = _object_type_key_to_index(key)
        if index is not None:
            found[index] = entry
    return found


def _is_object(schema: TypeSchema) -> bool:
    return schema.origin_type_index >= _core.TYPE_INDEX_OBJECT


class Lowering:
    """Finds the C++ types of fields. `used` collects the types that are not in a header."""

    def __init__(self) -> None:
        self.used: dict[int, TypeInfo] = {}
        self._builtins = _builtins()

    def lower_field(self, field: TypeField, owner: TypeInfo) -> CppType:
        """Return the type of a member with the field's layout. ValueError if there is none or more than one."""
        where = f"{owner.type_key}.{field.name}"
        layout = (field.size, field.alignment)
        schema = field.ty
        if schema is None:
            found = self._lower_untyped(field, where)
        else:
            is_python = bool(getattr(owner, "_decorator_args", None))
            if not is_python:
                _check_owning(schema, _raw_schema(field, where))
            if is_python or schema.origin not in ("Optional", "Union"):
                found = self._fit_builtin(schema, self.lower(schema), layout)
            else:
                found = self._lower_native_choice(schema, layout, where)
        if (found.size, found.alignment) == layout:
            return found
        raise ValueError(
            f"{found.cpp_type} for {where} has size and alignment {(found.size, found.alignment)}, the field at offset "
            f"{field.offset} has {layout}"
        )

    def lower(self, schema: TypeSchema, is_item: bool = False) -> CppType:
        """Return the type for values of a schema, as a field or as an item of a container."""
        origin, args = schema.origin, schema.args or ()
        if origin in _SCALARS:
            return _SCALARS[origin]
        if origin in _CONTAINERS:
            items = ", ".join(self.lower(arg, is_item=True).cpp_type for arg in args)
            return _pointer(f"{_CONTAINERS[origin]}<{items}>")
        if origin in ("Optional", "Union"):
            if not is_item or not all(map(_is_object, args)):
                return _ANY
            return _nullable(self._struct(args[0])) if origin == "Optional" else _arc(_OBJECT)
        if _is_object(schema) or origin == "Object":
            return self._reference(schema)
        raise ValueError(f"{schema!r} has no C++ type")

    def _lower_untyped(self, field: TypeField, where: str) -> CppType:
        index = field.field_static_type_index
        if index in _UNTYPED:
            return _SCALARS[_UNTYPED[index]]
        if index >= _core.TYPE_INDEX_OBJECT:
            return _nullable(_OBJECT)
        raise ValueError(f"{where} has no type schema, and nothing has its static type index {index}")

    def _lower_native_choice(self, schema: TypeSchema, layout: tuple[int, int], where: str) -> CppType:
        """Return the type for Optional and Union. C++ has several, so the layout must decide."""
        args = schema.args or ()
        if schema.origin == "Optional":
            (arg,) = args
            if layout == (16, 8) and arg.origin in ("str", "bytes"):
                return _SCALARS[arg.origin]
            if layout == (16, 8) and _is_object(arg):
                return CppType(f"{_FFI}Optional<{self._reference(arg).cpp_type}>", 16, 8)
            if layout == (8, 8) and _is_object(arg):
                return _nullable(self._struct(arg))
        elif layout == (8, 8) and all(map(_is_object, args)):
            return _arc(_OBJECT)
        raise ValueError(f"Ambiguous native {schema.origin} carrier for {where} with size and alignment {layout}")

    def _fit_builtin(self, schema: TypeSchema, found: CppType, layout: tuple[int, int]) -> CppType:
        """Adjust the type to the layout: in a C++ library an Error is also an exception, and as large as one. A field
        may contain the object alone."""
        if schema.origin_type_index not in self._builtins:
            return found
        if layout == (8, 8) and (found.size, found.alignment) != layout:
            return _arc(self._struct(schema))
        return CppType(found.cpp_type, *layout) if found.cpp_type == _FFI + "Error" else found

    def _reference(self, schema: TypeSchema) -> CppType:
        if schema.origin != "Object" and schema.origin_type_index < _core.TYPE_INDEX_DYNAMIC_BEGIN:
            entry = self._builtins.get(schema.origin_type_index)
            if entry is None:
                raise ValueError(f"the headers have no struct for {schema.origin}")
            if entry[1] is not None:
                return entry[1]
        return _arc(self._struct(schema))

    def _struct(self, schema: TypeSchema) -> str:
        if schema.origin == "Object":
            return _OBJECT
        entry = self._builtins.get(schema.origin_type_index)
        if entry is not None:
            return _FFI + entry[0]
        if schema.origin_type_index < _core.TYPE_INDEX_DYNAMIC_BEGIN:
            raise ValueError(f"the headers have no struct for {schema.origin}")
        info = info_of_key(schema.origin)
        self.used[info.type_index] = info
        return str(CppName.of(info.type_key))


def _raw_schema(field: TypeField, where: str) -> dict[str, Any]:
    """Return the schema of a native field as its library wrote it."""
    raw: Any = field.metadata.get("type_schema")
    try:
        raw = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError as error:
        raise ValueError(f"the type schema of {where} is not JSON: {raw!r}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        raise ValueError(f"{where} has no type schema of a native library's")  # noqa: TRY004 - of the registry's value
    return raw


def _check_owning(schema: TypeSchema, raw: dict[str, Any]) -> None:
    """ValueError if a schema was made from a native type that only converts to it, and so has another layout."""
    allowed = _OWNING.get(schema.origin, {schema.origin} if _is_object(schema) else set())
    if raw.get("type") not in allowed:
        raise ValueError(f"native type {raw.get('type')!r} is read as {schema.origin!r} but has another layout")
    args, raw_args = schema.args or (), raw.get("args", [])
    if schema.origin in _CONTAINERS or schema.origin in ("Optional", "Union"):
        if not isinstance(raw_args, list) or len(raw_args) != len(args):
            raise ValueError(f"the native schema {raw!r} does not have the arguments of {schema!r}")
        for arg, raw_arg in zip(args, raw_args):
            _check_owning(arg, raw_arg if isinstance(raw_arg, dict) else {})
