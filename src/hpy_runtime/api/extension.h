/* The private extension of the ffi_hpy context: what HPy 0.9 has no entry for.
 *
 * A module that was given a context finds the extension with fhpy_extension_find(). It is optional: on another
 * implementation's context the function returns NULL and the module does without.
 *
 * Contract of a context that carries the extension:
 *   - a handle IS the interpreter's object pointer: h._i == (intptr_t)(PyObject *). Duplicating a handle takes a
 *     reference, closing one drops it;
 *   - therefore a C function of the interpreter's own calling shape (vectorcall, getter, setter) may be installed
 *     directly and may treat its arguments as handles that it does not own;
 *   - the context is one process-wide constant: a function that receives no context may use the stored one.
 *
 * Threads: the table is constant after it was published. Every function except thread_attach, thread_detach and
 * is_finalizing wants an attached thread (the GIL, where there is one).
 */
#ifndef FFI_HPY_RUNTIME_EXTENSION_H_
#define FFI_HPY_RUNTIME_EXTENSION_H_

#include <alloca.h> /* hpy.h calls alloca without declaring it, which -std=c11 does not forgive */
#include <hpy.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FHPY_EXTENSION_MAGIC UINT64_C(0x6666695f68707931) /* "ffi_hpy1" */
#define FHPY_EXTENSION_VERSION 1u
#define FHPY_CONTEXT_NAME "HPy Universal ABI (ffi_hpy)" /* HPy wants every universal context to begin like this */
#define FHPY_DEBUG_CONTEXT_NAME "HPy Debug Mode ABI (ffi_hpy)" /* of the context without the extension */

/* A data descriptor in the interpreter's own shape. get returns a new handle or HPy_NULL with an exception raised;
 * set returns 0 or -1 and receives HPy_NULL for a deletion. Strings and closure must outlive the descriptor. */
typedef struct FhpyGetSet {
  const char *name;
  HPy (*get)(HPy self, void *closure);
  int (*set)(HPy self, HPy value, void *closure); /* NULL: read-only */
  const char *doc;                                /* may be NULL */
  void *closure;
} FhpyGetSet;

/* Type slots beyond HPy's that HPyType_FromSpec takes from a module that found the extension: the descriptor protocol,
 * in the interpreter's own shape, as cpy_trampoline. The numbers are the interpreter's, like those of HPy's slots. */
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

  /* 1 if threads run Python at the same time (no GIL), else 0. */
  int free_threaded;

  /* Makes the calling thread able to use the context, whether or not it is already (nests). Returns a token for
   * thread_detach, or -1 when the interpreter is finalizing or gone: then nothing was done and no object may be
   * touched. */
  int (*thread_attach)(void);
  void (*thread_detach)(int token);
  int (*is_finalizing)(void);
  /* To be called when the interpreter is about to exit, from an attached thread: from now on thread_attach refuses
   * every thread that is not attached, and waits (a second at most, detached meanwhile) for threads of native making
   * that were let in before. The interpreter would end such a thread in the middle of C++ code, which ends the
   * process. */
  void (*threads_close)(void);

  /* Takes the raised exception: a new handle to the normalized instance with its traceback set, and nothing is raised
   * any more. HPy_NULL if nothing was raised. */
  HPy (*error_take)(HPyContext *ctx);
  /* Raises the given exception instance as it is, traceback included. Borrows the handle. */
  void (*error_restore)(HPyContext *ctx, HPy exception);

  /* Asks the interpreter not to count references to h on every access (free-threaded 3.14+).
   * Returns 1 if it will, 0 if it offers no such thing. Call it on a fresh object of a garbage-collected type; only a
   * collection frees that object then. Types need no call. */
  int (*refcount_defer)(HPyContext *ctx, HPy h);

  /* A descriptor for instances of `type`, to be set as a class attribute of `type` or of a subclass.
   * *def is copied. Returns a new handle, or HPy_NULL with an exception raised. */
  HPy (*getset_new)(HPyContext *ctx, HPy type, const FhpyGetSet *def);

  /* 1 if refcount_defer can do anything, so that an instance is worth being garbage-collected for it; else 0. */
  int defers_refcounts;

  /* For tables of handles that own no reference. A handle may be put in after reference_watch(h); it must be taken out
   * by the object's HPy_tp_destroy, under the lock under which reference_try is called. reference_try gives 1 with a
   * new reference, or 0: then the object is on its way to its destructor. It runs no Python code. Without the GIL it
   * gives 0 also for an object that its finalizer brought back, until that is watched again. Both are NULL where the
   * interpreter does not let that be done. */
  void (*reference_watch)(HPy h);
  int (*reference_try)(HPy h);

  /* A method that calls `callable`, an instance of a type with HPy_tp_call, with the instance as the first argument: to
   * be set as an attribute of a class. `name`, `qualname` and `doc` become its __name__, __qualname__ and __doc__. New
   * handle, or HPy_NULL with an exception raised. NULL where a method written in Python is no slower. */
  HPy (*method_new)(HPyContext *ctx, HPy callable, HPy name, HPy qualname, HPy doc);

  /* A str from UTF-8 of a known length; malformed bytes are replaced by U+FFFD. New handle, or HPy_NULL with
   * MemoryError raised. NULL where the interpreter does not decode that way. */
  HPy (*text_new)(const char *data, HPy_ssize_t byte_len);

  /* Byte offset, from the handle of a tuple, of its first item, a handle that the tuple owns. 0: not known. */
  ptrdiff_t tuple_items;

  /* Has `ended` called with the word of a type (type_offset) when the type ends, before the word can come to mean
   * another one. `ended` is one function for all types; it is called attached. A type that is brought back by a
   * finalizer while it ends has to be watched again. 1 if it will be called or the type never ends, 0 if not: then the
   * word must not be kept. Raises nothing. */
  int (*type_watch)(HPy type, void (*ended)(intptr_t word));

  /* To be called for each class that C code meets or makes instances of. Without it, an interpreter that has this entry
   * keeps the text of instances of a class derived from str for good. Raises nothing. NULL elsewhere. */
  void (*text_class_made)(HPy type);
} FhpyExtension;

/* What our debug mode's context carries instead of the extension: how native threads attach. */
typedef struct FhpyThreads {
  uint64_t magic;           /* FHPY_THREADS_MAGIC */
  int (*attach)(void);       /* thread_attach */
  void (*detach)(int token); /* thread_detach */
} FhpyThreads;

#define FHPY_THREADS_MAGIC UINT64_C(0x6666695f74687231) /* "ffi_thr1" */

/* That of ctx, or NULL if ctx is not our debug mode's. */
static inline const FhpyThreads *fhpy_threads_find(const HPyContext *ctx) {
  if (ctx->_private == NULL || strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) != 0) return NULL;
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
