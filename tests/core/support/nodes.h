/* nodes.h - nested values for tests: reflected nodes, sequences and maps made in one line. */
#ifndef TEST_NODES_H_
#define TEST_NODES_H_

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/fields/field.h"
#include "core/object/any.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

#include "core/object/any_own.h"
#include "core/object/object_new.h"
#include "support/calls.h"

/* A reflected object with two values and a number. */
typedef struct {
  TVMFFIObject header;
  TVMFFIAny left;
  TVMFFIAny right;
  int64_t tag;
} node;

static inline void node_delete(void *self, int flags) {
  node *n = (node *)self;
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    fh_any_drop(&n->left);
    fh_any_drop(&n->right);
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) fh_mem_free(n);
}

static inline int node_set_any(void *field, const TVMFFIAny *value) {
  TVMFFIAny owned;
  if (fh_any_own(value, &owned) != 0) return -1;
  fh_any_drop((TVMFFIAny *)field);
  *(TVMFFIAny *)field = owned;
  return 0;
}

static inline int node_set_int(void *field, const TVMFFIAny *value) {
  *(int64_t *)field = value->v_int64;
  return 0;
}

static inline void node_add_field(int32_t type_index, const char *name, int64_t offset, int32_t field_type,
                                  int64_t flags) {
  TVMFFIFieldInfo field;
  memset(&field, 0, sizeof(field));
  field.name = text_of(name);
  field.flags = flags | kTVMFFIFieldFlagBitMaskWritable;
  field.offset = offset;
  field.field_static_type_index = field_type;
  field.setter = (void *)(uintptr_t)(field_type == kTVMFFIInt ? node_set_int : node_set_any);
  expect_int(fh_field_getter(field_type, &field.getter), 0);
  expect_int(TVMFFITypeRegisterField(type_index, &field), 0);
}

static inline int node_copy(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self;
  expect_int(n_args, 1);
  const node *from = (const node *)(const void *)args[0].v_obj;
  node *copy = (node *)fh_object_new(sizeof(*copy), args[0].type_index, node_delete);
  if (copy == NULL) return -1;
  fh_any_copy(&from->left, &copy->left);
  fh_any_copy(&from->right, &copy->right);
  copy->tag = from->tag;
  *result = fh_any_object(copy);
  return 0;
}

/* Adds an attribute to a type, whose value is a Function. */
static inline void node_add_hook(int32_t type_index, const char *name, TVMFFISafeCallType call) {
  TVMFFIByteArray attr = text_of(name);
  TVMFFIObjectHandle function;
  expect_int(TVMFFIFunctionCreate(NULL, call, NULL, &function), 0);
  TVMFFIAny value = fh_any_object(function);
  expect_int(TVMFFITypeRegisterAttr(type_index, &attr, &value), 0);
  fh_object_release(function);
  fh_mem_keep(function);
}

/* Adds a type of nodes; all such types have the same fields, with these flags. */
static inline int32_t node_type(const char *key, int64_t left_flags, int64_t right_flags, int64_t tag_flags) {
  int32_t type_index = test_add_child(key, kTVMFFIObject, 0);
  expect(type_index > 0);
  node_add_field(type_index, "left", (int64_t)offsetof(node, left), kTVMFFIAny, left_flags);
  node_add_field(type_index, "right", (int64_t)offsetof(node, right), kTVMFFIAny, right_flags);
  node_add_field(type_index, "tag", (int64_t)offsetof(node, tag), kTVMFFIInt, tag_flags);
  return type_index;
}

/* The plain type of nodes, which can be copied. */
static inline int32_t plain_node_type(void) {
  int32_t type_index = fh_type_find_key(text_of("test.Node"));
  if (type_index >= 0) return type_index;
  type_index = node_type("test.Node", 0, 0, 0);
  node_add_hook(type_index, "__ffi_shallow_copy__", node_copy);
  return type_index;
}

/* Makes a node and steals the two values. */
static inline TVMFFIAny make_node(int32_t type_index, TVMFFIAny left, TVMFFIAny right, int64_t tag) {
  node *n = (node *)fh_object_new(sizeof(*n), type_index, node_delete);
  expect(n != NULL);
  n->left = left;
  n->right = right;
  n->tag = tag;
  return fh_any_object(n);
}

static inline node *as_node(TVMFFIAny value) { return (node *)(void *)value.v_obj; }
static inline fh_seq_object *as_seq(TVMFFIAny value) { return (fh_seq_object *)(void *)value.v_obj; }
static inline fh_hashmap_object *as_map(TVMFFIAny value) { return (fh_hashmap_object *)(void *)value.v_obj; }

/* Returns one more reference to a value. */
static inline TVMFFIAny again(TVMFFIAny value) {
  TVMFFIAny copy;
  fh_any_copy(&value, &copy);
  return copy;
}

/* Makes an Array or List and steals the values (raw text becomes a string). */
static inline TVMFFIAny make_seq(int32_t type_index, const TVMFFIAny *items, int32_t n) {
  fh_seq_object *seq = fh_seq_from_views(type_index, items, n);
  expect(seq != NULL);
  for (int32_t i = 0; i < n; ++i) {
    TVMFFIAny item = items[i];
    fh_any_drop(&item);
  }
  return fh_any_object(seq);
}
#define make_array(...) make_seq(kTVMFFIArray, ARGS(__VA_ARGS__))
#define make_list(...) make_seq(kTVMFFIList, ARGS(__VA_ARGS__))

/* Makes a Map or Dict and steals the keys and values. */
static inline TVMFFIAny make_pairs(int32_t type_index, const TVMFFIAny *values, int32_t n) {
  fh_hashmap_object *map = fh_hashmap_new(type_index, (uint64_t)n / 2);
  expect(map != NULL);
  for (int32_t i = 0; i < n; i += 2) {
    expect_int(fh_hashmap_set_views(map, &values[i], &values[i + 1]), 0);
    TVMFFIAny key = values[i], value = values[i + 1];
    fh_any_drop(&key);
    fh_any_drop(&value);
  }
  return fh_any_object(map);
}
#define make_map(...) make_pairs(kTVMFFIMap, ARGS(__VA_ARGS__))
#define make_dict(...) make_pairs(kTVMFFIDict, ARGS(__VA_ARGS__))

static inline TVMFFIAny f64(double value) { return fh_any_float(value); }
static inline TVMFFIAny none(void) { return fh_any_none(); }

/* Puts a value inside `depth` sequences of one item each. */
static inline TVMFFIAny nest(int32_t seq_type, int64_t depth, TVMFFIAny core) {
  for (int64_t i = 0; i < depth; ++i) core = make_seq(seq_type, &core, 1);
  return core;
}

/* Drops values. */
static inline void drop_values(TVMFFIAny *values, int32_t n) {
  for (int32_t i = 0; i < n; ++i) fh_any_drop(&values[i]);
}
#define drop_all_of(...) drop_values(ARGS(__VA_ARGS__))

#endif /* TEST_NODES_H_ */
