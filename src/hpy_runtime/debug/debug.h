/* Debug mode: a second context, whose handles are tickets instead of object pointers, so that misuse is noticed.
 *
 * A module that was loaded with it sees the same entries. Each unwraps its handles, calls the entry of the real context
 * and wraps the result (debug_context.c, debug_array.c); some look at more than the handles (debug_builder.c,
 * debug_tracker.c, debug_check.c, debug_text.c). A call into the module wraps its arguments for as long as it runs
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
#include "core/platform/fork.h"

/* The debug context, or NULL with an exception raised. */
HPyContext *fhpy_debug_context_get(void);

/* Puts the functions of debug mode into ffi_hpy._hpy, and where the environment asks for debug mode, has the end of the
 * process tell what is open. 0, or -1 with an exception raised. */
int fhpy_debug_module_exec(PyObject *module);

/* The entry CallRealFunctionFromTrampoline (debug_call.c). */
void fhpy_debug_call(HPyContext *ctx, HPyFunc_Signature sig, HPyCFunction func, void *args);

/* Fill their entries of the table; `ctx` is the debug context. */
void fhpy_debug_array_fill(HPyContext *ctx);
void fhpy_debug_builder_fill(HPyContext *ctx);
void fhpy_debug_tracker_fill(HPyContext *ctx);
void fhpy_debug_check_fill(FhpyContext *ctx);
void fhpy_debug_text_fill(HPyContext *ctx);

/* ---- handles (debug_handle.c). Any attached thread; a null handle is the null object and back. ---- */

typedef enum {
  HANDLE_OWNED,         /* whoever got it closes it */
  HANDLE_ARGUMENT,      /* belongs to the call that passed it */
  HANDLE_CONSTANT,      /* a member of the context */
  HANDLE_LIST_BUILDER,  /* the word of a builder; its object is of debug_builder.c's making */
  HANDLE_TUPLE_BUILDER, /* the same */
  HANDLE_TRACKER,       /* the word of a tracker; its object is the real context's tracker */
} FhpyHandleKind;

/* The function of an extension that runs on this thread, for reports; NULL: none. */
extern _Thread_local const char *fhpy_debug_running;
/* Such a function in words. */
static inline const char *debug_words(const char *function) {
  return function != NULL ? function : "native code that no HPy function runs";
}

/* A new handle. Takes over the object, of which it has one reference, or what the kind says. */
HPy fhpy_debug_open(void *object, FhpyHandleKind kind);
/* The object of an open handle, borrowed. A handle that is not open is reported; its object is None, if the report
 * returns at all. `entry` names the context's entry that was called. */
PyObject *fhpy_debug_get(HPy h, const char *entry);
/* What a builder's or tracker's word stands for, borrowed. NULL for a null word, and after the report of another. */
void *fhpy_debug_get_as(HPy word, FhpyHandleKind kind, const char *entry);
/* The same, and ends it: what is returned is the caller's. */
void *fhpy_debug_take_as(HPy word, FhpyHandleKind kind, const char *entry);
/* Closes a handle that the extension owns; reports any other. */
void fhpy_debug_close(HPy h);
/* Closes a handle for an extension that has forgotten it; false if there is no such open handle. */
bool fhpy_debug_close_forgotten(HPy h);
/* Closes an argument, when the call that passed it returns. */
void fhpy_debug_close_argument(HPy h);
/* Closes a handle that a function of the extension returned; the object, owned. */
PyObject *fhpy_debug_take(HPy h);

/* What entries do with their handles. */
static inline HPy debug_unwrap(HPy h, const char *entry) { return to_hpy(fhpy_debug_get(h, entry)); }
static inline HPy debug_wrap(HPy object) { return fhpy_debug_open(to_py(object), HANDLE_OWNED); }

/* A copy of a text that belongs to the object of h, to be handed out in its place: writing to it faults, and once h is
 * closed so does reading, for as long as the limits allow. NULL for NULL; the text itself if there is no memory. */
const char *fhpy_debug_keep_text(HPy h, const char *text, size_t byte_size);

/* How much is remembered. */
typedef struct {
  size_t n_closed;     /* handles that are closed, and so recognised; the oldest is forgotten first */
  size_t n_text_bytes; /* of the texts of closed handles */
  size_t n_frames;     /* of the native stack at each opening */
} FhpyDebugLimits;
FhpyDebugLimits fhpy_debug_get_limits(void);
void fhpy_debug_set_limits(FhpyDebugLimits limits);

/* ---- lists of handles (debug_list.c) ---- */

/* The number of handles opened so far; serial numbers of later ones are greater. */
uint64_t fhpy_debug_serial(void);
/* A list of tuples, one for each handle, builder and tracker that has a serial number greater than `since`:
 *   (serial, kind, word, opener, closer, object, bytes of kept texts, native stack)
 * kind, opener, closer and stack are str, closer and object None if there is none; the object of a builder is its type.
 * Open: those that are the extension's to close, in the order of opening. Closed: those that are still known, in the
 * order of closing. NULL with an exception raised. */
PyObject *fhpy_debug_list_open(uint64_t since);
PyObject *fhpy_debug_list_closed(uint64_t since);
/* Tells stderr what is open, if anything is, without what another thread that still runs has opened: it may use it. */
void fhpy_debug_report_open(void);

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

#endif /* FFI_HPY_RUNTIME_DEBUG_H_ */
