/* Context entries: HPyField and HPyGlobal, which own one reference each.
 *
 * The word is the object pointer. Without a GIL a store exchanges it atomically and retires the old value (retire.h). A
 * load gets the word by value, because the extension has already read it, and takes a reference. When the owner of a
 * field is destroyed or cleared, no other thread can reach it, so the values of its fields are released at once
 * (type.c). */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/lifetime/retire.h"

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

static void field_store(HPyContext *ctx, HPy owner, HPyField *field, HPy h) {
  (void)ctx, (void)owner;
  store_value(&field->_i, to_py(h));
}
static HPy field_load(HPyContext *ctx, HPy owner, HPyField field) {
  (void)ctx, (void)owner;
  return load_value(field._i);
}
/* Reference counts of globals are not deferred (reference.h). A load takes its reference in C, where it is counted in
 * any case, so deferring would gain nothing and keep the value until a collection. */
static void global_store(HPyContext *ctx, HPyGlobal *global, HPy h) { (void)ctx, store_value(&global->_i, to_py(h)); }
static HPy global_load(HPyContext *ctx, HPyGlobal global) { return (void)ctx, load_value(global._i); }

void fhpy_ctx_store_fill(HPyContext *ctx) {
  ctx->ctx_Field_Store = field_store;
  ctx->ctx_Field_Load = field_load;
  ctx->ctx_Global_Store = global_store;
  ctx->ctx_Global_Load = global_load;
}
