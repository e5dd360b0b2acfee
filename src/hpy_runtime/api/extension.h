/* The private extension of the ffi_hpy context: functions for which HPy 0.9 has no entry.
 *
 * A module that was given a context finds the extension with fhpy_extension_find(). It is optional: for another
 * implementation's context that function returns NULL, and the module does without.
 *
 * Contract of a context that carries the extension:
 *   - a handle IS the interpreter's object pointer: h._i == (intptr_t)(PyObject *). Duplicating a handle takes a
 * reference, closing one releases it;
 *   - therefore a C function of the interpreter's own calling shape (vectorcall, getter, setter) may be installed
 * directly and may treat its arguments as handles that it does not own;
 *   - the context is one process-wide constant: a function that is given no context may use a stored one.
 *
 * Threads: the table is constant once it is published. Every function except thread_attach, thread_detach,
 * thread_state, is_finalizing and reenter wants an attached thread (the GIL, where there is one). */
#ifndef FFI_HPY_RUNTIME_EXTENSION_H_
#define FFI_HPY_RUNTIME_EXTENSION_H_

#include "alloca.h" /* for hpy.h */
#include <hpy.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "values.h"

#define FHPY_EXTENSION_MAGIC UINT64_C(0x6666695f68707931) /* "ffi_hpy1" */
#define FHPY_EXTENSION_VERSION 1u
#define FHPY_CONTEXT_NAME "HPy Universal ABI (ffi_hpy)" /* HPy asks for this beginning */
#define FHPY_DEBUG_CONTEXT_NAME "HPy Debug Mode ABI (ffi_hpy)" /* of the contexts without the extension */
#define FHPY_TRACE_CONTEXT_NAME "HPy Trace Mode ABI (ffi_hpy)"

/* A data descriptor in the interpreter's own shape. get returns a new handle or HPy_NULL with an exception raised;
 * set returns 0 or -1 and receives HPy_NULL for a deletion. Strings and closure must outlive the descriptor. */
typedef struct FhpyGetSet {
  const char *name;
  HPy (*get)(HPy self, void *closure);
  int (*set)(HPy self, HPy value, void *closure); /* NULL: read-only */
  const char *doc;                                /* may be NULL */
  void *closure;
} FhpyGetSet;

/* What a method shows as __module__, __name__, __qualname__ and __doc__. */
typedef struct FhpyMethodNames {
  HPy module, name, qualname, doc;
} FhpyMethodNames;

/* Type slots that HPy does not have, and that HPyType_FromSpec accepts from a module that found the extension: the
 * descriptor protocol, in the interpreter's own shape, as cpy_trampoline. The numbers are the interpreter's, like those
 * of HPy's slots. */
enum { FHPY_TP_DESCR_GET = 54, FHPY_TP_DESCR_SET = 55 };

