/* The kind of a Python type decides its conversion to a native value. The package's `classify` determines the kind once
 * per type, and this table caches it. */
#pragma once

#include <dlpack/dlpack.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/context.h"

/* --- the binding's classes ---------------------------------------------------------------------------------------- */

/* The binding's own classes that this folder recognises. Each is stored once, during the import. */

extern FbRef fb_own_class_object; /* CObject */
extern FbRef fb_own_class_function; /* Function */
extern FbRef fb_own_class_owner; /* of FbOwner (handle_cell.h); empty where CObjects have no owner */

/* Whether h is an instance of `own_class`. Never fails. */
bool fb_own_class_check(HPyContext *ctx, HPy h, const FbRef *own_class);

/* --- type tags ---------------------------------------------------------------------------------------------------- */

typedef enum FbTypeTag {
  FB_TYPE_KIND_UNKNOWN = 0, /* not classified yet */
#define KIND(name) FB_TYPE_KIND_##name,
#include "type_kinds.def"
#undef KIND
  FB_N_TYPE_KINDS
} FbTypeTag;

/* Flags of a type. The first three are protocols by which an instance gives schemas another value in its place, in the
 * order of their use. The others tell whether the instances are mappings other than dict, wrappers of native objects
 * that another binding made, arrays whose memory may differ from the values they show (tensor/lazy_bits.c), or opaque
 * objects that schemas of numbers read as an int or a float. */
enum {
  FB_PROTOCOL_OBJECT = 1, /* __tvm_ffi_object__ */
  FB_PROTOCOL_VALUE = 2, /* __tvm_ffi_value__ */
  FB_PROTOCOL_CONVERT = 4, /* ObjectConvertible */
  FB_PROTOCOL_STEPS = 7,
  FB_PROTOCOL_MAPPING = 8,
  FB_PROTOCOL_WRAPPER = 16,
  FB_PROTOCOL_LAZY_BITS = 32,
  FB_PROTOCOL_INDEX = 64, /* __index__ */
  FB_PROTOCOL_FLOAT = 128, /* __float__ */
};

/* One classified type.
 *
 * The table does not keep the type alive: when the type is freed, its entry is removed, and reused for another type
 * later. Entries are never freed, so that a reader may always read the type of an entry that it probes. While a reader
 * has an instance of a type, the entry of that type does not change: `type` is stored last and cleared first. */
typedef struct FbTypeTagEntry {
  intptr_t type; /* the word at fb_context_type_offset in the type's instances; 0 while the entry is unused */
  FbTypeTag kind;
  unsigned protocols; /* FB_PROTOCOL_* */
  FbRef converter; /* FB_TYPE_KIND_CONVERTER only */
  const DLPackExchangeAPI *exchange; /* FB_TYPE_KIND_EXCHANGE only */
  /* The Function or the Initializer that makes the instances (record/class_slot.c); both 0: calls of the class do other
   * work. The Function that is the method `__next__`; 0: iteration looks for the method. None is released, and the
   * words may change while others read them. */
  intptr_t constructor, initializer, next_item;
  /* Of a class of Python below a registered class: the InitFunction that has made an instance, and so has accepted the
   * class (record/init_method.c); and the type of native objects for which `connect` gets each instance and `table`
   * (transfer.c), where empty references mean that nothing is to do. 0: not known. */
  intptr_t accepted;
  int32_t connected;
  FbRef connect, table;
  struct FbTypeTagEntry *next; /* next unused entry */
} FbTypeTagEntry;

typedef struct FbTypeTagTable {
  size_t mask; /* slots - 1; at least half of them are empty */
  FbTypeTagEntry *slots[];
} FbTypeTagTable;

/* Replaced by a larger copy when half full; readers continue with the table that they loaded. */
extern FB_HIDDEN FbTypeTagTable *fb_type_tag_table;

/* Adds the types with a fixed kind (None, bool, int, ...) to the table. Returns 0, or -1 with an exception raised. */
int fb_type_tag_init(HPyContext *ctx);

/* The slow path: calls `classify`. Returns the kind, or FB_TYPE_KIND_UNKNOWN with an exception raised. *converter
 * becomes a new handle if the kind is FB_TYPE_KIND_CONVERTER. */
FbTypeTag fb_type_tag_ask(HPyContext *ctx, HPy value, HPy *converter);

