"""Origins: the names in the trees of type schemas, their type indices, and their operations in `_core`."""

from __future__ import annotations

from .. import _core

__all__ = [
    "CONTAINERS",
    "INDEX_OF_CLASS",
    "INDEX_OF_ORIGIN",
    "KEPT_NAMES",
    "KEPT_NAME_OF_INDEX",
    "ORIGIN_OF_INDEX",
    "ORIGIN_OF_NAME",
    "PLAIN_OPS",
    "STRUCTURAL",
    "UNKNOWN",
]

STRUCTURAL, UNKNOWN = -2, -3  # type indices: not a type (Optional, Union); an unregistered type

INDEX_OF_CLASS: dict[type, int] = {}
"""Type indices of the classes for native types. Only _types.info writes them."""

# Type indices of the origins that are not type keys.
INDEX_OF_ORIGIN = {
    "Any": _core.TYPE_INDEX_ANY,
    "None": _core.TYPE_INDEX_NONE,
    "int": _core.TYPE_INDEX_INT,
    "bool": _core.TYPE_INDEX_BOOL,
    "float": _core.TYPE_INDEX_FLOAT,
    "ctypes.c_void_p": _core.TYPE_INDEX_OPAQUE_PTR,
    "dtype": _core.TYPE_INDEX_DATA_TYPE,
    "Device": _core.TYPE_INDEX_DEVICE,
    "Object": _core.TYPE_INDEX_OBJECT,
    "str": _core.TYPE_INDEX_STR,
    "bytes": _core.TYPE_INDEX_BYTES,
    "Callable": _core.TYPE_INDEX_FUNCTION,
    "Tensor": _core.TYPE_INDEX_TENSOR,
    "Array": _core.TYPE_INDEX_ARRAY,
    "Map": _core.TYPE_INDEX_MAP,
    "List": _core.TYPE_INDEX_LIST,
    "Dict": _core.TYPE_INDEX_DICT,
}
ORIGIN_OF_INDEX = {
    **{index: origin for origin, index in INDEX_OF_ORIGIN.items()},
    _core.TYPE_INDEX_DL_TENSOR_PTR: "Tensor",
    _core.TYPE_INDEX_RAW_STR: "str",
    _core.TYPE_INDEX_BYTE_ARRAY_PTR: "bytes",
    _core.TYPE_INDEX_OBJECT_RVALUE_REF: "Object",
    _core.TYPE_INDEX_SMALL_STR: "str",
    _core.TYPE_INDEX_SMALL_BYTES: "bytes",
    _core.TYPE_INDEX_BIG_INT: "int",
}

# Names in the JSON of native libraries, and their origins.
ORIGIN_OF_NAME = {
    name: origin
    for origin, names in {
        "Any": ("ffi.OpaquePyObject",),  # native code accepts every Python value as one
        "Array": ("ffi.Array", "std::vector", "std::array"),
        "Callable": ("ffi.Function", "std::function"),
        "Dict": ("ffi.Dict",),
        "List": ("ffi.List",),
        "Map": ("ffi.Map", "std::map", "std::unordered_map"),
        "Object": ("ffi.Object", "ObjectRValueRef"),
        "Optional": ("std::optional",),
        "Tensor": ("ffi.Tensor", "DLTensor*"),
        "Union": ("Variant", "std::variant"),
        "bytes": ("ffi.Bytes", "ffi.SmallBytes", "TVMFFIByteArray*"),
        "ctypes.c_void_p": ("void*",),
        "dtype": ("DataType",),
        "int": ("ffi.BigInt",),
        "set": ("std::set",),
        "str": ("ffi.String", "ffi.SmallStr", "std::string", "const char*"),
        "tuple": ("Tuple", "std::tuple"),
    }.items()
    for name in names
}
# An `int` in Python, but not in native code, so printing needs the name.
KEPT_NAME_OF_INDEX = {_core.TYPE_INDEX_BIG_INT: "ffi.BigInt"}
KEPT_NAMES = frozenset(KEPT_NAME_OF_INDEX.values())

# Origins without arguments, and the operations of _core for their values.
PLAIN_OPS = {
    "Any": "any",
    "None": "none",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "bytes": "bytes",
    "Device": "device",
    "dtype": "dtype",
    "ctypes.c_void_p": "void*",
    "Tensor": "instance",
    "Callable": "instance",
    "Object": "object",
}
CONTAINERS = {  # origin: (operation, type index, name in messages)
    "Array": ("sequence", _core.TYPE_INDEX_ARRAY, "Array"),
    "List": ("sequence", _core.TYPE_INDEX_LIST, "List"),
    "list": ("sequence", _core.TYPE_INDEX_LIST, "List"),
    "Map": ("mapping", _core.TYPE_INDEX_MAP, "Map"),
    "Dict": ("mapping", _core.TYPE_INDEX_DICT, "Dict"),
    "dict": ("mapping", _core.TYPE_INDEX_DICT, "Dict"),
}
