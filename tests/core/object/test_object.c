/* test_object.c - lifetime of objects: references, weak references, opaque objects, the custom allocator. */
#include "core/object/error.h"
#include "core/object/object.h"
#include "core/object/object_new.h"
#include "core/platform/mem.h"
#include "support/harness.h"

/* An object that records the flags of its deleter calls. */
typedef struct {
  TVMFFIObject header;
  int *flags_seen;
  int n_calls;
} recording_object;

static void record(void *self, int flags) {
  recording_object *object = (recording_object *)self;
  *object->flags_seen = *object->flags_seen * 10 + flags; /* 12: first Strong, then Weak */
  fh_object_delete_plain(self, flags);
}

static recording_object *recording_new(int *flags_seen) {
  recording_object *object = (recording_object *)fh_object_new(sizeof(*object), kTVMFFIObject, record);
  object->flags_seen = flags_seen;
  return object;
}

TEST(a_new_object_has_one_strong_and_one_weak_reference) {
  int flags_seen = 0;
  recording_object *object = recording_new(&flags_seen);
  expect(object->header.combined_ref_count == (((uint64_t)1 << 32) | 1));
  expect_int(object->header.type_index, kTVMFFIObject);
  expect_int(object->header.__padding, 0);
  expect_int(TVMFFIObjectDecRef(object), 0);
  expect_int(flags_seen, kTVMFFIObjectDeleterFlagBitMaskBoth);
}

TEST(an_object_ends_with_its_last_strong_reference) {
  int flags_seen = 0;
  recording_object *object = recording_new(&flags_seen);
  expect_int(TVMFFIObjectIncRef(object), 0);
  expect_int(fh_object_use_count(object), 2);
  TVMFFIObjectDecRef(object);
  expect_int(flags_seen, 0);
  TVMFFIObjectDecRef(object);
  expect_int(flags_seen, 3);
}

TEST(releasing_null_does_nothing) { expect_int(TVMFFIObjectDecRef(NULL), 0); }

TEST(a_weak_reference_keeps_the_memory_but_not_the_value) {
  int flags_seen = 0;
  recording_object *object = recording_new(&flags_seen);
  fh_object_weak_retain(object);
  fh_object_release(object);
  expect_int(flags_seen, 1);
  expect_int(test_promote(object), 0);
  fh_object_weak_release(object);
  expect_int(flags_seen, 12);
}

TEST(a_weak_reference_can_be_promoted_while_the_value_lives) {
  int flags_seen = 0;
  recording_object *object = recording_new(&flags_seen);
  fh_object_weak_retain(object);
  expect_int(test_promote(object), 1);
  expect_int(fh_object_use_count(object), 2);
  fh_object_release(object);
  fh_object_weak_release(object);
  expect_int(flags_seen, 0);
  fh_object_release(object);
  expect_int(flags_seen, 3);
}

TEST(an_object_without_a_deleter_is_not_deleted) {
  TVMFFIObject object;
  fh_object_init(&object, kTVMFFIObject, NULL);
  fh_object_weak_retain(&object);
  fh_object_release(&object);
  fh_object_weak_release(&object);
  expect_int(object.combined_ref_count, 0);
}

/* ---- Opaque objects ---- */

static void add_one(void *handle) { ++*(int *)handle; }

TEST(an_opaque_object_carries_its_handle_and_ends_it) {
  int ends = 0;
  TVMFFIObjectHandle opaque;
  expect_int(TVMFFIObjectCreateOpaque(&ends, kTVMFFIOpaquePyObject, add_one, &opaque), 0);
  expect_int(TVMFFIObjectGetTypeIndex(opaque), kTVMFFIOpaquePyObject);
  expect(TVMFFIOpaqueObjectGetCellPtr(opaque)->handle == &ends);
  TVMFFIObjectDecRef(opaque);
  expect_int(ends, 1);
}

TEST(an_opaque_object_needs_no_deleter) {
  TVMFFIObjectHandle opaque;
  expect_int(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &opaque), 0);
  TVMFFIObjectDecRef(opaque);
}

