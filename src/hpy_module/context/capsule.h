/* Pointers in Python objects: the interpreter's own object pointers, and capsules. */
#pragma once

#include <dlpack/dlpack.h>

#include "context.h"

/* --- object pointers ---------------------------------------------------------------------------------------------- */

/* The interpreter's object pointers, which the C interfaces of other libraries use.
 *
 * On our runtime a handle is such a pointer. Elsewhere the context translates, except on PyPy 7.3, where handles and
 * the objects of the C API are unrelated; there nothing in this file may be called. */

/* The slow paths of the functions below. */
void fb_pyobject_release(void *object);
HPy fb_pyobject_translate(HPyContext *ctx, void *object);

/* Returns the object of a handle, valid while the handle is open and until fb_pyobject_end. */
FH_INLINE void *fb_pyobject_begin(HPyContext *ctx, HPy h) {
  return FH_LIKELY(fb_ext != NULL) ? (void *)h._i : (void *)HPy_AsPyObject(ctx, h);
}
FH_INLINE void fb_pyobject_end(void *object) {
  if (FH_UNLIKELY(fb_ext == NULL)) fb_pyobject_release(object);
}

/* Makes a handle for an object and steals the caller's reference. HPy_NULL with an exception raised on failure. */
FH_INLINE HPy fb_pyobject_take(HPyContext *ctx, void *object) {
  return FH_LIKELY(fb_ext != NULL) ? (HPy){(intptr_t)object} : fb_pyobject_translate(ctx, object);
}
/* The reverse: steals the handle and returns a reference that the caller owns. */
FH_INLINE void *fb_pyobject_give(HPyContext *ctx, HPy h) {
  void *object = fb_pyobject_begin(ctx, h);
  if (FH_UNLIKELY(fb_ext == NULL)) HPy_Close(ctx, h);
  return object;
}
/* Makes a new handle for a borrowed object. */
FH_INLINE HPy fb_pyobject_borrow(HPyContext *ctx, void *object) {
  return FH_LIKELY(fb_ext != NULL) ? HPy_Dup(ctx, (HPy){(intptr_t)object}) : HPy_FromPyObject(ctx, object);
}

/* --- pointers from the cffi backend ------------------------------------------------------------------------------ */

/* Memory that the cffi backend (ffi_hpy/_pypy) passes to a method as a pointer. */

/* Returns the pointer in an int. NULL with TypeError or OverflowError raised: where the cffi backend does not run,
 * every number is refused. */
void *fb_lent_arg(HPyContext *ctx, HPy h, const char *method);

/* --- capsules ----------------------------------------------------------------------------------------------------- */

/* Capsules, in which Python libraries exchange DLPack tensors. */

/* Whether an object is a capsule with this name. */
bool fb_capsule_is_valid(HPyContext *ctx, HPy capsule, const char *name);
/* Returns the pointer in a capsule; NULL with an exception raised if the capsule has another name. */
void *fb_capsule_get(HPyContext *ctx, HPy capsule, const char *name);
/* Renames a capsule. The name must stay valid for the life of the process. Returns 0, or -1 with an exception
 * raised. */
int fb_capsule_rename(HPyContext *ctx, HPy capsule, const char *name);

/* Makes a capsule that owns the tensor until the capsule is renamed. On failure returns HPy_NULL with an exception
 * raised, and the caller keeps the tensor. */
HPy fb_capsule_new_dltensor(HPyContext *ctx, DLManagedTensor *tensor);
HPy fb_capsule_new_dltensor_versioned(HPyContext *ctx, DLManagedTensorVersioned *tensor);

/* Makes a capsule of a pointer that lives as long as the process. HPy_NULL with an exception raised on failure. */
HPy fb_capsule_new_lasting(HPyContext *ctx, void *pointer, const char *name);

/* Functions of _core, for capsules of bound libraries. */
extern HPyDef fb_capsule_make, fb_capsule_parts;

/* Makes a capsule with a copy of the name, or without one. When the capsule is freed, it calls `cleanup`, which may be
 * NULL, with the pointer, which is not NULL. HPy_NULL with an exception raised on failure. */
HPy fb_capsule_new_owned(HPyContext *ctx, void *pointer, const char *name, void (*cleanup)(void *));
/* Returns the pointer in a capsule, and stores its name, or NULL. NULL with an exception raised for another object. */
void *fb_capsule_read(HPyContext *ctx, HPy capsule, const char **name);
