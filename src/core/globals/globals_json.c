/* globals_json.c - ffi.json.*, ffi.ToJSONGraph and similar functions: JSON as values, and any value as a graph of JSON
 * values. */
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/serial/graph_read.h"
#include "core/serial/graph_write.h"
#include "core/serial/json_parse.h"
#include "core/serial/json_write.h"
#include "globals_entry.h"

/* ffi.json.Parse(str) -> value (json_parse.h) */
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

/* ffi.ToJSONGraph(value, metadata) -> Map (graph_write.h) */
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

/* ffi.FromJSONGraph(graph) -> value (graph_read.h). The argument is owned, because hooks run during the call, and a
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
