/* test_graph.c - values as graphs of JSON and back: ffi.ToJSONGraph, ffi.FromJSONGraph and their string forms. */
#include <error.h>
#include <graph_read.h>
#include <graph_write.h>
#include <json_parse.h>
#include <mem.h>

#include "nodes.h"

static TVMFFIAny written(TVMFFIAny value) { return call_ok("ffi.ToJSONGraphString", ARGS(value, none())); }
static TVMFFIAny read_back(const char *text) { return call_ok("ffi.FromJSONGraphString", ARGS(raw(text))); }

/* Writes a value, which it takes. */
static void expect_graph(TVMFFIAny value, const char *wanted) {
  expect_str(written(value), wanted);
  fh_any_drop(&value);
}

static TVMFFIByteArray text_in(const TVMFFIAny *value) {
  TVMFFIByteArray content;
  expect(fh_str_content(value, &content));
  return content;
}

/* ---- Graphs that the reference implementation has written, and what they show ---- */

typedef struct {
  const char *text, *repr;
} fixture;

static const fixture fixtures[] = {
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"None\"}]}",
     "None"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"bool\",\"data\":true}]}",
     "True"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"int\",\"data\":-5}]}",
     "-5"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":0.10000000000000001}]}",
     "0.1"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":-0.0}]}",
     "-0"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":1.0000000000000001e+300}]}",
     "1e+300"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":Infinity}]}",
     "inf"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"\"}]}",
     "\"\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"a text of more than seven bytes\"}]}",
     "\"a text of more than seven bytes\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"q\\\"\\\\\\/\\n\\u007f \303\251 \346\227\245 \360\237\230\200\"}]}",
     "\"q\\\"\\\\/\\n\\x7f \\u00e9 \\u65e5 \\U0001f600\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"\"}]}",
     "b\"\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"YWJj\"}]}",
     "b\"abc\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"AP8QgCBtb3JlIHRoYW4gc2V2ZW4=\"}]}",
     "b\"\\x00\\xff\\x10\\x80 more than seven\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"DataType\",\"data\":\"float16\"}]}",
     "float16"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"DataType\",\"data\":\"int8x4\"}]}",
     "int8x4"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"Device\",\"data\":[2,3]}]}",
     "cuda:3"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Shape\",\"data\":[1,-2,3]}]}",
     "Shape(1, -2, 3)"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Shape\",\"data\":[]}]}",
     "Shape()"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"9223372036854775808\"}]}",
     "9223372036854775808"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"-1606938044258990275541962092341162602522202993782792835301376\"}]}",
     "-1606938044258990275541962092341162602522202993782792835301376"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Array\",\"data\":[]}]}",
     "()"},
    {"{\"root_index\":7,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"float\",\"data\":2.5},{\"type\":\"ffi.String\",\"data\":\"x\"},{\"type\":\"None\"},{\"type\":\"bool\",\"data\":true},{\"type\":\"ffi.Array\",\"data\":[0]},{\"type\":\"ffi.Array\",\"data\":[0,5]},{\"type\":\"ffi.Array\",\"data\":[0,1,2,3,4,6]}]}",
     "(1, 2.5, \"x\", None, True, (1, (1,)))"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.List\",\"data\":[]}]}",
     "[]"},
    {"{\"root_index\":3,\"nodes\":[{\"type\":\"int\",\"data\":7},{\"type\":\"ffi.List\",\"data\":[0]},{\"type\":\"ffi.List\",\"data\":[0]},{\"type\":\"ffi.List\",\"data\":[1,1,2]}]}",
     "[[7], [7], [7]]"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Map\",\"data\":[]}]}",
     "{}"},
    {"{\"root_index\":5,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"k\"},{\"type\":\"int\",\"data\":1},{\"type\":\"int\",\"data\":2},{\"type\":\"ffi.String\",\"data\":\"a text of more than seven bytes\"},{\"type\":\"ffi.Array\",\"data\":[3]},{\"type\":\"ffi.Map\",\"data\":[0,1,2,0,3,4]}]}",
     "{\"k\": 1, 2: \"k\", \"a text of more than seven bytes\": (\"a text of more than seven bytes\",)}"},
    {"{\"root_index\":6,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"int\",\"data\":2},{\"type\":\"int\",\"data\":3},{\"type\":\"int\",\"data\":4},{\"type\":\"int\",\"data\":5},{\"type\":\"ffi.Map\",\"data\":[3,4]},{\"type\":\"ffi.Dict\",\"data\":[0,1,2,5]}]}",
     "{1: 2, 3: {4: 5}}"},
    {"{\"root_index\":9,\"nodes\":[{\"type\":\"int\",\"data\":0},{\"type\":\"int\",\"data\":1},{\"type\":\"int\",\"data\":2},{\"type\":\"int\",\"data\":4},{\"type\":\"int\",\"data\":3},{\"type\":\"int\",\"data\":9},{\"type\":\"int\",\"data\":16},{\"type\":\"int\",\"data\":5},{\"type\":\"int\",\"data\":25},{\"type\":\"ffi.Map\",\"data\":[0,0,1,1,2,3,4,5,3,6,7,8]}]}",
     "{0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25}"},
    {"{\"root_index\":5,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"float\",\"data\":1.0},{\"type\":\"bool\",\"data\":true},{\"type\":\"ffi.String\",\"data\":\"1\"},{\"type\":\"ffi.Bytes\",\"data\":\"MQ==\"},{\"type\":\"ffi.Array\",\"data\":[0,1,2,3,4]}]}",
     "(1, 1, True, \"1\", b\"1\")"},
    {"{\"root_index\":2,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"9223372036854775808\"},{\"type\":\"ffi.BigInt\",\"data\":\"18446744073709551616\"},{\"type\":\"ffi.Array\",\"data\":[0,0,1]}]}",
     "(9223372036854775808, 9223372036854775808, 18446744073709551616)"},
};
#define N_FIXTURES ((int)(sizeof fixtures / sizeof fixtures[0]))

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

