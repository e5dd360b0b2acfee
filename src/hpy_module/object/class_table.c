/* Native types: their attributes, the references in their objects, and their classes. */
#include "class_table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "type_tag.h"

/* --- attributes of types ------------------------------------------------------------------------------------------ */

/* Attribute columns of types. */

const TVMFFIAny *fb_type_attr_in(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  /* Loaded before the data, as c_api.h requires. Acquire: pairs with the core's publication of a longer column. */
  int32_t size = fh_atomic_load_acquire(&column->size);
  int64_t row = (int64_t)type_index - column->begin_index;
  if (row < 0 || row >= size) return NULL;
  /* Both acquire: the cells of a growing column are copied before its data is published, and the value of a cell is
   * stored before its type. */
  const TVMFFIAny *cell = fh_atomic_load_acquire(&column->data) + row;
  return fh_atomic_load_acquire(&cell->type_index) == kTVMFFINone ? NULL : cell;
}

const TVMFFIAny *fb_type_attr_find(int32_t type_index, const TVMFFIByteArray *name) {
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(name);
  return column == NULL ? NULL : fb_type_attr_in(column, type_index);
}

/* --- types that hold references ----------------------------------------------------------------------------------- */

/* Reads from the reflection whether a type can hold references to other objects. */

FbHolderTraverse fb_holder_traverse(int32_t type_index) {
  static const TVMFFITypeAttrColumn *known; /* columns live as long as the process */
  static const TVMFFIByteArray name = {"__ffi_traverse__", sizeof("__ffi_traverse__") - 1};
  const TVMFFITypeAttrColumn *column = fh_atomic_load_relaxed(&known);
  if (column == NULL) {
    column = TVMFFIGetTypeAttrColumn(&name);
    if (column == NULL) return NULL;
    fh_atomic_store_relaxed(&known, column);
  }
  const TVMFFIAny *value = fb_type_attr_in(column, type_index);
  FbHolderTraverse traverse = NULL;
  if (value != NULL && value->type_index == kTVMFFIOpaquePtr) memcpy(&traverse, &value->v_ptr, sizeof(traverse));
  return traverse;
}

/* Returns the kind of the members that one type of an object's chain declares. */
static FbHolderKind kind_of_own(const TVMFFITypeInfo *info) {
  if (fb_holder_traverse(info->type_index) != NULL) return FB_HOLDER_MEMBERS;
  for (int32_t i = 0; i < info->num_fields; ++i) {
    if (fb_holder_is_field(&info->fields[i])) return FB_HOLDER_FIELDS;
  }
  return FB_HOLDER_NONE;
}

FbHolderKind fb_holder_kind(int32_t type_index) {
  switch (type_index) {
  case kTVMFFIArray:
  case kTVMFFIList: return FB_HOLDER_SEQUENCE;
  case kTVMFFIMap:
  case kTVMFFIDict: return FB_HOLDER_MAPPING;
  case kTVMFFIFunction: return FB_HOLDER_FUNCTION;
  case kTVMFFIOpaquePyObject: return FB_HOLDER_PYTHON;
  case kTVMFFIError: return FB_HOLDER_ERROR;
  default: break;
  }
  const TVMFFITypeInfo *info = type_index < kTVMFFIStaticObjectBegin ? NULL : TVMFFIGetTypeInfo(type_index);
  if (info == NULL) return FB_HOLDER_NONE;
  FbHolderKind found = kind_of_own(info);
  for (int32_t i = 0; i < info->type_depth && found != FB_HOLDER_MEMBERS; ++i) {
    FbHolderKind above = kind_of_own(info->type_ancestors[i]);
    if (above != FB_HOLDER_NONE) found = above;
  }
  return found;
}

TVMFFIFieldGetter fb_holder_any_getter;
const ffi_hpy_bind_api *fb_holder_bound;

static bool add_field(FbHolderLayout *layout, const TVMFFIFieldInfo *field) {
  enum { WORD = sizeof(uint64_t) };
  TVMFFIFieldGetter any_getter = fh_atomic_load_relaxed(&fb_holder_any_getter);
  bool is_any = any_getter != NULL && field->getter == any_getter && field->size == (int64_t)sizeof(TVMFFIAny);
  int64_t n = is_any ? 1 : field->size / WORD;
  if (field->offset % WORD != 0 || field->size % WORD != 0 || field->offset / WORD + n > UINT16_MAX) return false;
  if (layout->n + n > FB_HOLDER_MAX_WORDS) return false;
  for (int64_t i = 0; i < n; ++i) {
    layout->words[layout->n++] = (struct FbHolderWord){(uint16_t)(field->offset / WORD + i), is_any};
  }
  return true;
}

static bool add_own_fields(FbHolderLayout *layout, const TVMFFITypeInfo *info) {
  for (int32_t i = 0; i < info->num_fields; ++i) {
    if (fb_holder_is_field(&info->fields[i]) && !add_field(layout, &info->fields[i])) return false;
  }
  return true;
}

