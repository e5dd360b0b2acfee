/* test_sequence.c - containers between Python and bound libraries. */
#include "core/bind/sequence.h"

#include "core/bind/api.h"
#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/object/object.h"
#include "core/object/type.h"
#include "support/calls.h"
#include "support/harness.h"

static TVMFFISeqCell *cell_of(void *object) { return (TVMFFISeqCell *)((TVMFFIObject *)object + 1); }

static void append(void *object, TVMFFIAny item) {
  TVMFFISeqCell *cell = cell_of(object);
  ((TVMFFIAny *)cell->data)[cell->size++] = item;
}

static TVMFFIAny view_of(TVMFFIObjectHandle object) {
  TVMFFIAny value = {0};
  value.type_index = ((TVMFFIObject *)object)->type_index;
  value.v_obj = (TVMFFIObject *)object;
  return value;
}

static TVMFFIAny container(uint32_t kind, int64_t n) {
  TVMFFIObjectHandle made = NULL;
  expect_int(fh_sequence_init(), 0);
  expect_int(fh_api_table.container_new(kind, (size_t)n, &made), 0);
  for (int64_t i = 0; i < n; ++i) append(made, i64(i));
  return view_of(made);
}

/* The number of items that a bound function reads from a value; -1 if the value does not fit. */
static int64_t count(const TVMFFIAny *value, uint32_t flags) {
  TVMFFIAny items;
  expect_int(fh_api_table.container_items(value, flags, &items), 0);
  if (items.type_index == kTVMFFINone) return -1;
  int64_t n = cell_of(items.v_obj)->size;
  fh_object_release(items.v_obj);
  return n;
}

TEST(each_kind_is_read_as_its_own_kind) {
  for (uint32_t kind = 0; kind < kFfiHpyNumContainers; ++kind) {
    TVMFFIAny value = container(kind, 4);
    expect_int(count(&value, 0), kind == kFfiHpyDict || kind == kFfiHpySet ? -1 : 4);
    expect_int(count(&value, kFfiHpyCastConvert), kind == kFfiHpyDict ? -1 : 4);
    expect_int(count(&value, FFI_HPY_PAIRS), kind == kFfiHpyDict ? 4 : -1);
    fh_object_release(value.v_obj);
  }
  expect(fh_type_find_key(fh_base_bytes("ffi_hpy.List")) >= kTVMFFIDynObjectBegin);
}

TEST(native_containers_are_read) {
  TVMFFIAny pair[4] = {i64(1), i64(2), i64(3), i64(4)};
  static const char *const maps[] = {"ffi.Map", "ffi.Dict"}, *const sequences[] = {"ffi.Array", "ffi.List"};
  for (int i = 0; i < 2; ++i) {
    TVMFFIAny map = call_ok(maps[i], pair, 4), sequence = call_ok(sequences[i], pair, 4);
    expect_int(count(&map, FFI_HPY_PAIRS), 4);
    expect_int(count(&map, kFfiHpyCastConvert), -1);
    expect_int(count(&sequence, 0), 4);
    expect_int(count(&sequence, FFI_HPY_PAIRS), -1);
    fh_object_release(map.v_obj);
    fh_object_release(sequence.v_obj);
  }
  expect_int(count(&pair[0], kFfiHpyCastConvert), -1);
}

static int make_and_read(void *state) {
  (void)state;
  TVMFFIObjectHandle made = NULL;
  TVMFFIAny items, pair[2] = {i64(1), i64(2)}, map;
  if (fh_api_table.container_new(kFfiHpyTuple, 3, &made) != 0) return -1;
  fh_object_release(made);
  if (call_n("ffi.Dict", pair, 2, &map) != 0) return -1;
  int rc = fh_api_table.container_items(&map, FFI_HPY_PAIRS, &items);
  if (rc == 0) fh_object_release(items.v_obj);
  fh_object_release(map.v_obj);
  return rc;
}

TEST(containers_without_memory) {
  expect_int(fh_sequence_init(), 0);
  test_sweep(make_and_read, NULL);
}

