/* test_graph.c - values as graphs of JSON and back: ffi.ToJSONGraph, ffi.FromJSONGraph and their string forms. */
#include "core/platform/mem.h"
#include "core/serial/graph.h"
#include "core/serial/json.h"

#include "core/object/object_new.h"
#include "support/graphs.h"

/* ---- Round trips ---- */

static TVMFFIAny written(TVMFFIAny value) { return call_ok("ffi.ToJSONGraphString", ARGS(value, none())); }
static TVMFFIAny read_back(const char *text) { return call_ok("ffi.FromJSONGraphString", ARGS(raw(text))); }

/* Writes a value and steals it. */
static void expect_graph(TVMFFIAny value, const char *wanted) {
  expect_str(written(value), wanted);
  fh_any_drop(&value);
}

static TVMFFIByteArray text_in(const TVMFFIAny *value) {
  TVMFFIByteArray content;
  expect(fh_str_content(value, &content));
  return content;
}

TEST(graphs_of_the_reference_are_read_and_written_again) {
  for (int i = 0; i < N_FIXTURES; ++i) {
    TVMFFIAny value = read_back(fixtures[i].text);
    expect_repr(value, fixtures[i].repr);
    expect_graph(value, fixtures[i].text);
  }
}

TEST(a_graph_is_a_map_of_json_values) {
  TVMFFIAny value = make_list(i64(3), raw("a text of many bytes")), meta = make_dict(i64(1), i64(2));
  TVMFFIAny graph = call_ok("ffi.ToJSONGraph", ARGS(value, meta));
  expect_int(graph.type_index, kTVMFFIMap);
  expect_repr(graph, "{\"root_index\": 2, \"nodes\": ({\"type\": \"int\", \"data\": 3}, {\"type\": \"ffi.String\", "
                     "\"data\": \"a text of many bytes\"}, {\"type\": \"ffi.List\", \"data\": (0, 1)}), "
                     "\"metadata\": {1: 2}}");
  TVMFFIAny back = call_ok("ffi.FromJSONGraph", ARGS(graph));
  expect_repr(back, "[3, \"a text of many bytes\"]");
  drop_all_of(value, meta, graph, back);
}

TEST(metadata_of_graphs_in_text_must_be_json) {
  TVMFFIAny meta = make_map(raw("by"), make_array(raw("us"), i64(1)));
  expect_str(call_ok("ffi.ToJSONGraphString", ARGS(i64(1), meta)),
             "{\"root_index\":0,\"nodes\":[{\"type\":\"int\",\"data\":1}],\"metadata\":{\"by\":[\"us\",1]}}");
  TVMFFIAny dict = make_dict(raw("a"), i64(1));
  expect_call_raises("ValueError", "Unsupported type: `ffi.Dict`", "ffi.ToJSONGraphString", ARGS(i64(1), dict));
  drop_all_of(meta, dict);
}

TEST(node_order_does_not_matter_and_unused_nodes_are_not_read) {
  TVMFFIAny map = read_back("{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Map\",\"data\":[2,3,1,3]},{\"type\":"
                            "\"ffi.String\",\"data\":\"a\"},{\"type\":\"ffi.String\",\"data\":\"b\"},{\"type\":"
                            "\"int\",\"data\":42},{\"type\":\"no such type\"},7]}");
  expect_repr(map, "{\"b\": 42, \"a\": 42}");
  fh_any_drop(&map);
}

TEST(a_key_that_comes_again_in_a_graph_keeps_its_place_in_small_maps_only) {
  const char *nodes = "{\"type\":\"int\",\"data\":1},{\"type\":\"int\",\"data\":2},{\"type\":\"int\",\"data\":3},"
                      "{\"type\":\"int\",\"data\":4},{\"type\":\"int\",\"data\":5}";
  static const struct {
    const char *data, *repr;
  } maps[] = {{"[0,0,1,1,0,2]", "{1: 3, 2: 2}"},
              {"[0,0,1,1,2,2,0,3]", "{1: 4, 2: 2, 3: 3}"},
              {"[0,0,1,1,2,2,3,3,0,4]", "{2: 2, 3: 3, 4: 4, 1: 5}"}};
  for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); ++i) {
    char text[512];
    snprintf(text, sizeof(text), "{\"root_index\":5,\"nodes\":[%s,{\"type\":\"ffi.Dict\",\"data\":%s}]}", nodes,
             maps[i].data);
    TVMFFIAny dict = read_back(text);
    expect_repr(dict, maps[i].repr);
    fh_any_drop(&dict);
  }
}

