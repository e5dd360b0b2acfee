"""The Python names of types of the ABI, and the modules of their classes."""

from __future__ import annotations

from ...dropin import is_installed

__all__ = ["MOD_MAP", "RUNTIME", "TY_MAP_DEFAULTS", "TY_MAP_INPUT_DEFAULTS"]

_OWN = (__package__ or "").rsplit(".", 2)[0]
RUNTIME = "tvm_ffi" if is_installed() else _OWN
"""The package that generated code imports: the one under whose name this program runs, see ffi_hpy.dropin."""

MOD_MAP = {"ffi": RUNTIME, "testing": f"{RUNTIME}.testing", "tvm_ffi": RUNTIME, "ffi_hpy": RUNTIME}
"""Modules, by the first part of type keys and of names in directives."""

TY_MAP_DEFAULTS = {
    "Any": "typing.Any",
    "Array": "collections.abc.Sequence",
    "Callable": "typing.Callable",
    "Device": "ffi.Device",
    "Dict": "collections.abc.MutableMapping",
    "List": "collections.abc.MutableSequence",
    "Map": "collections.abc.Mapping",
    "Object": "ffi.Object",
    "Tensor": "ffi.Tensor",
    "dtype": "ffi.dtype",
    "ffi.reflection.AccessPath": "ffi.access_path.AccessPath",
    "ffi.reflection.AccessStep": "ffi.access_path.AccessStep",
    "ffi.Enum": "ffi.dataclasses.Enum",
    "ffi.IntEnum": "ffi.dataclasses.IntEnum",
    "ffi.StrEnum": "ffi.dataclasses.StrEnum",
}
"""The annotations of results and fields, by origin or type key."""

TY_MAP_INPUT_DEFAULTS = {
    "Array": "collections.abc.Sequence",
    "Dict": "collections.abc.Mapping",
    "List": "collections.abc.Sequence",
    "Map": "collections.abc.Mapping",
    "ctypes.c_void_p": "ctypes.c_void_p | None",
    "dtype": "ffi.dtype | str",
    "ffi.Shape": "collections.abc.Sequence[int]",
    **({"Tensor": "ffi.SupportsDLPack", "Device": "ffi.Device | str"} if RUNTIME == _OWN else {}),
}
"""The annotations of parameters, if they differ: parameters accept every type that can be converted."""