/* A list of a set of 0, and a dict from 0 to a tuple of 0. */
static int make_nested(TVMFFIAny *out) {
  TVMFFIObjectHandle parts[4] = {NULL};
  static const uint32_t kinds[4] = {kFfiHpySet, kFfiHpyTuple, kFfiHpyDict, kFfiHpyList};
  int rc = 0;
  for (int i = 0; rc == 0 && i < 4; ++i) rc = fh_api_table.container_new(kinds[i], 2, &parts[i]);
  if (rc != 0) {
    for (int i = 0; i < 4; ++i) fh_object_release(parts[i]);
    return rc;
  }
  append(parts[0], i64(0));
  append(parts[1], i64(0));
  append(parts[2], i64(0));
  append(parts[2], view_of(parts[1]));
  append(parts[3], view_of(parts[0]));
  append(parts[3], view_of(parts[2]));
  *out = view_of(parts[3]);
  return 0;
}

static int make_native(void *state) {
  (void)state;
  TVMFFIAny value;
  if (make_nested(&value) != 0) return -1;
  int rc = fh_sequence_make_native(&value);
  if (rc != 0) expect_int(value.type_index, kTVMFFINone);
  fh_any_drop(&value);
  return rc;
}

TEST(other_languages_get_arrays_and_maps) {
  TVMFFIAny value, number = i64(3);
  expect_int(fh_sequence_init(), 0);
  expect_int(make_nested(&value), 0);
  expect_int(fh_sequence_make_native(&value), 0);
  expect_int(value.type_index, kTVMFFIArray);
  const TVMFFIAny *items = fh_seq_items((fh_seq_object *)(void *)value.v_obj);
  expect_int(items[0].type_index, kTVMFFIArray);
  expect_int(fh_object_type_index(items[0].v_obj), kTVMFFIArray);
  expect_int(items[1].type_index, kTVMFFIMap);
  const fh_hashmap_object *map = (const fh_hashmap_object *)(const void *)items[1].v_obj;
  expect_int((int64_t)map->size, 1);
  expect_int(fh_hashmap_at(map, fh_hashmap_begin(map))->value.type_index, kTVMFFIArray);
  expect_int(fh_sequence_make_native(&value), 0); /* again */
  expect_int(value.type_index, kTVMFFIArray);
  fh_any_drop(&value);
  expect_int(fh_sequence_make_native(&number), 0);
  expect_int(number.v_int64, 3);
}

TEST(containers_that_are_too_deep_for_the_stack_stay_as_they_are) {
  enum { DEPTH = 1000 };
  expect_int(fh_sequence_init(), 0);
  TVMFFIAny value = i64(0);
  for (int i = 0; i < DEPTH; ++i) {
    TVMFFIObjectHandle outer;
    expect_int(fh_api_table.container_new(kFfiHpyList, 1, &outer), 0);
    append(outer, value);
    value = view_of(outer);
  }
  expect_int(fh_sequence_make_native(&value), 0);
  int n_arrays = 0;
  const TVMFFIAny *each = &value;
  while (each->type_index == kTVMFFIArray) {
    ++n_arrays;
    each = fh_seq_items((fh_seq_object *)(void *)each->v_obj);
  }
  expect(n_arrays > 50 && n_arrays < DEPTH);
  expect_int(count(each, 0), 1);
  fh_any_drop(&value);
}

TEST(a_container_with_another_owner_stays_as_it_is) {
  TVMFFIAny kept, value;
  expect_int(fh_sequence_init(), 0);
  expect_int(make_nested(&kept), 0);
  fh_any_copy(&kept, &value);
  expect_int(fh_sequence_make_native(&value), 0);
  expect_int(value.type_index, kTVMFFIArray);
  expect(value.v_obj != kept.v_obj);
  expect_int(count(&kept, 0), 2);
  const TVMFFIAny *items = fh_seq_items((fh_seq_object *)(void *)kept.v_obj);
  expect_int(count(&items[1], FFI_HPY_PAIRS), 2);
  fh_any_drop(&value);
  fh_any_drop(&kept);
}

TEST(arrays_and_maps_without_memory) {
  expect_int(fh_sequence_init(), 0);
  test_sweep(make_native, NULL);
}