TEST(graphs_may_have_lists_and_dicts_inside) {
  TVMFFIAny node = make_dict(raw("type"), raw("ffi.Array"), raw("data"), make_list(i64(1), i64(1)));
  TVMFFIAny leaf = make_map(raw("type"), raw("int"), raw("data"), i64(5));
  TVMFFIAny graph = make_map(raw("root_index"), i64(0), raw("nodes"), make_array(node, leaf));
  TVMFFIAny value = call_ok("ffi.FromJSONGraph", ARGS(graph));
  expect_repr(value, "(5, 5)");
  drop_all_of(graph, value);
}

TEST(shared_objects_stay_shared) {
  TVMFFIAny list = make_list(i64(1));
  TVMFFIAny original = make_array(again(list), make_array(list)), text = written(original);
  TVMFFIAny value = call_ok("ffi.FromJSONGraphString", ARGS(text));
  const TVMFFIAny *items = fh_seq_items(as_seq(value));
  expect(items[0].v_obj == fh_seq_items(as_seq(items[1]))[0].v_obj);
  drop_all_of(original, text, value);
}

/* ---- Objects ---- */

TEST(objects_are_written_as_their_fields) {
  TVMFFIAny inner = make_node(graph_node_type(), none(), f64(0.5), -3);
  expect_graph(make_node(graph_node_type(), again(inner), inner, 4), NODE_TEXT);
  TVMFFIAny back = read_back(NODE_TEXT);
  expect_int(as_node(back)->tag, 4);
  expect(as_node(back)->left.v_obj == as_node(back)->right.v_obj);
  expect_int(as_node(as_node(back)->left)->tag, -3);
  expect(as_node(as_node(back)->left)->right.v_float64 == 0.5);
  expect_graph(back, NODE_TEXT);
}

TEST(fields_that_are_missing_get_their_default) {
  graph_node_type();
  TVMFFIAny value =
      read_back(GRAPH(NODE("test.graph.Node", "{\"left\":1,\"a right side\":1,\"more\":5}") ",{\"type\":\"None\"}"));
  expect_int(as_node(value)->tag, 7);
  fh_any_drop(&value);
  expect_call_raises("TypeError", "Required field `a right side` not set in type `test.graph.Node`",
                     "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Node", "{\"left\":1}") ",{\"type\":\"None\"}"))));
}

TEST(a_value_that_cannot_be_read_again_is_not_written) {
  TVMFFIAny plain = make_node(node_type("test.graph.Plain", 0, 0, 0), none(), none(), 1),
            array = make_array(again(plain));
  expect_call_raises("TypeError",
                     "Type `test.graph.Plain` does not support ToJSONGraph (no native creator or __ffi_new__",
                     "ffi.ToJSONGraph", ARGS(array, none()));
  expect_call_raises("TypeError", "Type `ffi.Function` does not support ToJSONGraph", "ffi.ToJSONGraph",
                     ARGS(fh_any_object(test_echo()), none()));
  expect_call_raises("TypeError", "Cannot serialize type `void*`", "ffi.ToJSONGraph", ARGS(fh_any_ptr(&plain), none()));
  expect_call_raises("TypeError", "Type `test.graph.Plain` does not support reflection creation",
                     "ffi.FromJSONGraphString", ARGS(raw(GRAPH(NODE("test.graph.Plain", "{}")))));
  drop_all_of(plain, array);
}

TEST(a_value_in_itself_is_a_value_error) {
  TVMFFIAny list = make_list(), holder = make_array(again(list)), dict = make_dict();
  TVMFFIAny object = make_node(graph_node_type(), none(), none(), 1);
  call_int("ffi.ListAppend", ARGS(list, holder));
  call_int("ffi.DictSetItem", ARGS(dict, i64(1), dict));
  fh_any_copy(&object, &as_node(object)->left);
  expect_call_raises("ValueError", "a List contains itself", "ffi.ToJSONGraph", ARGS(list, none()));
  expect_call_raises("ValueError", "an object contains itself", "ffi.ToJSONGraph", ARGS(holder, none()));
  expect_call_raises("ValueError", "a Dict contains itself", "ffi.ToJSONGraph", ARGS(dict, none()));
  expect_call_raises("ValueError", "an object contains itself", "ffi.ToJSONGraph", ARGS(object, none()));
  call_int("ffi.ListClear", ARGS(list));
  call_int("ffi.DictClear", ARGS(dict));
  fh_any_drop(&as_node(object)->left);
  drop_all_of(list, holder, dict, object);
}

/* ---- Hooks ---- */

