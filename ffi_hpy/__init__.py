"""ffi_hpy: an independent runtime for the tvm-ffi ABI, with tvm_ffi's names.

Values and objects cross between Python and native code through functions::

    import ffi_hpy

    module = ffi_hpy.load_module("mylib.so")
    module.add_one(x, y)

Importing it loads only the core and the binding, not torch, numpy or ctypes.
"""

from __future__ import annotations

from ._start.load import load

try:
    load()  # from here on `ffi_hpy._core` can be imported
except Exception as problem:
    from ._start.command import is_config_command, is_report_command

    if is_report_command():
        from ._report import main as report

        raise SystemExit(report(problem)) from None
    if not is_config_command():
        raise
    # ffi-hpy-config reads files only, and is needed most where the binary fails to load
    from .config import main

    raise SystemExit(main()) from None

import atexit

from . import _core
from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._convert import classify_with_protocols, convert, convert_func
from ._core import Function
from ._dtype import dtype
from ._errors.reraise import arrive
from ._start.fork import import_whole
from ._start.memo import remember_by_class
from ._start.similar import did_you_mean, not_said_again
from ._tensor import Shape, Tensor, dlpack_capsule, from_dlpack, refuse_unresolved
from ._types import about as _about
from ._types.info import home_of_names, info_of_key, set_class, set_python_class
from ._values import function as _function
from ._values.device import Device, device
from ._values.object import Object, ObjectConvertible
from ._values.plain import DataType, wrap_opaque_ptr
from ._values.string import Bytes, String
from .error import (
    Error,
    call_guarded,
    check_signals,
    error_to_exception,
    exception_asked_for,
    exception_leaves,
    exception_to_error,
    interrupts,
    raise_for_error,
    register_error,
)
from .registry import (
    class_for_type_index,
    get_global_func,
    get_global_func_metadata,
    home_of_type,
    init_ffi_api,
    list_global_func_names,
    register_global_func,
    register_object,
    remove_global_func,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from typing import Any

    from . import access_path, cpp, dataclasses, serialization, structural
    from . import config as config
    from . import container as container
    from . import core as core
    from . import dropin as dropin
    from . import hpy as hpy
    from . import libinfo as libinfo
    from . import module as module
    from . import stream as stream
    from . import testing as testing
    from . import utils as utils
    from ._core import CAny as CAny
    from ._values.device_type import DLDeviceType
    from ._values.dlpack import SupportsDLPack as SupportsDLPack
    from ._values.dtype_names import *  # noqa: F403
    from .dataclasses import method
    from .module import Module, load_module, system_lib
    from .stream import StreamContext, get_raw_stream, use_raw_stream, use_torch_stream
    from .structural import (
        DefRegionKind,
        InplaceMode,
        StructuralKey,
        StructuralMutator,
        StructuralVisitor,
        VisitInterrupt,
        WalkOrder,
        WalkResult,
        get_first_structural_mismatch,
        structural_equal,
        structural_hash,
        structural_map,
        structural_mutate,
        structural_visit,
        structural_walk,
    )

    LIB: ctypes.CDLL
    __version__: str
    __version_tuple__: tuple[int | str, ...]

__all__ = [
    "LIB",
    "Array",
    "Bytes",
    "DLDeviceType",
    "DefRegionKind",
    "Device",
    "Dict",
    "Error",
    "Function",
    "InplaceMode",
    "List",
    "Map",
    "Module",
    "Object",
    "ObjectConvertible",
    "Shape",
    "StreamContext",
    "String",
    "StructuralKey",
    "StructuralMutator",
    "StructuralVisitor",
    "Tensor",
    "VisitInterrupt",
    "WalkOrder",
    "WalkResult",
    "__version__",
    "__version_tuple__",
    "access_path",
    "convert",
    "convert_func",
    "cpp",
    "dataclasses",
    "device",
    "dtype",
    "from_dlpack",
    "get_first_structural_mismatch",
    "get_global_func",
    "get_global_func_metadata",
    "get_raw_stream",
    "init_ffi_api",
    "list_global_func_names",
    "load_module",
    "method",
    "register_error",
    "register_global_func",
    "register_object",
    "remove_global_func",
    "serialization",
    "structural",
    "structural_equal",
    "structural_hash",
    "structural_map",
    "structural_mutate",
    "structural_visit",
    "structural_walk",
    "system_lib",
    "use_raw_stream",
    "use_torch_stream",
]

_core.set_hooks(
    # The binding caches the results by type pointer where it can
    classify=classify_with_protocols if _core.HAS_EXTENSION else remember_by_class(classify_with_protocols),
    class_for_type_index=class_for_type_index,
    error_to_exception=error_to_exception if _core.HAS_EXTENSION else raise_for_error,
    exception_to_error=exception_to_error,
    exception_leaves=exception_leaves,
    exception_arrives=arrive,
    exception_asked_for=exception_asked_for,
    interrupts=interrupts,
    call_guarded=call_guarded,
    check_signals=check_signals,
    dlpack_capsule=dlpack_capsule,
    check_memory=refuse_unresolved,
    string_class=String,
    bytes_class=Bytes,
    shape_class=Shape._wrap,
    wrap_dtype=dtype._of,
    wrap_opaque_ptr=wrap_opaque_ptr,
    device_class=Device,
    convert=_core.convert,
    did_you_mean=did_you_mean,
)
for _key, _cls in (("ffi.Error", Error), ("ffi.Tensor", Tensor)):
    set_class(info_of_key(_key), _cls)
    _cls.__tvm_ffi_type_info__ = info_of_key(_key)  # type: ignore[union-attr]
_core.class_register(_core.type_key_to_index("ffi.Shape"), Object)
for _key, _python_class in (
    ("ffi.String", String),
    ("ffi.Bytes", Bytes),
    ("ffi.Shape", Shape),
    ("DataType", DataType),
    ("Device", Device),
):
    set_python_class(info_of_key(_key), _python_class)
for _public_class in (
    Array,
    Bytes,
    Device,
    Dict,
    Error,
    Function,
    List,
    Map,
    Object,
    ObjectConvertible,
    Shape,
    String,
    Tensor,
    dtype,
):
    _public_class.__module__ = __name__  # the module that programs import them from, for tracebacks and repr()
atexit.register(_core.mark_finalizing)
home_of_type.update(
    {
        "ffi.Enum": f"{__name__}.dataclasses.enum",
        "ffi.IntEnum": f"{__name__}.dataclasses.enum",
        "ffi.Module": f"{__name__}.module",
        "ffi.StrEnum": f"{__name__}.dataclasses.enum",
        "ffi.StructuralKey": f"{__name__}.structural",
        "ffi.StructuralMutator": f"{__name__}.structural",
        "ffi.StructuralVisitor": f"{__name__}.structural",
        "ffi.VisitInterrupt": f"{__name__}.structural",
        "ffi.reflection.AccessPath": f"{__name__}.access_path",
        "ffi.reflection.AccessStep": f"{__name__}.access_path",
    }
)
_about.signature_home = f"{__name__}._signature"
home_of_names["testing"] = f"{__name__}.testing"
del (
    DataType,
    _about,
    _key,
    _cls,
    _function,
    _public_class,
    _python_class,
    arrive,
    exception_asked_for,
    exception_leaves,
    home_of_names,
    home_of_type,
    interrupts,
    load,
    remember_by_class,
)


# Names that cost import time and are rarely used, each with the module that defines it. The value of a module's name
# may be the name itself.
_DTYPE_NAMES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16
float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
float6_e2m3fn float6_e3m2fn float4_e2m1fn float4_e2m1fnx2
"""
_HOMES = {
    **dict.fromkeys(_DTYPE_NAMES.split(), "_values.dtype_names"),
    "_dunder": "_dunder",
    "_is_config_mode": "_start.command",
    "_optional_torch_c_dlpack": "_optional_torch_c_dlpack",
    "_version": "_version",
    "access_path": "access_path",
    "config": "config",
    "container": "container",
    "core": "core",
    "cpp": "cpp",
    "dataclasses": "dataclasses",
    "dropin": "dropin",
    "hpy": "hpy",
    "libinfo": "libinfo",
    "module": "module",
    "serialization": "serialization",
    "stream": "stream",
    "structural": "structural",
    "testing": "testing",
    "utils": "utils",
    "CAny": "_core",
    "CContainerBase": "core",
    "DLDeviceType": "_values.device_type",
    "SupportsDLPack": "_values.dlpack",
    "method": "dataclasses",
    "Module": "module",
    "load_module": "module",
    "system_lib": "module",
    "StreamContext": "stream",
    "get_raw_stream": "stream",
    "use_raw_stream": "stream",
    "use_torch_stream": "stream",
    "DefRegionKind": "structural",
    "InplaceMode": "structural",
    "StructuralKey": "structural",
    "StructuralMutator": "structural",
    "StructuralVisitor": "structural",
    "VisitInterrupt": "structural",
    "WalkOrder": "structural",
    "WalkResult": "structural",
    "get_first_structural_mismatch": "structural",
    "structural_equal": "structural",
    "structural_hash": "structural",
    "structural_map": "structural",
    "structural_mutate": "structural",
    "structural_visit": "structural",
    "structural_walk": "structural",
}


def __getattr__(name: str) -> Any:
    """Resolve the names of _HOMES and LIB on first use. __version__ and __version_tuple__ are the package's own, or
    those of apache-tvm-ffi where ffi_hpy is importable as tvm_ffi."""
    value: Any
    home = _HOMES.get(name)
    if home is not None:
        module = import_whole(f"{__name__}.{home}")
        value = module if name == home else getattr(module, name)
    elif name == "LIB":
        from ._start.load import CORE_LIBRARY

        ctypes = import_whole("ctypes")
        value = ctypes.CDLL(CORE_LIBRARY, ctypes.RTLD_GLOBAL)
    elif name == "__version__":  # programs compare tvm_ffi.__version__ with the release that they need
        find_release = import_whole(f"{__name__}._start.release").find_release
        return find_release() or import_whole(f"{__name__}._start.own_version").VERSION
    elif name == "__version_tuple__":
        return tuple(int(part) if part.isdecimal() else part for part in __getattr__("__version__").split("."))
    else:
        similar = did_you_mean(name, __dir__())
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{similar}", **not_said_again(name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, including those that are created on first use."""
    own = (name for name in globals() if name.startswith("__") and name.endswith("__"))
    return sorted({*__all__, *own, *(name for name in _HOMES if not name.startswith("_"))})
