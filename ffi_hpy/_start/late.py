"""The table of late imports: names that a module needs from a module above it, or that cost too much import time.

All other imports are statements, and a module imports only modules below it. The job `layers` reads the table: it may
contain only entries that cannot be import statements.
"""

from __future__ import annotations

import builtins
import sys

from .fork import importing
from .similar import did_you_mean, not_said_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["DTYPE_NAMES", "LATE", "find_attributes", "find_late", "names_of", "suggest_names"]

_PACKAGE = (__package__ or "").rpartition(".")[0]

DTYPE_NAMES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16
float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
float6_e2m3fn float6_e3m2fn float4_e2m1fn float4_e2m1fnx2 float4_e2m1fn_x2
"""
"""The names in `_values.dtype_names`."""
_CORE = {".": "core"}

LATE: dict[str, dict[str, str]] = {
    # Signatures contain classes, and the registry creates classes with signatures.
    "registry: signatures": {"_signature": "constructor_signature"},
    "_types.function_metadata: signatures": {"_signature": "annotations_of signature_of text_of"},
    # A function is pickled as the call that finds it by its global name, and the registry defines functions.
    "_types.function_metadata: global functions": {"registry": "get_global_func global_name"},
    # Errors need the values, and one operation of the values needs the classes of errors.
    "_values.standard: errors": {"error": "error_is_a"},
    # The first native object of a type imports the module of the type's class.
    "registry: classes": {
        "access_path": "ffi.reflection.AccessPath=AccessPath ffi.reflection.AccessStep=AccessStep",
        "dataclasses.enum": "ffi.Enum=Enum ffi.IntEnum=IntEnum ffi.StrEnum=StrEnum",
        "module": "ffi.Module=Module",
        "structural": "ffi.StructuralKey=StructuralKey ffi.StructuralMutator=StructuralMutator"
        " ffi.StructuralVisitor=StructuralVisitor ffi.VisitInterrupt=VisitInterrupt",
    },
    # The first use of a name imports the module that loads the library with the names of that prefix.
    "_types.info: libraries": {".": "testing"},
    # Names that cost import time.
    "": {
        ".": "_dunder _optional_torch_c_dlpack _version access_path config container core cpp dataclasses dropin hpy"
        " libinfo module serialization stream structural testing utils",
        "_leaks.report": "leaks",
        "_start.command": "_is_config_mode",
        "_values.device_type": "DLDeviceType",
        "_values.dlpack": "SupportsDLPack",
        "_values.dtype_names": DTYPE_NAMES,
        "core": "CContainerBase",
        "dataclasses": "method",
        "module": "Module load_module system_lib",
        "stream": "StreamContext get_raw_stream use_raw_stream use_torch_stream",
        "structural": "DefRegionKind InplaceMode StructuralKey StructuralMutator StructuralVisitor VisitInterrupt"
        " WalkOrder WalkResult get_first_structural_mismatch structural_equal structural_hash structural_map"
        " structural_mutate structural_visit structural_walk",
    },
    "utils": {"utils.": "kwargs_wrapper unpack_dataclass"},
    # Names that tvm_ffi's module of that name has.
    "_convert": {".": "container core"},
    "_dtype": {**_CORE, "_values.dtype_code": "DataTypeCode", "_values.dtype_names": DTYPE_NAMES},
    "_dunder": _CORE,
    "_tensor": {".": "core registry", "_values.device_type": "DLDeviceType"},
    "container": _CORE,
    "error": {
        **_CORE,
        "_errors.traceback_manager": "TracebackManager _TRACEBACK_MANAGER=TRACEBACK_MANAGER",
    },
    "module": _CORE,
    "registry": _CORE,
    "stream": _CORE,
    "structural": _CORE,
    "utils.unpack_dataclass": {
        "utils._dataclass_schema": "_extract_dataclass_to_tuple_schema=describe"
        " _validate_dataclass_to_tuple_schema=validate",
    },
}
"""By the module that needs the names: the modules that define them, each with its names, separated by blanks;
`name=other` if the defining module calls it differently. With a dot at the end of the defining module, the names are
modules in it. A key ends with the purpose of the names, after a colon, unless they are attributes of the module ("" is
the package)."""

_names: dict[str, dict[str, tuple[str, str]]] = {}
_found: dict[tuple[str, str], Any] = {}


def names_of(key: str) -> dict[str, tuple[str, str]]:
    """Return the names in an entry of the table, each with its defining module and its name there; "" is the module
    itself."""
    found = _names.get(key)
    if found is None:
        found = {}
        for module, words in LATE.get(key, {}).items():
            for name, _, other in (word.partition("=") for word in words.split()):
                is_module = module.endswith(".")
                found[name] = (f"{module}{name}".lstrip("."), "") if is_module else (module, other or name)
        _names[key] = found
    return found


def find_late(key: str, name: str) -> Any:
    """Return the object of a name in an entry of the table, which is imported on first use. None for other names."""
    known = _found.get((key, name))
    if known is None:
        module, attribute = names_of(key).get(name, ("", ""))
        if not module:
            return None
        with importing:
            full = f"{_PACKAGE}.{module}"
            __import__(full)  # importlib costs import time
            known = sys.modules[full]
        if attribute:
            known = getattr(known, attribute)
        _found[key, name] = known
    return known


def find_attributes(module: str) -> Callable[[str], Any]:
    """Return `__getattr__` for a module whose further attributes are in the table."""
    key = module[len(_PACKAGE) + 1 :]

    def find(name: str) -> Any:
        value = find_late(key, name)
        if value is None:
            # Each `from module import name` asks for __path__
            is_special = name.startswith("__")
            similar = "" if is_special else did_you_mean(name, [*dir(sys.modules[module]), *names_of(key)])
            raise AttributeError(f"module {module!r} has no attribute {name!r}{similar}", **not_said_again(name))
        if not hasattr(builtins, name):  # the functions of the module need Python's bool
            setattr(sys.modules[module], name, value)
        return value

    return find


def suggest_names(module: str) -> Callable[[str], Any]:
    """Return `__getattr__` for a module without entries in the table: it suggests a name in place of a misspelt one."""
    return find_attributes(module)
