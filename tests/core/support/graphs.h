/* graphs.h - graphs for tests: output of the reference implementation, and types of objects that graphs can hold. */
#ifndef TEST_GRAPHS_H_
#define TEST_GRAPHS_H_

#include "core/object/error.h"

#include "core/object/object_new.h"
#include "support/nodes.h"

/* ---- Graphs written by the reference implementation, and their readable forms ---- */

typedef struct {
  const char *text, *repr;
} fixture;

static const fixture fixtures[] = {
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"None\"}]}", "None"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"bool\",\"data\":true}]}", "True"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"int\",\"data\":-5}]}", "-5"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":0.10000000000000001}]}", "0.1"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":-0.0}]}", "-0"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":1.0000000000000001e+300}]}", "1e+300"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"float\",\"data\":Infinity}]}", "inf"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"\"}]}", "\"\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"a text of more than seven bytes\"}]}",
     "\"a text of more than seven bytes\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"q\\\"\\\\\\/\\n\\u007f \303\251 \346\227\245 "
     "\360\237\230\200\"}]}",
     "\"q\\\"\\\\/\\n\\x7f \\u00e9 \\u65e5 \\U0001f600\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"\"}]}", "b\"\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"YWJj\"}]}", "b\"abc\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Bytes\",\"data\":\"AP8QgCBtb3JlIHRoYW4gc2V2ZW4=\"}]}",
     "b\"\\x00\\xff\\x10\\x80 more than seven\""},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"DataType\",\"data\":\"float16\"}]}", "float16"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"DataType\",\"data\":\"int8x4\"}]}", "int8x4"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"Device\",\"data\":[2,3]}]}", "cuda:3"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Shape\",\"data\":[1,-2,3]}]}", "Shape(1, -2, 3)"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Shape\",\"data\":[]}]}", "Shape()"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"9223372036854775808\"}]}",
     "9223372036854775808"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"-"
     "1606938044258990275541962092341162602522202993782792835301376\"}]}",
     "-1606938044258990275541962092341162602522202993782792835301376"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Array\",\"data\":[]}]}", "()"},
    {"{\"root_index\":7,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"float\",\"data\":2.5},{\"type\":\"ffi."
     "String\",\"data\":\"x\"},{\"type\":\"None\"},{\"type\":\"bool\",\"data\":true},{\"type\":\"ffi.Array\",\"data\":["
     "0]},{\"type\":\"ffi.Array\",\"data\":[0,5]},{\"type\":\"ffi.Array\",\"data\":[0,1,2,3,4,6]}]}",
     "(1, 2.5, \"x\", None, True, (1, (1,)))"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.List\",\"data\":[]}]}", "[]"},
    {"{\"root_index\":3,\"nodes\":[{\"type\":\"int\",\"data\":7},{\"type\":\"ffi.List\",\"data\":[0]},{\"type\":\"ffi."
     "List\",\"data\":[0]},{\"type\":\"ffi.List\",\"data\":[1,1,2]}]}",
     "[[7], [7], [7]]"},
    {"{\"root_index\":0,\"nodes\":[{\"type\":\"ffi.Map\",\"data\":[]}]}", "{}"},
    {"{\"root_index\":5,\"nodes\":[{\"type\":\"ffi.String\",\"data\":\"k\"},{\"type\":\"int\",\"data\":1},{\"type\":"
     "\"int\",\"data\":2},{\"type\":\"ffi.String\",\"data\":\"a text of more than seven "
     "bytes\"},{\"type\":\"ffi.Array\",\"data\":[3]},{\"type\":\"ffi.Map\",\"data\":[0,1,2,0,3,4]}]}",
     "{\"k\": 1, 2: \"k\", \"a text of more than seven bytes\": (\"a text of more than seven bytes\",)}"},
    {"{\"root_index\":6,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"int\",\"data\":2},{\"type\":\"int\","
     "\"data\":3},{\"type\":\"int\",\"data\":4},{\"type\":\"int\",\"data\":5},{\"type\":\"ffi.Map\",\"data\":[3,4]},{"
     "\"type\":\"ffi.Dict\",\"data\":[0,1,2,5]}]}",
     "{1: 2, 3: {4: 5}}"},
    {"{\"root_index\":9,\"nodes\":[{\"type\":\"int\",\"data\":0},{\"type\":\"int\",\"data\":1},{\"type\":\"int\","
     "\"data\":2},{\"type\":\"int\",\"data\":4},{\"type\":\"int\",\"data\":3},{\"type\":\"int\",\"data\":9},{\"type\":"
     "\"int\",\"data\":16},{\"type\":\"int\",\"data\":5},{\"type\":\"int\",\"data\":25},{\"type\":\"ffi.Map\",\"data\":"
     "[0,0,1,1,2,3,4,5,3,6,7,8]}]}",
     "{0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25}"},
    {"{\"root_index\":5,\"nodes\":[{\"type\":\"int\",\"data\":1},{\"type\":\"float\",\"data\":1.0},{\"type\":\"bool\","
     "\"data\":true},{\"type\":\"ffi.String\",\"data\":\"1\"},{\"type\":\"ffi.Bytes\",\"data\":\"MQ==\"},{\"type\":"
     "\"ffi.Array\",\"data\":[0,1,2,3,4]}]}",
     "(1, 1, True, \"1\", b\"1\")"},
    {"{\"root_index\":2,\"nodes\":[{\"type\":\"ffi.BigInt\",\"data\":\"9223372036854775808\"},{\"type\":\"ffi.BigInt\","
     "\"data\":\"18446744073709551616\"},{\"type\":\"ffi.Array\",\"data\":[0,0,1]}]}",
     "(9223372036854775808, 9223372036854775808, 18446744073709551616)"},
};
#define N_FIXTURES ((int)(sizeof(fixtures) / sizeof(fixtures[0])))

