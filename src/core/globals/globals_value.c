/* globals_value.c - ffi.* functions that create or print single values, or convert values to and from JSON. */
#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/str.h"
#include "core/serial/graph.h"
#include "core/serial/json.h"
#include "core/tensor/tensor.h"
#include "core/walk/nested.h"
#include "globals_entry.h"

/* ffi.String(str) -> the string as an owned value */
FH_GLOBAL(new_string, "ffi.String", 1, "ffi.String(ffi.String)") {
  TVMFFIByteArray text;
  if (fh_function_arg_str(name, args, 0, &text) != 0) return -1;
  return fh_any_own(&args[0], result);
}

/* ffi.Bytes(bytes or str) -> bytes */
FH_GLOBAL(new_bytes, "ffi.Bytes", 1, "ffi.Bytes(ffi.Bytes)") {
  TVMFFIByteArray content;
  if (fh_function_arg_bytes(name, args, 0, &content) != 0) return -1;
  if (fh_bytes_content(&args[0], &content)) return fh_any_own(&args[0], result);
  return fh_bytes_new(content.data, content.size, result); /* a string becomes bytes */
}

/* ffi_hpy.BytesDescribed(bytes, str) -> bytes with a description */
FH_GLOBAL(new_described_bytes, "ffi_hpy.BytesDescribed", 2, "ffi.Bytes(ffi.Bytes,ffi.String)") {
  TVMFFIByteArray content, description;
  if (fh_function_arg_bytes(name, args, 0, &content) != 0) return -1;
  if (fh_function_arg_str(name, args, 1, &description) != 0) return -1;
  return fh_bytes_new_described(content, description, result);
}

/* ffi_hpy.BytesDescription(value) -> the description of bytes, None for any other value */
FH_GLOBAL(describe_bytes, "ffi_hpy.BytesDescription", 1, "Optional<ffi.String>(Any)") {
  const char *description = fh_bytes_description(&args[0]);
  return description == NULL ? 0 : fh_str_from_cstr(description, result);
}

/* ffi.Shape(int...) -> Shape. All arguments are checked first. */
FH_GLOBAL_OPEN(new_shape, "ffi.Shape", "ffi.Function") {
  for (int32_t i = 0; i < n_args; ++i) {
    if (args[i].type_index == kTVMFFIInt || args[i].type_index == kTVMFFIBool) continue;
    if (args[i].type_index == kTVMFFIBigInt) return fh_bigint_raise_argument(name, i, &args[i]);
    return fh_function_raise_type(name, i, "int", &args[i]);
  }
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)n_args);
  if (shape == NULL) return -1;
  for (int32_t i = 0; i < n_args; ++i) shape->dims[i] = args[i].v_int64;
  *result = fh_any_object(shape);
  return 0;
}

/* Returns a new reference to a sentinel, which is compared by address. */
static int give_sentinel(TVMFFIObject *sentinel, TVMFFIAny *result) {
  fh_object_retain(sentinel);
  *result = fh_any_object(sentinel);
  return 0;
}

/* ffi.GetInvalidObject() -> MISSING */
FH_GLOBAL(get_missing, "ffi.GetInvalidObject", 0, "ffi.Object()") {
  return give_sentinel(fh_sentinel_missing(), result);
}

/* ffi.GetKwargsObject() -> KWARGS */
FH_GLOBAL(get_kwargs, "ffi.GetKwargsObject", 0, "ffi.Object()") { return give_sentinel(fh_sentinel_kwargs(), result); }

/* ffi.ReprPrint(value) -> str */
FH_GLOBAL(repr_print, "ffi.ReprPrint", 1, "ffi.String(Any)") { return fh_repr_print(&args[0], result); }

const fh_globals_item fh_globals_value[] = {&new_string,     &new_bytes,  &new_described_bytes,
                                            &describe_bytes, &new_shape,  &get_missing,
                                            &get_kwargs,     &repr_print, NULL};

/* --- JSON -------------------------------------------------------------------------------------------------------- */

/* JSON as values (ffi.json.*), and any value as a graph of JSON values (ffi.ToJSONGraph). */

/* ffi.json.Parse(str) -> value (json.h) */
FH_GLOBAL(parse, "ffi.json.Parse", 1, "Any(ffi.String)") {
  TVMFFIByteArray text;
  if (fh_function_arg_str(name, args, 0, &text) != 0) return -1;
  return fh_json_parse(text, result);
}

/* ffi.json.Stringify(value[, indent]) -> str. The indent may be missing or None, which is 0. */
FH_GLOBAL_OPEN(stringify, "ffi.json.Stringify", "ffi.String(Any, Optional<int>)") {
  int64_t indent = 0;
  if (n_args != 1 && fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (n_args == 2 && args[1].type_index != kTVMFFINone) {
    if (args[1].type_index != kTVMFFIInt && args[1].type_index != kTVMFFIBool) {
      return fh_function_raise_type(name, 1, "Optional<int>", &args[1]);
    }
    indent = args[1].v_int64;
  }
  if (indent < INT32_MIN || indent > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected an indent of 32 bits but got %lld", (long long)indent);
  }
  return fh_json_write(&args[0], (int32_t)indent, result);
}

/* ffi.ToJSONGraph(value, metadata) -> Map (graph.h) */
FH_GLOBAL(to_graph, "ffi.ToJSONGraph", 2, "Any(Any, Any)") { return fh_graph_write(&args[0], &args[1], result); }

/* ffi.ToJSONGraphString(value, metadata) -> that Map as a str */
FH_GLOBAL(to_graph_string, "ffi.ToJSONGraphString", 2, "ffi.String(Any, Any)") {
  TVMFFIAny graph;
  if (fh_graph_write(&args[0], &args[1], &graph) != 0) return -1;
  int rc = fh_json_write(&graph, 0, result);
  fh_any_drop(&graph);
  return rc;
}

/* ffi.FromJSONGraph(graph) -> value (graph.h). The argument is owned, because hooks run during the call, and a
 * hook might drop the caller's reference. */
FH_GLOBAL(from_graph, "ffi.FromJSONGraph", 1, "Any(Any)") {
  TVMFFIAny graph;
  if (fh_any_own(&args[0], &graph) != 0) return -1;
  int rc = fh_graph_read(&graph, result);
  fh_any_drop(&graph);
  return rc;
}

/* ffi.FromJSONGraphString(str) -> value */
FH_GLOBAL(from_graph_string, "ffi.FromJSONGraphString", 1, "Any(ffi.String)") {
  TVMFFIByteArray text;
  TVMFFIAny graph;
  if (fh_function_arg_str(name, args, 0, &text) != 0 || fh_json_parse(text, &graph) != 0) return -1;
  int rc = fh_graph_read(&graph, result);
  fh_any_drop(&graph);
  return rc;
}

const fh_globals_item fh_globals_json[] = {&parse,      &stringify,         &to_graph, &to_graph_string,
                                           &from_graph, &from_graph_string, NULL};