/* Classifies the type of a value, so that fb_type_tag_find finds the type from now on. May run Python code. Requires
 * the extension. A failure is ignored and leaves no exception. */
void fb_type_tag_learn(HPyContext *ctx, HPy value);

/* Sets `connected` of the class of a value, and the two objects, which may be HPy_NULL. Requires the extension. */
void fb_type_tag_connect(HPyContext *ctx, HPy value, int32_t type_index, HPy connect, HPy table);
/* Forgets `accepted` and `connected` of a class, which becomes the class of a native type. */
void fb_type_tag_register(HPy cls);

/* Like fb_type_tag_learn, for a class. Returns its entry; NULL without memory, or if it has no kind. */
struct FbTypeTagEntry *fb_type_tag_learn_class(HPyContext *ctx, HPy cls);

FH_INLINE size_t fb_type_tag_hash(intptr_t type) {
  return (size_t)(((uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* The word that identifies the exact type of `value`. Requires the extension. */
FH_INLINE intptr_t fb_type_tag_type(HPy value) {
  intptr_t type;
  memcpy(&type, (const char *)value._i + fb_context_type_offset, sizeof(type));
  return type;
}

/* Returns the cached entry of a type, or NULL. The type must stay alive while the entry is used. Lock-free: a
 * concurrent move may hide an entry. */
FH_INLINE FbTypeTagEntry *fb_type_tag_find_type(intptr_t type) {
  /* Acquire, three times: pairs with the release stores of grown(), put() and entry_new() in type_tag.c. */
  FbTypeTagTable *table = fh_atomic_load_acquire(&fb_type_tag_table);
  for (size_t i = fb_type_tag_hash(type);; ++i) {
    FbTypeTagEntry *entry = fh_atomic_load_acquire(&table->slots[i & table->mask]);
    if (entry == NULL || fh_atomic_load_acquire(&entry->type) == type) return entry;
  }
}

/* Returns the cached entry of the exact type of `value`, which must stay alive while the entry is used, or NULL. After
 * a concurrent move the caller only asks `classify` again. */
FH_INLINE const FbTypeTagEntry *fb_type_tag_find(HPy value) { return fb_type_tag_find_type(fb_type_tag_type(value)); }

/* Returns the kind of `value`, or FB_TYPE_KIND_UNKNOWN with an exception raised. See fb_type_tag_ask for
 * *converter. */
FH_INLINE FbTypeTag fb_type_tag_of(HPyContext *ctx, HPy value, HPy *converter) {
  if (FH_LIKELY(fb_ext != NULL)) {
    const FbTypeTagEntry *entry = fb_type_tag_find(value);
    if (FH_LIKELY(entry != NULL)) {
      if (FH_UNLIKELY(entry->kind == FB_TYPE_KIND_CONVERTER)) *converter = fb_ref_load(ctx, &entry->converter);
      return entry->kind;
    }
  }
  return fb_type_tag_ask(ctx, value, converter);
}

/* The slow path of fb_type_tag_with_protocols. */
FbTypeTag fb_type_tag_ask_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols);

/* Returns the kind of `value` and the protocols of its type; FB_TYPE_KIND_UNKNOWN with an exception raised on
 * failure. */
FH_INLINE FbTypeTag fb_type_tag_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols) {
  const FbTypeTagEntry *entry = FH_LIKELY(fb_ext != NULL) ? fb_type_tag_find(value) : NULL;
  if (FH_UNLIKELY(entry == NULL)) return fb_type_tag_ask_with_protocols(ctx, value, protocols);
  *protocols = entry->protocols;
  return entry->kind;
}

const DLPackExchangeAPI *fb_type_tag_exchange_ask(HPyContext *ctx, HPy value, unsigned *protocols);
/* Returns the exchange table and the protocols of a value of FB_TYPE_KIND_EXCHANGE; NULL with an exception raised on
 * failure. */
FH_INLINE const DLPackExchangeAPI *fb_type_tag_exchange(HPyContext *ctx, HPy value, unsigned *protocols) {
  const FbTypeTagEntry *entry = FH_LIKELY(fb_ext != NULL) ? fb_type_tag_find(value) : NULL;
  if (FH_UNLIKELY(entry == NULL)) return fb_type_tag_exchange_ask(ctx, value, protocols);
  *protocols = entry->protocols;
  return entry->exchange;
}
