"""ffi_hpy: an independent runtime for the tvm-ffi ABI, with tvm_ffi's names.

Values and objects cross between Python and native code through functions::

    import ffi_hpy

    module = ffi_hpy.load_module("mylib.so")
    module.add_one(x, y)

Importing loads the core and the binding, and nothing else: neither torch nor numpy nor ctypes.
"""

from __future__ import annotations

from . import _load

_load.load()  # from here on `ffi_hpy._core` can be imported

import atexit  # noqa: E402
import functools  # noqa: E402

from . import _core  # noqa: E402
from ._convert import classify, convert, wrap_opaque_ptr  # noqa: E402
from ._core import Function  # noqa: E402
from ._device import Device, DLDeviceType, device  # noqa: E402
from ._dtype import dtype  # noqa: E402
from ._object import Object, ObjectConvertible  # noqa: E402
from ._string import Bytes, String  # noqa: E402
from ._tensor import Shape, Tensor, dlpack_capsule, from_dlpack  # noqa: E402
from .container import Array, Dict, List, Map  # noqa: E402
from .error import (  # noqa: E402
    Error,
    call_guarded,
    error_to_exception,
    exception_to_error,
    raise_for_error,
    register_error,
)
from .module import Module, load_module, system_lib  # noqa: E402
from .registry import (  # noqa: E402
    class_for_type_index,
    get_global_func,
    get_global_func_metadata,
    init_ffi_api,
    list_global_func_names,
    register_global_func,
    register_object,
    remove_global_func,
)
from .stream import StreamContext, get_raw_stream, use_raw_stream, use_torch_stream  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LIB",
    "Array",
    "Bytes",
    "DLDeviceType",
    "Device",
    "Dict",
    "Error",
    "Function",
    "List",
    "Map",
    "Module",
    "Object",
    "ObjectConvertible",
    "Shape",
    "StreamContext",
    "String",
    "Tensor",
    "__version__",
    "__version_tuple__",
    "convert",
    "device",
    "dtype",
    "from_dlpack",
    "get_global_func",
    "get_global_func_metadata",
    "get_raw_stream",
    "init_ffi_api",
    "list_global_func_names",
    "load_module",
    "register_error",
    "register_global_func",
    "register_object",
    "remove_global_func",
    "system_lib",
    "use_raw_stream",
    "use_torch_stream",
]

_core.set_hooks(
    # The binding remembers the answers by the types' addresses; where they have none, Python remembers.
    classify=classify if _core.HAS_EXTENSION else functools.lru_cache(maxsize=4096)(classify),
    class_for_type_index=class_for_type_index,
    error_to_exception=error_to_exception if _core.HAS_EXTENSION else raise_for_error,
    exception_to_error=exception_to_error,
    call_guarded=call_guarded,
    dlpack_capsule=dlpack_capsule,
    string_class=String,
    bytes_class=Bytes,
    shape_class=Shape._wrap,
    wrap_dtype=dtype._wrap,
    wrap_opaque_ptr=wrap_opaque_ptr,
    device_class=Device,
)
for _key, _cls in (("ffi.Error", Error), ("ffi.Tensor", Tensor)):
    _core.class_register(_core.type_key_to_index(_key), _cls)
atexit.register(_core.mark_finalizing)
del _key, _cls, _load


def __getattr__(name: str) -> Any:
    """What costs import time and is seldom used: LIB, __version__, __version_tuple__, and the module `core`."""
    value: Any
    if name == "LIB":
        import ctypes

        from ._load import CORE_LIBRARY

        value = ctypes.CDLL(CORE_LIBRARY, ctypes.RTLD_GLOBAL)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("ffi-hpy")
    elif name == "__version_tuple__":
        value = tuple(int(part) if part.isdecimal() else part for part in __getattr__("__version__").split("."))
    elif name == "core":
        from importlib import import_module

        value = import_module(".core", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
