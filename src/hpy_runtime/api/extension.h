/* The private extension of the ffi_hpy context: functions for which HPy 0.9 has no entry.
 *
 * A module finds the extension of its context with fhpy_extension_find(). The extension is optional: for the context of
 * another implementation that function returns NULL, and the module works without it.
 *
 * Contract of a context with the extension:
 *   - a handle IS the interpreter's object pointer: h._i == (intptr_t)(PyObject *). Duplicating a handle takes a
 *     reference, closing a handle releases it;
 *   - therefore a C function with the interpreter's own signature (vectorcall, getter, setter) may be installed
 *     directly and may treat its arguments as borrowed handles;
 *   - the context is one process-wide constant: a function without a context argument may use a stored context.
 *
 * Threads: the table is constant once it is published. Every function except thread_attach, thread_detach,
 * thread_state, is_finalizing and reenter requires an attached thread (with the GIL, where there is one). */
#pragma once

#include "alloca.h" /* for hpy.h */
#include <hpy.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "values.h"

#define FHPY_EXTENSION_MAGIC UINT64_C(0x6666695f68707931) /* "ffi_hpy1" */
#define FHPY_EXTENSION_VERSION 1u
#define FHPY_CONTEXT_NAME "HPy Universal ABI (ffi_hpy)" /* HPy checks for this prefix */
#define FHPY_DEBUG_CONTEXT_NAME "HPy Debug Mode ABI (ffi_hpy)" /* names of the contexts without the extension */
#define FHPY_TRACE_CONTEXT_NAME "HPy Trace Mode ABI (ffi_hpy)"

/* A data descriptor with the interpreter's signatures. get returns a new handle, or HPy_NULL with an exception raised;
 * set returns 0 or -1 and receives HPy_NULL for a deletion. Strings and closure must outlive the descriptor. */
typedef struct FhpyGetSet {
  const char *name;
  HPy (*get)(HPy self, void *closure);
  int (*set)(HPy self, HPy value, void *closure); /* NULL: read-only */
  const char *doc;                                /* may be NULL */
  void *closure;
} FhpyGetSet;

/* The __module__, __name__, __qualname__ and __doc__ of a method. */
typedef struct FhpyMethodNames {
  HPy module, name, qualname, doc;
} FhpyMethodNames;

/* Type slots that HPy lacks; HPyType_FromSpec accepts them from a module that has found the extension. The slots are
 * the descriptor protocol, as cpy_trampoline functions with the interpreter's signatures. The numbers are the
 * interpreter's, as for HPy's slots. */
enum { FHPY_TP_DESCR_GET = 54, FHPY_TP_DESCR_SET = 55 };

/* The purpose of a traversal. Objects that the traversal visits must be reported by a count only if every reference to
 * them from outside of Python objects is known. */
enum {
  FHPY_TRAVERSE_COUNT, /* the collector subtracts the references between objects of the collection from their counts */
  FHPY_TRAVERSE_REACH, /* the object is reachable, with each object that it refers to; or a program has asked */
};

/* The instances of types without HPyFields for which a traversal asks the binding. The runtime asks for all instances
 * of other types. The binding changes the word during a collection. */
enum {
  FHPY_ASKS_NEVER,
  FHPY_ASKS_FLAGGED, /* those with the flag */
  FHPY_ASKS_ALWAYS,
};

/* The binding's part of a collection. */
typedef struct FhpyCollector {
  /* Visits objects, by their handles, like tp_traverse: returns the first result of `visit` that is not 0, or 0. The
   * function may run while all other threads are stopped: it runs no Python code and waits for no thread. */
  int (*traverse)(HPy self, int purpose, int (*visit)(void *object, void *arg), void *arg);
  void (*clear)(HPy self); /* like tp_clear */
  void (*phase)(int begins, int generation); /* called before and after each collection, as by collection_watch */
  const uint8_t *asks; /* FHPY_ASKS_..., for `traverse`; read with relaxed order */
  ptrdiff_t flags_offset; /* byte offset, from the handle, of a byte with flags; read with relaxed order */
  uint8_t flag;
} FhpyCollector;

