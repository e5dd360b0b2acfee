/* test_list.c - List and Dict objects with buffers that a client allocated and frees with its own function. */
#include "core/container/hashmap.h"
#include "core/container/list.h"

#include "support/calls.h"

static TVMFFIAny shared; /* the container that will own the next buffer */
static int n_freed;

/* Uses the container. This hangs if the caller holds the container's lock. */
static void free_and_look(void *data) {
  int is_list = shared.type_index == kTVMFFIList;
  n_freed += 1;
  call_int(is_list ? "ffi.ListSize" : "ffi.DictSize", ARGS(shared));
  free(data);
}

static void *copy_of(const void *data, size_t n_bytes) {
  void *copy = malloc(n_bytes);
  expect(copy != NULL);
  return memcpy(copy, data, n_bytes);
}

/* Makes a List of two items that fill a client's buffer. */
static void make_full_list(void) {
  shared = call_ok("ffi.List", ARGS(raw("a text longer than seven"), i64(2)));
  TVMFFISeqCell *cell = &((fh_seq_object *)shared.v_obj)->cell;
  void *data = copy_of(cell->data, 2 * sizeof(TVMFFIAny));
  cell->data_deleter(cell->data);
  cell->data = data;
  cell->capacity = 2;
  cell->data_deleter = free_and_look;
}

static void expect_freed(const char *function, const TVMFFIAny *args, int32_t n, const char *wanted) {
  n_freed = 0;
  call_int(function, args, n);
  expect_int(n_freed, 1);
  expect_repr(shared, wanted);
  fh_any_drop(&shared);
  expect_int(n_freed, 1);
}

TEST(a_list_lets_a_clients_buffer_go_when_it_is_not_locked) {
  make_full_list();
  expect_freed("ffi.ListAppend", ARGS(shared, i64(3)), "[\"a text longer than seven\", 2, 3]");
  make_full_list();
  expect_freed("ffi.ListInsert", ARGS(shared, i64(0), i64(3)), "[3, \"a text longer than seven\", 2]");
  make_full_list();
  expect_freed("ffi.ListReserve", ARGS(shared, i64(3)), "[\"a text longer than seven\", 2]");
  make_full_list();
  expect_freed("ffi.ListReplaceSlice", ARGS(shared, i64(1), i64(1), shared),
               "[\"a text longer than seven\", \"a text longer than seven\", 2, 2]");
}

TEST(a_slice_lets_a_clients_buffer_go_when_the_list_is_not_locked) {
  make_full_list();
  expect_freed("ffi_hpy.ListAssignSlice", ARGS(shared, i64(-1), fh_any_none(), i64(1), shared),
               "[\"a text longer than seven\", \"a text longer than seven\", 2]");
}

static void expect_list(const char *function, const TVMFFIAny *args, int32_t n, const char *wanted) {
  TVMFFIAny nothing = call_ok(function, args, n);
  expect_int(nothing.type_index, kTVMFFINone);
  expect_repr(args[0], wanted);
}

TEST(bounds_of_a_slice_count_as_in_python) {
  TVMFFIAny none = fh_any_none(), list = call_ok("ffi.List", ARGS(i64(0), i64(1), i64(2), i64(3), i64(4)));
  TVMFFIAny two = call_ok("ffi.Array", ARGS(raw("a text longer than seven"), i64(9)));
  expect_list("ffi_hpy.ListAssignSlice", ARGS(list, i64(-2), none, i64(1), two),
              "[0, 1, 2, \"a text longer than seven\", 9]");
  expect_list("ffi_hpy.ListAssignSlice", ARGS(list, none, i64(0), i64(-3), two),
              "[0, 9, 2, \"a text longer than seven\", "
              "\"a text longer than seven\"]");
  expect_list("ffi_hpy.ListEraseSlice", ARGS(list, none, none, i64(INT64_MIN)),
              "[0, 9, 2, \"a text longer than seven\"]");
  expect_list("ffi_hpy.ListEraseSlice", ARGS(list, i64(INT64_MIN), i64(INT64_MAX), i64(2)),
              "[9, \"a text longer than seven\"]");
  expect_list("ffi_hpy.ListEraseSlice", ARGS(list, i64(5), i64(1), i64(1)), "[9, \"a text longer than seven\"]");
  expect_list("ffi_hpy.ListAssignSlice", ARGS(list, i64(INT64_MAX), none, i64(1), list),
              "[9, \"a text longer than seven\", 9, \"a text longer than seven\"]");
  expect_call_raises("ValueError", "attempt to assign sequence of size 2 to extended slice of size 4",
                     "ffi_hpy.ListAssignSlice", ARGS(list, none, none, i64(-1), two));
  expect_call_raises("ValueError", "slice step cannot be zero", "ffi_hpy.ListEraseSlice",
                     ARGS(list, none, none, i64(0)));
  expect_call_raises("TypeError", "Expected `ffi.List` but got `int`", "ffi_hpy.ListAssignSlice",
                     ARGS(list, none, none, i64(1), i64(1)));
  fh_any_drop(&two);
  fh_any_drop(&list);
}