static int node_new(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  (void)args;
  expect_int(n_args, 0);
  node *n = (node *)fh_object_new(sizeof *n, fh_type_find_key(text_of("test.graph.Node")), node_delete);
  if (n == NULL) return -1;
  *result = fh_any_object(n);
  return 0;
}

/* A type with a creator by __ffi_new__, and a field whose default is 7. */
static int32_t graph_node_type(void) {
  static int32_t type_index;
  if (type_index != 0) return type_index;
  type_index = fh_type_add_child("test.graph.Node", kTVMFFIObject, 0);
  node_add_field(type_index, "left", (int64_t)offsetof(node, left), kTVMFFIAny, 0);
  node_add_field(type_index, "a right side", (int64_t)offsetof(node, right), kTVMFFIAny, 0);
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof field);
  field.name = text_of("tag");
  field.flags = kTVMFFIFieldFlagBitMaskWritable | kTVMFFIFieldFlagBitMaskHasDefault;
  field.offset = (int64_t)offsetof(node, tag);
  field.field_static_type_index = kTVMFFIInt;
  field.setter = (void *)(uintptr_t)node_set_int;
  field.default_value_or_factory = i64(7);
  expect_int(fh_field_getter(kTVMFFIInt, &field.getter), 0);
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
  node_add_hook(type_index, "__ffi_new__", node_new);
  return type_index;
}

#define NODE_TEXT                                                                                                    \
  "{\"root_index\":3,\"nodes\":[{\"type\":\"None\"},{\"type\":\"float\",\"data\":0.5},{\"type\":\"test.graph.Node\"," \
  "\"data\":{\"left\":0,\"a right side\":1,\"tag\":-3}},{\"type\":\"test.graph.Node\",\"data\":{\"left\":2,"            \
  "\"a right side\":2,\"tag\":4}}]}"

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

#define GRAPH(nodes) "{\"root_index\":0,\"nodes\":[" nodes "]}"
#define NODE(type, data) "{\"type\":\"" type "\",\"data\":" data "}"

TEST(fields_that_are_missing_get_their_default) {
  graph_node_type();
  TVMFFIAny value = read_back(GRAPH(NODE("test.graph.Node", "{\"left\":1,\"a right side\":1,\"more\":5}") ",{\"type\":\"None\"}"));
  expect_int(as_node(value)->tag, 7);
  fh_any_drop(&value);
  expect_call_raises("TypeError", "Required field `a right side` not set in type `test.graph.Node`",
                     "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Node", "{\"left\":1}") ",{\"type\":\"None\"}"))));
}

TEST(what_cannot_be_made_again_is_not_written) {
  TVMFFIAny plain = make_node(plain_node_type(), none(), none(), 1), array = make_array(again(plain));
  expect_call_raises("TypeError", "Type `test.Node` does not support ToJSONGraph (no native creator or __ffi_new__",
                     "ffi.ToJSONGraph", ARGS(array, none()));
  expect_call_raises("TypeError", "Type `ffi.Function` does not support ToJSONGraph", "ffi.ToJSONGraph",
                     ARGS(fh_any_object(test_echo()), none()));
  expect_call_raises("TypeError", "Cannot serialize type `void*`", "ffi.ToJSONGraph", ARGS(fh_any_ptr(&plain), none()));
  expect_call_raises("TypeError", "Type `test.Node` does not support reflection creation", "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.Node", "{}")))));
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

