"""Origins: the names that the trees of type schemas are built from, their type indices and what `_core` calls them."""

from __future__ import annotations

__all__ = [
    "ANY",
    "CONTAINERS",
    "FIRST_OBJECT",
    "INDEX_OF_ORIGIN",
    "KEPT_NAMES",
    "KEPT_NAME_OF_INDEX",
    "NONE",
    "ORIGIN_OF_INDEX",
    "ORIGIN_OF_NAME",
    "PLAIN_OPS",
    "STRUCTURAL",
    "UNKNOWN",
]

STRUCTURAL, UNKNOWN = -2, -3  # type indices of what has none: Optional and Union; an origin that nobody registered
ANY, NONE, FIRST_OBJECT = -1, 0, 64

# Type indices of the origins that are no type keys.
INDEX_OF_ORIGIN = {
    "Any": ANY,
    "None": NONE,
    "int": 1,
    "bool": 2,
    "float": 3,
    "ctypes.c_void_p": 4,
    "dtype": 5,
    "Device": 6,
    "Object": FIRST_OBJECT,
    "str": 65,
    "bytes": 66,
    "Callable": 68,
    "Tensor": 70,
    "Array": 71,
    "Map": 72,
    "List": 75,
    "Dict": 76,
}
ORIGIN_OF_INDEX = {index: origin for origin, index in INDEX_OF_ORIGIN.items()}
ORIGIN_OF_INDEX.update({7: "Tensor", 8: "str", 9: "bytes", 10: "Object", 11: "str", 12: "bytes", 78: "int"})

# Names in the JSON of native libraries, by the origin that they mean.
ORIGIN_OF_NAME = {
    name: origin
    for origin, names in {
        "Any": ("ffi.OpaquePyObject",),  # native code takes every Python value as one
        "Array": ("ffi.Array", "std::vector"),
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
        "str": ("ffi.String", "ffi.SmallStr", "std::string", "const char*"),
        "tuple": ("Tuple", "std::tuple"),
    }.items()
    for name in names
}
# An `int` in Python, but not for native code: what is printed for it needs the name.
KEPT_NAME_OF_INDEX = {78: "ffi.BigInt"}
KEPT_NAMES = frozenset(KEPT_NAME_OF_INDEX.values())

# Origins whose values need no arguments to be understood, and the operations of _core on them.
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
    "Array": ("sequence", 71, "Array"),
    "List": ("sequence", 75, "List"),
    "list": ("sequence", 75, "List"),
    "Map": ("mapping", 72, "Map"),
    "Dict": ("mapping", 76, "Dict"),
    "dict": ("mapping", 76, "Dict"),
}