TEST(hooks_define_the_data) {
  const char *text = GRAPH(NODE("test.graph.Hooked", "{\"the tag\":5}"));
  expect_graph(make_node(hooked_type(), none(), none(), 5), text);
  TVMFFIAny back = read_back(text);
  expect_int(as_node(back)->tag, 5);
  fh_any_drop(&back);
  TVMFFIAny bad = make_node(hooked_type(), none(), none(), -5);
  expect_call_raises("ValueError", "a hook refuses -5", "ffi.ToJSONGraph", ARGS(bad, none()));
  fh_any_drop(&bad);
  expect_call_raises("ValueError", "a hook wants a Map", "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Hooked", "[]")))));
}

TEST(hooks_may_be_native_functions) {
  expect_graph(make_node(native_type(), none(), none(), 6), GRAPH(NODE("test.graph.Native", "6")));
  TVMFFIAny back = read_back(GRAPH(NODE("test.graph.Native", "6")));
  expect_int(as_node(back)->tag, 6);
  fh_any_drop(&back);
  TVMFFIAny bad = make_node(native_type(), none(), none(), -6);
  expect_call_raises("ValueError", "a native hook refuses", "ffi.ToJSONGraph", ARGS(bad, none()));
  fh_any_drop(&bad);
  expect_call_raises("ValueError", "a native hook wants an int", "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Native", "null")))));
}

TEST(a_hook_that_is_not_a_function_is_a_type_error) {
  int32_t type_index = node_type("test.graph.BadHook", 0, 0, 0);
  TVMFFIByteArray to = text_of("__data_to_json__");
  TVMFFIAny hook = i64(3), value = make_node(type_index, none(), none(), 1);
  expect_int(TVMFFITypeRegisterAttr(type_index, &to, &hook), 0);
  expect_call_raises("TypeError", "Expected `__data_to_json__` to be a function but got `int`", "ffi.ToJSONGraph",
                     ARGS(value, none()));
  fh_any_drop(&value);
}

/* ---- Enums ---- */

typedef struct {
  TVMFFIObject header;
  int64_t int_index;
  TVMFFIAny str_index;
} enum_object;

static void enum_delete(void *self, int flags) {
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) fh_any_drop(&((enum_object *)self)->str_index);
  fh_object_delete_plain(self, flags);
}

typedef struct {
  TVMFFIObject header;
  TVMFFIObject *entries, *indexes, *attrs;
} enum_state;

static int32_t enum_base(const char *key, int32_t parent) {
  int32_t known = fh_type_find_key(text_of(key));
  return known >= 0 ? known : test_add_child(key, parent, 4);
}

static TVMFFIAny make_enum(int32_t type_index, int64_t int_index, const char *str_index) {
  enum_object *e = (enum_object *)fh_object_new(sizeof(*e), type_index, enum_delete);
  expect(e != NULL);
  e->int_index = int_index;
  expect_int(fh_str_from_cstr(str_index, &e->str_index), 0);
  return fh_any_object(e);
}

/* Adds a type of enums with one instance, (-9, "LOW value"), a borrowed reference. Five blocks stay: the instance, its
 * string, the state of the type, the Dict of the state, and the string that is a key of the Dict. */
enum { ENUM_TYPE_BLOCKS = 5 };
static int32_t enum_type(const char *key, const char *base, TVMFFIAny *instance) {
  int32_t parent =
      enum_base(base, strcmp(base, "ffi.Enum") != 0 ? enum_base("ffi.Enum", kTVMFFIObject) : kTVMFFIObject);
  int32_t state_index = enum_base("ffi.EnumState", kTVMFFIObject);
  int32_t type_index = test_add_child(key, parent, 0);
  TVMFFIByteArray attr = text_of("__ffi_enum__");
  *instance = make_enum(type_index, -9, "LOW value");
  enum_state *state = (enum_state *)fh_object_new(sizeof(*state), state_index, fh_object_delete_plain);
  TVMFFIAny indexes = make_dict(i64(-9), again(*instance), raw("LOW value"), again(*instance));
  state->indexes = indexes.v_obj;
  TVMFFIAny value = fh_any_object(state);
  expect_int(TVMFFITypeRegisterAttr(type_index, &attr, &value), 0);
  return type_index;
}

static void expect_enum(const char *key, const char *base, const char *good, const char *bad, const char *message) {
  TVMFFIAny instance;
  enum_type(key, base, &instance);
  test_keeps(ENUM_TYPE_BLOCKS);
  char text[200];
  snprintf(text, sizeof(text), GRAPH(NODE("%s", "%s")), key, good);
  expect_str(written(instance), text);
  TVMFFIAny back = read_back(text);
  expect(back.v_obj == instance.v_obj);
  fh_any_drop(&back);
  snprintf(text, sizeof(text), GRAPH(NODE("%s", "%s")), key, bad);
  expect_call_raises("ValueError", message, "ffi.FromJSONGraphString", ARGS(raw(text)));
  snprintf(text, sizeof(text), GRAPH(NODE("%s", "%s")), key, "null");
  expect_call_raises("TypeError", "Cannot convert from type `None`", "ffi.FromJSONGraphString", ARGS(raw(text)));
}