TEST(an_item_is_erased_only_if_it_is_the_one_that_was_seen) {
  TVMFFIAny list = call_ok("ffi.List", ARGS(raw("a text longer than seven"), i64(2)));
  TVMFFIAny seen = call_ok("ffi.Array", ARGS(raw("a text longer than seven"), i64(2)));
  expect_int(call_int("ffi_hpy.ListEraseSame", ARGS(list, i64(1), seen)), 1);
  expect_int(call_int("ffi_hpy.ListEraseSame", ARGS(list, i64(1), seen)), 0);
  call_int("ffi.ListInsert", ARGS(list, i64(0), i64(2)));
  expect_int(call_int("ffi_hpy.ListEraseSame", ARGS(list, i64(0), seen)), 0);
  expect_repr(list, "[2, \"a text longer than seven\"]");
  expect_call_raises("IndexError", "Index 2 out of bounds 2", "ffi_hpy.ListEraseSame", ARGS(list, i64(2), seen));
  fh_any_drop(&seen);
  fh_any_drop(&list);
}

TEST(a_list_that_is_too_short_lets_a_clients_buffer_be) {
  make_full_list();
  n_freed = 0;
  expect_call_raises("IndexError", "Index 3 out of bounds [0, 2]", "ffi.ListInsert", ARGS(shared, i64(3), i64(0)));
  expect_call_raises("IndexError", "Range [1, 3) out of bounds 2", "ffi.ListReplaceSlice",
                     ARGS(shared, i64(1), i64(3), shared));
  expect_call_raises("MemoryError", "Out of memory", "ffi.ListReserve", ARGS(shared, i64(INT64_MAX)));
  expect_int(n_freed, 0);
  ((fh_seq_object *)shared.v_obj)->cell.data_deleter = free;
  fh_any_drop(&shared);
}

/* Makes a Dict of the numbers below n with a client's table. */
static void make_full_dict(int n) {
  shared = call_ok("ffi.Dict", NO_ARGS);
  for (int i = 0; i < n; ++i) call_int("ffi.DictSetItem", ARGS(shared, i64(i), i64(i)));
  fh_hashmap_object *dict = (fh_hashmap_object *)shared.v_obj;
  size_t n_bytes = fh_hashmap_is_small(dict)
                       ? (size_t)n * sizeof(fh_hashmap_pair)
                       : (size_t)(dict->slots + 15) / FH_HASHMAP_BLOCK_SLOTS * sizeof(fh_hashmap_block);
  void *data = copy_of(dict->data, n_bytes);
  if (dict->data_deleter != NULL) dict->data_deleter(dict->data);
  dict->data = data;
  dict->data_deleter = free_and_look;
}

TEST(a_dict_lets_a_clients_table_go_when_it_is_not_locked) {
  static const int sizes[] = {2, 4, 8, 16, 64}; /* a small table grows, then becomes dense; a dense table grows */
  for (size_t k = 0; k < FH_COUNT_OF(sizes); ++k) {
    int n = sizes[k];
    make_full_dict(n);
    n_freed = 0;
    for (int i = n; n_freed == 0 && i < 4 * n; ++i) call_int("ffi.DictSetItem", ARGS(shared, i64(i), i64(i)));
    expect_int(n_freed, 1);
    expect(fh_hashmap_is_valid((fh_hashmap_object *)shared.v_obj));
    for (int i = 0; i < n; ++i) expect_int(call_int("ffi.DictGetItem", ARGS(shared, i64(i))), i);
    fh_any_drop(&shared);
    expect_int(n_freed, 1);
  }
}
