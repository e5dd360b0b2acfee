/* test_graph_broken.c - broken graphs are refused: a table of examples, and good graphs changed at every position. */
#include "core/object/error.h"
#include "core/serial/graph.h"
#include "core/serial/json.h"

#include "support/graphs.h"

typedef struct {
  const char *text, *kind, *message;
} refusal;

TEST(a_text_that_is_not_a_graph_is_refused) {
  static const refusal all[] = {
      {"3", "ValueError", "expected an object"},
      {"[]", "ValueError", "expected an object"},
      {"{}", "ValueError", "expected `root_index` integer field"},
      {"{\"root_index\":0}", "ValueError", "expected `nodes` array field"},
      {"{\"root_index\":0,\"nodes\":{}}", "ValueError", "expected `nodes` array field"},
      {"{\"root_index\":0.0,\"nodes\":[]}", "ValueError", "expected `root_index` integer field"},
      {"{\"root_index\":true,\"nodes\":[{\"type\":\"None\"}]}", "ValueError", "expected `root_index` integer"},
      {GRAPH(""), "ValueError", "invalid node index 0"},
      {"{\"root_index\":-1,\"nodes\":[{\"type\":\"None\"}]}", "ValueError", "invalid node index -1"},
      {"{\"root_index\":9223372036854775807,\"nodes\":[{\"type\":\"None\"}]}", "ValueError", "invalid node index"},
      {GRAPH("7"), "TypeError", "Cannot convert from type `int` to `Map<Any, Any>`"},
      {GRAPH("{\"data\":1}"), "ValueError", "expected `type` in node 0"},
      {GRAPH("{\"type\":3}"), "TypeError", "Cannot convert from type `int` to `str`"},
      {GRAPH("{\"type\":\"nope\"}"), "TypeError", "Cannot find type `nope`"},
      {GRAPH("{\"type\":\"int\"}"), "ValueError", "expected `data` in node 0 of type `int`"},
      {GRAPH(NODE("int", "1.5")), "TypeError", "Cannot convert from type `float` to `int`"},
      {GRAPH(NODE("int", "\"x\"")), "TypeError", "Cannot convert from type `ffi.SmallStr` to `int`"},
      {GRAPH(NODE("bool", "1.5")), "TypeError", "Cannot convert from type `float` to `bool`"},
      {GRAPH(NODE("float", "\"1\"")), "TypeError", "Cannot convert from type `ffi.SmallStr` to `float`"},
      {GRAPH(NODE("ffi.String", "1")), "TypeError", "Cannot convert from type `int` to `str`"},
      {GRAPH(NODE("ffi.Bytes", "\"abc\"")), "ValueError", "base64 in groups of 4"},
      {GRAPH(NODE("ffi.Bytes", "\"!!!!\"")), "ValueError", "base64 character"},
      {GRAPH(NODE("ffi.BigInt", "\"12x\"")), "ValueError", "Expected a decimal integer but got `12x`"},
      {GRAPH(NODE("ffi.BigInt", "\"\"")), "ValueError", "Expected a decimal integer"},
      {GRAPH(NODE("ffi.BigInt", "\"-\"")), "ValueError", "Expected a decimal integer"},
      {GRAPH(NODE("DataType", "\"int3x\"")), "ValueError", "int3x"},
      {GRAPH(NODE("DataType", "3")), "TypeError", "to `str`"},
      {GRAPH(NODE("Device", "[1]")), "ValueError", "Device data must be an array of [device_type, device_id], got 1"},
      {GRAPH(NODE("Device", "[1,2,3]")), "ValueError", "got 3 element(s)"},
      {GRAPH(NODE("Device", "[1,\"x\"]")), "TypeError", "Cannot convert from type `ffi.SmallStr` to `int`"},
      {GRAPH(NODE("Device", "[1,4294967296]")), "ValueError", "numbers of 32 bits for a Device"},
      {GRAPH(NODE("Device", "{}")), "TypeError", "Cannot convert from type `ffi.Map` to `Array<Any>`"},
      {GRAPH(NODE("ffi.Shape", "[1,null]")), "TypeError", "Cannot convert from type `None` to `int`"},
      {GRAPH(NODE("ffi.Array", "3")), "TypeError", "Cannot convert from type `int` to `Array<Any>`"},
      {GRAPH(NODE("ffi.Array", "[1.5]")), "TypeError", "Cannot convert from type `float` to `int`"},
      {GRAPH(NODE("ffi.Array", "[42]")), "ValueError", "invalid node index 42"},
      {GRAPH(NODE("ffi.Map", "[0]")), "ValueError", "even number of [key, value] entries, got 1"},
      {GRAPH(NODE("ffi.Dict", "[1,2]")), "ValueError", "invalid node index 1"},
      {GRAPH(NODE("ffi.Array", "[0]")), "ValueError", "node 0 refers to itself"},
      {GRAPH(NODE("ffi.Array", "[1]") "," NODE("ffi.List", "[2]") "," NODE("ffi.Map", "[0,0]")), "ValueError",
       "node 0 refers to itself"},
      {GRAPH(NODE("test.graph.Node", "[]")), "TypeError", "Cannot convert from type `ffi.Array` to `Map<Any, Any>`"},
      {GRAPH(NODE("test.graph.Node", "{\"left\":0}")), "ValueError", "node 0 refers to itself"},
      {GRAPH(NODE("test.graph.Node", "{\"left\":1,\"a right side\":1,\"tag\":\"x\"}") ",{\"type\":\"None\"}"),
       "TypeError", "Cannot convert from type `ffi.SmallStr` to `int`"},
      {GRAPH(NODE("ffi.Tensor", "1")), "TypeError", "Type `ffi.Tensor` does not support reflection creation"},
      {GRAPH(NODE("ffi.Function", "{}")), "TypeError", "Type `ffi.Function` does not support"},
      {GRAPH(NODE("ffi.Object", "{}")), "TypeError", "Type `ffi.Object` does not support"},
      {GRAPH(NODE("ffi.SmallStr", "\"x\"")), "TypeError", "Type `ffi.SmallStr` does not support"},
      {GRAPH(NODE("void*", "1")), "TypeError", "Type `void*` does not support"},
      {"{\"root_index\":0,\"nodes\":[", "ValueError", "line 1 column 26 (char 25)"},
  };
  graph_node_type();
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    expect_call_raises(all[i].kind, all[i].message, "ffi.FromJSONGraphString", ARGS(raw(all[i].text)));
  }
}

