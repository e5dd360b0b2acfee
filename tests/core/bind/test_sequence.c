/* test_sequence.c - containers between Python and bound libraries. */
#include "core/bind/sequence.h"

#include "core/bind/api.h"
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
