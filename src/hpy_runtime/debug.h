/* Debug mode: a second context, whose handles are tickets instead of object pointers, so that misuse is noticed.
 *
 * A module that was loaded with it sees the same entries. Each unwraps its handles, calls the entry of the real context
 * and wraps the result (debug_context.c); a call into the module wraps its arguments for as long as it runs
 * (debug_call.c). The one debug context serves all threads, also those that come from outside.
 *
 * A handle is the number of a record and the number of its use (debug_handle.c). Records are never freed, and a closed
 * one is kept aside for long before it is used again, so that a stale handle is recognised without touching anything
 * that is gone, and the report can say who closed it.
 *
 * The context does not carry the extension of extension.h, whose contract is that handles are pointers.
 */
#ifndef FFI_HPY_RUNTIME_DEBUG_H_
#define FFI_HPY_RUNTIME_DEBUG_H_

#include "context.h"

/* The debug context, or NULL with an exception raised. */
HPyContext *fhpy_debug_context_get(void);

/* The entry CallRealFunctionFromTrampoline (debug_call.c). */
void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args);

/* ---- handles (debug_handle.c). Any attached thread; a null handle is the null object and back. ---- */

typedef enum {
  HANDLE_OWNED,    /* whoever got it closes it */
  HANDLE_ARGUMENT, /* belongs to the call that passed it */
  HANDLE_CONSTANT, /* a member of the context */
  HANDLE_BUILDER,  /* the word of a list or tuple builder; its object may have null items */
} FhpyHandleKind;

/* The function of an extension that runs on this thread, for reports; NULL: none. */
extern _Thread_local const char *fhpy_debug_running;

/* A new handle. Takes over one reference to o. */
HPy fhpy_debug_open(PyObject *o, FhpyHandleKind kind);
/* The object of an open handle, borrowed. A handle that is not open is reported; its object is None, if the report
 * returns at all. `entry` names the context's entry that was called. */
PyObject *fhpy_debug_get(HPy h, const char *entry);
/* The object of a builder, borrowed; reported as above. */
PyObject *fhpy_debug_get_builder(HPy h, const char *entry);
/* Ends a builder; its object, owned, or NULL after a report. */
PyObject *fhpy_debug_take_builder(HPy h, const char *entry);
/* Closes a handle that the extension owns; reports any other. */
void fhpy_debug_close(HPy h);
/* Closes an argument, when the call that passed it returns. */
void fhpy_debug_close_argument(HPy h);
/* Closes a handle that a function of the extension returned; the object, owned. */
PyObject *fhpy_debug_take(HPy h);

/* The number of handles opened so far; serial numbers of later ones are greater. */
uint64_t fhpy_debug_serial(void);
/* A list of (serial, opener, object), one for each handle that is open, has a serial number greater than `since`, and
 * is the extension's to close; in the order of opening. opener is a str; for a builder, the object is its type. NULL with
 * an exception raised. */
PyObject *fhpy_debug_list_open(uint64_t since);

/* ---- names of functions (debug_name.c) ---- */

/* Learns the names of what a module or type defines. `owner` stands before the dot. */
void fhpy_debug_name_defines(const char *owner, HPyDef *const *defines);
/* Learns one name, "owner.name". A function that is known keeps its name. */
void fhpy_debug_name_add(HPyCFunction function, const char *owner, const char *name);
/* Never NULL; lives as long as the process. */
const char *fhpy_debug_name_find(HPyCFunction function);

/* ---- reports (debug_report.c) ---- */

/* Reports a mistake of an extension: calls the hook with the text; without a hook, writes it to stderr and aborts.
 * A raised exception stays raised. No lock may be held. */
void fhpy_debug_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sets the hook, a callable or NULL, borrowed; returns the one before, owned, or NULL. */
PyObject *fhpy_debug_set_hook(PyObject *hook);

/* A lock for a few instructions, around nothing that may run foreign code. */
static inline void spin_acquire(int *lock) {
  while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) /* pairs with spin_release */
    while (__atomic_load_n(lock, __ATOMIC_RELAXED)) continue;
}
static inline void spin_release(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

#endif /* FFI_HPY_RUNTIME_DEBUG_H_ */
