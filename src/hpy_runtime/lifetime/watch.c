/* References through pointers that own none.
 *
 * With a GIL an object whose deallocation has begun has a reference count of 0, and a finalizer that looks at it sees 1.
 *
 * Without one the count is in two words: the owning thread's, and one for all others, whose lowest two bits say what may be
 * done with it. While those bits are 0 the owner may free the object without asking anybody, so that others must keep off;
 * watching sets them to WATCHED. Then the last reference turns them into MERGED by an atomic operation, and whoever adds a
 * reference by another one, to a count that is not yet 0 and MERGED, has come first. That is what the interpreter does for
 * its own weak references; it has functions for it from 3.14 on, of which the one that takes a reference trusts the owner
 * also where a finalizer has run, so that the place is measured and the shared word used always. */
#include "watch.h"

static ptrdiff_t shared_offset; /* of the shared word, without a GIL; 0: unknown. Written once, while importing */

enum { WATCHED = 1, MERGED = 3, FLAGS = 3, ONE_REFERENCE = 4 };

static Py_ssize_t *shared_of(PyObject *o) { return (Py_ssize_t *)(void *)((char *)o + shared_offset); }

static void set_watched(PyObject *o) {
  Py_ssize_t *word = shared_of(o), shared = __atomic_load_n(word, __ATOMIC_RELAXED);
  while ((shared & FLAGS) == 0 &&
         !__atomic_compare_exchange_n(word, &shared, shared | WATCHED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static int try_shared(PyObject *o) {
  Py_ssize_t *word = shared_of(o), shared = __atomic_load_n(word, __ATOMIC_RELAXED);
  do {
    if (shared == 0 || shared == MERGED) return 0;
    /* acquire: pairs with the interpreter's release of whoever gave a reference up */
  } while (!__atomic_compare_exchange_n(word, &shared, shared + ONE_REFERENCE, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  return 1;
}

/* Whether the interpreter's own function marks an object as we would. Up to 3.13 there is none, and the place is that of
 * the one release. */
static bool is_marked_as_expected(PyObject *o) {
  if (fhpy_optional.PyUnstable_EnableTryIncRef == NULL) return fhpy_layout.minor == 13;
  fhpy_optional.PyUnstable_EnableTryIncRef(o);
  return *shared_of(o) == WATCHED;
}

/* The shared word is the one before the type, or this is a layout that we do not know. */
int fhpy_watch_measure(void) {
  if (!fhpy_layout.free_threaded || fhpy_layout.type_offset < 2 * (ptrdiff_t)sizeof(void *)) return 0;
  PyObject *o = PyObject_CallObject(&PyBaseObject_Type, NULL);
  if (o == NULL) return -1;
  shared_offset = fhpy_layout.type_offset - (ptrdiff_t)sizeof(void *);
  if (*shared_of(o) != 0 || !is_marked_as_expected(o)) {
    shared_offset = 0;
  } else {
    set_watched(o);
    try_shared(o);
    Py_DecRef(o); /* the owner's reference: ours is left, which the interpreter now counts in the shared word */
    if (*shared_of(o) != ONE_REFERENCE + MERGED) shared_offset = 0;
  }
  Py_DecRef(o);
  return 0;
}

bool fhpy_watch_is_possible(void) { return !fhpy_layout.free_threaded || shared_offset != 0; }

void fhpy_watch(PyObject *o) {
  if (fhpy_layout.free_threaded) set_watched(o);
}

/* Where the first word has the count. */
#ifdef FHPY_PYPY
#define COUNT_BITS UINT64_MAX /* the interpreter's own interest is a high bit of it */
#else
#define COUNT_BITS ((uint64_t)UINT32_MAX) /* newer versions use the other half for other things */
#endif

int fhpy_watch_try(PyObject *o) {
  if (fhpy_layout.free_threaded) return try_shared(o);
  if ((*(const uint64_t *)(const void *)o & COUNT_BITS) == 0) return 0;
  take_reference(o);
  return 1;
}