static int tag_to_json(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  expect_int(n_args, 1);
  int64_t tag = as_node(args[0])->tag;
  if (tag < 0) return fh_error_raise("ValueError", "a hook refuses %lld", (long long)tag);
  *result = make_map(raw("the tag"), i64(tag));
  return 0;
}

static int32_t hooked_type(void);

static int tag_from_json(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  fh_hashmap_pair *pair;
  TVMFFIAny key;
  expect_int(n_args, 1);
  if (args[0].type_index != kTVMFFIMap) return fh_error_raise("ValueError", "a hook wants a Map");
  expect_int(fh_str_from_cstr("the tag", &key), 0);
  if (fh_hashmap_find(as_map(args[0]), &key, FH_HASHMAP_HOOKS, &pair) != 1) {
    return fh_error_raise("ValueError", "a hook misses its key");
  }
  *result = make_node(hooked_type(), none(), none(), pair->value.v_int64);
  return 0;
}

static int32_t hooked_type(void) {
  static int32_t type_index;
  if (type_index != 0) return type_index;
  type_index = node_type("test.graph.Hooked", 0, 0, 0);
  node_add_hook(type_index, "__data_to_json__", tag_to_json);
  node_add_hook(type_index, "__data_from_json__", tag_from_json);
  return type_index;
}

