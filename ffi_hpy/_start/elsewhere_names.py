"""The table of find_elsewhere(): for each module of the package, the names in tvm_ffi's module of that name, each with
our module, a colon, and the name there. Without a name the value is the module itself; a module with a leading slash
belongs to the standard library."""

from __future__ import annotations

__all__ = ["HOMES"]

_DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16
float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
float6_e2m3fn float6_e3m2fn float4_e2m1fn float4_e2m1fnx2 float4_e2m1fn_x2
"""
_BUILD_STEPS = "IS_WINDOWS _find_cuda_home _find_rocm_home _resolve_gpu_backend build_ninja"
_CORE = {"core": "core:"}

HOMES: dict[str, dict[str, str]] = {
    "_convert": {**_CORE, "_dtype": "_dtype:", "container": "container:"},
    "_dtype": {
        **_CORE,
        "DataTypeCode": "_values.dtype_code:DataTypeCode",
        **{name: f"_values.dtype_names:{name}" for name in _DTYPES.split()},
    },
    "_dunder": {
        **_CORE,
        "Object": "_values.object:Object",
        "TypeInfo": "_types.info:TypeInfo",
        "object_repr": "_values.object:object_repr",
    },
    "_tensor": {
        **_CORE,
        "DLDeviceType": "_values.device_type:DLDeviceType",
        "Device": "_values.device:Device",
        "_ffi_api": "_ffi_api:",
        "device": "_values.device:device",
        "registry": "registry:",
    },
    "config": {"_find_libdir": "config:_library_folder"},
    "container": {
        **_CORE,
        "ItemsView": "/collections.abc:ItemsView",
        "KeysView": "/collections.abc:KeysView",
        "ValuesView": "/collections.abc:ValuesView",
        "_ffi_api": "_ffi_api:",
        "register_object": "registry:register_object",
    },
    "cpp.extension": {
        "FileLock": "utils.lockfile:FileLock",
        "Module": "module:Module",
        **{name: f"cpp._single:{name}" for name in _BUILD_STEPS.split()},
        "find_dlpack_include_path": "libinfo:find_dlpack_include_path",
        "find_include_path": "libinfo:find_include_path",
        "find_libtvm_ffi": "libinfo:find_libtvm_ffi",
        "load_module": "module:load_module",
    },
    "dataclasses.common": {"Field": "dataclasses.field:Field", "_to_py_class_value": "core:_to_py_class_value"},
    "dataclasses.enum": {
        **_CORE,
        "ENUM_ATTRS_ATTR": "dataclasses._enum_entries:_VALUES_ATTR",
        "ENUM_ENTRIES_ATTR": "dataclasses._enum_entries:_ENTRIES_ATTR",
        "Field": "dataclasses.field:Field",
        "field": "dataclasses.field:field",
    },
    "dataclasses.field": {"TypeSchema": "_types.schema:TypeSchema"},
    "dataclasses.gen_abi_cpp": {
        "TypeField": "_types.info:TypeField",
        "TypeInfo": "_types.info:TypeInfo",
        "TypeSchema": "_types.schema:TypeSchema",
        "_lookup_or_register_type_info_from_type_key": "core:_lookup_or_register_type_info_from_type_key",
        "_object_type_key_to_index": "core:_object_type_key_to_index",
    },
    "dataclasses.py_class": _CORE,
    "error": {
        **_CORE,
        "TracebackManager": "_errors.traceback_manager:TracebackManager",
        "_TRACEBACK_MANAGER": "_errors.traceback_manager:TRACEBACK_MANAGER",
        "_traceback_to_backtrace_str": "_errors.traceback:backtrace_of",
        "_with_append_backtrace": "_errors.traceback:append_backtrace",
    },
    "module": _CORE,
    "registry": _CORE,
    "stream": {**_CORE, "device": "_values.device:device"},
    "structural": _CORE,
    "utils": {"kwargs_wrapper": "utils.kwargs_wrapper:", "unpack_dataclass": "utils.unpack_dataclass:"},
    "utils.kwargs_wrapper": {"MISSING": "_values.object:MISSING"},
    "utils.unpack_dataclass": {
        "_extract_dataclass_to_tuple_schema": "utils._dataclass_schema:describe",
        "_validate_dataclass_to_tuple_schema": "utils._dataclass_schema:validate",
    },
}