TEST(graph_functions_check_their_arguments) {
  expect_call_raises("TypeError", "Expected 2 but got 1", "ffi.ToJSONGraph", ARGS(i64(1)));
  expect_call_raises("TypeError", "Expected 2 but got 0", "ffi.ToJSONGraphString", NO_ARGS);
  expect_call_raises("TypeError", "Expected 1 but got 2", "ffi.FromJSONGraph", ARGS(i64(1), i64(2)));
  expect_call_raises("TypeError", "Expected `str` but got `int`", "ffi.FromJSONGraphString", ARGS(i64(1)));
  expect_call_raises("ValueError", "expected an object", "ffi.FromJSONGraph", ARGS(none()));
}

/* Expects that the pending error has one of the two kinds for broken graphs. */
static void expect_refused(void) {
  TVMFFIObject *error = fh_error_take();
  expect(error != NULL);
  TVMFFIByteArray kind = TVMFFIErrorGetCellPtr(error)->kind;
  if (!fh_span_is(kind, "ValueError") && !fh_span_is(kind, "TypeError")) {
    test_fail(__FILE__, __LINE__, "a broken graph gives %s: %s", kind.data, TVMFFIErrorGetCellPtr(error)->message.data);
  }
  fh_object_release(error);
}

/* Reads a text after replacing `n` bytes at `at`. Returns 1 if the result is still a graph. */
static int read_changed(const char *text, size_t at, size_t n, const char *instead) {
  TVMFFIAny graph, value;
  size_t n_text = strlen(text), n_instead = strlen(instead);
  char *changed = (char *)malloc(n_text + n_instead + 1);
  memcpy(changed, text, at);
  memcpy(changed + at, instead, n_instead);
  memcpy(changed + at + n_instead, text + at + n, n_text - at - n + 1);
  int rc = fh_json_parse(text_of(changed), &graph);
  free(changed);
  if (rc == 0) {
    rc = fh_graph_read(&graph, &value);
    fh_any_drop(&graph);
    fh_any_drop(&value);
  }
  if (rc != 0) expect_refused();
  return rc == 0;
}

/* Numbers, names and types are replaced one by one: thousands of graphs, most of them broken. */
TEST(broken_graphs_are_refused_and_nothing_leaks) {
  static const char *const instead[] = {"-1", "0",  "99",  "1e999", "null", "\"\"",
                                        "[]", "{}", "1.5", "[0,0]", "true", ""};
  int n_good = 0, n_all = 0;
  graph_node_type();
  for (int i = 0; i <= N_FIXTURES; ++i) {
    const char *text = i < N_FIXTURES ? fixtures[i].text : NODE_TEXT;
    for (size_t at = 0; text[at] != '\0'; ++at) {
      if (!strchr("0123456789[{\"", text[at]) || (at > 0 && text[at] == '"' && !strchr(":,{[", text[at - 1]))) continue;
      size_t n = strcspn(text + at + 1, ",:]}") + 1;
      for (size_t k = 0; k < sizeof(instead) / sizeof(instead[0]); ++k, ++n_all) {
        n_good += read_changed(text, at, n, instead[k]);
      }
    }
  }
  expect(n_all > 3000 && n_good > 100 && n_good < n_all / 2);
}

TEST(types_of_nodes_exchanged_are_refused_or_read) {
  static const char *const keys[] = {
      "None",      "bool",       "int",       "float",           "ffi.String",        "ffi.Bytes",
      "DataType",  "Device",     "ffi.Array", "ffi.Map",         "ffi.List",          "ffi.Dict",
      "ffi.Shape", "ffi.BigInt", "ffi.Error", "test.graph.Node", "test.graph.Hooked", "test.graph.Native"};
  int n_good = 0;
  graph_node_type();
  hooked_type();
  native_type();
  for (int i = 0; i <= N_FIXTURES; ++i) {
    const char *text = i < N_FIXTURES ? fixtures[i].text : NODE_TEXT;
    for (const char *at = text; (at = strstr(at, "\"type\":\"")) != NULL;) {
      at += 8;
      for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); ++k) {
        n_good += read_changed(text, (size_t)(at - text), strcspn(at, "\""), keys[k]);
      }
    }
  }
  expect(n_good > 100);
}
