"""ffi_hpy: an independent runtime for the tvm-ffi ABI, with tvm_ffi's names.

Values and objects cross between Python and native code through functions::

    import ffi_hpy

    module = ffi_hpy.load_module("mylib.so")
    module.add_one(x, y)

Importing it loads only the core and the binding, not torch, numpy or ctypes.
"""

from __future__ import annotations

from ._start.load import CORE_LIBRARY, load

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
import os
import sys

from . import _core
from . import _hooks as _hooks
from ._containers.mapping import Dict, Map
from ._containers.sequence import Array, List
from ._convert import convert, convert_func
from ._core import CAny as CAny
from ._core import Function
from ._dtype import dtype
from ._start.fork import importing
from ._start.late import find_attributes, names_of
from ._tensor import Shape, Tensor, from_dlpack
from ._values import function as _function
from ._values.device import Device, device
from ._values.object import Object, ObjectConvertible
from ._values.string import Bytes, String
from .error import Error, register_error
from .registry import (
    get_global_func,
    get_global_func_metadata,
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
    from ._leaks.report import leaks
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
    "leaks",
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

for _public_class in (
    Array,
    Bytes,
    Device,
    Dict,
    Error,
    List,
    Map,
    Object,
    ObjectConvertible,
    Shape,
    String,
    Tensor,
    dtype,
):
    # The module that programs import them from, for tracebacks and repr(). That of Function is in function_metadata.py.
    _public_class.__module__ = __name__
atexit.register(_core.mark_finalizing)

if sys.implementation.name == "pypy":
    from ._bind.finder import install

    install()
if os.environ.get("FFI_HPY_LEAKS") == "1":
    from ._leaks.report import print_at_exit

    print_at_exit()  # registered after mark_finalizing, so the report comes first
    del print_at_exit
del _function, os, _public_class, load


_find_late = find_attributes(__name__)


def __getattr__(name: str) -> Any:
    """Resolve the names of the table of late imports and LIB on first use. __version__ and __version_tuple__ are the
    package's own, or apache-tvm-ffi's where ffi_hpy is importable as tvm_ffi."""
    if name == "LIB":
        with importing:
            from ctypes import CDLL, RTLD_GLOBAL
        global LIB
        LIB = CDLL(CORE_LIBRARY, RTLD_GLOBAL)
        return LIB
    if name == "__version__":  # programs compare tvm_ffi.__version__ with the release that they need
        with importing:
            from ._start.own_version import VERSION
            from ._start.release import find_release
        return find_release() or VERSION
    if name == "__version_tuple__":
        return tuple(int(part) if part.isdecimal() else part for part in __getattr__("__version__").split("."))
    return _find_late(name)


def __dir__() -> list[str]:
    """The public names, including names that are created on first use."""
    own = (name for name in globals() if name.startswith("__") and name.endswith("__"))
    return sorted({*__all__, *own, *(name for name in names_of("") if not name.startswith("_"))})