typedef struct FhpyExtension {
  uint64_t magic;     /* FHPY_EXTENSION_MAGIC */
  uint32_t version;   /* FHPY_EXTENSION_VERSION of the runtime; entries are only ever appended */
  uint32_t byte_size; /* sizeof(FhpyExtension) of the runtime: an entry past it does not exist */

  /* Byte offset, from the handle, of the word that identifies the object's exact type. The word is the type's own
   * handle value, unique for as long as the type lives. */
  ptrdiff_t type_offset;
  /* Byte offset, from the handle, of the struct of an instance of a pure type with the object shape:
   * what HPy_AsStruct_Object returns, without the call. */
  ptrdiff_t data_offset;

  /* 1 if threads run Python in parallel (no GIL), else 0. */
  int free_threaded;

  /* Attaches the calling thread to the interpreter, so that it may use the context; calls nest, and an attached thread
   * may call it. Returns a token for thread_detach, or -1 if the interpreter is finalizing or gone: then nothing was
   * done and no object may be touched. */
  int (*thread_attach)(void);
  void (*thread_detach)(int token);
  int (*is_finalizing)(void);
  /* To be called by an attached thread when the interpreter is about to exit. From then on thread_attach refuses every
   * thread that is not attached, except the caller. Waits, detached and for about a second at most, for native threads
   * that were let in before. The interpreter would end such a thread in the middle of C++ code, which ends the
   * process. */
  void (*threads_close)(void);

  /* Takes the raised exception: a new handle of the normalized instance with its traceback set; nothing is raised any
   * more. HPy_NULL if nothing was raised. */
  HPy (*error_take)(HPyContext *ctx);
  /* Raises the given exception instance as it is, traceback included. Borrows the handle. */
  void (*error_restore)(HPyContext *ctx, HPy exception);

  /* Asks the interpreter not to count every reference to h (free-threaded 3.14+). Returns 1 if it will comply, 0 if it
   * has no such mode. Call it for a new object of a garbage-collected type; only a collection frees that object then.
   * Types need no call. */
  int (*refcount_defer)(HPyContext *ctx, HPy h);

  /* A descriptor for instances of `type`, to be set as a class attribute of `type` or of a subclass.
   * *def is copied. Returns a new handle, or HPy_NULL with an exception raised. */
  HPy (*getset_new)(HPyContext *ctx, HPy type, const FhpyGetSet *def);

  /* 1 if refcount_defer has an effect, so that it is worth making an instance garbage-collected for it; else 0. */
  int defers_refcounts;

  /* For tables of handles that own no reference. A handle may be stored after reference_watch(h). The object's
   * HPy_tp_destroy must remove it, under the lock under which reference_try is called. reference_try returns 1 with a
   * new reference, or 0: then the object is on its way to its destructor. It runs no Python code. Without the GIL it
   * also returns 0 for an object that its finalizer brought back, until that object is watched again. Both are NULL
   * where the interpreter offers no way. */
  void (*reference_watch)(HPy h);
  int (*reference_try)(HPy h);

  /* A method that calls `callable`, an instance of a type with HPy_tp_call, with the object as the first argument; to
   * be set as an attribute of a class. copy and pickle take it for the object that its module and qualified name lead
   * to. If `callable` has an attribute __wrapped__, that is the function which the method stands for: it shows the
   * function's attributes where it has none of its own. New handle, or HPy_NULL with an exception raised. NULL where a
   * method written in Python is no slower. */
  HPy (*method_new)(HPyContext *ctx, HPy callable, const FhpyMethodNames *names);

  /* A str of byte_len bytes of UTF-8; malformed bytes become U+FFFD. New handle, or HPy_NULL with MemoryError raised.
   * NULL where the interpreter does not decode that way. */
  HPy (*text_new)(const char *data, HPy_ssize_t byte_len);

  /* Byte offset, from the handle of a tuple, of its first item, a handle that the tuple owns. 0 if it is not known. */
  ptrdiff_t tuple_items;

  /* Has `ended` called with the word of a type (type_offset) when the type ends, before the word can stand for another
   * type. `ended` must be the same function for all types; it is called by an attached thread. A type that a finalizer
   * brings back while it ends has to be watched again. Returns 1 if `ended` will be called or the type never ends, 0 if
   * not: then the word must not be kept. Raises nothing. */
  int (*type_watch)(HPy type, void (*ended)(intptr_t word));

  /* To be called for each class that C code meets or makes instances of. Without that call, an interpreter that has
   * this entry never frees the text of instances of a class derived from str. Raises nothing. NULL for other
   * interpreters. */
  void (*text_class_made)(HPy type);

  /* Where threads run at the same time: makes an object immortal that the caller made and never gives up, so that
   * threads which use it do not write its count in turns. Elsewhere it does nothing. */
  void (*keep)(HPy h);

  /* How small values are read without a call; constant. */
  const FhpyValues *values;

  /* Give up the interpreter, and take it back on the same thread, as HPy_LeavePythonExecution and
   * HPy_ReenterPythonExecution do: the interpreter's own functions, without the way through the context. `reenter` is
   * given what `leave` has returned. */
  void *(*leave)(void);
  void (*reenter)(void *state);

  /* How the calling thread stands to the interpreter: a short way for threads that it knows. FHPY_THREAD_ATTACHED: it
   * may use the context. FHPY_THREAD_DETACHED: it may after reenter(*state), until leave(). FHPY_THREAD_OTHER:
   * thread_attach decides. */
  int (*thread_state)(void **state);

  /* Whether an exception is raised: not NULL, and nothing to be read. The interpreter's own function. */
  void *(*error_occurred)(void);
} FhpyExtension;

enum { FHPY_THREAD_OTHER, FHPY_THREAD_ATTACHED, FHPY_THREAD_DETACHED };

/* In place of the extension, the contexts of debug and trace mode carry this: how native threads attach. */
typedef struct FhpyThreads {
  uint64_t magic;           /* FHPY_THREADS_MAGIC */
  int (*attach)(void);       /* thread_attach */
  void (*detach)(int token); /* thread_detach */
} FhpyThreads;

#define FHPY_THREADS_MAGIC UINT64_C(0x6666695f74687231) /* "ffi_thr1" */

/* Whether ctx is our context of debug or trace mode. */
static inline int fhpy_is_mode(const HPyContext *ctx) {
  return strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) == 0 || strcmp(ctx->name, FHPY_TRACE_CONTEXT_NAME) == 0;
}

/* The functions of ctx, or NULL if ctx is neither of these. */
static inline const FhpyThreads *fhpy_threads_find(const HPyContext *ctx) {
  if (ctx->_private == NULL || !fhpy_is_mode(ctx)) return NULL;
  const FhpyThreads *threads = (const FhpyThreads *)ctx->_private;
  return threads->magic == FHPY_THREADS_MAGIC ? threads : NULL;
}

/* Whether the runtime's extension has an entry. */
#define FHPY_EXTENSION_HAS(ext, entry) ((ext)->byte_size > offsetof(FhpyExtension, entry))

/* The extension of ctx, or NULL if ctx carries none (of at least this version). */
static inline const FhpyExtension *fhpy_extension_find(const HPyContext *ctx) {
  if (ctx->_private == NULL || strcmp(ctx->name, FHPY_CONTEXT_NAME) != 0) return NULL;
  const FhpyExtension *ext = (const FhpyExtension *)ctx->_private;
  return ext->magic == FHPY_EXTENSION_MAGIC && ext->version >= FHPY_EXTENSION_VERSION ? ext : NULL;
}

#endif /* FFI_HPY_RUNTIME_EXTENSION_H_ */
