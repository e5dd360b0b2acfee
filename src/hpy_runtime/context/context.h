/* The one HPyContext of the process, and how its entries are put together. (Debug mode adds a second: debug.h.)
 *
 * A handle is the object pointer (extension.h), so the conversions below cost nothing. Each ctx_*.c file owns a
 * group of entries: its functions are static and one `fhpy_<group>_fill` writes them into the table. The table is
 * complete before fhpy_context_get() returns it and constant afterwards.
 *
 * Unless said otherwise an entry wants an attached thread (the GIL where there is one), borrows its handle
 * arguments, returns a new handle, and reports failure as HPy_NULL, -1 or NULL with a Python exception raised.
 */
#ifndef FFI_HPY_RUNTIME_CONTEXT_H_
#define FFI_HPY_RUNTIME_CONTEXT_H_

#include <alloca.h> /* hpy.h calls alloca without declaring it, which -std=c11 does not forgive */
#include <hpy.h>

#include "appended.h"
#include "cpython_abi.h"
#include "layout.h"

/* For the uncommon half of a hot function, which would cost the common one a stack frame. */
#define FHPY_NOINLINE __attribute__((noinline))

static inline PyObject *to_py(HPy h) { return (PyObject *)h._i; }
static inline HPy to_hpy(PyObject *o) { return (HPy){(intptr_t)o}; }

/* An array of handles is an array of object pointers. */
static inline PyObject *const *to_py_array(const HPy *items) { return (PyObject *const *)items; }

static inline HPy new_reference(PyObject *o) {
  take_reference(o);
  return to_hpy(o);
}

/* The context, or NULL with an exception raised. The first call measures the interpreter. Called with the import lock
 * of ffi_hpy._hpy held, so that the first call has ended before any other begins. */
HPyContext *fhpy_context_get(void);

/* The same without a check: valid once fhpy_context_get() has succeeded. */
extern FhpyContext fhpy_context;

/* Whether a table is filled completely: 0, or -1 with an exception raised that tells the place. */
int fhpy_context_check(const HPyContext *ctx, size_t byte_size);

/* Fill their group of the table. */
void fhpy_constant_fill(HPyContext *ctx);
void fhpy_long_fill(HPyContext *ctx);
void fhpy_number_fill(HPyContext *ctx);
void fhpy_object_fill(HPyContext *ctx);
void fhpy_call_fill(HPyContext *ctx);
void fhpy_error_fill(HPyContext *ctx);
void fhpy_bytes_fill(HPyContext *ctx);
void fhpy_unicode_fill(HPyContext *ctx);
void fhpy_container_fill(HPyContext *ctx);
void fhpy_builder_fill(HPyContext *ctx);
void fhpy_tracker_fill(HPyContext *ctx);
void fhpy_store_fill(HPyContext *ctx);
void fhpy_capsule_fill(HPyContext *ctx);
void fhpy_eval_fill(HPyContext *ctx);
void fhpy_trampoline_fill(HPyContext *ctx);
void fhpy_type_fill(HPyContext *ctx);
void fhpy_extension_fill(HPyContext *ctx);
void fhpy_appended_fill(FhpyContext *ctx);

#endif /* FFI_HPY_RUNTIME_CONTEXT_H_ */