TEST(an_opaque_object_of_another_type_is_refused) {
  int ends = 0;
  TVMFFIObjectHandle opaque = &ends;
  expect_int(TVMFFIObjectCreateOpaque(&ends, kTVMFFIObject, add_one, &opaque), -1);
  expect_raised("RuntimeError", "kTVMFFIOpaquePyObject) but got 64");
  expect(opaque == NULL);
  expect_int(ends, 0);
}

static int make_opaque(void *ends) {
  TVMFFIObjectHandle opaque;
  if (TVMFFIObjectCreateOpaque(ends, kTVMFFIOpaquePyObject, add_one, &opaque) != 0) return -1;
  return TVMFFIObjectDecRef(opaque);
}

TEST(an_opaque_object_that_finds_no_memory_leaves_the_handle_alone) {
  int ends = 0;
  test_sweep(make_opaque, &ends);
  expect_int(ends, 1); /* only through the successful call */
}

/* ---- The custom allocator ---- */

TEST(the_builtin_allocator_puts_its_header_before_the_object) {
  TVMFFICustomAllocator *allocator = TVMFFIGetCustomAllocator();
  for (size_t alignment = 1; alignment <= 256; alignment *= 2) {
    char *ptr = (char *)allocator->allocate(100, alignment, kTVMFFIObject, allocator->context);
    expect_int((uintptr_t)ptr % alignment, 0);
    memset(ptr, 7, 100);
    ((TVMFFIObjectAllocHeader *)(void *)ptr)[-1].delete_space(ptr);
  }
}

TEST(a_custom_allocator_stays_until_null_restores_the_builtin_one) {
  TVMFFICustomAllocator *builtin = TVMFFIGetCustomAllocator();
  TVMFFICustomAllocator mine = *builtin;
  expect_int(TVMFFISetCustomAllocator(&mine), 0);
  expect(TVMFFIGetCustomAllocator() == &mine);
  expect_int(TVMFFISetCustomAllocator(NULL), 0);
  expect(TVMFFIGetCustomAllocator() == builtin);
}

TEST(a_size_that_overflows_is_refused_by_the_allocators) {
  TVMFFICustomAllocator *allocator = TVMFFIGetCustomAllocator();
  expect(allocator->allocate(SIZE_MAX - 4, 8, kTVMFFIObject, NULL) == NULL);
  expect(fh_mem_copy_text("", SIZE_MAX) == NULL);
}

/* ---- Races ---- */

enum { N_THREADS = 4, N_ROUNDS = 20000 };

static void retain_and_release(void *object, int i) {
  for (int round = 0; round < N_ROUNDS; ++round) {
    if ((round + i) % 3 == 0) {
      fh_object_weak_retain(object);
      if (test_promote(object)) fh_object_release(object);
      fh_object_weak_release(object);
    } else {
      fh_object_retain(object);
      fh_object_release(object);
    }
  }
  fh_object_release(object);
}

TEST(counts_stay_exact_when_threads_share_an_object) {
  int flags_seen = 0;
  recording_object *object = recording_new(&flags_seen);
  for (int i = 1; i < N_THREADS; ++i) fh_object_retain(object);
  test_threads(N_THREADS, retain_and_release, object);
  expect(flags_seen == 3 || flags_seen == 12);
}

typedef struct {
  recording_object *object;
  int n_promoted[N_THREADS];
} promote_race;

static void promote_or_release(void *raw, int i) {
  promote_race *race = (promote_race *)raw;
  if (i == 0) {
    fh_object_release(race->object);
    return;
  }
  for (int round = 0; round < 100; ++round) {
    if (!test_promote(race->object)) break;
    ++race->n_promoted[i];
    expect_int(*race->object->flags_seen, 0); /* a promoted value is not destroyed */
    fh_object_release(race->object);
  }
  fh_object_weak_release(race->object);
}

TEST(promotion_races_with_the_last_release) {
  for (int round = 0; round < 200; ++round) {
    int flags_seen = 0;
    promote_race race = {recording_new(&flags_seen), {0}};
    for (int i = 1; i < N_THREADS; ++i) fh_object_weak_retain(race.object);
    test_threads(N_THREADS, promote_or_release, &race);
    expect(flags_seen == 12 || flags_seen == 3);
  }
}