typedef struct FhpyExtension {
  uint64_t magic; /* FHPY_EXTENSION_MAGIC */
  uint32_t version; /* FHPY_EXTENSION_VERSION of the runtime; entries are only ever appended */
  uint32_t byte_size; /* sizeof(FhpyExtension) of the runtime: an entry beyond it does not exist */

  /* Byte offset, from the handle, of the word that identifies the object's exact type. The word is the type's own
   * handle value, unique for as long as the type lives. */
  ptrdiff_t type_offset;
  /* Byte offset, from the handle, of the struct of an instance of a pure type with the object shape: the result of
   * HPy_AsStruct_Object without the call. */
  ptrdiff_t data_offset;

  /* 1 if threads run Python in parallel (no GIL), otherwise 0. */
  int free_threaded;

  /* Attaches the calling thread to the interpreter, so that it may use the context. Calls nest, and an attached thread
   * may call it. Returns a token for thread_detach, or -1 if the interpreter is finalizing or gone: the thread is then
   * not attached and may not touch any object. */
  int (*thread_attach)(void);
  void (*thread_detach)(int token);
  int (*is_finalizing)(void);
  /* Called by an attached thread when the interpreter is about to exit. From then on thread_attach refuses every thread
   * that is not attached, except the caller. Waits, detached and for about a second at most, for native threads that
   * are still attached: the interpreter would end such a thread in the middle of C++ code, which ends the process. */
  void (*threads_close)(void);

  /* Takes and clears the raised exception: returns a new handle of the normalized instance with its traceback set.
   * HPy_NULL if no exception was raised. */
  HPy (*error_take)(HPyContext *ctx);
  /* Raises the given exception instance unchanged, with its traceback. Borrows the handle. */
  void (*error_restore)(HPyContext *ctx, HPy exception);

  /* Asks the interpreter to defer the reference counts of h (free-threaded 3.14+). Returns 1 if the interpreter
   * complies, 0 if it does not support this. Call it for a new object of a GC-tracked type; only a collection then
   * frees the object. Types need no call. */
  int (*refcount_defer)(HPyContext *ctx, HPy h);

  /* Makes a descriptor for instances of `type`, to be set as a class attribute of `type` or of a subclass. *def is
   * copied. Returns a new handle, or HPy_NULL with an exception raised. */
  HPy (*getset_new)(HPyContext *ctx, HPy type, const FhpyGetSet *def);

  /* 1 if refcount_defer has an effect, so that making a type GC-tracked for it is worthwhile; otherwise 0. */
  int defers_refcounts;

  /* For tables of handles that own no reference. A handle may be stored after reference_watch(h). The object's
   * HPy_tp_destroy must remove it, under the lock under which reference_try is called. reference_try returns 1 with a
   * new reference, or 0 if the object is about to reach its destructor. reference_try runs no Python code. Without the
   * GIL it also returns 0 for an object that its finalizer resurrected, until that object is watched again. Both are
   * NULL if the interpreter does not support this. */
  void (*reference_watch)(HPy h);
  int (*reference_try)(HPy h);

  /* Makes a method that calls `callable`, an instance of a type with HPy_tp_call, with the object as the first
   * argument; it is set as an attribute of a class. copy and pickle treat the method as the object found under its
   * module and qualified name. If `callable` has an attribute __wrapped__, that is the function which the method
   * replaces: the method shows the function's attributes in addition to its own. Returns a new handle, or HPy_NULL with
   * an exception raised. NULL if a method written in Python is not slower. */
  HPy (*method_new)(HPyContext *ctx, HPy callable, const FhpyMethodNames *names);

  /* Makes a str from byte_len bytes of UTF-8; malformed bytes become U+FFFD. Returns a new handle, or HPy_NULL with
   * MemoryError raised. NULL if the interpreter does not decode in this way. */
  HPy (*text_new)(const char *data, HPy_ssize_t byte_len);

  /* Byte offset, from the handle of a tuple, of its first item, a handle that the tuple owns. 0 if unknown. */
  ptrdiff_t tuple_items;

  /* Registers `ended`, which is called with the type word (type_offset) when the type is freed, before another type can
   * have the same word. `ended` must be the same function for all types; an attached thread calls it. A type that a
   * finalizer resurrects must be watched again. Returns 1 if `ended` will be called or the type is never freed; 0 if
   * not: the word must then not be kept. Never raises. */
  int (*type_watch)(HPy type, void (*ended)(intptr_t word));

  /* Called for each class that C code sees or instantiates. Without this call, an interpreter with this entry never
   * frees the string data of instances of a str subclass. Never raises. NULL for other interpreters. */
  void (*text_class_made)(HPy type);

  /* On free-threaded interpreters: makes an object immortal that the caller made and never releases, so that threads do
   * not contend for its reference count. On others it does nothing. */
  void (*keep)(HPy h);

  /* The layout of small values, for reading without a call; constant. */
  const FhpyValues *values;

  /* Release the GIL, and reacquire it on the same thread, like HPy_LeavePythonExecution and HPy_ReenterPythonExecution:
   * the interpreter's own functions, called without the context. The argument of `reenter` is the result of `leave`. */
  void *(*leave)(void);
  void (*reenter)(void *state);

  /* The state of the calling thread, determined quickly for threads that the interpreter knows. FHPY_THREAD_ATTACHED:
   * the thread may use the context. FHPY_THREAD_DETACHED: it may do so between reenter(*state) and leave().
   * FHPY_THREAD_OTHER: thread_attach decides. */
  int (*thread_state)(void **state);

  /* Whether an exception is raised: returns a non-NULL pointer, which must not be dereferenced. The interpreter's own
   * function. */
  void *(*error_occurred)(void);

  /* Lets the garbage collector see references that an instance of `type` has outside of HPyFields: its traversal and
   * its clearing also call the functions of collect_begin, if the instance is GC-tracked. `type` is made by HPy; a
   * class made in Python that derives from it has the same traversal, and is always GC-tracked. If `type` is such a
   * class, and adds nothing to its instances, their traversal becomes shorter. NULL if the interpreter does not support
   * this, or if the layout of its types is unknown. */
  void (*collect)(HPy type);
  /* Sets the functions, and has the interpreter report its collections. Called once. Never raises. */
  void (*collect_begin)(const FhpyCollector *functions);

  /* Lets `keeps` decide whether an instance of a class made in Python ends. The interpreter calls it before it destroys
   * anything of the instance, so that weak references still lead to it. `keeps` returns FHPY_END_KEPT after it has
   * taken a reference, FHPY_END_PROCEEDS if the instance ends, or FHPY_END_FINALIZE if __del__ is to be called first;
   * after __del__ it is asked again. An exception may be raised when it is called. `keeps` must be the same function
   * for all classes. With only_with_state a class is not watched (any more) if its instances have neither attributes,
   * slots nor weak references, and it has no __del__. A class that gets __del__ must be watched again, and so must its
   * subclasses. Returns whether the class is watched; never raises. The three functions are NULL if the interpreter
   * does not support this. */
  int (*end_watch)(HPy type, int (*keeps)(HPy self), int only_with_state);
  int (*end_is_watched)(HPy h); /* whether the class of h is watched: 2 if the collector tracks its instances, too */
  /* Lets an instance end again that was kept or that __del__ resurrected: without this call the interpreter does not
   * ask again. Returns 0 if another thread is still about to keep the instance: the caller waits and calls again. */
  int (*end_resume)(HPy h);
  /* The word at this byte offset of a type is `end_word` if the type is watched. */
  ptrdiff_t end_offset;
  intptr_t end_word;

  /* Registers a function that an attached thread calls before and after each collection of garbage, with the oldest
   * generation that is collected: 0 to 2. Called once. Returns whether the function will be called. Never
   * raises. */
  int (*collection_watch)(void (*note)(int begins, int generation));

  /* Byte offset, from the handle of a list, of the pointer to its items, which are handles that the list owns; the
   * number of items is the word before. Both may change whenever Python code runs. 0 if unknown, or if threads run in
   * parallel. */
  ptrdiff_t list_items;

  /* Makes a container (FHPY_LIST, ...) of n handles, which it steals also on failure; for a dict, keys and values in
   * turn. Returns a new handle, or HPy_NULL with an exception raised. */
  HPy (*container_take)(int kind, const HPy *items, HPy_ssize_t n);

  /* Lets a call of a class that was made in Python call `call`, which has the interpreter's vectorcall signature, with
   * the class as the callable. NULL: the class is called as usual, as each class that derives from it is. Returns
   * whether a call of the class calls `call`; never raises. NULL if the interpreter does not support this. */
  int (*class_call)(HPy cls, void (*call)(void));

  /* Finds the next entry of a dict, whose handles the dict owns; *position is 0 at first. Returns 0 at the end. NULL if
   * threads run in parallel. */
  int (*dict_next)(HPy dict, HPy_ssize_t *position, HPy *key, HPy *value);

  /* Shortens the way in which instances of exactly `cls`, a class made in Python, end: they have only the struct of
   * `base`, its nearest HPy type. Returns 0 if that is not so, or not possible; never raises. short_new makes an
   * instance of such a class: a new handle, or HPy_NULL with an exception raised. The caller at once writes the whole
   * struct and calls short_track, with which the collector begins to see the instance. The three are NULL if the
   * interpreter does not support this. */
  int (*class_shorten)(HPy cls, HPy base);
  HPy (*short_new)(HPy cls);
  void (*short_track)(HPy h);

  /* Surround a call that may nest without a call of a Python function in between. recursion_enter returns 0, or -1 with
   * RecursionError raised and nothing to leave; `where` ends the message. The two are NULL on PyPy, where each call
   * checks the stack. */
  int (*recursion_enter)(const char *where);
  void (*recursion_leave)(void);

  /* Lets iteration over instances of exactly `cls`, a class with a method `__next__` that was made in Python, call
   * `next`, which has the signature of the interpreter's tp_iternext; a later assignment of `__next__` undoes that.
   * Returns 0 for another class; never raises. NULL if the interpreter does not support this. */
  int (*class_next)(HPy cls, void (*next)(void));

  /* Copies the handles of the items of a set, which the set owns. May run a collection first. Returns the number of
   * items; -1 without an exception if the items have too little room, or without memory. NULL if threads run in
   * parallel, and on PyPy. */
  HPy_ssize_t (*set_items)(HPy set, HPy *items, HPy_ssize_t room);
} FhpyExtension;

