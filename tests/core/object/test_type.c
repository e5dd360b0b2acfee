/* test_type.c - the type registry: keys, indices, ancestry. */
#include "core/object/type.h"

#include "core/object/error.h"
#include "support/harness.h"

static int32_t add(const char *key, int32_t static_index, int32_t depth, int32_t n_slots, int can_overflow,
                   int32_t parent) {
  TVMFFIByteArray key_text = text_of(key);
  return TVMFFITypeGetOrAllocIndex(&key_text, static_index, depth, n_slots, can_overflow, parent);
}

TEST(the_static_types_have_their_keys_and_parents) {
  static const struct {
    int32_t type_index;
    const char *key;
  } wanted[] = {{0, "None"},
                {1, "int"},
                {2, "bool"},
                {3, "float"},
                {4, "void*"},
                {5, "DataType"},
                {6, "Device"},
                {7, "DLTensor*"},
                {8, "const char*"},
                {9, "TVMFFIByteArray*"},
                {10, "ObjectRValueRef"},
                {11, "ffi.SmallStr"},
                {12, "ffi.SmallBytes"},
                {13, "ffi.Unchanged"},
                {64, "ffi.Object"},
                {65, "ffi.String"},
                {66, "ffi.Bytes"},
                {67, "ffi.Error"},
                {68, "ffi.Function"},
                {69, "ffi.Shape"},
                {70, "ffi.Tensor"},
                {71, "ffi.Array"},
                {72, "ffi.Map"},
                {73, "ffi.Module"},
                {74, "ffi.OpaquePyObject"},
                {75, "ffi.List"},
                {76, "ffi.Dict"},
                {77, "ffi.VisitInterrupt"},
                {78, "ffi.BigInt"}};
  for (size_t i = 0; i < FH_COUNT_OF(wanted); ++i) {
    const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(wanted[i].type_index);
    TVMFFIByteArray key = text_of(wanted[i].key);
    int32_t type_index = -5;
    expect(info != NULL);
    expect_text(info->type_key, wanted[i].key);
    expect_int(info->type_index, wanted[i].type_index);
    expect_int(info->type_depth, wanted[i].type_index > 64);
    if (wanted[i].type_index > 64) expect(info->type_ancestors[0] == TVMFFIGetTypeInfo(kTVMFFIObject));
    expect_int(TVMFFITypeKeyToIndex(&key, &type_index), 0);
    expect_int(type_index, wanted[i].type_index);
  }
  expect_int(TVMFFIGetTypeInfo(kTVMFFIObject)->metadata->total_size, 24);
}

TEST(an_index_of_no_type_has_no_info) {
  static const int32_t indices[] = {-1, -2, 14, 63, 79, 127, 1 << 20, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < FH_COUNT_OF(indices); ++i) expect(TVMFFIGetTypeInfo(indices[i]) == NULL);
  expect(!fh_error_is_pending());
  expect_int(strcmp(fh_type_name(-1), "<unknown type>"), 0);
}

TEST(an_unknown_key_is_an_error) {
  TVMFFIByteArray key = text_of("test.type.Missing"), empty = {NULL, 0};
  int32_t type_index = 7;
  expect_int(TVMFFITypeKeyToIndex(&key, &type_index), -1);
  expect_raised("RuntimeError", "Cannot find type `test.type.Missing`");
  expect_int(type_index, 7);
  expect_int(TVMFFITypeKeyToIndex(&empty, &type_index), -1);
  expect_raised("RuntimeError", "Cannot find type ``");
}

TEST(asking_only_registers_nothing) {
  expect_int(add("test.type.OnlyAsked", -1, 0, 0, 0, -2), -2);
  expect(!fh_error_is_pending());
  expect_int(add("ffi.Object", -1, 0, 0, 0, -2), 64);
}

