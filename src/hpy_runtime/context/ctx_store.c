/* Context entries: HPyField and HPyGlobal, which hold one reference each.
 *
 * The word is the object pointer. Stores exchange it atomically and retire the old value (retire.h); a load gets the
 * word by value, read by the extension just before, and takes a reference. An owner's deallocation or clearing
 * releases the values of fields at once: nobody else can reach the owner then (type_instance.c).
 */
#include "entries.h"
#include "hpy_runtime/abi/handle.h"
#include "hpy_runtime/lifetime/retire.h"

/* Between the store and a load there is the extension's own read of the word, in which ThreadSanitizer sees no order: that
 * what is reached through the pointer is read after the pointer is a matter of the processor. */
#ifdef __SANITIZE_THREAD__
extern void __tsan_release(void *), __tsan_acquire(void *);
#define TELL_TSAN(action, o) __tsan_##action(o)
#else
#define TELL_TSAN(action, o) ((void)0)
#endif

static void store(intptr_t *word, PyObject *value) {
  take_reference(value);
  if (!fhpy_layout.free_threaded) { /* the GIL orders stores and loads */
    PyObject *old = (PyObject *)*word;
    *word = (intptr_t)value;
    drop_reference(old);
    return;
  }
  TELL_TSAN(release, value);
  /* release: a thread that reads the pointer sees the object complete; acquire: pairs with the release of the thread that
   * stored the old value */
  fhpy_retire_release(fh_atomic_exchange_acq_rel_ptr((void **)(void *)word, value));
}

static HPy load(intptr_t word) {
  TELL_TSAN(acquire, (PyObject *)word);
  return new_reference((PyObject *)word);
}

static void field_store(HPyContext *ctx, HPy owner, HPyField *field, HPy h) {
  (void)ctx, (void)owner;
  store(&field->_i, to_py(h));
}
static HPy field_load(HPyContext *ctx, HPy owner, HPyField field) {
  (void)ctx, (void)owner;
  return load(field._i);
}
/* Deferring the value's reference count (defer_references) would not help: the reference that a load hands out is taken in
 * C, where it is counted all the same, and the value would live until a collection. */
static void global_store(HPyContext *ctx, HPyGlobal *global, HPy h) { (void)ctx, store(&global->_i, to_py(h)); }
static HPy global_load(HPyContext *ctx, HPyGlobal global) { return (void)ctx, load(global._i); }

void fhpy_ctx_store_fill(HPyContext *ctx) {
  ctx->ctx_Field_Store = field_store;
  ctx->ctx_Field_Load = field_load;
  ctx->ctx_Global_Store = global_store;
  ctx->ctx_Global_Load = global_load;
}
