/* Immortal objects, without a GIL.
 *
 * The interpreter knows an immortal object by the owner's count, which has all bits set then, and leaves both counts
 * alone from there on. Threads that change the other count at this moment do no harm, because nobody looks at it
 * again. */
#include "keep.h"

#include "core/platform/atomic.h"
#include "watch.h"

void fhpy_keep_object(PyObject *o) {
  uint32_t *count = fhpy_watch_own_count(o);
  if (count != NULL) fh_atomic_store_relaxed_u32(count, UINT32_MAX); /* the interpreter's loads are relaxed, too */
}
