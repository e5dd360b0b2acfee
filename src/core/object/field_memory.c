/* field_memory.c - atomic read, exchange and copy of an inline field, whose layout a binding chose. */
#include "field_memory.h"

#include "any.h"
#include "core/platform/hazard.h"

FH_SHARED_LOCKS(locks, FH_N_LOCKS_BY_ADDRESS, "fields");

/* The lock for the address of a field. Fields in the same 256 bytes of memory share a lock. */
static inline fh_shared *lock_of(const void *field) {
  return fh_shared_of(locks, (const void *)((uintptr_t)field >> 8 << 8));
}

/* ---- Words: relaxed, because every former value of a field is valid ---- */

static int get_int(void *field, TVMFFIAny *out) {
  *out = fh_any_int((int64_t)fh_atomic_load_relaxed_u64((const uint64_t *)field));
  return 0;
}
static int get_float(void *field, TVMFFIAny *out) {
  *out = fh_any_none();
  out->type_index = kTVMFFIFloat;
  out->v_int64 = (int64_t)fh_atomic_load_relaxed_u64((const uint64_t *)field);
  return 0;
}
static int get_bool(void *field, TVMFFIAny *out) {
  *out = fh_any_bool(fh_atomic_load_relaxed_u8((const uint8_t *)field));
  return 0;
}
static int get_ptr(void *field, TVMFFIAny *out) {
  *out = fh_any_ptr(fh_atomic_load_relaxed_ptr((void *const *)field));
  return 0;
}

/* Writes a word: 1; 0 if the field is not a word. */
static bool put_word(void *field, int32_t type_index, TVMFFIAny *value) {
  switch (type_index) {
  case kTVMFFIInt:
  case kTVMFFIFloat: fh_atomic_store_relaxed_u64((uint64_t *)field, value->v_uint64); break;
  case kTVMFFIBool: fh_atomic_store_relaxed_u8((uint8_t *)field, value->v_int64 != 0); break;
  case kTVMFFIOpaquePtr:
    fh_atomic_store_relaxed_u64((uint64_t *)field, value->type_index == kTVMFFINone ? 0 : value->v_uint64);
    break;
  default: return false;
  }
  *value = fh_any_none();
  return true;
}

/* ---- Other fields. Each read has a second form, under the lock for the address ---- */

static inline void read_dtype(const void *field, TVMFFIAny *out) { *out = fh_any_dtype(*(const DLDataType *)field); }
static inline void read_device(const void *field, TVMFFIAny *out) { *out = fh_any_device(*(const DLDevice *)field); }
/* These two return a new reference. NULL is None. */
static inline void read_any(const void *field, TVMFFIAny *out) { fh_any_copy((const TVMFFIAny *)field, out); }
static inline void read_object(const void *field, TVMFFIAny *out) {
  TVMFFIAny view = fh_any_object(*(TVMFFIObject *const *)field);
  fh_any_copy(&view, out);
}

static inline int read_locked(void (*read)(const void *, TVMFFIAny *), const void *field, TVMFFIAny *out) {
  fh_shared *lock = lock_of(field);
  fh_shared_note note = fh_shared_read(lock);
  read(field, out);
  fh_shared_read_end(lock, note);
  return 0;
}
static int get_dtype(void *field, TVMFFIAny *out) { return read_locked(read_dtype, field, out); }
static int get_device(void *field, TVMFFIAny *out) { return read_locked(read_device, field, out); }
static int get_any(void *field, TVMFFIAny *out) { return read_locked(read_any, field, out); }
static int get_object(void *field, TVMFFIAny *out) { return read_locked(read_object, field, out); }

/* Exchanges a field that is not a word. */
static void exchange_bytes(void *field, int32_t type_index, TVMFFIAny *value) {
  TVMFFIAny old = fh_any_none();
  switch (type_index) {
  case kTVMFFIDataType: *(DLDataType *)field = value->v_dtype; break;
  case kTVMFFIDevice: *(DLDevice *)field = value->v_device; break;
  case kTVMFFIAny:
  case kTVMFFINone:
    old = *(TVMFFIAny *)field;
    *(TVMFFIAny *)field = *value;
    break;
  default: /* an object type: a pointer */
    old = fh_any_object(*(TVMFFIObject **)field);
    *(TVMFFIObject **)field = value->type_index == kTVMFFINone ? NULL : value->v_obj;
  }
  *value = old;
}

