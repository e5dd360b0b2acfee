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
FH_GLOBAL(new_string) {
  TVMFFIByteArray text;
  if (fh_function_check_count("ffi.String", n_args, 1) != 0) return -1;
  if (fh_function_arg_str("ffi.String", args, 0, &text) != 0) return -1;
  return fh_any_own(&args[0], result);
}

/* ffi.Bytes(bytes or str) -> bytes */
FH_GLOBAL(new_bytes) {
  TVMFFIByteArray content;
  if (fh_function_check_count("ffi.Bytes", n_args, 1) != 0) return -1;
  if (fh_function_arg_bytes("ffi.Bytes", args, 0, &content) != 0) return -1;
  if (fh_bytes_content(&args[0], &content)) return fh_any_own(&args[0], result);
  return fh_bytes_new(content.data, content.size, result); /* a string becomes bytes */
}

/* ffi_hpy.BytesDescribed(bytes, str) -> bytes with a description */
FH_GLOBAL(new_described_bytes) {
  TVMFFIByteArray content, description;
  if (fh_function_check_count("ffi_hpy.BytesDescribed", n_args, 2) != 0) return -1;
  if (fh_function_arg_bytes("ffi_hpy.BytesDescribed", args, 0, &content) != 0) return -1;
  if (fh_function_arg_str("ffi_hpy.BytesDescribed", args, 1, &description) != 0) return -1;
  return fh_bytes_new_described(content, description, result);
}

/* ffi_hpy.BytesDescription(value) -> the description of bytes, None for any other value */
FH_GLOBAL(describe_bytes) {
  if (fh_function_check_count("ffi_hpy.BytesDescription", n_args, 1) != 0) return -1;
  const char *description = fh_bytes_description(&args[0]);
  return description == NULL ? 0 : fh_str_from_cstr(description, result);
}

/* ffi.Shape(int...) -> Shape. All arguments are checked first. */
FH_GLOBAL(new_shape) {
  for (int32_t i = 0; i < n_args; ++i) {
    if (args[i].type_index == kTVMFFIInt || args[i].type_index == kTVMFFIBool) continue;
    if (args[i].type_index == kTVMFFIBigInt) return fh_bigint_raise_argument("ffi.Shape", i, &args[i]);
    return fh_function_raise_type("ffi.Shape", i, "int", &args[i]);
  }
  fh_shape_object *shape = fh_shape_new(NULL, (size_t)n_args);
  if (shape == NULL) return -1;
  for (int32_t i = 0; i < n_args; ++i) shape->dims[i] = args[i].v_int64;
  *result = fh_any_object(shape);
  return 0;
}

/* Returns a new reference to a sentinel, which is compared by address. */
static int give_sentinel(const char *name, TVMFFIObject *sentinel, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count(name, n_args, 0) != 0) return -1;
  fh_object_retain(sentinel);
  *result = fh_any_object(sentinel);
  return 0;
}

/* ffi.GetInvalidObject() -> MISSING */
FH_GLOBAL(get_missing) { return give_sentinel("ffi.GetInvalidObject", fh_sentinel_missing(), n_args, result); }

/* ffi.GetKwargsObject() -> KWARGS */
FH_GLOBAL(get_kwargs) { return give_sentinel("ffi.GetKwargsObject", fh_sentinel_kwargs(), n_args, result); }

/* ffi.ReprPrint(value) -> str */
FH_GLOBAL(repr_print) {
  if (fh_function_check_count("ffi.ReprPrint", n_args, 1) != 0) return -1;
  return fh_repr_print(&args[0], result);
}

const fh_globals_entry fh_globals_value[] = {
    {"ffi.String", new_string, "ffi.String(ffi.String)"},
    {"ffi.Bytes", new_bytes, "ffi.Bytes(ffi.Bytes)"},
    {"ffi_hpy.BytesDescribed", new_described_bytes, "ffi.Bytes(ffi.Bytes,ffi.String)"},
    {"ffi_hpy.BytesDescription", describe_bytes, "Optional<ffi.String>(Any)"},
    {"ffi.Shape", new_shape, "ffi.Function"},
    {"ffi.GetInvalidObject", get_missing, "ffi.Object()"},
    {"ffi.GetKwargsObject", get_kwargs, "ffi.Object()"},
    {"ffi.ReprPrint", repr_print, "ffi.String(Any)"},
    {NULL, NULL, NULL},
};

/* --- JSON -------------------------------------------------------------------------------------------------------- */

/* JSON as values (ffi.json.*), and any value as a graph of JSON values (ffi.ToJSONGraph). */

/* ffi.json.Parse(str) -> value (json.h) */
FH_GLOBAL(parse) {
  TVMFFIByteArray text;
  if (fh_function_check_count("ffi.json.Parse", n_args, 1) != 0) return -1;
  if (fh_function_arg_str("ffi.json.Parse", args, 0, &text) != 0) return -1;
  return fh_json_parse(text, result);
}

/* ffi.json.Stringify(value[, indent]) -> str. The indent may be missing or None, which is 0. */
FH_GLOBAL(stringify) {
  const char *name = "ffi.json.Stringify";
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
FH_GLOBAL(to_graph) {
  if (fh_function_check_count("ffi.ToJSONGraph", n_args, 2) != 0) return -1;
  return fh_graph_write(&args[0], &args[1], result);
}

/* ffi.ToJSONGraphString(value, metadata) -> that Map as a str */
FH_GLOBAL(to_graph_string) {
  TVMFFIAny graph;
  if (fh_function_check_count("ffi.ToJSONGraphString", n_args, 2) != 0) return -1;
  if (fh_graph_write(&args[0], &args[1], &graph) != 0) return -1;
  int rc = fh_json_write(&graph, 0, result);
  fh_any_drop(&graph);
  return rc;
}

/* ffi.FromJSONGraph(graph) -> value (graph.h). The argument is owned, because hooks run during the call, and a
 * hook might drop the caller's reference. */
FH_GLOBAL(from_graph) {
  TVMFFIAny graph;
  if (fh_function_check_count("ffi.FromJSONGraph", n_args, 1) != 0) return -1;
  if (fh_any_own(&args[0], &graph) != 0) return -1;
  int rc = fh_graph_read(&graph, result);
  fh_any_drop(&graph);
  return rc;
}

/* ffi.FromJSONGraphString(str) -> value */
FH_GLOBAL(from_graph_string) {
  const char *name = "ffi.FromJSONGraphString";
  TVMFFIByteArray text;
  TVMFFIAny graph;
  if (fh_function_check_count(name, n_args, 1) != 0 || fh_function_arg_str(name, args, 0, &text) != 0) return -1;
  if (fh_json_parse(text, &graph) != 0) return -1;
  int rc = fh_graph_read(&graph, result);
  fh_any_drop(&graph);
  return rc;
}

const fh_globals_entry fh_globals_json[] = {
    {"ffi.json.Parse", parse, "Any(ffi.String)"},
    {"ffi.json.Stringify", stringify, "ffi.String(Any, Optional<int>)"},
    {"ffi.ToJSONGraph", to_graph, "Any(Any, Any)"},
    {"ffi.ToJSONGraphString", to_graph_string, "ffi.String(Any, Any)"},
    {"ffi.FromJSONGraph", from_graph, "Any(Any)"},
    {"ffi.FromJSONGraphString", from_graph_string, "Any(ffi.String)"},
    {NULL, NULL, NULL},
};
