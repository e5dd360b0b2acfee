"""Numbers of the ABI for the hot paths, from the binding's copy of the C headers."""

from __future__ import annotations

from .binding import binding

NONE: int = binding.TYPE_INDEX_NONE
INT: int = binding.TYPE_INDEX_INT
BOOL: int = binding.TYPE_INDEX_BOOL
FLOAT: int = binding.TYPE_INDEX_FLOAT
OPAQUE_PTR: int = binding.TYPE_INDEX_OPAQUE_PTR
DATA_TYPE: int = binding.TYPE_INDEX_DATA_TYPE
DEVICE: int = binding.TYPE_INDEX_DEVICE
RAW_STR: int = binding.TYPE_INDEX_RAW_STR
BYTE_ARRAY_PTR: int = binding.TYPE_INDEX_BYTE_ARRAY_PTR
RVALUE_REF: int = binding.TYPE_INDEX_OBJECT_RVALUE_REF
SMALL_STR: int = binding.TYPE_INDEX_SMALL_STR
SMALL_BYTES: int = binding.TYPE_INDEX_SMALL_BYTES
OBJECT: int = binding.TYPE_INDEX_OBJECT
STR: int = binding.TYPE_INDEX_STR
BYTES: int = binding.TYPE_INDEX_BYTES
FUNCTION: int = binding.TYPE_INDEX_FUNCTION
ARRAY: int = binding.TYPE_INDEX_ARRAY
MAP: int = binding.TYPE_INDEX_MAP
LIST: int = binding.TYPE_INDEX_LIST
DICT: int = binding.TYPE_INDEX_DICT
TENSOR: int = binding.TYPE_INDEX_TENSOR
BIG_INT: int = binding.TYPE_INDEX_BIG_INT
BIND_STR_DELETER: int = binding.BIND_STR_DELETER
BIND_FUNCTION_CALL: int = binding.BIND_FUNCTION_CALL
BIND_FIRST_OVERLOAD: int = binding.BIND_FIRST_OVERLOAD
BIND_BORROWS: int = binding.BIND_BORROWS
BIND_UNLISTED: int = binding.BIND_UNLISTED
SHAPE: int = binding.type_key_to_index("ffi.Shape")
ERROR: int = binding.type_key_to_index("ffi.Error")
OPAQUE_PY_OBJECT: int = binding.type_key_to_index("ffi.OpaquePyObject")

# PyPy treats these as machine integers, which the JIT compares fastest; -(1 << 63) would be a long integer.
INT64_MAX = 0x7FFF_FFFF_FFFF_FFFF
INT64_MIN = -INT64_MAX - 1
