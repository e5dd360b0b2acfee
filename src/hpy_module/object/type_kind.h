/* How a Python type is passed to native code: decided once per type by the package's `classify`, then cached. */
#ifndef FFI_HPY_OBJECT_TYPE_KIND_H_
#define FFI_HPY_OBJECT_TYPE_KIND_H_

#include <dlpack/dlpack.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/ref.h"

typedef enum FbTypeKind {
  FB_TYPE_KIND_UNKNOWN = 0, /* not classified yet */
  FB_TYPE_KIND_NONE,
  FB_TYPE_KIND_BOOL,
  FB_TYPE_KIND_INT,
  FB_TYPE_KIND_FLOAT,
  FB_TYPE_KIND_STR,
  FB_TYPE_KIND_BYTES,
  FB_TYPE_KIND_OBJECT,
  FB_TYPE_KIND_RVALUE_REF,
  FB_TYPE_KIND_DATA_TYPE,
  FB_TYPE_KIND_DEVICE,
  FB_TYPE_KIND_OPAQUE_PTR,
  FB_TYPE_KIND_SEQUENCE,
  FB_TYPE_KIND_MAPPING,
  FB_TYPE_KIND_DLPACK,
  FB_TYPE_KIND_CONVERTER,
  FB_TYPE_KIND_EXCHANGE,
  FB_N_TYPE_KINDS
} FbTypeKind;

/* Protocols by which instances of a type give schemas another value in their place, in the order in which they are
 * tried; and whether the instances are mappings other than dict, or wrappers of native objects that are not the
 * binding's own, or arrays whose memory may have other values than they show (tensor/lazy_bits.h). */
enum {
  FB_PROTOCOL_OBJECT = 1,  /* __tvm_ffi_object__ */
  FB_PROTOCOL_VALUE = 2,   /* __tvm_ffi_value__ */
  FB_PROTOCOL_CONVERT = 4, /* ObjectConvertible */
  FB_PROTOCOL_STEPS = 7,
  FB_PROTOCOL_MAPPING = 8,
  FB_PROTOCOL_WRAPPER = 16,
  FB_PROTOCOL_LAZY_BITS = 32,
};

/* One classified type.
 *
 * The table does not keep the type alive: when that ends, its entry is taken out, and made another type's later.
 * Entries are never freed, so that a reader on its way past one may always look at its type. An entry of the type that
 * a reader looks for stays as it is while the reader has an instance: `type` is stored last and cleared first. */
typedef struct FbTypeKindEntry {
  intptr_t type; /* word at fb_context_type_offset of the type's instances; 0 while the entry is no type's */
  FbTypeKind kind;
  unsigned protocols;                /* FB_PROTOCOL_* */
  FbRef converter;                   /* FB_TYPE_KIND_CONVERTER only */
  const DLPackExchangeAPI *exchange; /* FB_TYPE_KIND_EXCHANGE only */
  struct FbTypeKindEntry *next;      /* while the entry is no type's */
} FbTypeKindEntry;

typedef struct FbTypeKindTable {
  size_t mask; /* slots - 1; at least half of them are empty */
  FbTypeKindEntry *slots[];
} FbTypeKindTable;

/* Replaced by a larger copy when half full; readers keep using the one they loaded. */
extern FB_HIDDEN FbTypeKindTable *fb_type_kind_table;

/* Takes the types whose kind needs no question (None, bool, int, ...) into the table. 0, or -1 with an exception. */
int fb_type_kind_init(HPyContext *ctx);

/* The slow way: asks `classify`. Returns the kind, or FB_TYPE_KIND_UNKNOWN with an exception raised. *converter gets a
 * new handle if the kind is FB_TYPE_KIND_CONVERTER. */
FbTypeKind fb_type_kind_ask(HPyContext *ctx, HPy value, HPy *converter);

/* Asks for the kind of a value's type, so that fb_type_kind_find finds it from now on; may run Python code. Only where
 * there is an extension. A failure is no error, and leaves no exception. */
void fb_type_kind_learn(HPyContext *ctx, HPy value);

FH_INLINE size_t fb_type_kind_hash(intptr_t type) {
  return (size_t)(((uintptr_t)type >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* The word that tells the exact type of `value`; where there is an extension. */
FH_INLINE intptr_t fb_type_kind_type(HPy value) {
  intptr_t type;
  memcpy(&type, (const char *)value._i + fb_context_type_offset, sizeof(type));
  return type;
}

/* Cached entry for the exact type of `value`, which must stay alive while the entry is used; or NULL. Lock-free: an
 * entry that moves meanwhile may be missed, which costs a question and nothing else. */
FH_INLINE const FbTypeKindEntry *fb_type_kind_find(HPy value) {
  intptr_t type = fb_type_kind_type(value);
  /* Acquire, three times: pairs with the release stores of grown(), put() and entry_new() in type_kind.c. */
  FbTypeKindTable *table = fh_atomic_load_acquire(&fb_type_kind_table);
  for (size_t i = fb_type_kind_hash(type);; i++) {
    const FbTypeKindEntry *entry = fh_atomic_load_acquire(&table->slots[i & table->mask]);
    if (entry == NULL || fh_atomic_load_acquire(&entry->type) == type) return entry;
  }
}

/* Kind of `value`; FB_TYPE_KIND_UNKNOWN with an exception raised on failure. See fb_type_kind_ask for *converter. */
FH_INLINE FbTypeKind fb_type_kind_of(HPyContext *ctx, HPy value, HPy *converter) {
  if (FH_LIKELY(fb_ext != NULL)) {
    const FbTypeKindEntry *entry = fb_type_kind_find(value);
    if (FH_LIKELY(entry != NULL)) {
      if (FH_UNLIKELY(entry->kind == FB_TYPE_KIND_CONVERTER)) *converter = fb_ref_load(ctx, &entry->converter);
      return entry->kind;
    }
  }
  return fb_type_kind_ask(ctx, value, converter);
}

/* The slow way of fb_type_kind_with_protocols. */
FbTypeKind fb_type_kind_ask_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols);

/* Kind of `value`, and the protocols of its type; FB_TYPE_KIND_UNKNOWN with an exception raised on failure. */
FH_INLINE FbTypeKind fb_type_kind_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols) {
  const FbTypeKindEntry *entry = FH_LIKELY(fb_ext != NULL) ? fb_type_kind_find(value) : NULL;
  if (FH_UNLIKELY(entry == NULL)) return fb_type_kind_ask_with_protocols(ctx, value, protocols);
  *protocols = entry->protocols;
  return entry->kind;
}

const DLPackExchangeAPI *fb_type_kind_exchange_ask(HPyContext *ctx, HPy value, unsigned *protocols);
/* The exchange table of the class of a value of FB_TYPE_KIND_EXCHANGE, and the protocols of the class; NULL with an
 * exception raised on failure. */
FH_INLINE const DLPackExchangeAPI *fb_type_kind_exchange(HPyContext *ctx, HPy value, unsigned *protocols) {
  const FbTypeKindEntry *entry = FH_LIKELY(fb_ext != NULL) ? fb_type_kind_find(value) : NULL;
  if (FH_UNLIKELY(entry == NULL)) return fb_type_kind_exchange_ask(ctx, value, protocols);
  *protocols = entry->protocols;
  return entry->exchange;
}

#endif /* FFI_HPY_OBJECT_TYPE_KIND_H_ */
