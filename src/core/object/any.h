/* any.h - the value cell: making, copying, dropping.
 *
 * An owned Any holds a reference to its object; a view borrows. Every function that makes a cell writes all 16 bytes,
 * because fh_any_same, and clients, compare all 16. */
#pragma once

#include "object.h"

/* ---- Making. These functions do not drop the old value of *out. */
static inline TVMFFIAny fh_any_none(void) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  return any;
}
static inline TVMFFIAny fh_any_int(int64_t value) { return (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = value}; }
static inline TVMFFIAny fh_any_bool(int value) { return (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = value != 0}; }
static inline TVMFFIAny fh_any_float(double value) {
  return (TVMFFIAny){.type_index = kTVMFFIFloat, .v_float64 = value};
}
static inline TVMFFIAny fh_any_ptr(void *value) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIOpaquePtr;
  any.v_ptr = value;
  return any;
}
static inline TVMFFIAny fh_any_dtype(DLDataType value) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIDataType;
  any.v_dtype = value;
  return any;
}
static inline TVMFFIAny fh_any_device(DLDevice value) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIDevice;
  any.v_device = value;
  return any;
}
/* The cell of an object, without touching its count: the caller decides whether it is a reference or a borrow. NULL
 * gives None. */
static inline TVMFFIAny fh_any_object(void *obj) {
  TVMFFIAny any = fh_any_none();
  if (obj != NULL) {
    any.type_index = fh_object_type_index(obj);
    any.v_obj = (TVMFFIObject *)obj;
  }
  return any;
}

/* Makes a new object the result of a function; -1 for NULL, which means that an error is pending. */
static inline int fh_any_give_object(void *obj, TVMFFIAny *result) {
  if (obj == NULL) return -1;
  *result = fh_any_object(obj);
  return 0;
}

static inline bool fh_any_is_object(const TVMFFIAny *any) { return any->type_index >= kTVMFFIStaticObjectBegin; }

/* ---- Ownership. */

/* *out becomes an owned copy of the owned value *from (or of a view that has no view-only index). Cannot fail. `out`
 * may be uninitialised and must not be `from`. */
static inline void fh_any_copy(const TVMFFIAny *from, TVMFFIAny *out) {
  *out = *from;
  if (fh_any_is_object(out)) fh_object_retain(out->v_obj);
}

/* Drops an owned value and leaves None. May run foreign code: hold no lock. */
static inline void fh_any_drop(TVMFFIAny *any) {
  TVMFFIAny old = *any;
  *any = fh_any_none(); /* first, so that a deleter that reads this cell finds no dead object */
  if (fh_any_is_object(&old)) fh_object_release(old.v_obj);
}

/* Whether only views have this type (raw strings, bytes by address, rvalue references): no container holds such a
 * value. */
static inline bool fh_any_is_view_only(const TVMFFIAny *any) {
  return any->type_index >= kTVMFFIRawStr && any->type_index <= kTVMFFIObjectRValueRef;
}

/* Whether two cells have the same bytes. Cells with the same bytes are equal values; other cells may be equal too. Runs
 * no foreign code. */
static inline bool fh_any_same(const TVMFFIAny *a, const TVMFFIAny *b) {
  return a->type_index == b->type_index && a->zero_padding == b->zero_padding && a->v_uint64 == b->v_uint64;
}
