"""The Python names of types of the ABI, and the modules of their classes."""

from __future__ import annotations

from ...dropin import is_installed

__all__ = ["MOD_MAP", "RUNTIME", "TY_MAP_DEFAULTS", "TY_MAP_INPUT_DEFAULTS", "TY_MAP_RESULT_DEFAULTS"]

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
"""The annotations of fields, by origin or type key. A field takes every sequence and mapping."""

TY_MAP_RESULT_DEFAULTS = {name: f"ffi.{name}" for name in ("Array", "Dict", "List", "Map") if RUNTIME == _OWN}
"""The annotations of results, if they differ: the class that arrives. Under the name of tvm_ffi they are as there."""

_OWN_INPUTS = {
    "Device": "ffi.Device | str",
    "Tensor": "ffi.SupportsDLPack",
    "datetime.datetime": "datetime.datetime | datetime.date | datetime.time",
    "datetime.timedelta": "datetime.timedelta | float",
    "pathlib.Path": "os.PathLike[str] | str",
    "set": "collections.abc.Collection",
}
TY_MAP_INPUT_DEFAULTS = {
    "Array": "collections.abc.Sequence",
    "Dict": "collections.abc.Mapping",
    "List": "collections.abc.Sequence",
    "Map": "collections.abc.Mapping",
    "ctypes.c_void_p": "ctypes.c_void_p | None",
    "dtype": "ffi.dtype | str",
    "ffi.Shape": "collections.abc.Sequence[int]",
    **(_OWN_INPUTS if RUNTIME == _OWN else {}),
}
"""The annotations of parameters, if they differ: parameters accept every type that can be converted."""
