/* The table of classes: slots by type index. The first slots are one array, later slots are in chunks. Chunks and
 * classes are never freed, so that a reader needs no lock and loads two pointers at most. */
#include "class_table.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "holder.h"
#include "own_class.h"

/* 1024 chunks, of 2 KiB each. */
enum { CHUNK_SIZE = 256, N_CHUNKS = (FB_CLASS_TABLE_MAX - FB_CLASS_TABLE_FIRST) / CHUNK_SIZE };

FbClassSlot fb_class_table_first[FB_CLASS_TABLE_FIRST];
static FbClassSlot *chunks[N_CHUNKS];

/* Out of line: types beyond the first array are rare. */
FH_NOINLINE FbClassSlot *fb_class_table_later(int32_t index) {
  if (index < FB_CLASS_TABLE_FIRST || index >= FB_CLASS_TABLE_MAX) return NULL;
  index -= FB_CLASS_TABLE_FIRST;
  FbClassSlot *chunk = fh_atomic_load_acquire(&chunks[index / CHUNK_SIZE]); /* see slot_make() */
  return chunk == NULL ? NULL : &chunk[index % CHUNK_SIZE];
}

/* Returns the slot of a type index, and allocates its chunk if necessary; NULL if memory is exhausted or `index` is not
 * a type index. */
static FbClassSlot *slot_make(int32_t index) {
  if (index < 0 || index >= FB_CLASS_TABLE_MAX) return NULL;
  if (index < FB_CLASS_TABLE_FIRST) return &fb_class_table_first[index];
  if (fb_class_table_later(index) != NULL) return fb_class_table_later(index);
  FbClassSlot *fresh = calloc(CHUNK_SIZE, sizeof(*fresh)), *expected = NULL;
  if (fresh == NULL) return NULL;
  /* Release: a thread that finds the chunk (acquire, in fb_class_table_later) sees its zeros. */
  if (!fh_atomic_cas_release(&chunks[(index - FB_CLASS_TABLE_FIRST) / CHUNK_SIZE], &expected, fresh)) {
    free(fresh); /* another thread stored its chunk first */
  }
  return fb_class_table_later(index);
}

/* Objects of bound classes may be many and short-lived. The interpreter's usual way to end an instance also bounds the
 * recursion of destructors; for these objects the core does so. */
static bool shorten(HPyContext *ctx, HPy cls, int32_t index) {
  bool is_possible = fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, short_track) && fb_ext->class_shorten != NULL;
  if (!is_possible || fb_holder_traverse(index) == NULL) return false;
  HPy base = fb_ref_load(ctx, &fb_own_class_object);
  bool is_short = fb_ext->class_shorten(cls, base) != 0;
  HPy_Close(ctx, base);
  return is_short;
}

int fb_class_table_store(HPyContext *ctx, int32_t index, HPy cls, bool replaces) {
  FbClassSlot *slot = slot_make(index);
  FbRef *ref = slot == NULL ? NULL : calloc(1, sizeof(FbClassEntry));
  if (ref == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  fb_ref_store(ctx, ref, cls);
  ((FbClassEntry *)ref)->is_short = shorten(ctx, cls, index);
  /* A replaced reference stays in memory together with its class: a reader may have loaded it. */
  FbRef *none = NULL;
  if (replaces) {
    fh_atomic_store_release(slot, ref); /* pairs with fb_class_table_find */
  } else if (!fh_atomic_cas_release(slot, &none, ref)) {
    /* another class is there; no other thread has seen this reference */
    fb_ref_clear(ctx, ref);
    free(ref);
    return 0;
  }
  fb_context_keep(cls); /* each instance has a reference to the class */
  return 0;
}

/* Found when the first wrapper is made: then the type has all its fields. Objects of bound classes, which have the
 * attribute __ffi_traverse__, are found by native code that has no reference to them (core/bind/instance.c). */
FH_NOINLINE bool fb_class_table_find_holds(FbClassEntry *entry, int32_t index) {
  bool holds = fb_context_collects ? fb_holder_kind(index) != FB_HOLDER_NONE : fb_holder_traverse(index) != NULL;
  fh_atomic_store_relaxed(&entry->holds, (uint8_t)(1 + holds));
  return holds;
}

bool fb_class_table_is_instance(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  const FbRef *ref = fb_class_table_find(handle->type_index);
  if (ref == NULL) return false;
  HPy cls = fb_ref_borrow(ctx, ref);
  bool is_instance = HPy_TypeCheck(ctx, self, cls);
  fb_ref_return(ctx, cls);
  return is_instance;
}

bool fb_class_table_is_subclass(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  if (FH_LIKELY(fb_ext != NULL)) return !fb_class_table_is_exact(self, handle);
  const FbRef *ref = fb_class_table_find(handle->type_index);
  if (ref == NULL) return true;
  HPy cls = fb_ref_borrow(ctx, ref), own = HPy_Type(ctx, self);
  bool is_same = fb_context_is_same(ctx, own, cls);
  HPy_Close(ctx, own);
  fb_ref_return(ctx, cls);
  return !is_same;
}
