/* Context entries: capsules. ctx_trampoline.c calls their destructors.
 *
 * HPy has one entry for reading and one for writing all properties of a capsule; a key selects the property. */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"

/* Whether a destructor is NULL or complete; raises ValueError if not. HPy requires both functions. The interpreter gets
 * the trampoline, which calls the context. */
static bool is_valid_destructor(const HPyCapsule_Destructor *d) {
  if (d == NULL || (d->cpy_trampoline != NULL && d->impl != NULL)) return true;
  PyErr_SetString(PyExc_ValueError, "HPyCapsule_Destructor expects both functions, got only one or none");
  return false;
}
static capsule_destructor get_destructor(const HPyCapsule_Destructor *d) {
  return d == NULL ? NULL : (capsule_destructor)(void (*)(void))d->cpy_trampoline;
}

static HPy capsule_new(HPyContext *ctx, void *pointer, const char *name, HPyCapsule_Destructor *d) {
  (void)ctx;
  if (!is_valid_destructor(d)) return HPy_NULL;
  return to_hpy(PyCapsule_New(pointer, name, get_destructor(d)));
}

static void *capsule_get(HPyContext *ctx, HPy capsule, _HPyCapsule_key key, const char *name) {
  (void)ctx;
  switch (key) {
  case HPyCapsule_key_Pointer: return PyCapsule_GetPointer(to_py(capsule), name);
  case HPyCapsule_key_Name: return (void *)(uintptr_t)PyCapsule_GetName(to_py(capsule));
  case HPyCapsule_key_Context: return PyCapsule_GetContext(to_py(capsule));
  case HPyCapsule_key_Destructor: break;
  }
  PyErr_Format(PyExc_ValueError, "HPyCapsule_Get expects the key of a pointer, name or context, got %d", (int)key);
  return NULL;
}

static int capsule_set(HPyContext *ctx, HPy capsule, _HPyCapsule_key key, void *value) {
  (void)ctx;
  switch (key) {
  case HPyCapsule_key_Pointer: return PyCapsule_SetPointer(to_py(capsule), value);
  case HPyCapsule_key_Name: return PyCapsule_SetName(to_py(capsule), value);
  case HPyCapsule_key_Context: return PyCapsule_SetContext(to_py(capsule), value);
  case HPyCapsule_key_Destructor:
    if (!is_valid_destructor(value)) return -1;
    return PyCapsule_SetDestructor(to_py(capsule), get_destructor(value));
  }
  PyErr_Format(PyExc_ValueError, "HPyCapsule_Set expects a key of 0 to 3, got %d", (int)key);
  return -1;
}

static int capsule_is_valid(HPyContext *ctx, HPy h, const char *name) {
  return (void)ctx, PyCapsule_IsValid(to_py(h), name);
}

void fhpy_ctx_capsule_fill(HPyContext *ctx) {
  ctx->ctx_Capsule_New = capsule_new;
  ctx->ctx_Capsule_Get = capsule_get;
  ctx->ctx_Capsule_Set = capsule_set;
  ctx->ctx_Capsule_IsValid = capsule_is_valid;
}