enum { FHPY_LIST, FHPY_TUPLE, FHPY_SET, FHPY_DICT };

enum { FHPY_END_KEPT, FHPY_END_PROCEEDS, FHPY_END_FINALIZE };

enum { FHPY_THREAD_OTHER, FHPY_THREAD_ATTACHED, FHPY_THREAD_DETACHED };

/* The contexts of debug and trace mode have this struct in place of the extension: the functions that attach native
 * threads. */
typedef struct FhpyThreads {
  uint64_t magic; /* FHPY_THREADS_MAGIC */
  int (*attach)(void); /* thread_attach */
  void (*detach)(int token); /* thread_detach */
} FhpyThreads;

#define FHPY_THREADS_MAGIC UINT64_C(0x6666695f74687231) /* "ffi_thr1" */

/* Whether ctx is our context of debug or trace mode. */
static inline bool fhpy_is_mode(const HPyContext *ctx) {
  return strcmp(ctx->name, FHPY_DEBUG_CONTEXT_NAME) == 0 || strcmp(ctx->name, FHPY_TRACE_CONTEXT_NAME) == 0;
}

/* Returns the functions of ctx, or NULL if ctx is not a context of debug or trace mode. */
static inline const FhpyThreads *fhpy_threads_find(const HPyContext *ctx) {
  if (ctx->_private == NULL || !fhpy_is_mode(ctx)) return NULL;
  const FhpyThreads *threads = (const FhpyThreads *)ctx->_private;
  return threads->magic == FHPY_THREADS_MAGIC ? threads : NULL;
}

/* Whether the runtime's extension has an entry. */
#define FHPY_EXTENSION_HAS(ext, entry) ((ext)->byte_size > offsetof(FhpyExtension, entry))

/* Returns the extension of ctx, or NULL if ctx has none (of at least this version). */
static inline const FhpyExtension *fhpy_extension_find(const HPyContext *ctx) {
  if (ctx->_private == NULL || strcmp(ctx->name, FHPY_CONTEXT_NAME) != 0) return NULL;
  const FhpyExtension *ext = (const FhpyExtension *)ctx->_private;
  return ext->magic == FHPY_EXTENSION_MAGIC && ext->version >= FHPY_EXTENSION_VERSION ? ext : NULL;
}
