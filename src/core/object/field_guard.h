/* field_guard.h - a lock per object for the getters, setters and copy functions of the object's library.
 *
 * A library describes a field of a C++ object by a getter and a setter, which copy and assign a value of the field's
 * C++ type, and the whole object by a function that copies it. None of them may run while another thread is inside a
 * setter of the same object. So they run inside the guard of the object: readers together, a writer alone.
 *
 * The guard is the only lock that is held while foreign code runs, so special rules apply to it:
 * - A thread that waits for a guard releases the GIL first (fh_field_guard_set_waiting), because the thread inside may
 *   need the GIL.
 * - A thread that is inside one guard does not wait for another. If it would have to wait, it continues without the
 *   second guard, and its access is as unprotected as foreign code's direct accesses. So no two threads wait for each
 *   other.
 * - The guard is taken before all other locks.
 *
 * A field needs no guard (fh_field_guard_is_for) if its values are single words, as FFI_HPY_FIELD_IS_WORD says, too; if
 * it cannot be assigned; or if its setter is a Function: fields/field.c has locks for the fields of the last case. */
#pragma once

#include <stdbool.h>
#include <tvm/ffi/c_api.h>

typedef enum { FH_GUARD_READ, FH_GUARD_WRITE } fh_guard_use;
typedef enum {
  FH_GUARD_WITHOUT, /* not inside: see above */
  FH_GUARD_NOTED,   /* inside with other readers */
  FH_GUARD_LOCKED,  /* inside alone */
} fh_guard_state;

/* Whether the getter and the setter of a field run inside the guard of the object. */
static inline bool fh_field_guard_is_for(const TVMFFIFieldInfo *field) {
  const int64_t flags = field->flags & (kTVMFFIFieldFlagBitMaskWritable | kTVMFFIFieldFlagBitSetterIsFunctionObj);
  if (flags != kTVMFFIFieldFlagBitMaskWritable || (field->flags & FFI_HPY_FIELD_IS_WORD) != 0) return false;
  switch (field->field_static_type_index) {
  case kTVMFFIInt:
  case kTVMFFIBool:
  case kTVMFFIFloat: return false;
  default: return true;
  }
}

/* Enters the guard of an object; the caller keeps the object alive. The result is for fh_field_guard_leave. */
fh_guard_state fh_field_guard_enter(const void *object, fh_guard_use use);
void fh_field_guard_leave(const void *object, fh_guard_state state);

/* Whether the calling thread is inside a guard. */
int fh_field_guard_is_inside(void);

/* Calls the getter or the setter of the field at an offset inside the guard: the caller owns *out. 0, or -1 with an
 * error pending. */
int fh_field_guard_get(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out);
int fh_field_guard_set(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value);

/* The host's functions that release and reacquire the GIL around a wait for a guard: `begin` runs before, and returns
 * NULL if the thread does not hold the GIL; otherwise `end` runs afterwards, with the result of `begin`. */
typedef struct {
  void *(*begin)(void);
  void (*end)(void *state);
} fh_field_guard_waiting;
/* Sets the functions of the host, which live as long as the process; NULL: the host has no interpreter. */
void fh_field_guard_set_waiting(const fh_field_guard_waiting *functions);
