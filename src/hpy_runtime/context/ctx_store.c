/* Context entries: HPyField and HPyGlobal, which own one reference each.
 *
 * The word is the object pointer. Without a GIL a store exchanges it atomically and retires the old value
 * (collection.h). A load gets the word by value, because the extension has already read it, and takes a reference. When
 * the owner of a field is destroyed or cleared, no other thread can reach it, so the values of its fields are released
 * at once (type.c). */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/lifetime/collection.h"

/* Between a store and a load the extension reads the word without an atomic operation. The processor reads the object's
 * memory after the pointer to it, so that is sufficient. ThreadSanitizer does not model such dependencies, so these
 * macros inform it. */
#ifdef __SANITIZE_THREAD__
extern void __tsan_release(void *), __tsan_acquire(void *);
#define TELL_TSAN(action, o) __tsan_##action(o)
#else
#define TELL_TSAN(action, o) ((void)0)
#endif

static void store_value(intptr_t *word, PyObject *value) {
  take_reference(value);
  if (!fhpy_layout.free_threaded) { /* the GIL orders stores and loads */
    PyObject *old = (PyObject *)*word;
    *word = (intptr_t)value;
    drop_reference(old);
    return;
  }
  TELL_TSAN(release, value);
  /* release: a thread that reads the pointer sees a complete object; acquire: pairs with the release of the thread that
   * stored the old value */
  fhpy_retire_release(fh_atomic_exchange_acq_rel_ptr((void **)(void *)word, value));
}

static HPy load_value(intptr_t word) {
  TELL_TSAN(acquire, (PyObject *)word);
  return new_reference((PyObject *)word);
}

static void field_store(CTX, FH_MAYBE_UNUSED HPy owner, HPyField *field, HPy h) { store_value(&field->_i, to_py(h)); }
static HPy field_load(CTX, FH_MAYBE_UNUSED HPy owner, HPyField field) { return load_value(field._i); }
/* Reference counts of globals are not deferred (handle.h). A load takes its reference in C, where it is counted in
 * any case, so deferring would gain nothing and keep the value until a collection. */
static void global_store(CTX, HPyGlobal *global, HPy h) { store_value(&global->_i, to_py(h)); }
static HPy global_load(CTX, HPyGlobal global) { return load_value(global._i); }

void fhpy_ctx_store_fill(HPyContext *ctx) {
  ctx->ctx_Field_Store = field_store;
  ctx->ctx_Field_Load = field_load;
  ctx->ctx_Global_Store = global_store;
  ctx->ctx_Global_Load = global_load;
}

/* --- capsules ---------------------------------------------------------------------------------------------------- */

/* Context entries: capsules. ctx_trampoline.c calls their destructors.
 *
 * HPy has one entry for reading and one for writing all properties of a capsule; a key selects the property. */

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

static HPy capsule_new(CTX, void *pointer, const char *name, HPyCapsule_Destructor *d) {
  if (!is_valid_destructor(d)) return HPy_NULL;
  return to_hpy(PyCapsule_New(pointer, name, get_destructor(d)));
}

static void *capsule_get(CTX, HPy capsule, _HPyCapsule_key key, const char *name) {
  switch (key) {
  case HPyCapsule_key_Pointer: return PyCapsule_GetPointer(to_py(capsule), name);
  case HPyCapsule_key_Name: return (void *)(uintptr_t)PyCapsule_GetName(to_py(capsule));
  case HPyCapsule_key_Context: return PyCapsule_GetContext(to_py(capsule));
  case HPyCapsule_key_Destructor: break;
  }
  PyErr_Format(PyExc_ValueError, "HPyCapsule_Get expects the key of a pointer, name or context, got %d", (int)key);
  return NULL;
}

static int capsule_set(CTX, HPy capsule, _HPyCapsule_key key, void *value) {
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

void fhpy_ctx_capsule_fill(HPyContext *ctx) {
  ctx->ctx_Capsule_New = capsule_new;
  ctx->ctx_Capsule_Get = capsule_get;
  ctx->ctx_Capsule_Set = capsule_set;
}