TEST(a_key_that_is_registered_gives_its_index) {
  int32_t type_index = add("test.type.Twice", -1, 1, 0, 1, kTVMFFIObject);
  expect(type_index >= kTVMFFIDynObjectBegin);
  expect_int(add("test.type.Twice", 5, 9, -3, 0, 123456), type_index);
  expect(TVMFFIGetTypeInfo(type_index) == TVMFFIGetTypeInfo(type_index));
}

TEST(ancestors_are_listed_from_the_root) {
  int32_t a = add("test.type.A", -1, 1, 0, 1, kTVMFFIObject), b = add("test.type.B", -1, 2, 0, 1, a);
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(b);
  expect_int(info->type_depth, 2);
  expect(info->type_ancestors[0] == TVMFFIGetTypeInfo(kTVMFFIObject));
  expect(info->type_ancestors[1] == TVMFFIGetTypeInfo(a));
  expect(fh_type_is_instance(b, a) && fh_type_is_instance(b, kTVMFFIObject) && fh_type_is_instance(b, b));
  expect(!fh_type_is_instance(a, b));
  expect(!fh_type_is_instance(b, kTVMFFIError));
  expect(!fh_type_is_instance(kTVMFFIInt, kTVMFFIObject));
  expect(!fh_type_is_instance(-1, kTVMFFIObject) && !fh_type_is_instance(b, 1 << 30));
  expect(b < fh_type_end());
}

TEST(children_take_the_slots_reserved_for_them) {
  int32_t parent = add("test.type.Slots", -1, 1, 3, 1, kTVMFFIObject);
  int32_t first = add("test.type.Slots1", -1, 2, 1, 1, parent);
  expect_int(first, parent + 1);
  expect_int(add("test.type.Slots11", -1, 3, 0, 1, first), parent + 2);
  expect_int(add("test.type.Slots2", -1, 2, 0, 1, parent), parent + 3);
  int32_t beyond = add("test.type.Slots3", -1, 2, 0, 1, parent);
  expect(beyond > parent + 3);
  expect(fh_type_is_instance(beyond, parent));
  expect(add("test.type.Slots12", -1, 3, 0, 1, first) > beyond);
}

TEST(a_type_that_cannot_overflow_refuses_further_children) {
  int32_t parent = add("test.type.Closed", -1, 1, 1, 0, kTVMFFIObject);
  int32_t child = add("test.type.Closed1", -1, 2, 0, 1, parent);
  expect_int(child, parent + 1);
  expect_int(add("test.type.Closed2", -1, 2, 0, 1, parent), -1);
  expect_raised("RuntimeError",
                "Cannot register type `test.type.Closed2`: reached the number of sub-classes of `test.type.Closed`");
  expect_int(add("test.type.Closed11", -1, 3, 0, 1, child), -1); /* it has the parent's limit */
  expect_raised("RuntimeError", "sub-classes of `test.type.Closed1`");
  expect_int(add("test.type.String", -1, 2, 0, 1, kTVMFFIStr), -1);
  expect_raised("RuntimeError", "sub-classes of `ffi.String`");
}

