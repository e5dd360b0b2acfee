/* records.h - reflected objects of a given structural kind, with two fields `a` and `b` of any type. */
#ifndef TEST_RECORDS_H_
#define TEST_RECORDS_H_

#include "core/fields/create.h"
#include "core/fields/field.h"
#include "core/object/function.h"

#include "support/nodes.h"

typedef struct {
  TVMFFIObject header;
  TVMFFIAny a, b;
} record_object;

/* Returns the type of that key, registered at the first call; the flags are those of its two fields. */
static inline int32_t record_type(const char *key, TVMFFISEqHashKind kind, int64_t a_flags, int64_t b_flags) {
  int32_t type_index = fh_type_find_key(text_of(key));
  TVMFFITypeMetadata metadata;
  if (type_index >= 0) return type_index;
  type_index = test_add_child(key, kTVMFFIObject, 0);
  node_add_field(type_index, "a", (int64_t)offsetof(record_object, a), kTVMFFIAny, a_flags);
  node_add_field(type_index, "b", (int64_t)offsetof(record_object, b), kTVMFFIAny, b_flags);
  memset(&metadata, 0, sizeof(metadata));
  metadata.total_size = sizeof(record_object);
  metadata.structural_eq_hash_kind = kind;
  expect_int(TVMFFITypeRegisterMetadata(type_index, &metadata), 0);
  expect_int(fh_record_register(type_index, sizeof(record_object)), 0);
  test_keeps(RECORD_TYPE_BLOCKS);
  return type_index;
}

/* Makes an object and steals a and b. */
static inline TVMFFIAny record_of(int32_t type_index, TVMFFIAny a, TVMFFIAny b) {
  record_object *record = (record_object *)(void *)fh_create_empty(fh_type_find(type_index));
  expect(record != NULL);
  record->a = a;
  record->b = b;
  return obj(record);
}
static inline record_object *as_record(TVMFFIAny value) { return (record_object *)(void *)value.v_obj; }

static inline void drop(TVMFFIAny value) { fh_any_drop(&value); }

/* Makes an owned string. */
static inline TVMFFIAny str(const char *text) {
  TVMFFIAny any;
  expect_int(fh_str_from_cstr(text, &any), 0);
  return any;
}

/* Makes a Function with a state, None for NULL; the caller drops the Function. */
static inline TVMFFIAny function_of(TVMFFISafeCallType call, void *state) {
  static TVMFFIAny nothing;
  TVMFFIObjectHandle func;
  expect_int(fh_function_new(state != NULL ? state : &nothing, call, NULL, &func), 0);
  return obj(func);
}

#endif /* TEST_RECORDS_H_ */