void fh_field_memory_exchange_alone(void *field, int32_t type_index, TVMFFIAny *value) {
  if (!put_word(field, type_index, value)) exchange_bytes(field, type_index, value);
}

void fh_field_memory_exchange(void *field, int32_t type_index, TVMFFIAny *value) {
  if (put_word(field, type_index, value)) return;
  fh_shared *lock = lock_of(field);
  fh_shared_write(lock);
  exchange_bytes(field, type_index, value);
  fh_shared_write_end(lock);
}

void fh_field_memory_read_alone(const void *field, int32_t type_index, TVMFFIAny *out) {
  switch (type_index) {
  case kTVMFFIAny:
  case kTVMFFINone: read_any(field, out); return;
  case kTVMFFIDataType: read_dtype(field, out); return;
  case kTVMFFIDevice: read_device(field, out); return;
  default: break;
  }
  if (type_index >= kTVMFFIStaticObjectBegin) {
    read_object(field, out);
  } else {
    fh_field_memory_getter(type_index)((void *)(uintptr_t)field, out);
  }
}

/* Copies a word atomically: 1; 0 if the field is not a word. */
static inline bool copy_word(const void *from, void *to, int32_t type_index, size_t n_bytes) {
  if (type_index > kTVMFFIOpaquePtr || type_index <= kTVMFFINone) return false;
  if (n_bytes == 8) {
    *(uint64_t *)to = fh_atomic_load_relaxed_u64((const uint64_t *)from);
    return true;
  }
  if (n_bytes == 1) *(uint8_t *)to = fh_atomic_load_relaxed_u8((const uint8_t *)from);
  return n_bytes == 1;
}
FH_STATIC_ASSERT(kTVMFFIInt > kTVMFFINone && kTVMFFIInt < kTVMFFIOpaquePtr && kTVMFFIBool < kTVMFFIOpaquePtr &&
                     kTVMFFIFloat < kTVMFFIOpaquePtr && kTVMFFIOpaquePtr < kTVMFFIDataType,
                 "the types of words come first");

/* Fields close to each other share a lock, so that a copy takes few locks. */
void fh_field_memory_copy(fh_field_memory_copying *copying, const void *from, void *to, int32_t type_index,
                          size_t n_bytes) {
  if (copy_word(from, to, type_index, n_bytes)) return;
  fh_shared *lock = lock_of(from);
  if (lock != copying->lock) {
    fh_field_memory_copy_end(copying);
    copying->lock = lock;
    copying->note = fh_shared_read(lock);
  }
  if (type_index == kTVMFFIAny) {
    read_any(from, (TVMFFIAny *)to);
  } else if (type_index >= kTVMFFIStaticObjectBegin) {
    TVMFFIObject *object = *(TVMFFIObject *const *)from;
    if (object != NULL) fh_object_retain(object);
    *(TVMFFIObject **)to = object;
  } else {
    memcpy(to, from, n_bytes);
  }
}

void fh_field_memory_copy_end(fh_field_memory_copying *copying) {
  if (copying->lock != NULL) fh_shared_read_end((fh_shared *)copying->lock, (fh_shared_note)copying->note);
  copying->lock = NULL;
}

TVMFFIFieldGetter fh_field_memory_getter(int32_t type_index) {
  switch (type_index) {
  case kTVMFFIInt: return get_int;
  case kTVMFFIFloat: return get_float;
  case kTVMFFIBool: return get_bool;
  case kTVMFFIOpaquePtr: return get_ptr;
  case kTVMFFIDataType: return get_dtype;
  case kTVMFFIDevice: return get_device;
  case kTVMFFIAny:
  case kTVMFFINone: return get_any;
  /* The other plain types (small and raw strings, the address of a DLTensor) are not types of fields. */
  default: return type_index >= kTVMFFIStaticObjectBegin ? get_object : NULL;
  }
}
