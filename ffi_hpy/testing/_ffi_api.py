"""The functions of the testing library: `_ffi_api.echo` is the global function `testing.echo`."""

from __future__ import annotations

from ..registry import init_ffi_api
from . import _library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._core import Function

_library.load()
init_ffi_api("testing", __name__)

if TYPE_CHECKING:
    TestIntPairSum: Function
    add_one: Function
    apply: Function
    echo: Function
    enum_variant_get: Function
    get_add_one_c_symbol: Function
    get_mlir_add_one_c_symbol: Function
    make_array_with_mixed: Function
    make_array_with_tensor: Function
    make_dict_with_tensor: Function
    make_empty_array_with_tensor_input: Function
    make_list_with_tensor: Function
    make_map_with_tensor: Function
    make_nested_array_with_tensor: Function
    make_nested_map_with_tensor: Function
    make_unregistered_object: Function
    make_visit_region_graph: Function
    nop: Function
    object_use_count: Function
    optional_tensor_view_has_value: Function
    run_check_signal: Function
    schema_arr_map_opt: Function
    schema_id_any: Function
    schema_id_arr: Function
    schema_id_arr_int: Function
    schema_id_arr_obj: Function
    schema_id_arr_str: Function
    schema_id_bool: Function
    schema_id_bytes: Function
    schema_id_device: Function
    schema_id_dict_str_int: Function
    schema_id_dict_str_str: Function
    schema_id_dltensor: Function
    schema_id_dtype: Function
    schema_id_float: Function
    schema_id_func: Function
    schema_id_func_typed: Function
    schema_id_int: Function
    schema_id_list_int: Function
    schema_id_list_obj: Function
    schema_id_list_str: Function
    schema_id_map: Function
    schema_id_map_str_int: Function
    schema_id_map_str_obj: Function
    schema_id_map_str_str: Function
    schema_id_object: Function
    schema_id_opt_int: Function
    schema_id_opt_obj: Function
    schema_id_opt_str: Function
    schema_id_string: Function
    schema_id_tensor: Function
    schema_id_variant_int_str: Function
    schema_no_args: Function
    schema_no_args_no_return: Function
    schema_no_return: Function
    schema_packed: Function
    schema_tensor_view_input: Function
    schema_variant_mix: Function
    test_raise_error: Function

# `testing` has typed functions for add_one and make_unregistered_object.
__all__ = [
    "TestIntPairSum",
    "apply",
    "echo",
    "enum_variant_get",
    "get_add_one_c_symbol",
    "get_mlir_add_one_c_symbol",
    "make_array_with_mixed",
    "make_array_with_tensor",
    "make_dict_with_tensor",
    "make_empty_array_with_tensor_input",
    "make_list_with_tensor",
    "make_map_with_tensor",
    "make_nested_array_with_tensor",
    "make_nested_map_with_tensor",
    "make_visit_region_graph",
    "nop",
    "object_use_count",
    "optional_tensor_view_has_value",
    "run_check_signal",
    "schema_arr_map_opt",
    "schema_id_any",
    "schema_id_arr",
    "schema_id_arr_int",
    "schema_id_arr_obj",
    "schema_id_arr_str",
    "schema_id_bool",
    "schema_id_bytes",
    "schema_id_device",
    "schema_id_dict_str_int",
    "schema_id_dict_str_str",
    "schema_id_dltensor",
    "schema_id_dtype",
    "schema_id_float",
    "schema_id_func",
    "schema_id_func_typed",
    "schema_id_int",
    "schema_id_list_int",
    "schema_id_list_obj",
    "schema_id_list_str",
    "schema_id_map",
    "schema_id_map_str_int",
    "schema_id_map_str_obj",
    "schema_id_map_str_str",
    "schema_id_object",
    "schema_id_opt_int",
    "schema_id_opt_obj",
    "schema_id_opt_str",
    "schema_id_string",
    "schema_id_tensor",
    "schema_id_variant_int_str",
    "schema_no_args",
    "schema_no_args_no_return",
    "schema_no_return",
    "schema_packed",
    "schema_tensor_view_input",
    "schema_variant_mix",
    "test_raise_error",
]