TEST(hooks_decide_what_the_data_is) {
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

static TVMFFIAny native_error(const char *message) {
  fh_error_raise("ValueError", "%s", message);
  return fh_any_object(fh_error_take());
}

static TVMFFIAny native_to_json(TVMFFIAny value) {
  return as_node(value)->tag < 0 ? native_error("a native hook refuses") : i64(as_node(value)->tag);
}

static int32_t native_type(void);

static TVMFFIAny native_from_json(TVMFFIAny data) {
  if (data.type_index != kTVMFFIInt) return native_error("a native hook wants an int");
  return make_node(native_type(), none(), none(), data.v_int64);
}

static int32_t native_type(void) {
  static int32_t type_index;
  if (type_index != 0) return type_index;
  type_index = node_type("test.graph.Native", 0, 0, 0);
  TVMFFIByteArray to = text_of("__data_to_json__"), from = text_of("__data_from_json__");
  TVMFFIAny to_hook = fh_any_ptr((void *)(uintptr_t)native_to_json);
  TVMFFIAny from_hook = fh_any_ptr((void *)(uintptr_t)native_from_json);
  expect_int(TVMFFITypeRegisterAttr(type_index, &to, &to_hook), 0);
  expect_int(TVMFFITypeRegisterAttr(type_index, &from, &from_hook), 0);
  return type_index;
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

TEST(a_hook_that_is_no_function_is_a_type_error) {
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
  return known >= 0 ? known : fh_type_add_child(key, parent, 4);
}

static TVMFFIAny make_enum(int32_t type_index, int64_t int_index, const char *str_index) {
  enum_object *e = (enum_object *)fh_object_new(sizeof *e, type_index, enum_delete);
  expect(e != NULL);
  e->int_index = int_index;
  expect_int(fh_str_from_cstr(str_index, &e->str_index), 0);
  return fh_any_object(e);
}

/* A type of enums whose only instance, borrowed, is (-9, "LOW value"). It stays. */
static int32_t enum_type(const char *key, const char *base, TVMFFIAny *instance) {
  int32_t parent = enum_base(base, strcmp(base, "ffi.Enum") != 0 ? enum_base("ffi.Enum", kTVMFFIObject) : kTVMFFIObject);
  int32_t state_index = enum_base("ffi.EnumState", kTVMFFIObject);
  int32_t type_index = fh_type_add_child(key, parent, 0);
  TVMFFIByteArray attr = text_of("__ffi_enum__");
  *instance = make_enum(type_index, -9, "LOW value");
  enum_state *state = (enum_state *)fh_object_new(sizeof *state, state_index, fh_object_delete_plain);
  TVMFFIAny indexes = make_dict(i64(-9), again(*instance), raw("LOW value"), again(*instance));
  state->indexes = indexes.v_obj;
  TVMFFIAny value = fh_any_object(state);
  expect_int(TVMFFITypeRegisterAttr(type_index, &attr, &value), 0);
  return type_index;
}

static void expect_enum(const char *key, const char *base, const char *good, const char *bad, const char *message) {
  TVMFFIAny instance;
  int64_t live = fh_mem_live_blocks();
  enum_type(key, base, &instance);
  test_keeps(fh_mem_live_blocks() - live);
  char text[200];
  snprintf(text, sizeof text, GRAPH(NODE("%s", "%s")), key, good);
  expect_str(written(instance), text);
  TVMFFIAny back = read_back(text);
  expect(back.v_obj == instance.v_obj);
  fh_any_drop(&back);
  snprintf(text, sizeof text, GRAPH(NODE("%s", "%s")), key, bad);
  expect_call_raises("ValueError", message, "ffi.FromJSONGraphString", ARGS(raw(text)));
  snprintf(text, sizeof text, GRAPH(NODE("%s", "%s")), key, "null");
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
  int32_t type_index = fh_type_add_child("test.graph.Stateless", parent, 0);
  expect_graph(make_enum(type_index, 3, "three"), GRAPH(NODE("test.graph.Stateless", "\"three\"")));
  expect_call_raises("ValueError", "has no instance with index three", "ffi.FromJSONGraphString",
                     ARGS(raw(GRAPH(NODE("test.graph.Stateless", "\"three\"")))));
}

/* ---- What is no graph ---- */

typedef struct {
  const char *text, *kind, *message;
} refusal;

TEST(what_is_no_graph_is_refused) {
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
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
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

/* The pending error is one of the two kinds that broken graphs give. */
static void expect_refused(void) {
  TVMFFIObject *error = fh_error_take();
  expect(error != NULL);
  TVMFFIByteArray kind = TVMFFIErrorGetCellPtr(error)->kind;
  if (!fh_str_is(kind, "ValueError") && !fh_str_is(kind, "TypeError")) {
    test_fail(__FILE__, __LINE__, "a broken graph gives %s: %s", kind.data, TVMFFIErrorGetCellPtr(error)->message.data);
  }
  fh_object_release(error);
}

/* Reads a text with something else in place of `n` bytes at `at`: 1 if it was a graph still. */
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
  static const char *const instead[] = {"-1", "0", "99", "1e999", "null", "\"\"", "[]", "{}", "1.5", "[0,0]", "true", ""};
  int n_good = 0, n_all = 0;
  graph_node_type();
  for (int i = 0; i <= N_FIXTURES; ++i) {
    const char *text = i < N_FIXTURES ? fixtures[i].text : NODE_TEXT;
    for (size_t at = 0; text[at] != '\0'; ++at) {
      if (!strchr("0123456789[{\"", text[at]) || (at > 0 && text[at] == '"' && !strchr(":,{[", text[at - 1]))) continue;
      size_t n = strcspn(text + at + 1, ",:]}") + 1;
      for (size_t k = 0; k < sizeof instead / sizeof instead[0]; ++k, ++n_all) {
        n_good += read_changed(text, at, n, instead[k]);
      }
    }
  }
  expect(n_all > 3000 && n_good > 100 && n_good < n_all / 2);
}

TEST(types_of_nodes_exchanged_are_refused_or_read) {
  static const char *const keys[] = {"None",     "bool",      "int",     "float",    "ffi.String", "ffi.Bytes", "DataType",
                                     "Device",   "ffi.Array", "ffi.Map", "ffi.List", "ffi.Dict",   "ffi.Shape", "ffi.BigInt",
                                     "ffi.Error", "test.graph.Node", "test.graph.Hooked", "test.graph.Native"};
  int n_good = 0;
  graph_node_type();
  hooked_type();
  native_type();
  for (int i = 0; i <= N_FIXTURES; ++i) {
    const char *text = i < N_FIXTURES ? fixtures[i].text : NODE_TEXT;
    for (const char *at = text; (at = strstr(at, "\"type\":\"")) != NULL;) {
      at += 8;
      for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        n_good += read_changed(text, (size_t)(at - text), strcspn(at, "\""), keys[k]);
      }
    }
  }
  expect(n_good > 100);
}

/* ---- Depth, size, failures, threads ---- */

TEST(deep_values_are_written_and_read_without_recursion) {
  enum { DEEP = 300000 };
  TVMFFIAny value = nest(kTVMFFIList, DEEP, i64(1)), text = written(value);
  TVMFFIAny back = call_ok("ffi.FromJSONGraphString", ARGS(text)), again_text = written(back);
  expect(fh_str_same(text_in(&text), text_in(&again_text)));
  expect(text_in(&text).size > (size_t)DEEP * 20);
  drop_all_of(value, text, back, again_text);
}

TEST(a_value_that_is_met_often_is_one_node) {
  enum { DEEP = 200 };
  TVMFFIAny value = make_array(i64(1)); /* doubles with each step: 2^200 paths, 202 nodes */
  for (int i = 0; i < DEEP; ++i) value = make_array(again(value), value);
  TVMFFIAny graph = call_ok("ffi.ToJSONGraph", ARGS(value, none())), back = call_ok("ffi.FromJSONGraph", ARGS(graph));
  TVMFFIAny text = written(back);
  expect(strstr(text_in(&text).data, "{\"root_index\":201,") == text_in(&text).data);
  drop_all_of(value, graph, back, text);
}

TEST(many_distinct_values_are_told_apart) {
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
