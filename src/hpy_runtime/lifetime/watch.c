/* References taken through pointers that own none.
 *
 * With a GIL an object whose deallocation has begun has a reference count of 0; while its finalizer runs, the count is
 * 1.
 *
 * Without a GIL the count has two words: one for the owning thread, and a shared one for all other threads. The two
 * lowest bits of the shared word limit the other threads. While they are 0 the owner may free the object without any
 * atomic operation, so other threads must not touch the count. Watching an object sets the bits to WATCHED. From then
 * on the owner, when it releases its last reference, changes them to MERGED by an atomic operation. A thread that
 * atomically adds a reference to a shared word that is neither 0 nor plain MERGED has done so before that release.
 *
 * The interpreter uses this protocol for its own weak references. Public functions for the protocol exist from 3.14 on,
 * and the one that takes a reference trusts the owner even after a finalizer has run. Therefore this file measures the
 * offset of the shared word, and always uses the word directly. */
#include "watch.h"

#include "core/platform/atomic.h"
#include "core/platform/system.h"
#include "hpy_runtime/abi/handle.h"

/* offset of the shared word, without a GIL; 0: unknown. Written once, during the import */
static ptrdiff_t shared_offset;
static bool knows_owners; /* whether the words before it are the owner's; written once, during the import */

enum { WATCHED = 1, MERGED = 3, FLAGS = 3, ONE_REFERENCE = 4 };

static uint64_t *get_shared(PyObject *o) { return (uint64_t *)(void *)((char *)o + shared_offset); }

/* Relaxed, because only this word is read or written here. */
static void set_watched(PyObject *o) {
  uint64_t *word = get_shared(o), shared = fh_atomic_load_relaxed_u64(word);
  while ((shared & FLAGS) == 0 && !fh_atomic_cas_relaxed_u64(word, &shared, shared | WATCHED)) {
  }
}

/* The words before the shared word: the owner's thread, and last the owner's count. */
static uint64_t get_owner(PyObject *o) { return fh_atomic_load_relaxed_u64(get_shared(o) - 2); }
static uint32_t *get_local(PyObject *o) { return (uint32_t *)(void *)get_shared(o) - 1; }

uint32_t *fhpy_watch_own_count(PyObject *o) {
  return knows_owners && get_owner(o) == fh_thread_id() ? get_local(o) : NULL;
}

/* In the owning thread, increments in place like the interpreter. Otherwise the owner, which releases the reference in
 * its own word, would give up ownership sooner, and all its references would be counted atomically from then on. The
 * flags show that the owner has not released its last reference, not even to a finalizer. */
static bool try_as_owner(PyObject *o) {
  uint32_t *word = fhpy_watch_own_count(o), local = word == NULL ? 0 : fh_atomic_load_relaxed_u32(word);
  if (local == 0) return false;
  if ((fh_atomic_load_relaxed_u64(get_shared(o)) & FLAGS) != WATCHED) return false;
  if (local != UINT32_MAX) fh_atomic_store_relaxed_u32(word, local + 1); /* otherwise it is immortal */
  return true;
}

static bool try_shared(PyObject *o) {
  uint64_t *word = get_shared(o), shared = fh_atomic_load_relaxed_u64(word);
  do {
    if (shared == 0 || shared == MERGED) return false;
    /* acquire: pairs with the interpreter's release in the thread that released a reference */
  } while (!fh_atomic_cas_acq_rel_u64(word, &shared, shared + ONE_REFERENCE));
  return true;
}

/* Whether the interpreter's own function marks an object like set_watched. 3.13 has no such function; its layout is
 * known, because the version is released. */
static bool is_marked_as_expected(PyObject *o) {
  if (fhpy_optional.PyUnstable_EnableTryIncRef == NULL) return fhpy_layout.minor == 13;
  fhpy_optional.PyUnstable_EnableTryIncRef(o);
  return *get_shared(o) == WATCHED;
}

/* The shared word is expected directly before the type. An object is made, watched, referenced and released. If the
 * word does not have the expected values, the layout is unknown, and this file does not support watching. */
int fhpy_watch_measure(void) {
  if (!fhpy_layout.free_threaded || fhpy_layout.type_offset < 2 * (ptrdiff_t)sizeof(void *)) return 0;
  PyObject *o = PyObject_CallObject(&PyBaseObject_Type, NULL);
  if (o == NULL) return -1;
  shared_offset = fhpy_layout.type_offset - (ptrdiff_t)sizeof(void *);
  if (*get_shared(o) != 0 || !is_marked_as_expected(o)) {
    shared_offset = 0;
  } else {
    set_watched(o);
    bool begins_as_owned = get_owner(o) == fh_thread_id() && *get_local(o) == 1;
    Py_IncRef(o);
    knows_owners = begins_as_owned && *get_local(o) == 2;
    Py_DecRef(o);
    try_shared(o);
    /* the owner's reference; the reference of try_shared is left, and is now counted in the shared word */
    Py_DecRef(o);
    if (*get_shared(o) != ONE_REFERENCE + MERGED) shared_offset = 0, knows_owners = false;
  }
  Py_DecRef(o);
  return 0;
}

bool fhpy_watch_is_possible(void) { return !fhpy_layout.free_threaded || shared_offset != 0; }

void fhpy_watch_begin(PyObject *o) {
  if (fhpy_layout.free_threaded) set_watched(o);
}

bool fhpy_watch_is_merged(PyObject *o) {
  /* acquire: pairs with the interpreter's exchange, which follows its other writes to the object */
  return !fhpy_layout.free_threaded || (fh_atomic_load_acquire_u64(get_shared(o)) & FLAGS) == MERGED;
}

/* The bits of an object's first word that hold the count, with a GIL. */
#ifdef FHPY_PYPY
#define COUNT_BITS UINT64_MAX /* a high bit represents the interpreter's own reference */
#else
#define COUNT_BITS ((uint64_t)UINT32_MAX) /* newer versions use the other half for other data */
#endif

bool fhpy_watch_try(PyObject *o) {
  if (fhpy_layout.free_threaded) return try_as_owner(o) || try_shared(o);
  if ((*(const uint64_t *)(const void *)o & COUNT_BITS) == 0) return false;
  take_reference(o);
  return true;
}

/* --- immortal objects -------------------------------------------------------------------------------------------- */

/* Immortal objects, without a GIL.
 *
 * All bits of the owner's count are set in an immortal object; the interpreter then leaves both counts unchanged.
 * Threads that change the other count at the same time do no harm, because that count is not read any more. */

void fhpy_keep_object(PyObject *o) {
  uint32_t *count = fhpy_watch_own_count(o);
  if (count != NULL) fh_atomic_store_relaxed_u32(count, UINT32_MAX); /* the interpreter's loads are relaxed, too */
}