void fb_holder_layout(int32_t type_index, FbHolderKind kind, FbHolderLayout *out) {
  *out = (FbHolderLayout){.is_known = false};
  if (kind != FB_HOLDER_FIELDS && kind != FB_HOLDER_MEMBERS) return;
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(type_index);
  int n_functions = fb_holder_traverse(type_index) != NULL;
  bool is_known = add_own_fields(out, info);
  for (int32_t i = 0; i < info->type_depth && is_known; ++i) {
    is_known = add_own_fields(out, info->type_ancestors[i]);
    n_functions += fb_holder_traverse(info->type_ancestors[i]->type_index) != NULL;
  }
  out->is_known = is_known && n_functions <= 1;
  out->is_bound = n_functions == 1; /* or the function is an author's; then no object is bound */
}

/* Whether a bound object has no references: its value has none, and no object or std::shared_ptr owns the value. The
 * holder of such an owner is a reference. Another holder is the value itself, which its class or a base deletes. */
static bool is_bound_leaf(const TVMFFIObject *object) {
  const ffi_hpy_bind_api *bound = fh_atomic_load_acquire(&fb_holder_bound); /* as it is set */
  TVMFFIAny value = {.type_index = object->type_index};
  value.v_obj = (TVMFFIObject *)(uintptr_t)object;
  const ffi_hpy_instance *instance = bound == NULL ? NULL : bound->instance_of(&value);
  if (instance == NULL || fh_atomic_load_acquire_ptr((void *const *)&instance->kept) != NULL) return false;
  bool has_no_owner = instance->holder == NULL;
  for (const ffi_hpy_class *type = instance->type; type != NULL; type = type->base) {
    if (fh_atomic_load_acquire_ptr((void *const *)&type->traverse) != NULL) return false;
    if (instance->release == type->delete_value) has_no_owner = true;
  }
  return has_no_owner;
}

bool fb_holder_is_empty(const FbHolderLayout *layout, const TVMFFIObject *object) {
  if (!layout->is_known) return false;
  const uint64_t *words = (const uint64_t *)(const void *)object;
  for (uint8_t i = 0; i < layout->n; ++i) {
    const uint64_t *word = words + layout->words[i].at;
    if (!layout->words[i].is_any) {
      if (fh_atomic_load_relaxed(word) != 0) return false; /* relaxed: no other memory depends on it */
    } else {
      int32_t type_index = fh_atomic_load_relaxed((const int32_t *)(const void *)word);
      bool is_leaf = type_index < kTVMFFIStaticObjectBegin || type_index == kTVMFFIStr || type_index == kTVMFFIBytes;
      if (!is_leaf) return false;
    }
  }
  return !layout->is_bound || is_bound_leaf(object);
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* The table of classes: slots by type index. The first slots are one array, later slots are in chunks. Chunks and
 * classes are never freed, so that a reader needs no lock and loads two pointers at most. */

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
  if (fb_context_collects) fb_ext->collect(cls);
  if (fb_ext != NULL) fb_type_tag_register(cls);
  /* A replaced reference stays in memory together with its class: a reader may have loaded it. */
  FbRef *none = NULL;
  if (replaces) {
    FbRef *former = fh_atomic_load_acquire(slot);
    do ((FbClassEntry *)ref)->former = (const FbClassEntry *)former;
    while (!fh_atomic_cas_acq_rel(slot, &former, ref)); /* release pairs with fb_class_table_find */
  } else if (!fh_atomic_cas_release(slot, &none, ref)) {
    /* another class is there; no other thread has seen this reference */
    fb_ref_clear(ctx, ref);
    free(ref);
    return 0;
  }
  fb_context_keep(cls); /* each instance has a reference to the class */
  return 0;
}

/* Found when the first wrapper is made: then the type has all its fields. A Function that only its wrapper refers to
 * needs no search for its holders (collect/collect.c), and any other one is registered. Objects of bound classes, which
 * have the attribute __ffi_traverse__, are found by native code that has no reference to them
 * (core/bind/instance.c). */
FH_NOINLINE bool fb_class_table_find_holds(FbClassEntry *entry, int32_t index) {
  FbHolderKind kind = fb_context_collects ? fb_holder_kind(index) : FB_HOLDER_NONE;
  bool holds =
      fb_context_collects ? kind != FB_HOLDER_NONE && kind != FB_HOLDER_FUNCTION : fb_holder_traverse(index) != NULL;
  fh_atomic_store_relaxed(&entry->holds, (uint8_t)(1 + holds));
  return holds;
}

static bool is_instance(HPyContext *ctx, HPy self, const FbClassEntry *entry, bool is_replaced) {
  HPy cls = fb_ref_borrow(ctx, &entry->cls);
  bool result = HPy_TypeCheck(ctx, self, cls);
  if (result && is_replaced) {
    HPy own = HPy_Type(ctx, self);
    result = !fb_context_is_same(ctx, own, cls);
    HPy_Close(ctx, own);
  }
  fb_ref_return(ctx, cls);
  return result;
}

bool fb_class_table_is_instance(HPyContext *ctx, HPy self, const TVMFFIObject *handle) {
  const FbClassEntry *current = (const FbClassEntry *)fb_class_table_find(handle->type_index);
  for (const FbClassEntry *entry = current; entry != NULL; entry = entry->former) {
    if (is_instance(ctx, self, entry, entry != current)) return true;
  }
  return false;
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