TEST(a_free_static_index_can_be_taken_once) {
  expect_int(add("test.type.Static", 100, 1, 0, 1, kTVMFFIObject), 100);
  expect_int(add("test.type.Static2", 100, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "static index 100 with 0 child slots overlaps with those of `test.type.Static`");
  expect_int(add("test.type.Plain", 20, 0, 0, 0, -1), 20);
}

/* The indices that compiled libraries are known to choose: 113 to 118, children of ffi.Object without slots. */
TEST(static_indices_below_the_dynamic_ones_may_have_child_slots) {
  expect_int(add("test.type.Low", 120, 1, 2, 1, kTVMFFIObject), 120);
  expect_int(add("test.type.Low1", -1, 2, 0, 1, 120), 121);
  expect_int(add("test.type.Low2", 122, 2, 0, 1, 120), 122);
  expect_int(add("test.type.LowMore", 118, 1, 1, 1, kTVMFFIObject), 118);
  expect_int(add("test.type.LowMet", 119, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "static index 119 with 0 child slots overlaps with those of `test.type.LowMore`");
  expect_int(add("test.type.LowMet", 117, 1, 1, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "static index 117 with 1 child slots overlaps with those of `test.type.LowMore`");
  expect_int(add("test.type.LowMet", 127, 1, 1, 1, kTVMFFIObject), -1); /* 128 is the first dynamic one */
  expect_raised("RuntimeError", "static index 127 with 1 child slots overlaps with those of `");
  expect_int(add("test.type.LowMet", 63, 0, 1, 1, -1), -1);
  expect_raised("RuntimeError", "overlaps with those of `ffi.Object`");
}

TEST(a_static_index_in_slots_that_another_type_reserved_is_refused) {
  int32_t parent = add("test.type.Reserver", -1, 1, 10, 1, kTVMFFIObject);
  expect_int(add("test.type.Stranger", parent + 5, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "with 0 child slots overlaps with those of `test.type.Reserver`");
  /* A descendant's index may be there if all its slots are, too. Slots of its siblings are not available to it. */
  expect_int(add("test.type.Inside", parent + 6, 2, 2, 1, parent), parent + 6);
  expect_int(add("test.type.Inside1", -1, 3, 0, 1, parent + 6), parent + 7);
  expect_int(add("test.type.Sibling", parent + 8, 2, 0, 1, parent), -1);
  expect_raised("RuntimeError", "overlaps with those of `test.type.Inside`");
  expect_int(add("test.type.Sibling", parent + 4, 2, 2, 1, parent), -1);
  expect_raised("RuntimeError", "with 2 child slots overlaps with those of `test.type.Inside`");
  expect_int(add("test.type.Inside2", parent + 8, 3, 0, 1, parent + 6), parent + 8);
  /* Slots beyond the parent's range: in another type's range, or above all used indices. */
  int32_t next = add("test.type.Behind", -1, 1, 10, 1, kTVMFFIObject);
  expect_int(next, parent + 11);
  expect_int(add("test.type.Reaching", parent + 10, 2, 1, 1, parent), -1);
  expect_raised("RuntimeError", "with 1 child slots overlaps with those of `test.type.Behind`");
  expect_int(add("test.type.Reaching", next + 5, 2, 6, 1, next), -1);
  expect_raised("RuntimeError", "child slots lie beyond the indices in use");
  expect_int(add("test.type.Reaching", next + 5, 2, (1 << 21) - 1, 1, next), -1);
  expect_raised("RuntimeError", "child slots lie beyond the indices in use");
}

TEST(no_index_is_given_twice) {
  int32_t parent = add("test.type.Once", -1, 1, 4, 1, kTVMFFIObject);
  int32_t chosen = add("test.type.Chosen", parent + 2, 2, 2, 1, parent);
  int32_t indices[] = {parent,
                       chosen,
                       add("test.type.OnceA", -1, 2, 0, 1, parent),
                       add("test.type.OnceB", -1, 2, 0, 1, parent), /* its slot is taken, so it gets an index of the
                                                                     * global pool */
                       add("test.type.ChosenA", -1, 3, 0, 1, chosen),
                       add("test.type.ChosenB", -1, 3, 0, 1, chosen),
                       add("test.type.ChosenC", -1, 3, 0, 1, chosen),
                       add("test.type.OnceOther", -1, 1, 0, 1, kTVMFFIObject)};
  static const char *const keys[] = {"test.type.Once",    "test.type.Chosen",   "test.type.OnceA",
                                     "test.type.OnceB",   "test.type.ChosenA",  "test.type.ChosenB",
                                     "test.type.ChosenC", "test.type.OnceOther"};
  for (size_t i = 0; i < FH_COUNT_OF(indices); ++i) {
    expect(indices[i] > 0 && indices[i] < fh_type_end());
    expect_text(TVMFFIGetTypeInfo(indices[i])->type_key, keys[i]);
  }
}

TEST(impossible_registrations_are_errors) {
  int32_t a = add("test.type.A", -1, 1, 0, 1, kTVMFFIObject);
  expect_int(add("", -1, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "its key is empty");
  expect_int(add("test.type.Bad", -1, 1, 0, 1, 99999), -1);
  expect_raised("RuntimeError", "its parent's index belongs to no type");
  expect_int(add("test.type.Bad", -1, 3, 0, 1, a), -1);
  expect_raised("RuntimeError", "expected depth 2 but got 3");
  expect_int(add("test.type.Bad", -1, 0, 0, 1, -1), -1);
  expect_raised("RuntimeError", "neither a parent nor a static index");
  expect_int(add("test.type.Bad", -1, 1, -1, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "its number of child slots");
  expect_int(add("test.type.Bad", -1, 1, INT32_MAX, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "its number of child slots");
  expect_int(add("test.type.Bad", -1, 1, (1 << 21) - 2, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "no type indices are left");
  expect_int(add("test.type.Bad", 1 << 19, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "beyond the indices in use");
  expect_int(add("test.type.Bad", 30, 1, 0, 1, kTVMFFIObject), -1);
  expect_raised("RuntimeError", "larger than its parent's");
  expect_int(add("test.type.Bad", -1, 0, 0, 0, -2), -2);
}

TEST(a_key_is_copied) {
  char key[] = {'t', '.', 'k'};
  TVMFFIByteArray text = {key, 3};
  int32_t type_index = TVMFFITypeGetOrAllocIndex(&text, -1, 1, 0, 1, kTVMFFIObject);
  key[2] = 'l';
  expect(TVMFFITypeGetOrAllocIndex(&text, -1, 1, 0, 1, kTVMFFIObject) != type_index);
  expect_text(TVMFFIGetTypeInfo(type_index)->type_key, "t.k");
}

static int add_fresh(void *counter) {
  char key[64];
  snprintf(key, sizeof(key), "test.type.Sweep%d", ++*(int *)counter);
  return add(key, -1, 1, 0, 1, kTVMFFIObject) >= 0 ? 0 : -1;
}

TEST(a_type_that_finds_no_memory_is_not_registered) {
  int counter = 0;
  for (int i = 0; i < 200; ++i) test_sweep(add_fresh, &counter); /* often enough to grow the key table */
  expect_int(add("test.type.Sweep1", -1, 1, 0, 1, -2), -2);
}

TEST(an_error_from_before_stays_pending_over_a_registration) {
  fh_error_raise(FH_VALUE_ERROR, "from before");
  expect(add("test.type.Over", -1, 1, 0, 1, kTVMFFIObject) > 0);
  expect_raised("ValueError", "from before");
}

enum { N_TYPES = 300, N_THREADS = 4 };

static void register_all(void *raw, int i) {
  int32_t *indices = (int32_t *)raw + i * N_TYPES;
  for (int n = 0; n < N_TYPES; ++n) {
    char key[64];
    snprintf(key, sizeof(key), "test.type.Race%d", n);
    indices[n] = add(key, -1, 1, 0, 1, kTVMFFIObject);
    const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(indices[n]);
    expect_text(info->type_key, key);
    expect(info->type_ancestors[0]->type_index == kTVMFFIObject);
  }
}

TEST(threads_that_register_the_same_keys_get_the_same_indices) {
  static int32_t indices[N_THREADS][N_TYPES];
  test_threads(N_THREADS, register_all, indices);
  for (int n = 0; n < N_TYPES; ++n) {
    for (int i = 1; i < N_THREADS; ++i) expect_int(indices[i][n], indices[0][n]);
    if (n > 0) expect(indices[0][n] != indices[0][n - 1]);
  }
}