TEST(enums_are_written_by_index_and_read_as_the_same_object) {
  expect_enum("test.graph.Int", "ffi.IntEnum", "-9", "8", "Enum `test.graph.Int` has no instance with index 8");
  expect_enum("test.graph.Str", "ffi.StrEnum", "\"LOW value\"", "\"x\"",
              "Enum `test.graph.Str` has no instance with index x");
  expect_enum("test.graph.Enum", "ffi.Enum", "\"LOW value\"", "\"\"",
              "Enum `test.graph.Enum` has no instance with index ");
}

TEST(enums_without_state_have_no_instances) {
  int32_t parent = enum_base("ffi.Enum", kTVMFFIObject);
  int32_t type_index = test_add_child("test.graph.Stateless", parent, 0);
  expect_graph(make_enum(type_index, 3, "three"), GRAPH(NODE("test.graph.Stateless", "\"three\"")));
  expect_call_raises("ValueError", "has no instance with index three", "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Stateless", "\"three\"")))));
}

/* ---- Depth, size, failures, threads ---- */

TEST(deep_values_are_written_and_read_without_recursion) {
  enum { DEEP = 300000 };
  TVMFFIAny value = nest(kTVMFFIList, DEEP, i64(1)), text = written(value);
  TVMFFIAny back = call_ok("ffi.FromJSONGraphString", ARGS(text)), again_text = written(back);
  expect(fh_span_same(text_in(&text), text_in(&again_text)));
  expect(text_in(&text).size > (size_t)DEEP * 20);
  drop_all_of(value, text, back, again_text);
}

TEST(a_value_that_is_met_often_is_one_node) {
  enum { DEEP = 200 };
  TVMFFIAny value = make_array(i64(1)); /* doubles at each step: 2^200 paths, 202 nodes */
  for (int i = 0; i < DEEP; ++i) value = make_array(again(value), value);
  TVMFFIAny graph = call_ok("ffi.ToJSONGraph", ARGS(value, none())), back = call_ok("ffi.FromJSONGraph", ARGS(graph));
  TVMFFIAny text = written(back);
  expect(strstr(text_in(&text).data, "{\"root_index\":201,") == text_in(&text).data);
  drop_all_of(value, graph, back, text);
}

TEST(many_distinct_values_are_distinguished) {
  enum { N = 20000 };
  fh_seq_object *list = fh_seq_new_list(N);
  for (int i = 0; i < N; ++i) expect_int(fh_seq_push(list, i % 2 ? f64(i / 2) : i64(i / 4)), 0);
  TVMFFIAny value = fh_any_object(list), graph = call_ok("ffi.ToJSONGraph", ARGS(value, none()));
  TVMFFIAny back = call_ok("ffi.FromJSONGraph", ARGS(graph));
  TVMFFIAny nodes = call_ok("ffi.MapGetItem", ARGS(graph, raw("nodes")));
  expect_int(call_int("ffi.ArraySize", ARGS(nodes)), N / 2 + N / 4 + 1);
  for (int i = 0; i < N; ++i) expect(fh_any_same(&fh_seq_items(list)[i], &fh_seq_items(as_seq(back))[i]));
  drop_all_of(value, graph, back, nodes);
}

static int go_round(void *text) {
  TVMFFIAny value, back;
  if (fh_json_parse(text_of((const char *)text), &value) != 0) return -1;
  int rc = fh_graph_read(&value, &back);
  fh_any_drop(&value);
  TVMFFIAny meta = i64(1);
  if (rc == 0) {
    rc = fh_graph_write(&back, &meta, &value);
    fh_any_drop(&back);
    fh_any_drop(&value);
  }
  return rc;
}

TEST(graphs_survive_missing_memory) {
  graph_node_type();
  test_sweep(go_round, (void *)(uintptr_t)NODE_TEXT);
  for (int i = 0; i < N_FIXTURES; ++i) test_sweep(go_round, (void *)(uintptr_t)fixtures[i].text);
}

static void go_round_in_thread(void *unused, int i) {
  (void)unused;
  for (int k = 0; k < N_FIXTURES; ++k) {
    expect_int(go_round((void *)(uintptr_t)fixtures[(k + i) % N_FIXTURES].text), 0);
    expect_int(go_round((void *)(uintptr_t)NODE_TEXT), 0);
  }
}

TEST(graphs_are_written_in_many_threads) {
  graph_node_type();
  test_threads(4, go_round_in_thread, NULL);
}