/* ---- A type whose objects are made of their fields ---- */

static inline int node_new(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  (void)args;
  expect_int(n_args, 0);
  node *n = (node *)fh_object_new(sizeof(*n), fh_type_find_key(text_of("test.graph.Node")), node_delete);
  if (n == NULL) return -1;
  *result = fh_any_object(n);
  return 0;
}

/* A type with __ffi_new__, and a field whose default is 7. */
static inline int32_t graph_node_type(void) {
  int32_t type_index = fh_type_find_key(text_of("test.graph.Node"));
  if (type_index >= 0) return type_index;
  type_index = test_add_child("test.graph.Node", kTVMFFIObject, 0);
  node_add_field(type_index, "left", (int64_t)offsetof(node, left), kTVMFFIAny, 0);
  node_add_field(type_index, "a right side", (int64_t)offsetof(node, right), kTVMFFIAny, 0);
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
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

#define NODE_TEXT                                                                                                     \
  "{\"root_index\":3,\"nodes\":[{\"type\":\"None\"},{\"type\":\"float\",\"data\":0.5},{\"type\":\"test.graph.Node\"," \
  "\"data\":{\"left\":0,\"a right side\":1,\"tag\":-3}},{\"type\":\"test.graph.Node\",\"data\":{\"left\":2,"          \
  "\"a right side\":2,\"tag\":4}}]}"

#define GRAPH(nodes) "{\"root_index\":0,\"nodes\":[" nodes "]}"
#define NODE(type, data) "{\"type\":\"" type "\",\"data\":" data "}"

/* ---- Types with hooks: Functions, then native functions ---- */

static inline int tag_to_json(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  expect_int(n_args, 1);
  int64_t tag = as_node(args[0])->tag;
  if (tag < 0) return fh_error_raise("ValueError", "a hook refuses %lld", (long long)tag);
  *result = make_map(raw("the tag"), i64(tag));
  return 0;
}

static inline int32_t hooked_type(void);

static inline int tag_from_json(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
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

static inline int32_t hooked_type(void) {
  int32_t type_index = fh_type_find_key(text_of("test.graph.Hooked"));
  if (type_index >= 0) return type_index;
  type_index = node_type("test.graph.Hooked", 0, 0, 0);
  node_add_hook(type_index, "__data_to_json__", tag_to_json);
  node_add_hook(type_index, "__data_from_json__", tag_from_json);
  return type_index;
}

static inline TVMFFIAny native_error(const char *message) {
  fh_error_raise("ValueError", "%s", message);
  return fh_any_object(fh_error_take());
}

static inline TVMFFIAny native_to_json(TVMFFIAny value) {
  return as_node(value)->tag < 0 ? native_error("a native hook refuses") : i64(as_node(value)->tag);
}

static inline int32_t native_type(void);

static inline TVMFFIAny native_from_json(TVMFFIAny data) {
  if (data.type_index != kTVMFFIInt) return native_error("a native hook wants an int");
  return make_node(native_type(), none(), none(), data.v_int64);
}

static inline int32_t native_type(void) {
  int32_t type_index = fh_type_find_key(text_of("test.graph.Native"));
  if (type_index >= 0) return type_index;
  type_index = node_type("test.graph.Native", 0, 0, 0);
  TVMFFIByteArray to = text_of("__data_to_json__"), from = text_of("__data_from_json__");
  TVMFFIAny to_hook = fh_any_ptr((void *)(uintptr_t)native_to_json);
  TVMFFIAny from_hook = fh_any_ptr((void *)(uintptr_t)native_from_json);
  expect_int(TVMFFITypeRegisterAttr(type_index, &to, &to_hook), 0);
  expect_int(TVMFFITypeRegisterAttr(type_index, &from, &from_hook), 0);
  return type_index;
}

#endif /* TEST_GRAPHS_H_ */
